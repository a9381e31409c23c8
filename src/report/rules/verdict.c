/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the answer: by the path, and by what failed or will never come. */
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "base/exit_codes.h"
#include "base/util.h"
#include "report/path/path.h"
#include "report/rules/rules.h"
#include "report/scan/model.h"
#include "report/why/why.h"

#define MOST 0.5 /* of the time: what the job waited for is a finding beside its failure */
#define LEAST_NS                                                                                             \
	(500 * NSEC_PER_MSEC) /* a shorter job has done nothing but start: reading its program is most of it \
			       */

/* --- no answer ------------------------------------------------------------------------------------------------ */

/* Returns how long the job ran, or was traced, or the part is that the report is about: the shortest. */
static uint64_t ran_ns(const struct report *r)
{
	const struct manifest_facts *m = &r->manifest;
	const uint64_t traced_ns = report_duration_ns(r);

	return m->has_usage ? MIN(m->usage[USAGE_WALL_NS], traced_ns) : traced_ns;
}

const struct rule *verdict_of_none(const struct report *report)
{
	const struct manifest_facts *facts = &report->manifest;
	const bool exited = facts->has_status && WIFEXITED(facts->status),
		   trained = report->why->seen >= WHY_SEEN_PHASES;

	if (!report->procs.n && report->present[REPORT_PIDS] && facts->complete)
		return &rule_untraced;
	if (exited && WEXITSTATUS(facts->status) == EXIT_NOT_FOUND && !trained)
		return &rule_not_found;
	if (exited && WEXITSTATUS(facts->status) == EXIT_NOT_EXECUTABLE && !trained)
		return &rule_not_executable;
	if (ran_ns(report) >= LEAST_NS)
		return NULL;
	if (facts->cut_begin_ns)
		return &rule_part_too_short;
	if (facts->has_usage ? facts->usage[USAGE_WALL_NS] >= LEAST_NS : !facts->has_status)
		return &rule_traced_too_short; /* nobody knows how long the job ran, or it went on */
	return facts->has_status && facts->status ? &rule_failed : &rule_too_short;
}

/* --- the answer ----------------------------------------------------------------------------------------------- */

/* What the job waited for until it failed is a finding still. A sleep after a failure is none beside it. */
static void choose_by_failures(struct report *report, struct rules *rules)
{
	struct finding before = rules->bottleneck;

	if (!failed_answer(report, &rules->bottleneck))
		return;
	if (before.rule->advice && before.measure >= MOST && rules->n < RULES_MAX &&
	    rules->bottleneck.rule == &rule_failed_end)
		rules->found[rules->n++] = before;
}

void verdict_choose(struct report *report, struct rules *rules)
{
	rules->bottleneck = finding_of(report, &rule_unknown, NAN);
	path_answer(report, &rules->bottleneck);
	hang_answer(report, &rules->bottleneck);
	choose_by_failures(report, rules);
	rules->bottleneck.is_bottleneck = true;
}
