/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer of a job that hangs: its first process waits for what nobody will end, to the end of the trace. A wait
 * that may yet be answered is none, however long it was: then the sentence says for whom it was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/hang/hang.h"
#include "report/path/path.h"
#include "report/rules/rules.h"
#include "report/scan/model.h"

#define LEAST_PART 0.1 /* of the time, */
#define LEAST_NS (10 * NSEC_PER_SEC) /* or so long: a hang behind days of work is one, too */
#define ATTACHED_NS (500 * NSEC_PER_MSEC) /* what waits when the trace begins is seen to wait by then */

static const struct report_path_root *root_of(const struct report *report)
{
	return report->path && report->path->n ? &report->path->root[0] : NULL;
}

static const struct open_wait *wait_of(const struct report *report)
{
	const struct report_path_root *root = root_of(report);

	if (!root || !report->hang)
		return NULL;
	return hang_of_job(report->hang, root->pid);
}

void hang_show(struct report *report, struct finding *finding)
{
	const struct report_hang *hang = report->hang;
	const struct open_wait *wait = wait_of(report);
	const uint64_t since_ns = wait ? hang_since(hang, wait) : 0;
	autofree char *text = NULL;
	size_t len;
	FILE *out = wait ? open_memstream(&text, &len) : NULL;

	if (!out)
		return;
	if (!report->manifest.workload_pid && since_ns <= hang->begin_ns + ATTACHED_NS)
		fputs("since before the trace began, ", out);
	else
		fprintf(out, "since %.2f s ", rules_seconds(report, since_ns));
	hang_sentence(hang, wait, out);
	if (fclose(out) == 0 && text)
		finding_add(finding, "%s", text);
}

static void show_unsure(struct report *report, struct finding *finding)
{
	hang_show(report, finding);
	path_evidence(report, finding);
}

const struct rule rule_hang = {
	.code = "no-answer",
	.title = "The job hangs: it waits for what nobody will end",
	.is_share = true,
	.evidence = hang_show,
	.advice = "Waiting longer does not help. See what these processes do at that place (py-spy dump --pid N), and "
		  "who "
		  "should have gone on: one that was ended, or is stopped, or that waits for an answer in turn.",
};

/* The rule no-answer of the path, with for whom the wait was. */
static const struct rule rule_unsure = {
	.code = "no-answer",
	.title = "The job waited for something that never came",
	.is_share = true,
	.evidence = show_unsure,
	.advice = "Look at who should have ended the wait: a process that was killed, two that wait for each other, a "
		  "lock that is never given back.",
};

bool hang_answer(const struct report *report, struct finding *answer)
{
	const struct report_path_root *root = root_of(report);
	const struct open_wait *wait = wait_of(report);
	const bool unanswered = strcmp(answer->rule->code, "no-answer") == 0;
	uint64_t ns, wall_ns;

	/* beside what another process waits for, the job may have worked, but for what the path shows */
	if (!wait || report->only.path || (wait->pid != root->pid && !unanswered))
		return false;
	if (!hang_is_stuck(report->hang, wait)) {
		if (unanswered)
			answer->rule = &rule_unsure;
		return false;
	}
	wall_ns = MAX(root->end_ns - root->begin_ns, 1);
	ns = report->hang->over_ns - MIN(hang_since(report->hang, wait), report->hang->over_ns);
	if (ns < LEAST_NS && (double)ns < LEAST_PART * (double)wall_ns)
		return false;
	*answer = finding_of(report, &rule_hang, MIN((double)ns / (double)wall_ns, 1));
	return true;
}
