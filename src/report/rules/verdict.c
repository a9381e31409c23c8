/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses the finding that is the answer: the cause of most of the job's waits, or, where it hardly waited, what it did
 * instead.
 */
#include <math.h>
#include <string.h>
#include <sys/wait.h>

#include "base/exit_codes.h"
#include "base/util.h"
#include "report/path/path.h"
#include "report/rules/rules.h"
#include "report/scan/model.h"
#include "report/why/why.h"

/* to be the answer, a cause must exceed this part of the unknown waits; the job's own work, this part of the time */
#define LEAST_KNOWN 0.5
#define LEAST_NS                                                                                             \
	(500 * NSEC_PER_MSEC) /* a shorter job has done nothing but start: reading its program is most of it \
			       */
#define STRAGGLER "straggler-worker"
#define LEAST_WAIT 0.1 /* of the time: a job with fewer waits is bound by what it computes */

static double part(const struct why *w, double ns)
{
	return w->window_ns > 0 ? ns / w->window_ns : 0;
}

/*
 * Returns the rule for what the job did. A process that loads data itself computes both for its samples and for
 * training, which only its own regions can separate. One with loaders or a GPU waits for these, or trains.
 */
static const struct rule *work_of(const struct report *report)
{
	const struct why *why = report->why;

	if (!why->loaders.n && why->seen != WHY_SEEN_GPU && why->has_sums && why->basis != WHY_BY_REGIONS) {
		if (part(why, why->computed_ns + why->slept_ns) < LEAST_KNOWN)
			return &rule_unknown;
		if (why->computed_ns >= why->slept_ns)
			return &rule_cpu_bound;
		return why->seen >= WHY_SEEN_PHASES ? &rule_trainer_bound : &rule_idle;
	}
	return rules_lack(report, &rule_trainer_bound) ? &rule_unknown : &rule_trainer_bound;
}

/*
 * Takes what the job did as the answer. If that is training, drops a finding of the same code: that loaders waited as
 * well.
 */
static void work_is_it(struct report *r, struct rules *rules)
{
	const struct rule *work = work_of(r);

	for (unsigned int i = 0; work == &rule_trainer_bound && i < rules->n; i++)
		if (strcmp(rules->found[i].rule->code, work->code) == 0)
			rules_take_out(rules, &rules->found[i--]);
	rules->bottleneck = finding_of(r, work, work->measure ? work->measure(r) : part(r->why, r->why->waited_ns));
}

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
	return facts->has_status && facts->status ? &rule_failed : &rule_too_short;
}

/* --- the answer ----------------------------------------------------------------------------------------------- */

/*
 * What ended the waits may show something else than the sums of calls. Its parts add up to all time, so that a wait by
 * these sums is one of them once more, or wrong. That one loader is late is in none.
 */
static void choose_by_path(struct report *report, struct rules *rules)
{
	if (!path_answer(report, &rules->bottleneck))
		return;
	for (unsigned int i = 0; i < rules->n; i++)
		if (rules->found[i].rule->waits && strcmp(rules->found[i].rule->code, STRAGGLER) != 0)
			rules_take_out(rules, &rules->found[i--]);
}

/* What the job waited for until it failed is a finding still. A sleep after a failure is none beside it. */
static void choose_by_failures(struct report *report, struct rules *rules)
{
	struct finding before = rules->bottleneck;

	if (!failed_answer(report, &rules->bottleneck))
		return;
	if (before.by_path) /* its share is of the path, as is its size then */
		before.size.ns = before.share * (double)(report->path->root[0].end_ns - report->path->root[0].begin_ns);
	if (before.rule->advice && before.measure >= LEAST_KNOWN && rules->n < RULES_MAX &&
	    rules->bottleneck.rule == &rule_failed_end)
		rules->found[rules->n++] = before;
}

void verdict_choose(struct report *report, struct rules *rules)
{
	const struct why *why = report->why;
	struct finding *most = NULL, *finding = &rules->bottleneck;
	/* WHY_OTHER is unknown with loaders; without them, it is a wait for something outside of the job */
	double unknown = part(why, (why->loaders.n || !why->has_sums ? why->blame_ns[WHY_OTHER] : 0) + why->unseen_ns);

	for (unsigned int i = 0; i < rules->n; i++)
		if (rules->found[i].rule->waits && (!most || rules->found[i].measure > most->measure))
			most = &rules->found[i];
	if (!rules_know_waits(report)) {
		*finding = finding_of(report, &rule_unknown, NAN);
	} else if (part(why, why->waited_ns) < LEAST_WAIT && (!most || most->measure < LEAST_WAIT)) {
		work_is_it(report, rules);
	} else if (most && most->measure > LEAST_KNOWN * unknown) {
		*finding = *most;
		rules_take_out(rules, most);
	} else {
		*finding = finding_of(report, &rule_unknown, part(why, why->waited_ns));
	}
	choose_by_path(report, rules);
	hang_answer(report, finding);
	choose_by_failures(report, rules);
	finding->is_bottleneck = true;
}
