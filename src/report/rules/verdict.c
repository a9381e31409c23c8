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
#include "report/rules/rules.h"
#include "report/scan/model.h"
#include "report/why/why.h"

/* to be the answer, a cause must exceed this part of the unknown waits; the job's own work, this part of the time */
#define LEAST_KNOWN 0.5
#define LEAST_NS (500 * NSEC_PER_MSEC) /* a shorter job has done nothing but start: reading its program is most of it */
#define LEAST_WAIT 0.1 /* of the time: a job with fewer waits is bound by what it computes */

static double part(const struct why *w, double ns)
{
	return w->window_ns > 0 ? ns / w->window_ns : 0;
}

/*
 * Returns the rule for what the job did. A process that loads data itself computes both for its samples and for training,
 * which only its own regions can separate. One with loaders or a GPU waits for these, or trains.
 */
static const struct rule *work_of(const struct report *r)
{
	const struct why *w = r->why;

	if (!w->loaders.n && w->seen != WHY_SEEN_GPU && w->has_sums && w->basis != WHY_BY_REGIONS) {
		if (part(w, w->computed_ns + w->slept_ns) < LEAST_KNOWN)
			return &rule_unknown;
		if (w->computed_ns >= w->slept_ns)
			return &rule_cpu_bound;
		return w->seen >= WHY_SEEN_PHASES ? &rule_trainer_bound : &rule_idle;
	}
	if (w->seen < WHY_SEEN_PHASES)
		return &rule_no_training;
	return rules_lack(r, &rule_trainer_bound) ? &rule_unknown : &rule_trainer_bound;
}

/*
 * Takes what the job did as the answer. If that is training, drops a finding of the same code: that loaders waited as well.
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

/* Returns how long the job ran, or was traced: the shorter one. A window that the user has chosen may be shorter. */
static uint64_t ran_ns(const struct report *r)
{
	const struct manifest_facts *m = &r->manifest;
	const uint64_t traced_ns = m->window.end_ns ? UINT64_MAX : report_duration_ns(r);

	return m->has_usage ? MIN(m->usage[USAGE_WALL_NS], traced_ns) : traced_ns;
}

const struct rule *verdict_of_none(const struct report *r)
{
	const struct manifest_facts *m = &r->manifest;
	const bool exited = m->has_status && WIFEXITED(m->status), trained = r->why->seen >= WHY_SEEN_PHASES;

	if (!r->procs.n && r->present[REPORT_PIDS] && m->complete)
		return &rule_untraced;
	if (exited && WEXITSTATUS(m->status) == EXIT_NOT_FOUND && !trained)
		return &rule_not_found;
	if (exited && WEXITSTATUS(m->status) == EXIT_NOT_EXECUTABLE && !trained)
		return &rule_not_executable;
	if (ran_ns(r) >= LEAST_NS)
		return NULL;
	return m->has_status && m->status ? &rule_failed : &rule_too_short;
}

/* --- the answer ----------------------------------------------------------------------------------------------- */

void verdict_choose(struct report *r, struct rules *rules)
{
	const struct why *w = r->why;
	struct finding *most = NULL, *b = &rules->bottleneck;
	/* WHY_OTHER is unknown with loaders; without them, it is a wait for something outside of the job */
	double unknown = part(w, (w->loaders.n || !w->has_sums ? w->blame_ns[WHY_OTHER] : 0) + w->unseen_ns);

	for (unsigned int i = 0; i < rules->n; i++)
		if (rules->found[i].rule->waits && (!most || rules->found[i].measure > most->measure))
			most = &rules->found[i];
	if (!rules_know_waits(r)) {
		*b = finding_of(r, rules_know_job(r) ? &rule_unknown : &rule_no_training, NAN);
	} else if (part(w, w->waited_ns) < LEAST_WAIT && (!most || most->measure < LEAST_WAIT)) {
		work_is_it(r, rules);
	} else if (most && most->measure > LEAST_KNOWN * unknown) {
		*b = *most;
		rules_take_out(rules, most);
	} else {
		*b = finding_of(r, w->seen < WHY_SEEN_READING && !w->has_sums ? &rule_no_training : &rule_unknown,
				part(w, w->waited_ns));
	}
	b->is_bottleneck = true;
}
