/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer of a job that failed: it ended by an error right after something of it had failed, it slept after calls
 * that failed, or it waited for a process that was gone. A failure that the job got over is no answer.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/failed/failures.h"
#include "report/failed/sentence.h"
#include "report/path/path.h"
#include "report/rules/rules_impl.h"
#include "report/scan/model.h"

/* From what failed to the end of its job: a message, some clean-up. */
#define FAILED_BEFORE_NS (2 * NSEC_PER_SEC)
#define KILLED_BEFORE_NS (15 * NSEC_PER_SEC) /* from a process that is gone: launchers look every few seconds */
#define LEAST_SLEPT 0.1 /* of the time, after calls that failed */
#define LEAST_FAILED 3 /* such calls: one or two are tried again, as is usual */
#define LEAST_UNENDED 0.1 /* of the time, without an answer */
#define SHOWN 3U

/* Answers that do not name what the job did: it slept, or waited for what the trace does not show. */
static bool is_vague(const struct finding *answer)
{
	static const char *const codes[] = {
		"idle", "no-answer", "outside-wait", "poll-sleep", "rate-limit", "unknown"
	};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (strcmp(answer->rule->code, codes[i]) == 0)
			return true;
	return false;
}

static const struct report_path_root *root_of(const struct report *report)
{
	return report->path && report->path->n ? &report->path->root[0] : NULL;
}

/* --- the job's end ----------------------------------------------------------------------------------------- */

/* Whether the job ended by an error of its own: not when it was requested to end, as by ^C, timeout(1) or a scheduler.
 */
static bool ended_by_error(const struct manifest_facts *facts)
{
	static const int requested[] = { 124, 128 + 1, 128 + 2, 128 + 13, 128 + 15 };

	if (!facts->has_status || !facts->status || !facts->workload_end_ns || facts->window.end_ns)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(requested); i++)
		if (WIFEXITED(facts->status) ? WEXITSTATUS(facts->status) == requested[i] :
					       128 + WTERMSIG(facts->status) == requested[i])
			return false;
	return true;
}

/* Whether the job's end may follow from FAILURE: it was the last of its kind, and the job ended soon. */
static bool ends_job(const struct manifest_facts *facts, const struct failure *failure)
{
	const uint64_t least_ns = failure->kind == FAILURE_SIGNAL ? KILLED_BEFORE_NS : FAILED_BEFORE_NS;

	if (failure->kind == FAILURE_STATUS && WIFEXITED(facts->status) && !WEXITSTATUS(facts->status))
		return false;
	return failure->last_ns + least_ns >= facts->workload_end_ns;
}

static bool is_end(const struct report *report)
{
	const struct report_failed *failed = report->failed;

	for (uint32_t i = 0; ended_by_error(&report->manifest) && i < failed->n; i++)
		if (ends_job(&report->manifest, &failed->v[i]))
			return true;
	return false;
}

static void show(struct finding *finding, const struct failure *failure)
{
	if (failure->text)
		finding_add(finding, "%s", failure->text);
	if (!finding->advice)
		finding->advice = failure_advice(failure);
}

static void show_end(struct report *report, struct finding *finding)
{
	const struct manifest_facts *facts = &report->manifest;
	unsigned int shown = 0;

	for (uint32_t i = 0; i < report->failed->n && shown < SHOWN; i++)
		if (ends_job(facts, &report->failed->v[i])) {
			show(finding, &report->failed->v[i]);
			shown++;
		}
	finding_add(finding, "the job %s at %.2f s", FMT_ENDED(facts->status),
		    rules_seconds(report, facts->workload_end_ns));
}

/* --- its waits --------------------------------------------------------------------------------------------- */

/* Whether the job's sleep may follow from FAILURE. A single answer that did not come is enough. */
static bool is_slept_after(const struct failure *failure)
{
	return failure->slept_ns && (failure->n >= LEAST_FAILED || failure->error == &failed_no_answer);
}

/* Returns how long the job slept after calls that failed; in *UNANSWERED_NS, in those that waited for an answer. */
static uint64_t slept_ns(const struct report *report, uint64_t *unanswered_ns)
{
	uint64_t ns = 0;

	*unanswered_ns = 0;
	for (uint32_t i = 0; i < report->failed->n; i++) {
		const struct failure *failure = &report->failed->v[i];

		ns += is_slept_after(failure) ? failure->slept_ns : 0;
		*unanswered_ns += failure->error == &failed_no_answer ? failure->slept_ns : 0;
	}
	return ns;
}

