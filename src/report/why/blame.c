/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The causes of the trainers' waits. Where a trainer's own calls on files lie within its waits, the calls are the cause. In
 * the rest of the time it waited for its loaders (together.c). As long as any of them had work, the states of the busy
 * loaders are the cause, each for an equal part. Where one was busy and the others had nothing to do, that one is the cause.
 */
#include <stdlib.h>

#include "base/util.h"
#include "report/why/account.h"
#include "report/why/why_impl.h"

#define NO_CALLS 0.05		/* of the time: with fewer waits in its calls, a process may wait in untraced calls */
#define FEW_CALLS 0.5		/* of the waits that there must be: with fewer in its calls, it waits in others, too */

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
 * Finds what a loader did outside of traced calls during its trainer's waits: from sched.out, or else from its CPU time at
 * exit.
 */
static void resolve_gap(struct report *r, struct why_loader *l)
{
	const struct report_proc *p = table_find(&r->procs, l->pid);
	struct why *w = r->why;
	double gap_ns = MAX(l->alive_idle_ns - sum_of(l->idle_ns), 0.0), all_ns;

	if (w->has_sums && !w->has_switches) {
		l->idle_ns[WHY_CPU] += take(&gap_ns, l->run_idle_ns - l->idle_ns[WHY_CACHE]);
		l->idle_ns[WHY_RUNQ] += take(&gap_ns, l->runq_idle_ns);
		l->idle_ns[WHY_DISK] += take(&gap_ns, l->fault_idle_ns);
		l->idle_ns[WHY_META] += take(&gap_ns, l->stat_idle_ns);
		l->idle_ns[WHY_QUEUE] += take(&gap_ns, l->sleep_idle_ns - l->idle_ns[WHY_QUEUE]);
	} else if (!w->has_switches && p && p->user_ns) {
		all_ns = (double)(l->end_ns - l->begin_ns) - sum_of(l->ns);
		if (all_ns > 0)
			l->idle_ns[WHY_CPU] += take(&gap_ns, gap_ns * MIN((double)p->user_ns / all_ns, 1));
	}
	l->idle_ns[WHY_OTHER] += gap_ns;
}

static void finish_loaders(struct report *r)
{
	for (uint32_t i = 0; i < r->why->loaders.n; i++) {
		struct why_loader *l = *(struct why_loader **)table_at(&r->why->loaders, i);
		struct why_trainer *t;

		if (!l)
			continue;
		t = &r->why->trainer[l->trainer];
		for (unsigned int s = 0; t->basis == WHY_BY_CPU_TIME && s < WHY_STATES; s++)
			l->idle_ns[s] = l->ns[s] * t->cpu_wait; /* it is not known when it waited */
		if (t->basis == WHY_BY_CPU_TIME)
			l->shared_idle_ns = l->shared_ns * t->cpu_wait;
		l->alive_idle_ns = (double)why_waited_then(r->why, t, l->begin_ns, l->end_ns);
		resolve_gap(r, l);
	}
}

/* --- trainers ----------------------------------------------------------------------------------------- */

/*
 * A trainer may wait in calls that are not traced, such as poll(2) and futex(2). Its CPU time is used instead where its
 * calls show hardly any wait, or only few of the waits that there must be even if all of its CPU time lies in the window.
 * Where its CPU time is not known, or means nothing because a GPU works meanwhile, all time outside of its calls is unseen.
 */
