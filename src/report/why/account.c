/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/why/account.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/scan/model.h"
#include "report/why/why_impl.h"

const char *const account_names[ACCOUNT_TERMS] = {
	[ACCOUNT_CPU] = "cpu",	       [ACCOUNT_RUNQ] = "runq",		[ACCOUNT_READ] = "read",
	[ACCOUNT_CACHE] = "cache",     [ACCOUNT_FAULT] = "fault",	[ACCOUNT_OPEN] = "open",
	[ACCOUNT_METADATA] = "metadata", [ACCOUNT_WRITE] = "write",	[ACCOUNT_THREADS] = "threads",
	[ACCOUNT_OTHERS] = "others",   [ACCOUNT_DEVICE] = "device",	[ACCOUNT_SLEEP] = "sleep",
	[ACCOUNT_OTHER] = "other",
};

static double sum_of(const struct account *a)
{
	double sum = 0;

	for (unsigned int i = 0; i < ACCOUNT_TERMS; i++)
		sum += a->ns[i];
	return sum;
}

static void take(double *from, double *much)
{
	double part = MIN(*from, *much);

	*from -= part;
	*much -= part;
}

/*
 * Makes the terms add up to the wall clock. If time is left, it goes to ACCOUNT_OTHER. If the terms exceed the wall clock,
 * calls also ran or waited for a CPU, so that time is taken out of the CPU's terms. If they still exceed it, calls
 * overlapped, as those of io_uring do: then all terms are scaled down.
 */
static void settle(struct account *a)
{
	double excess = sum_of(a) - a->wall_ns, scale;

	if (excess <= 0) {
		a->ns[ACCOUNT_OTHER] -= excess;
		return;
	}
	take(&a->ns[ACCOUNT_RUNQ], &excess);
	take(&a->ns[ACCOUNT_CPU], &excess);
	scale = excess > 0 ? a->wall_ns / sum_of(a) : 1;
	for (unsigned int i = 0; i < ACCOUNT_TERMS; i++)
		a->ns[i] *= scale;
}

/*
 * Adds the terms that S has, to A, which has those of calls on files already. PIPES_NS: the part of the sleep in reads and
 * writes that was waiting for others. THREADS may be NULL.
 */
static void add_sleeps(struct account *a, const struct sleeps *s, double pipes_ns, const struct sleeps *threads)
{
	double calls_ns = a->ns[ACCOUNT_READ] + a->ns[ACCOUNT_CACHE] + a->ns[ACCOUNT_OPEN] + a->ns[ACCOUNT_WRITE];
	double asleep_ns = s->ns[SLEEP_READ] + s->ns[SLEEP_WRITE] + s->ns[SLEEP_OPEN] + s->ns[SLEEP_NAMES] - pipes_ns;

	a->ns[ACCOUNT_CPU] = MAX(s->run_ns - MAX(calls_ns - asleep_ns, 0.0), 0.0);
	a->ns[ACCOUNT_RUNQ] = s->runq_ns;
	a->ns[ACCOUNT_THREADS] = threads ? MIN(s->ns[SLEEP_THREAD], sleeps_busy_ns(threads)) : 0;
	a->ns[ACCOUNT_OTHERS] = s->ns[SLEEP_THREAD] - a->ns[ACCOUNT_THREADS] + s->ns[SLEEP_CHILD] + s->ns[SLEEP_POLL] +
				s->ns[SLEEP_SOCKET] + pipes_ns;
	a->ns[ACCOUNT_DEVICE] = s->ns[SLEEP_DEVICE];
	a->ns[ACCOUNT_SLEEP] = s->ns[SLEEP_TIMER];
	/* asleep in calls that have no row: they are in flight, or their probe is off */
	a->ns[ACCOUNT_OTHER] = s->ns[SLEEP_OTHER] + MAX(asleep_ns - calls_ns, 0.0);
}

static void add_calls(struct account *a, const double state_ns[WHY_STATES])
{
	a->ns[ACCOUNT_READ] += state_ns[WHY_DISK];
	a->ns[ACCOUNT_CACHE] += state_ns[WHY_CACHE];
	a->ns[ACCOUNT_OPEN] += state_ns[WHY_META];
	a->ns[ACCOUNT_WRITE] += state_ns[WHY_WRITE];
}

/* Moves the time of page faults with rows, which was counted like reads that fetched, to its own term. */
static void take_out_faults(struct account *a, double fault_ns)
{
	fault_ns = MIN(fault_ns, a->ns[ACCOUNT_READ]);
	a->ns[ACCOUNT_READ] -= fault_ns;
	a->ns[ACCOUNT_FAULT] += fault_ns;
}

/* Sets TERM to NS; takes them out of the term OF if that includes them (IS_IN). */
static void take_out(struct account *a, enum account_term of, enum account_term term, double ns, bool is_in)
{
	a->ns[term] = ns;
	if (is_in)
		a->ns[of] = MAX(a->ns[of] - ns, 0.0);
}

