/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules about steps, which the job's own regions show. */
#include "report/rules/rules_impl.h"

#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/phases/phases.h"
#include "stats/hist.h"

#define LEAST_STEADY 100 /* steps: of fewer, the 99th percentile is just the longest one */

static const struct phase_steps *steps_of(const struct report *r)
{
	return &r->phases->steps;
}

static double all_wall_ns(const struct phase_steps *s)
{
	double ns = 0;

	for (uint32_t i = 0; i < s->n_sums; i++)
		ns += (double)s->sums[i].wall_ns;
	return ns;
}

/* Returns NS as a part of the time of all processes' steps. */
static struct finding_size size_of(const struct report *r, double ns)
{
	double all_ns = all_wall_ns(steps_of(r));

	return rules_size_of_share(r, all_ns > 0 ? ns / all_ns : 0);
}

/* --- step-jitter ------------------------------------------------------------------------------- */

static double jitter_of(const struct step_trainer *t)
{
	return t->steady->n >= LEAST_STEADY && t->steady_p50_ns ? (double)t->steady_p99_ns / (double)t->steady_p50_ns :
								  0;
}

static const struct step_trainer *most_uneven(const struct report *r)
{
	const struct phase_steps *s = steps_of(r);
	const struct step_trainer *most = NULL;

	for (uint32_t i = 0; i < s->n_trainers; i++)
		if (!most || jitter_of(&s->trainers[i]) > jitter_of(most))
			most = &s->trainers[i];
	return most;
}

static double step_jitter(const struct report *r)
{
	const struct step_trainer *t = most_uneven(r);

	return t ? jitter_of(t) : 0;
}

/* The cost of uneven steps: the time beyond that of as many steps of the median length, of the most uneven process. */
static struct finding_size size_of_jitter(const struct report *r)
{
	const struct step_trainer *t = most_uneven(r);
	double median_ns = t ? (double)t->steady_p50_ns * (double)t->steady->n : 0;

	return rules_size_of_share(r, t && t->wall_ns ?
					      MAX((double)t->steady->sum - median_ns, 0.0) / (double)t->wall_ns :
					      0);
}

static const char *const part_texts[STEP_PARTS] = {
	[STEP_FETCH] = "fetching",      [STEP_COMPUTE] = "computing",  [STEP_CHECKPOINT] = "in checkpoints",
	[STEP_COMM] = "in collectives", [STEP_OTHER] = "in no region",
};

static void show_slowest_step(const struct report *report, struct finding *finding, const struct step_trainer *trainer)
{
	const struct phase_steps *steps = steps_of(report);
	unsigned int most = 0;

	for (uint32_t i = 0; i < steps->n_slowest; i++) {
		const struct step *step = &steps->slowest[i];

		if (step->pid != trainer->pid)
			continue;
		for (unsigned int p = 1; p < STEP_PARTS; p++)
			most = step->part_ns[p] > step->part_ns[most] ? p : most;
		finding_add(finding, "its longest step took %s from %.3f s on, %s of it %s", FMT_NS(step->wall_ns),
			    rules_seconds(report, step->begin_ns), FMT_NS(step->part_ns[most]), part_texts[most]);
		return;
	}
}

static void show_step_jitter(struct report *r, struct finding *f)
{
	const struct step_trainer *t = most_uneven(r);

	finding_add(f,
		    "of %s steps of process %u, without the first of each epoch and without checkpoints, 1 in 100 took "
		    "%s or more, the median %s",
		    FMT_COUNT(t->steady->n), (unsigned int)t->pid, FMT_NS(t->steady_p99_ns), FMT_NS(t->steady_p50_ns));
	show_slowest_step(r, f, t);
}

/* --- first-batch ------------------------------------------------------------------------------- */

/* Returns how much longer an epoch's first fetch took than its other steps fetched on average. */
static double longer_ns(const struct step_sum *s)
{
	double others_ns = (double)s->part_ns[STEP_FETCH] - (double)s->first_fetch_ns;

	if (s->n < 2)
		return 0;
	return MAX((double)s->first_fetch_ns - MAX(others_ns, 0.0) / (double)(s->n - 1), 0.0);
}

