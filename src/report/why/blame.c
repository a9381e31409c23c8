/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The causes of the trainers' waits. Where a trainer's own calls on files lie within its waits, the calls are the
 * cause. In the rest of the time it waited for its loaders (together.c). As long as any of them had work, the states of
 * the busy loaders are the cause, each for an equal part. Where one was busy and the others had nothing to do, that one
 * is the cause.
 */
#include <stdlib.h>

#include "base/util.h"
#include "report/why/account.h"
#include "report/why/why_impl.h"

#define NO_CALLS 0.05 /* of the time: with fewer waits in its calls, a process may wait in untraced calls */

static double sum_of(const double v[WHY_STATES])
{
	double sum = 0;

	for (unsigned int i = 0; i < WHY_STATES; i++)
		sum += v[i];
	return sum;
}

static double take(double *from, double want)
{
	double part = MIN(MAX(want, 0.0), *from);

	*from -= part;
	return part;
}

/* --- loaders ------------------------------------------------------------------------------------------ */

/*
 * Finds what a loader did outside of traced calls during its trainer's waits: from sched.out, or else from its CPU time
 * at exit.
 */
static void resolve_gap(struct report *report, struct why_loader *loader)
{
	const struct report_proc *proc = table_find(&report->procs, loader->pid);
	struct why *why = report->why;
	double gap_ns = MAX(loader->alive_idle_ns - sum_of(loader->idle_ns), 0.0), all_ns;

	if (why->has_sums) {
		loader->idle_ns[WHY_CPU] += take(&gap_ns, loader->run_idle_ns - loader->idle_ns[WHY_CACHE]);
		loader->idle_ns[WHY_RUNQ] += take(&gap_ns, loader->runq_idle_ns);
		loader->idle_ns[WHY_DISK] += take(&gap_ns, loader->fault_idle_ns);
		loader->idle_ns[WHY_META] += take(&gap_ns, loader->stat_idle_ns);
		loader->idle_ns[WHY_QUEUE] += take(&gap_ns, loader->sleep_idle_ns - loader->idle_ns[WHY_QUEUE]);
	} else if (proc && proc->user_ns) {
		all_ns = (double)(loader->end_ns - loader->begin_ns) - sum_of(loader->ns);
		if (all_ns > 0)
			loader->idle_ns[WHY_CPU] += take(&gap_ns, gap_ns * MIN((double)proc->user_ns / all_ns, 1));
	}
	loader->idle_ns[WHY_OTHER] += gap_ns;
}

static void finish_loaders(struct report *report)
{
	for (uint32_t i = 0; i < report->why->loaders.n; i++) {
		struct why_loader *loader = *(struct why_loader **)table_at(&report->why->loaders, i);
		struct why_trainer *trainer;

		if (!loader)
			continue;
		trainer = &report->why->trainer[loader->trainer];
		loader->alive_idle_ns = (double)why_waited_then(report->why, trainer, loader->begin_ns, loader->end_ns);
		resolve_gap(report, loader);
	}
}

/* --- trainers ----------------------------------------------------------------------------------------- */

/*
 * A trainer may wait in calls that are not traced, such as poll(2) and futex(2): for as long as its CPU time leaves,
 * or, where that is not known, or means nothing because a GPU works meanwhile, in all time outside of its calls.
 */
static void find_unseen(struct report *report, struct why_trainer *trainer, double window_ns)
{
	const struct report_proc *proc = table_find(&report->procs, trainer->pid);
	double seen_ns = (double)why_waited(report->why, trainer, trainer->begin_ns, trainer->end_ns), most = 1;
	const bool uses_gpu = trainer->uses_gpu || (proc && proc->on_gpu);

	if (trainer->basis != WHY_BY_CALLS)
		return;
	for (unsigned int s = 0; s < WHY_STATES; s++)
		seen_ns += (double)trainer->own_ns[s];
	if (!uses_gpu && proc && proc->end_ns)
		most -= (double)(proc->user_ns + proc->sys_ns) / (double)(proc->end_ns - proc->begin_ns);
	trainer->unseen_ns = MAX(most * window_ns - seen_ns, 0.0);
	if (uses_gpu && seen_ns <= NO_CALLS * window_ns)
		trainer->basis = WHY_BY_NOTHING;
}