static void estimate(struct report *r, struct why_trainer *t, double window_ns)
{
	const struct report_proc *p = table_find(&r->procs, t->pid);
	double waited_ns = (double)why_waited(r->why, t, t->begin_ns, t->end_ns), wait;
	const bool uses_gpu = t->uses_gpu || (p && p->on_gpu);
	const double cpu_ns = p && p->end_ns ? (double)(p->user_ns + p->sys_ns) : 0;

	if (t->basis != WHY_BY_CALLS)
		return;
	for (unsigned int s = 0; s < WHY_STATES; s++)
		waited_ns += (double)t->own_ns[s];
	if (uses_gpu || cpu_ns <= 0) {
		t->unseen_ns = MAX(window_ns - waited_ns, 0.0);
		if (uses_gpu && waited_ns <= NO_CALLS * window_ns)
			t->basis = WHY_BY_NOTHING;
		return;
	}
	wait = 1 - cpu_ns / (double)(p->end_ns - p->begin_ns);
	if (wait * window_ns <= waited_ns)
		return;
	if (waited_ns > NO_CALLS * window_ns && waited_ns > FEW_CALLS * (window_ns - cpu_ns)) {
		t->unseen_ns = wait * window_ns - waited_ns;
		return;
	}
	t->basis = t->then = WHY_BY_CPU_TIME;
	t->cpu_wait = wait;
}

/* Puts the trainer's own calls into OWN: of each sample of its GPU, at most the time in which the GPU was idle. */
static void own_by_samples(struct why *w, const struct why_trainer *t, double own[WHY_STATES])
{
	const struct spans *samples = why_samples(w, t);

	for (size_t i = 0; t->own_samples && i < samples->n; i++) {
		const struct span *s = &samples->v[i];
		double sum = 0, scale, idle_ns = (double)(s->end_ns - s->begin_ns) * (double)s->weight;

		for (unsigned int k = 0; k < WHY_STATES; k++)
			sum += (double)t->own_samples[i][k];
		scale = sum > idle_ns ? idle_ns / sum : 1;
		for (unsigned int k = 0; k < WHY_STATES; k++)
			own[k] += scale * (double)t->own_samples[i][k];
	}
}

/*
 * Returns the account of T, if its waits come from sched.out; NULL: they have another source. The account is exact, while
 * waits from sched.out are spread evenly over their intervals. Waits from sched_switch.out are exact, too, and so are their
 * times, but these are needed only to compare them with loaders: so without loaders the account is used, too.
 */