static double all_longer_ns(const struct report *r)
{
	const struct phase_steps *s = steps_of(r);
	double ns = 0;

	for (uint32_t i = 0; i < s->n_sums; i++)
		ns += longer_ns(&s->sums[i]);
	return ns;
}

static double first_batch(const struct report *r)
{
	double all_ns = all_wall_ns(steps_of(r));

	return all_ns > 0 ? all_longer_ns(r) / all_ns : 0;
}

static struct finding_size size_of_first_batch(const struct report *r)
{
	return size_of(r, all_longer_ns(r));
}

static void show_first_batch(struct report *report, struct finding *finding)
{
	const struct phase_steps *steps = steps_of(report);
	const struct step_sum *most = NULL;
	uint64_t first_ns = 0, n = 0;

	for (uint32_t i = 0; i < steps->n_sums; i++) {
		if (steps->sums[i].n < 2)
			continue;
		first_ns += steps->sums[i].first_fetch_ns;
		n++;
		if (!most || longer_ns(&steps->sums[i]) > longer_ns(most))
			most = &steps->sums[i];
	}
	if (!most)
		return;
	finding_add(finding, "the first fetches of %s took %s in all", FMT_N(n, "epoch", "epochs"), FMT_NS(first_ns));
	finding_add(finding,
		    "longest: %s of process %u, from %.3f s on, where its other steps fetched for %s on average",
		    FMT_NS(most->first_fetch_ns), (unsigned int)most->pid, rules_seconds(report, most->begin_ns),
		    FMT_NS((most->part_ns[STEP_FETCH] - MIN(most->first_fetch_ns, most->part_ns[STEP_FETCH])) /
			   (most->n - 1)));
}

/* --- checkpoint-stall -------------------------------------------------------------------------- */

static void sum_saves(const struct report *r, double *save_ns, double *wall_ns)
{
	const struct phase_steps *s = steps_of(r);

	*save_ns = *wall_ns = 0;
	for (uint32_t i = 0; i < s->n_trainers; i++) {
		*save_ns += (double)s->trainers[i].save_ns;
		*wall_ns += (double)s->trainers[i].wall_ns;
	}
}

static double checkpoint_stall(const struct report *r)
{
	double save_ns, wall_ns;

	sum_saves(r, &save_ns, &wall_ns);
	return wall_ns > 0 ? save_ns / wall_ns : 0;
}

static void show_checkpoint_stall(struct report *r, struct finding *f)
{
	double save_ns, wall_ns;

	sum_saves(r, &save_ns, &wall_ns);
	finding_add(f, "threads that take steps were in checkpoint.save for %s of %s, and took none meanwhile",
		    FMT_NS((uint64_t)save_ns), FMT_NS((uint64_t)wall_ns));
}

/* --- rank-skew --------------------------------------------------------------------------------- */

static const struct report_proc *process_of(const struct report *r, const struct step_trainer *t)
{
	return table_find(&r->procs, t->pid);
}

/*
 * Whether two processes are ranks of one job: their ranks are known and differ; or one process started both, and
 * neither has a rank, as with torch.multiprocessing. Separate trainings, at the same time or one after the other, are
 * not.
 */
static bool are_ranks(const struct report *r, const struct step_trainer *a, const struct step_trainer *b)
{
	const struct report_proc *x = process_of(r, a), *y = process_of(r, b), *parent;

	if (!x || !y)
		return false;
	if (x->rank[0] || y->rank[0])
		return x->rank[0] && y->rank[0] && strcmp(x->rank, y->rank) != 0;
	parent = table_find(&r->procs, x->ppid);
	return x->ppid == y->ppid && parent && parent->named && !parent->shell;
}

static bool all_are_ranks(const struct report *r)
{
	const struct phase_steps *s = steps_of(r);

	for (uint32_t i = 0; i < s->n_trainers; i++)
		for (uint32_t k = 0; k < i; k++)
			if (!are_ranks(r, &s->trainers[i], &s->trainers[k]))
				return false;
	return s->n_trainers > 1;
}