/* Puts the trainer's own calls into OWN: of each sample of its GPU, at most the time in which the GPU was idle. */
static void own_by_samples(struct why *why, const struct why_trainer *trainer, double own[WHY_STATES])
{
	const struct spans *samples = why_samples(why, trainer);

	for (size_t i = 0; trainer->own_samples && i < samples->n; i++) {
		const struct span *s = &samples->v[i];
		double sum = 0, scale, idle_ns = (double)(s->end_ns - s->begin_ns) * (double)s->weight;

		for (unsigned int k = 0; k < WHY_STATES; k++)
			sum += (double)trainer->own_samples[i][k];
		scale = sum > idle_ns ? idle_ns / sum : 1;
		for (unsigned int k = 0; k < WHY_STATES; k++)
			own[k] += scale * (double)trainer->own_samples[i][k];
	}
}

/*
 * Returns the account of T, if its waits come from sched.out; NULL: they have another source. The account is exact,
 * while waits from sched.out are spread evenly over their intervals.
 */
static const struct account *account_of(const struct why *w, const struct why_trainer *t)
{
	return t->basis == WHY_BY_SUMS && w->accounts ? &w->accounts[t - w->trainer] : NULL;
}

static double own_by_account(const struct account *a, double own[WHY_STATES])
{
	for (unsigned int s = 0; s < WHY_STATES; s++)
		own[s] = 0;
	own[WHY_DISK] = a->ns[ACCOUNT_READ] + a->ns[ACCOUNT_FAULT];
	own[WHY_CACHE] = a->ns[ACCOUNT_CACHE];
	own[WHY_META] = a->ns[ACCOUNT_OPEN] + a->ns[ACCOUNT_METADATA];
	own[WHY_WRITE] = a->ns[ACCOUNT_WRITE];
	return sum_of(own) + a->ns[ACCOUNT_THREADS] + a->ns[ACCOUNT_OTHERS];
}

/*
 * Counts all time of the checkpoints that TRAINER writes itself as writing, whatever it did in them. Returns the waits,
 * which were ALL_NS before.
 */
static double own_saves(struct why *why, struct why_trainer *trainer, double own[WHY_STATES], double all_ns)
{
	const double waited_ns = why_saves_waited(why, trainer);

	if (!why_saves_itself(trainer))
		return all_ns;
	if (trainer->basis != WHY_BY_GPU) /* the waits have the writes and syncs of checkpoints, but not the rest */
		all_ns += MAX(waited_ns - (double)trainer->in_saves_ns[WHY_WRITE], 0.0);
	for (unsigned int s = 0; s < WHY_STATES; s++)
		if (trainer->basis == WHY_BY_GPU || s == WHY_WRITE)
			own[s] = MAX(own[s] - (double)trainer->in_saves_ns[s], 0.0);
	own[WHY_WRITE] += waited_ns;
	why->saves_ns += waited_ns;
	why->saves_write_ns += MIN((double)trainer->in_saves_ns[WHY_WRITE], waited_ns);
	return all_ns;
}

/* Puts into OWN what TRAINER itself did on files in its waits. Returns the waits, which include these calls. */
static double own_and_all(struct why *why, struct why_trainer *trainer, double own[WHY_STATES])
{
	double window_ns = (double)(trainer->end_ns - trainer->begin_ns),
	       all_ns = (double)why_waited(why, trainer, trainer->begin_ns, trainer->end_ns);
	const struct account *account = account_of(why, trainer);
	double sum, scale;

	if (account)
		return own_by_account(account, own);
	for (unsigned int s = 0; s < WHY_STATES; s++) {
		own[s] = (double)trainer->own_idle_ns[s];
		if (trainer->basis == WHY_BY_GPU || !why_waits_outside(trainer, s))
			continue;
		own[s] = MAX(own[s], (double)trainer->own_ns[s]);
		all_ns += MAX((double)trainer->own_ns[s] - (double)trainer->own_idle_ns[s], 0.0);
	}
	if (trainer->basis == WHY_BY_GPU)
		own_by_samples(why, trainer, own);
	all_ns = own_saves(why, trainer, own, all_ns);
	all_ns = MIN(all_ns, window_ns);
	sum = sum_of(own);
	scale = sum > all_ns ? all_ns / sum : 1; /* calls of several threads may overlap */
	for (unsigned int s = 0; s < WHY_STATES; s++)
		own[s] *= scale;
	return all_ns;
}

/*
 * Divides WAIT_NS of TRAINER by what the threads in SLEEPS, for which it waited, did meanwhile. What they computed was
 * work of the job.
 */