/* --- the other side of a wait ------------------------------------------------------------------------------- */

/* Returns the process with the most CPU time that does not train; NULL: there is none. */
static const struct report_proc *busiest_other(const struct report *r)
{
	const struct report_proc *most = NULL;

	for (uint32_t i = 0; i < r->procs.n; i++) {
		const struct report_proc *p = table_at(&r->procs, i);

		if (!p->named || why_trainer(r->why, p->pid))
			continue;
		if (!most || p->user_ns + p->sys_ns > most->user_ns + most->sys_ns)
			most = p;
	}
	return most;
}

static void name_others(const struct report *r, const struct why_trainer *t, double pipes_ns, struct account *a)
{
	const struct report_proc *p = busiest_other(r);
	double outside_ns = t->main.ns[SLEEP_SOCKET] + t->main.ns[SLEEP_POLL];

	if (t->loaders)
		snprintf(a->awaited, sizeof(a->awaited), "its %u loader%s", t->loaders, t->loaders > 1 ? "s" : "");
	else if (p && sleeps_busy_ns(&r->why->others) > a->ns[ACCOUNT_OTHERS] / 2)
		snprintf(a->awaited, sizeof(a->awaited), "process %u (%s)", (unsigned int)p->pid, p->comm);
	else if (outside_ns > pipes_ns + t->main.ns[SLEEP_CHILD])
		snprintf(a->awaited, sizeof(a->awaited), "the network, or a process outside the job");
	else if (p)
		snprintf(a->awaited, sizeof(a->awaited), "other processes of the job");
}

/* --- accounts ----------------------------------------------------------------------------------------- */

static void of_trainer(const struct report *r, struct why_trainer *t, struct account *a)
{
	const struct why *w = r->why;
	const struct sleeps *s = &t->main;
	double state_ns[WHY_STATES], pipes_ns = (double)spans_within(&t->calls, t->begin_ns, t->end_ns);

	*a = (struct account){ .pid = t->pid, .n = 1, .wall_ns = (double)(t->end_ns - t->begin_ns) };
	for (unsigned int i = 0; i < WHY_STATES; i++)
		state_ns[i] = (double)t->own_ns[i];
	add_calls(a, state_ns);
	if (w->has_sums) {
		pipes_ns = MIN(pipes_ns, s->ns[SLEEP_READ] + s->ns[SLEEP_WRITE]);
		take_out(a, ACCOUNT_READ, ACCOUNT_FAULT, s->ns[SLEEP_FAULT], true);
		take_out(a, ACCOUNT_OPEN, ACCOUNT_METADATA, s->ns[SLEEP_STAT], !w->has_switches);
		add_sleeps(a, s, pipes_ns, &t->threads);
	} else {
		a->ns[ACCOUNT_OTHERS] = pipes_ns;
	}
	take_out_faults(a, t->fault_ns);
	settle(a);
	name_others(r, t, pipes_ns, a);
}

static void of_loader(const struct report *r, const struct why_loader *l, struct account *a)
{
	const struct why_trainer *t = &r->why->trainer[l->trainer];
	const struct sleeps *s = &l->main;
	double pipes_ns;

	*a = (struct account){ .pid = l->pid, .n = 1, .wall_ns = (double)why_looked_at(t, l->begin_ns, l->end_ns) };
	add_calls(a, l->ns);
	if (r->why->has_sums) {
		pipes_ns = s->ns[SLEEP_READ] + s->ns[SLEEP_WRITE] - l->ns[WHY_DISK] - l->ns[WHY_CACHE] - l->ns[WHY_WRITE];
		take_out(a, ACCOUNT_READ, ACCOUNT_FAULT, s->ns[SLEEP_FAULT], r->why->has_switches);
		take_out(a, ACCOUNT_OPEN, ACCOUNT_METADATA, s->ns[SLEEP_STAT], false);
		add_sleeps(a, s, MAX(pipes_ns, 0.0), NULL);
	} else {
		a->ns[ACCOUNT_OTHERS] = l->ns[WHY_QUEUE];
	}
	take_out_faults(a, l->fault_ns);
	settle(a);
}

static void add(struct account *to, const struct account *a)
{
	to->n++;
	to->wall_ns += a->wall_ns;
	for (unsigned int i = 0; i < ACCOUNT_TERMS; i++)
		to->ns[i] += a->ns[i];
}

struct account *account_all(const struct report *r, uint32_t *n)
{
	struct why *w = r->why;
	struct account *all = calloc(w->n_trainers + 1, sizeof(*all)), one;

	*n = 0;
	for (uint32_t i = 0; all && i < w->n_trainers; i++)
		of_trainer(r, &w->trainer[i], &all[(*n)++]);
	for (uint32_t i = 0; all && i < w->loaders.n; i++) {
		const struct why_loader *l = *(struct why_loader **)table_at(&w->loaders, i);

		if (!l)
			continue;
		of_loader(r, l, &one);
		add(&all[*n], &one);
	}
	*n += all && all[*n].n;
	return all;
}
