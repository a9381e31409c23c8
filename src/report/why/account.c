/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/why/account.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/scan/model.h"
#include "report/why/why_impl.h"

const char *const account_names[ACCOUNT_TERMS] = {
	[ACCOUNT_CPU] = "cpu",           [ACCOUNT_RUNQ] = "runq",     [ACCOUNT_READ] = "read",
	[ACCOUNT_CACHE] = "cache",       [ACCOUNT_FAULT] = "fault",   [ACCOUNT_OPEN] = "open",
	[ACCOUNT_METADATA] = "metadata", [ACCOUNT_WRITE] = "write",   [ACCOUNT_THREADS] = "threads",
	[ACCOUNT_OTHERS] = "others",     [ACCOUNT_DEVICE] = "device", [ACCOUNT_SLEEP] = "sleep",
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
 * Makes the terms add up to the wall clock. If time is left, it goes to ACCOUNT_OTHER. If the terms exceed the wall
 * clock, calls also ran or waited for a CPU, so that time is taken out of the CPU's terms. If they still exceed it,
 * calls overlapped, as those of io_uring do: then all terms are scaled down.
 */
static void settle(struct account *account)
{
	double excess = sum_of(account) - account->wall_ns, scale;

	if (excess <= 0) {
		account->ns[ACCOUNT_OTHER] -= excess;
		return;
	}
	take(&account->ns[ACCOUNT_RUNQ], &excess);
	take(&account->ns[ACCOUNT_CPU], &excess);
	scale = excess > 0 ? account->wall_ns / sum_of(account) : 1;
	for (unsigned int i = 0; i < ACCOUNT_TERMS; i++)
		account->ns[i] *= scale;
}

/*
 * Adds the terms that SLEEPS has, to ACCOUNT, which has those of calls on files already. PIPES_NS: the part of the
 * sleep in reads and writes that was waiting for others. THREADS may be NULL.
 */
static void add_sleeps(struct account *account, const struct sleeps *sleeps, double pipes_ns,
		       const struct sleeps *threads)
{
	double calls_ns = account->ns[ACCOUNT_READ] + account->ns[ACCOUNT_CACHE] + account->ns[ACCOUNT_OPEN] +
			  account->ns[ACCOUNT_WRITE];
	double asleep_ns = sleeps->ns[SLEEP_READ] + sleeps->ns[SLEEP_WRITE] + sleeps->ns[SLEEP_OPEN] +
			   sleeps->ns[SLEEP_NAMES] - pipes_ns;

	account->ns[ACCOUNT_CPU] = MAX(sleeps->run_ns - MAX(calls_ns - asleep_ns, 0.0), 0.0);
	account->ns[ACCOUNT_RUNQ] = sleeps->runq_ns;
	account->ns[ACCOUNT_THREADS] = threads ? MIN(sleeps->ns[SLEEP_THREAD], sleeps_busy_ns(threads)) : 0;
	account->ns[ACCOUNT_OTHERS] = sleeps->ns[SLEEP_THREAD] - account->ns[ACCOUNT_THREADS] +
				      sleeps->ns[SLEEP_CHILD] + sleeps->ns[SLEEP_POLL] + sleeps->ns[SLEEP_SOCKET] +
				      pipes_ns;
	account->ns[ACCOUNT_DEVICE] = sleeps->ns[SLEEP_DEVICE];
	account->ns[ACCOUNT_SLEEP] = sleeps->ns[SLEEP_TIMER];
	/* asleep in calls that have no row: they are in flight, or their probe is off */
	account->ns[ACCOUNT_OTHER] = sleeps->ns[SLEEP_OTHER] + MAX(asleep_ns - calls_ns, 0.0);
}

static void add_calls(struct account *a, const double state_ns[WHY_STATES])
{
	a->ns[ACCOUNT_READ] += state_ns[WHY_DISK];
	a->ns[ACCOUNT_CACHE] += state_ns[WHY_CACHE];
	a->ns[ACCOUNT_OPEN] += state_ns[WHY_META];
	a->ns[ACCOUNT_WRITE] += state_ns[WHY_WRITE];
}

/*
 * Moves the time of page faults with rows, which was counted like reads that fetched, to its own term. Before
 * add_sleeps(), for which the time in reads that was no wait is on a CPU.
 */
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
static const struct report_proc *busiest_other(const struct report *report)
{
	const struct report_proc *most = NULL;

	for (uint32_t i = 0; i < report->procs.n; i++) {
		const struct report_proc *p = table_at(&report->procs, i);

		if (!p->named || why_trainer(report->why, p->pid))
			continue;
		if (!most || p->user_ns + p->sys_ns > most->user_ns + most->sys_ns)
			most = p;
	}
	return most;
}

static void name_others(const struct report *report, const struct why_trainer *trainer, double pipes_ns,
			struct account *account)
{
	const struct report_proc *proc = busiest_other(report);
	double outside_ns = trainer->main.ns[SLEEP_SOCKET] + trainer->main.ns[SLEEP_POLL];

	if (trainer->loaders)
		snprintf(account->awaited, sizeof(account->awaited), "its %u loader%s", trainer->loaders,
			 trainer->loaders > 1 ? "s" : "");
	else if (proc && sleeps_busy_ns(&report->why->others) > account->ns[ACCOUNT_OTHERS] / 2)
		snprintf(account->awaited, sizeof(account->awaited), "process %u (%s)", (unsigned int)proc->pid,
			 proc->comm);
	else if (outside_ns > pipes_ns + trainer->main.ns[SLEEP_CHILD])
		snprintf(account->awaited, sizeof(account->awaited), "the network, or a process outside the job");
	else if (proc)
		snprintf(account->awaited, sizeof(account->awaited), "other processes of the job");
}

double account_waited(const struct account *account)
{
	double ns = 0;

	for (enum account_term term = ACCOUNT_READ; term <= ACCOUNT_OTHERS; term++)
		ns += account->ns[term];
	return ns;
}

/* --- accounts ----------------------------------------------------------------------------------------- */

static void of_trainer(const struct report *report, struct why_trainer *trainer, struct account *account)
{
	const struct why *why = report->why;
	const struct sleeps *sleeps = &trainer->main;
	double state_ns[WHY_STATES],
		pipes_ns = (double)spans_within(&trainer->calls, trainer->begin_ns, trainer->end_ns);

	*account = (struct account){ .pid = trainer->pid,
				     .n = 1,
				     .wall_ns = (double)(trainer->end_ns - trainer->begin_ns) };
	for (unsigned int i = 0; i < WHY_STATES; i++)
		state_ns[i] = (double)trainer->own_ns[i];
	add_calls(account, state_ns);
	if (why->has_sums) {
		pipes_ns = MIN(pipes_ns, sleeps->ns[SLEEP_READ] + sleeps->ns[SLEEP_WRITE]);
		take_out(account, ACCOUNT_READ, ACCOUNT_FAULT, sleeps->ns[SLEEP_FAULT], true);
		take_out_faults(account, trainer->fault_ns);
		take_out(account, ACCOUNT_OPEN, ACCOUNT_METADATA, sleeps->ns[SLEEP_STAT], true);
		add_sleeps(account, sleeps, pipes_ns, &trainer->threads);
	} else {
		account->ns[ACCOUNT_OTHERS] = pipes_ns;
		take_out_faults(account, trainer->fault_ns);
	}
	settle(account);
	name_others(report, trainer, pipes_ns, account);
}

static void of_loader(const struct report *report, const struct why_loader *loader, struct account *account)
{
	const struct why_trainer *trainer = &report->why->trainer[loader->trainer];
	const struct sleeps *sleeps = &loader->main;
	double pipes_ns;

	*account = (struct account){ .pid = loader->pid,
				     .n = 1,
				     .wall_ns = (double)why_looked_at(trainer, loader->begin_ns, loader->end_ns) };
	add_calls(account, loader->ns);
	if (report->why->has_sums) {
		pipes_ns = sleeps->ns[SLEEP_READ] + sleeps->ns[SLEEP_WRITE] - loader->ns[WHY_DISK] -
			   loader->ns[WHY_CACHE] - loader->ns[WHY_WRITE];
		take_out(account, ACCOUNT_READ, ACCOUNT_FAULT, sleeps->ns[SLEEP_FAULT], false);
		take_out_faults(account, loader->fault_ns);
		take_out(account, ACCOUNT_OPEN, ACCOUNT_METADATA, sleeps->ns[SLEEP_STAT], false);
		add_sleeps(account, sleeps, MAX(pipes_ns, 0.0), NULL);
	} else {
		account->ns[ACCOUNT_OTHERS] = loader->ns[WHY_QUEUE];
		take_out_faults(account, loader->fault_ns);
	}
	settle(account);
}

static void add(struct account *to, const struct account *a)
{
	to->n++;
	to->wall_ns += a->wall_ns;
	for (unsigned int i = 0; i < ACCOUNT_TERMS; i++)
		to->ns[i] += a->ns[i];
}

struct account *account_all(const struct report *report, uint32_t *n)
{
	struct why *why = report->why;
	struct account *all = calloc(why->n_trainers + 1, sizeof(*all)), one;

	*n = 0;
	for (uint32_t i = 0; all && i < why->n_trainers; i++)
		of_trainer(report, &why->trainer[i], &all[(*n)++]);
	for (uint32_t i = 0; all && i < why->loaders.n; i++) {
		const struct why_loader *l = *(struct why_loader **)table_at(&why->loaders, i);

		if (!l)
			continue;
		of_loader(report, l, &one);
		add(&all[*n], &one);
	}
	*n += all && all[*n].n;
	return all;
}