static void blame_helpers(struct why *why, struct why_trainer *trainer, const struct sleeps *sleeps, double wait_ns)
{
	double busy_ns = sleeps_busy_ns(sleeps), part = busy_ns > 0 ? wait_ns / busy_ns : 0;

	why->blame_ns[WHY_DISK] += part * (sleeps->ns[SLEEP_READ] + sleeps->ns[SLEEP_FAULT]);
	why->blame_ns[WHY_META] += part * (sleeps->ns[SLEEP_OPEN] + sleeps->ns[SLEEP_NAMES] + sleeps->ns[SLEEP_STAT]);
	why->blame_ns[WHY_WRITE] += part * sleeps->ns[SLEEP_WRITE];
	why->blame_ns[WHY_RUNQ] += part * sleeps->runq_ns;
	why->computed_ns += part * sleeps->run_ns;
	why->slept_ns += part * sleeps->ns[SLEEP_DEVICE];
	trainer->waited_ns -= MIN((uint64_t)(part * (sleeps->run_ns + sleeps->ns[SLEEP_DEVICE])), trainer->waited_ns);
}

/*
 * Returns the part of REST_NS in which T waited for processes of the job to end that slept for a time: the job slept.
 * Others of its processes may have waited for the network meanwhile; each has its part.
 */
static double slept_by_children(const struct why *w, const struct why_trainer *t, double rest_ns)
{
	const double *others = w->others.ns, timer_ns = others[SLEEP_TIMER];
	const double outside_ns = others[SLEEP_SOCKET] + others[SLEEP_POLL];

	return timer_ns > 0 ?
		       MIN(MIN(rest_ns, t->main.ns[SLEEP_CHILD]) * timer_ns / (timer_ns + outside_ns), timer_ns) :
		       0;
}

/*
 * Divides the rest of the waits of a trainer without loaders among its own threads, other processes of the job, and
 * unknown.
 */
static void blame_others(struct why *w, struct why_trainer *t, const struct account *a)
{
	double others_ns = MIN(MAX(a->ns[ACCOUNT_OTHERS] - t->main.ns[SLEEP_SOCKET], 0.0), sleeps_busy_ns(&w->others));
	double rest_ns = a->ns[ACCOUNT_OTHERS] - others_ns, slept_ns = slept_by_children(w, t, rest_ns);

	blame_helpers(w, t, &t->threads, a->ns[ACCOUNT_THREADS]);
	blame_helpers(w, t, &w->others, others_ns);
	w->slept_ns += slept_ns;
	t->waited_ns -= MIN((uint64_t)slept_ns, t->waited_ns);
	w->blame_ns[WHY_OTHER] += rest_ns - slept_ns;
}

/*
 * For a trainer that has no loaders and reads its data itself: divides REST_NS by what its main thread did in its
 * fetches outside of calls on files, by sched.out. What it computes there, in this or other threads, counts as
 * decoding. Returns false where sched.out does not show it.
 */
static bool blame_fetching(struct why *why, const struct why_trainer *trainer, double rest_ns)
{
	const struct sleeps *sleeps = &trainer->fetching;
	const double others = sleeps->ns[SLEEP_CHILD] + sleeps->ns[SLEEP_POLL] + sleeps->ns[SLEEP_SOCKET] +
			      sleeps->ns[SLEEP_DEVICE] + sleeps->ns[SLEEP_TIMER] + sleeps->ns[SLEEP_OTHER];
	const double cpu = sleeps->run_ns + sleeps->ns[SLEEP_THREAD],
		     all = cpu + sleeps->runq_ns + sleeps->ns[SLEEP_STAT] + sleeps->ns[SLEEP_FAULT] + others;

	if (trainer->basis != WHY_BY_REGIONS || all <= 0)
		return false;
	why->blame_ns[WHY_CPU] += rest_ns * cpu / all;
	why->blame_ns[WHY_RUNQ] += rest_ns * sleeps->runq_ns / all;
	why->blame_ns[WHY_META] += rest_ns * sleeps->ns[SLEEP_STAT] / all;
	why->blame_ns[WHY_DISK] += rest_ns * sleeps->ns[SLEEP_FAULT] / all;
	why->blame_ns[WHY_OTHER] += rest_ns * others / all;
	return true;
}

/* As blame_fetching(), but for a trainer without a row in sched.out: by its CPU time, which counts as decoding. */
static void blame_itself(struct report *r, struct why_trainer *t, double rest_ns)
{
	const struct report_proc *p = table_find(&r->procs, t->pid);
	double life_ns = p && p->end_ns > p->begin_ns ? (double)(p->end_ns - p->begin_ns) : 0;
	double cpu = life_ns > 0 && t->basis <= WHY_BY_REGIONS ? MIN((double)(p->user_ns + p->sys_ns) / life_ns, 1) : 0;

	r->why->blame_ns[WHY_CPU] += rest_ns * cpu;
	r->why->blame_ns[WHY_OTHER] += rest_ns * (1 - cpu);
}