static double rank_skew(const struct report *r)
{
	const struct skew *skew = &steps_of(r)->skew;

	return skew->mean_ns > 0 && all_are_ranks(r) ? skew->slowest_ns / skew->mean_ns : 0;
}

static struct finding_size size_of_skew(const struct report *r)
{
	const struct skew *skew = &steps_of(r)->skew;

	return rules_size_of_share(r, skew->wall_ns > 0 ? (skew->slowest_ns - skew->mean_ns) / skew->wall_ns : 0);
}

static void show_rank_skew(struct report *report, struct finding *finding)
{
	const struct phase_steps *steps = steps_of(report);
	const struct report_proc *proc;
	unsigned int most = 0;

	for (unsigned int i = 1; i < steps->n_trainers; i++)
		most = steps->skew.slowest[i] > steps->skew.slowest[most] ? i : most;
	proc = process_of(report, &steps->trainers[most]);
	finding_add(finding,
		    "in %s steps of %u processes, the slowest was busy for %s on average, all of them for %s: without "
		    "collectives, backward and checkpoints",
		    FMT_COUNT(steps->skew.n), steps->n_trainers,
		    FMT_NS((uint64_t)(steps->skew.slowest_ns / (double)steps->skew.n)),
		    FMT_NS((uint64_t)(steps->skew.mean_ns / (double)steps->skew.n)));
	finding_add(finding, "process %u%s%s was the slowest in %.0f %% of these steps",
		    (unsigned int)steps->trainers[most].pid, proc && proc->rank[0] ? ", rank " : "",
		    proc && proc->rank[0] ? proc->rank : "",
		    rules_percent((double)steps->skew.slowest[most], (double)steps->skew.n));
}

const struct rule rules_of_steps[] = {
	{ .code = "checkpoint-stall",
	  .title = "Training stood still while checkpoints were saved",
	  .threshold = 0.05,
	  .number = "time of the threads with steps in regions `checkpoint.save`, among all time of their steps",
	  .needs = RULE_STEPS,
	  .is_share = true,
	  .measure = checkpoint_stall,
	  .evidence = show_checkpoint_stall,
	  .advice = "Save from a thread or process of its own (torch.distributed.checkpoint.async_save), to memory or "
		    "a local disk first, or less often." },
	{ .code = "first-batch",
	  .title = "Each epoch's first batch came late",
	  .threshold = 0.05,
	  .number = "how much longer each epoch's first fetch took than those of its other steps on average, among "
		    "all time of steps",
	  .needs = RULE_STEPS,
	  .is_share = true,
	  .measure = first_batch,
	  .size = size_of_first_batch,
	  .evidence = show_first_batch,
	  .advice = "Keep the workers from one epoch to the next (persistent_workers of a PyTorch DataLoader), or let "
		    "them start before the epoch ends." },
	{ .code = "rank-skew",
	  .title = "Ranks waited for the slowest in each step",
	  .threshold = 1.2,
	  .number = "time of the slowest rank in a step, in relation to the mean of all ranks; without collectives, "
		    "`compute.backward` and checkpoints",
	  .needs = RULE_STEPS,
	  .measure = rank_skew,
	  .size = size_of_skew,
	  .evidence = show_rank_skew,
	  .advice = "Where one rank is always the slowest, look at its data, disk and CPUs; else even out the samples "
		    "of a step between ranks." },
	{ .code = "step-jitter",
	  .title = "Some steps took much longer than others",
	  .threshold = 2,
	  .number = "the 99th percentile of a process's steps in relation to their median; without first steps of "
		    "epochs and time of checkpoints; at least 100 steps",
	  .needs = RULE_STEPS,
	  .measure = step_jitter,
	  .size = size_of_jitter,
	  .evidence = show_step_jitter,
	  .advice = "The slowest steps (report --full) show in which part they were slow: fetches that the loaders "
		    "were not ahead of, or what else ran on the machine." },
	{ .code = NULL },
};