static void show_sleeps(struct report *report, struct finding *finding)
{
	unsigned int shown = 0;

	for (uint32_t i = 0; i < report->failed->n && shown < SHOWN; i++)
		if (is_slept_after(&report->failed->v[i])) {
			show(finding, &report->failed->v[i]);
			shown++;
		}
}

/* Returns how long the first process waited for what never came, after AT_NS, in waits that lasted mostly since then.
 */
static uint64_t unended_ns(const struct report *report, uint64_t at_ns)
{
	const struct report_path_root *root = root_of(report);
	uint64_t ns = 0;

	for (uint32_t i = 0; root && i < root->sums.n; i++) {
		const struct path_sum *sum = &root->sums.v[i];

		if (sum->leaf.kind == PATH_UNENDED && sum->last_ns > at_ns &&
		    2 * (sum->last_ns - MAX(sum->first_ns, at_ns)) >= sum->ns)
			ns += MIN(sum->ns, sum->last_ns - at_ns);
	}
	return ns;
}

/* Returns the process's end with the longest wait for what never came behind it; NULL: none. */
static const struct failure *awaited(const struct report *report, uint64_t *ns)
{
	const struct failure *most = NULL;

	*ns = 0;
	for (uint32_t i = 0; i < report->failed->n; i++) {
		const struct failure *failure = &report->failed->v[i];
		const uint64_t behind_ns = failure->kind == FAILURE_CALL ? 0 : unended_ns(report, failure->first_ns);

		if (behind_ns <= *ns)
			continue;
		*ns = behind_ns;
		most = failure;
	}
	return most;
}

static void show_awaited(struct report *report, struct finding *finding)
{
	uint64_t ns;
	const struct failure *failure = awaited(report, &ns);

	if (!failure)
		return;
	show(finding, failure);
	hang_show(report, finding);
	finding_add(finding, "since then the job waited %s for what never came, until a signal or the end of the trace",
		    FMT_NS(ns));
}

/* --- the choice -------------------------------------------------------------------------------------------- */

const struct rule rule_failed_end = {
	.code = "failed",
	.title = "The job failed: it ended by an error, right after the following",
	.number = RULES_FAILED_NUMBER,
	.evidence = show_end,
	.advice = "The answer has that of what failed first.",
};

const struct rule rule_failed_calls = {
	.code = "failed",
	.title = "Calls of the job failed, and it slept before it went on",
	.number = RULES_FAILED_NUMBER,
	.is_share = true,
	.evidence = show_sleeps,
};

const struct rule rule_failed_answer = {
	.code = "failed",
	.title = "The job waited for answers that did not come",
	.number = RULES_FAILED_NUMBER,
	.is_share = true,
	.evidence = show_sleeps,
};

const struct rule rule_failed_process = {
	.code = "failed",
	.title = "A process of the job was gone, and the job waited for what it never got",
	.number = RULES_FAILED_NUMBER,
	.is_share = true,
	.evidence = show_awaited,
};

static void take(const struct report *report, struct finding *answer, const struct rule *rule, uint64_t ns)
{
	const struct report_path_root *root = root_of(report);
	const uint64_t wall_ns = root ? root->end_ns - root->begin_ns : report_duration_ns(report);

	*answer = finding_of(report, rule, ns && wall_ns ? (double)ns / (double)wall_ns : (double)NAN);
}

bool failed_answer(const struct report *report, struct finding *answer)
{
	const uint64_t wall_ns = report_duration_ns(report);
	uint64_t ns, unanswered_ns;

	if (!report->failed || !report->failed->n || report->only.path)
		return false;
	if (is_end(report)) {
		take(report, answer, &rule_failed_end, 0);
		return true;
	}
	if (!is_vague(answer))
		return false;
	if (awaited(report, &ns) && (double)ns >= LEAST_UNENDED * (double)wall_ns) {
		take(report, answer, &rule_failed_process, ns);
		return true;
	}
	ns = slept_ns(report, &unanswered_ns);
	if (!ns || (double)ns < LEAST_SLEPT * (double)wall_ns)
		return false;
	take(report, answer, 2 * unanswered_ns > ns ? &rule_failed_answer : &rule_failed_calls, ns);
	return true;
}