static void blame_loaders(struct report *report, struct why_trainer *trainer, double rest_ns)
{
	double base_ns = (double)why_waited_then(report->why, trainer, trainer->begin_ns, trainer->end_ns),
	       did[WHY_STATES] = { 0 }, shared_ns = 0, all_ns, busy_ns;
	struct why *why = report->why;
	uint32_t nr = (uint32_t)(trainer - why->trainer);
	struct why_together b;
	double slow_ns, ready_ns;

	for (uint32_t i = 0; i < why->loaders.n; i++) {
		const struct why_loader *l = *(struct why_loader **)table_at(&why->loaders, i);

		if (!l || l->trainer != nr)
			continue;
		for (unsigned int s = 0; s < WHY_STATES; s++)
			did[s] += l->idle_ns[s];
		shared_ns += l->shared_idle_ns;
	}
	all_ns = sum_of(did);
	if (all_ns <= 0) {
		why->blame_ns[WHY_OTHER] += rest_ns;
		return;
	}
	b = why_together(why, nr);
	slow_ns = base_ns > 0 ? MIN(b.straggler_ns / base_ns, 1) * rest_ns : 0;
	why->straggler_ns += slow_ns;
	rest_ns -= slow_ns;
	busy_ns = all_ns - did[WHY_QUEUE];
	ready_ns = busy_ns > 0 && b.idle_ns > 0 ? MIN(b.ready_ns / b.idle_ns * (rest_ns + slow_ns), rest_ns) :
						  rest_ns * did[WHY_QUEUE] / all_ns;
	why->blame_ns[WHY_QUEUE] += ready_ns;
	for (unsigned int s = 0; busy_ns > 0 && s < WHY_STATES; s++)
		if (s != WHY_QUEUE)
			why->blame_ns[s] += (rest_ns - ready_ns) * did[s] / busy_ns;
	why->shared_ns += busy_ns > 0 ? (rest_ns - ready_ns) * MIN(shared_ns / busy_ns, 1) : 0;
}

static void blame_trainer(struct report *report, struct why_trainer *trainer)
{
	struct why *why = report->why;
	const struct account *account = account_of(why, trainer);
	double own[WHY_STATES], rest_ns;

	if (!why_knows_waits(trainer))
		return;
	trainer->waited_ns = (uint64_t)own_and_all(why, trainer, own);
	rest_ns = (double)trainer->waited_ns - sum_of(own);
	why->window_ns += (double)(trainer->end_ns - trainer->begin_ns);
	why->unseen_ns += trainer->unseen_ns;
	for (unsigned int s = 0; s < WHY_STATES; s++)
		why->blame_ns[s] += own[s];
	if (account) {
		why->computed_ns += account->ns[ACCOUNT_CPU];
		why->slept_ns += account->ns[ACCOUNT_SLEEP] + account->ns[ACCOUNT_DEVICE];
	}
	if (rest_ns > 0 && trainer->loaders)
		blame_loaders(report, trainer, rest_ns);
	else if (rest_ns > 0 && account)
		blame_others(why, trainer, account);
	else if (rest_ns > 0 && !blame_fetching(why, trainer, rest_ns))
		blame_itself(report, trainer, rest_ns);
	why->waited_ns += (double)trainer->waited_ns;
}

/* Returns the basis of all trainers whose waits are known; the others have no part in the sums. */
static enum why_basis basis_of_all(const struct why *why)
{
	enum why_basis basis = WHY_BY_NOTHING;

	for (uint32_t i = 0; i < why->n_trainers; i++) {
		if (!why_knows_waits(&why->trainer[i]))
			continue;
		if (basis != WHY_BY_NOTHING && basis != why->trainer[i].basis)
			return WHY_BY_SEVERAL;
		basis = why->trainer[i].basis;
	}
	return basis;
}

void why_blame(struct report *r)
{
	struct why *w = r->why;

	for (uint32_t i = 0; i < w->n_trainers; i++)
		find_unseen(r, &w->trainer[i], (double)(w->trainer[i].end_ns - w->trainer[i].begin_ns));
	w->basis = basis_of_all(w);
	finish_loaders(r);
	for (uint32_t i = 0; i < w->n_trainers; i++)
		blame_trainer(r, &w->trainer[i]);
}