static const struct account *account_of(const struct why *w, const struct why_trainer *t)
{
	const bool sums = t->basis == WHY_BY_SUMS || (t->basis == WHY_BY_SWITCHES && w->has_sums && !t->loaders);

	return sums && w->accounts ? &w->accounts[t - w->trainer] : NULL;
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
 * Counts all time of the checkpoints that T writes itself as writing, whatever it did in them. Returns the waits, which were
 * ALL_NS before.
 */
static double own_saves(struct why *w, struct why_trainer *t, double own[WHY_STATES], double all_ns)
{
	const double waited_ns = why_saves_waited(w, t);

	if (!why_saves_itself(t))
		return all_ns;
	if (t->basis != WHY_BY_GPU) /* the waits have the writes and syncs of checkpoints, but not the rest */
		all_ns += MAX(waited_ns - (double)t->in_saves_ns[WHY_WRITE], 0.0);
	for (unsigned int s = 0; s < WHY_STATES; s++)
		if (t->basis == WHY_BY_GPU || s == WHY_WRITE)
			own[s] = MAX(own[s] - (double)t->in_saves_ns[s], 0.0);
	own[WHY_WRITE] += waited_ns;
	w->saves_ns += waited_ns;
	w->saves_write_ns += MIN((double)t->in_saves_ns[WHY_WRITE], waited_ns);
	return all_ns;
}

/* Puts into OWN what T itself did on files in its waits. Returns the waits, which include these calls. */
static double own_and_all(struct why *w, struct why_trainer *t, double own[WHY_STATES])
{
	double window_ns = (double)(t->end_ns - t->begin_ns), all_ns = (double)why_waited(w, t, t->begin_ns, t->end_ns);
	const struct account *a = account_of(w, t);
	double sum, scale;

	if (a)
		return own_by_account(a, own);
	for (unsigned int s = 0; s < WHY_STATES; s++) {
		own[s] = (double)t->own_idle_ns[s];
		if (t->basis == WHY_BY_GPU || !why_waits_outside(t, s))
			continue;
		own[s] = MAX(own[s], (double)t->own_ns[s]);
		if (t->basis != WHY_BY_CPU_TIME)
			all_ns += MAX((double)t->own_ns[s] - (double)t->own_idle_ns[s], 0.0);
	}
	if (t->basis == WHY_BY_GPU)
		own_by_samples(w, t, own);
	all_ns = own_saves(w, t, own, all_ns);
	all_ns = MIN(all_ns, window_ns);
	sum = sum_of(own);
	scale = sum > all_ns ? all_ns / sum : 1; /* calls of several threads may overlap */
	for (unsigned int s = 0; s < WHY_STATES; s++)
		own[s] *= scale;
	return all_ns;
}

/*
 * Divides WAIT_NS of T by what the threads in S, for which it waited, did meanwhile. What they computed was work of the job.
 */
static void blame_helpers(struct why *w, struct why_trainer *t, const struct sleeps *s, double wait_ns)
{
	double busy_ns = sleeps_busy_ns(s), part = busy_ns > 0 ? wait_ns / busy_ns : 0;

	w->blame_ns[WHY_DISK] += part * (s->ns[SLEEP_READ] + s->ns[SLEEP_FAULT]);
	w->blame_ns[WHY_META] += part * (s->ns[SLEEP_OPEN] + s->ns[SLEEP_NAMES] + s->ns[SLEEP_STAT]);
	w->blame_ns[WHY_WRITE] += part * s->ns[SLEEP_WRITE];
	w->blame_ns[WHY_RUNQ] += part * s->runq_ns;
	w->computed_ns += part * s->run_ns;
	w->slept_ns += part * s->ns[SLEEP_DEVICE];
	t->waited_ns -= MIN((uint64_t)(part * (s->run_ns + s->ns[SLEEP_DEVICE])), t->waited_ns);
}

/*
 * Returns the part of REST_NS in which T waited for processes of the job to end that slept for a time: the job slept. Others
 * of its processes may have waited for the network meanwhile; each has its part.
 */
static double slept_by_children(const struct why *w, const struct why_trainer *t, double rest_ns)
{
	const double *others = w->others.ns, timer_ns = others[SLEEP_TIMER];
	const double outside_ns = others[SLEEP_SOCKET] + others[SLEEP_POLL];

	return timer_ns > 0 ? MIN(MIN(rest_ns, t->main.ns[SLEEP_CHILD]) * timer_ns / (timer_ns + outside_ns), timer_ns) : 0;
}

/*
 * Divides the rest of the waits of a trainer without loaders among its own threads, other processes of the job, and unknown.
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
 * For a trainer that has no loaders and reads its data itself: divides REST_NS by what its main thread did in its fetches
 * outside of calls on files, by sched.out. What it computes there, in this or other threads, counts as decoding. Returns
 * false where sched.out does not show it.
 */
static bool blame_fetching(struct why *w, const struct why_trainer *t, double rest_ns)
{
	const struct sleeps *s = &t->fetching;
	const double others = s->ns[SLEEP_CHILD] + s->ns[SLEEP_POLL] + s->ns[SLEEP_SOCKET] + s->ns[SLEEP_DEVICE] +
			      s->ns[SLEEP_TIMER] + s->ns[SLEEP_OTHER];
	const double cpu = s->run_ns + s->ns[SLEEP_THREAD], all = cpu + s->runq_ns + s->ns[SLEEP_STAT] + s->ns[SLEEP_FAULT] + others;

	if (t->basis != WHY_BY_REGIONS || all <= 0)
		return false;
	w->blame_ns[WHY_CPU] += rest_ns * cpu / all;
	w->blame_ns[WHY_RUNQ] += rest_ns * s->runq_ns / all;
	w->blame_ns[WHY_META] += rest_ns * s->ns[SLEEP_STAT] / all;
	w->blame_ns[WHY_DISK] += rest_ns * s->ns[SLEEP_FAULT] / all;
	w->blame_ns[WHY_OTHER] += rest_ns * others / all;
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

static void blame_loaders(struct report *r, struct why_trainer *t, double rest_ns)
{
	double base_ns = (double)why_waited_then(r->why, t, t->begin_ns, t->end_ns), did[WHY_STATES] = { 0 }, shared_ns = 0, all_ns, busy_ns;
	struct why *w = r->why;
	uint32_t nr = (uint32_t)(t - w->trainer);
	struct why_together b;
	double slow_ns, ready_ns;

	for (uint32_t i = 0; i < w->loaders.n; i++) {
		const struct why_loader *l = *(struct why_loader **)table_at(&w->loaders, i);

		if (!l || l->trainer != nr)
			continue;
		for (unsigned int s = 0; s < WHY_STATES; s++)
			did[s] += l->idle_ns[s];
		shared_ns += l->shared_idle_ns;
	}
	all_ns = sum_of(did);
	if (all_ns <= 0) {
		w->blame_ns[WHY_OTHER] += rest_ns;
		return;
	}
	w->loader_idle_ns += all_ns;
	b = why_together(w, nr);
	slow_ns = base_ns > 0 ? MIN(b.straggler_ns / base_ns, 1) * rest_ns : 0;
	w->straggler_ns += slow_ns;
	rest_ns -= slow_ns;
	busy_ns = all_ns - did[WHY_QUEUE];
	ready_ns = busy_ns > 0 && b.idle_ns > 0 ? MIN(b.ready_ns / b.idle_ns * (rest_ns + slow_ns), rest_ns) :
						  rest_ns * did[WHY_QUEUE] / all_ns;
	w->blame_ns[WHY_QUEUE] += ready_ns;
	for (unsigned int s = 0; busy_ns > 0 && s < WHY_STATES; s++)
		if (s != WHY_QUEUE)
			w->blame_ns[s] += (rest_ns - ready_ns) * did[s] / busy_ns;
	w->shared_ns += busy_ns > 0 ? (rest_ns - ready_ns) * MIN(shared_ns / busy_ns, 1) : 0;
}

static void blame_trainer(struct report *r, struct why_trainer *t)
{
	struct why *w = r->why;
	const struct account *a = account_of(w, t);
	double own[WHY_STATES], rest_ns;

	if (!why_knows_waits(t))
		return;
	t->waited_ns = (uint64_t)own_and_all(w, t, own);
	rest_ns = (double)t->waited_ns - sum_of(own);
	w->window_ns += (double)(t->end_ns - t->begin_ns);
	w->unseen_ns += t->unseen_ns;
	for (unsigned int s = 0; s < WHY_STATES; s++)
		w->blame_ns[s] += own[s];
	if (a) {
		w->computed_ns += a->ns[ACCOUNT_CPU];
		w->slept_ns += a->ns[ACCOUNT_SLEEP] + a->ns[ACCOUNT_DEVICE];
	}
	if (rest_ns > 0 && t->loaders)
		blame_loaders(r, t, rest_ns);
	else if (rest_ns > 0 && a)
		blame_others(w, t, a);
	else if (rest_ns > 0 && !blame_fetching(w, t, rest_ns))
		blame_itself(r, t, rest_ns);
	w->waited_ns += (double)t->waited_ns;
}

/* Returns the basis of all trainers whose waits are known; the others have no part in the sums. */
static enum why_basis basis_of_all(const struct why *w)
{
	enum why_basis basis = WHY_BY_NOTHING;

	for (uint32_t i = 0; i < w->n_trainers; i++) {
		if (!why_knows_waits(&w->trainer[i]))
			continue;
		if (basis != WHY_BY_NOTHING && basis != w->trainer[i].basis)
			return WHY_BY_SEVERAL;
		basis = w->trainer[i].basis;
	}
	return basis;
}

void why_blame(struct report *r)
{
	struct why *w = r->why;

	for (uint32_t i = 0; i < w->n_trainers; i++)
		estimate(r, &w->trainer[i], (double)(w->trainer[i].end_ns - w->trainer[i].begin_ns));
	w->basis = basis_of_all(w);
	finish_loaders(r);
	for (uint32_t i = 0; i < w->n_trainers; i++)
		blame_trainer(r, &w->trainer[i]);
}
