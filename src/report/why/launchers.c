/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Launchers: processes that only start the trainers and wait for them (mp.spawn, a script that forks a process for each
 * rank). In pids.out alone, a launcher looks like a trainer with loaders. But it computes little, reads no data and
 * receives none. What it reads and receives is known only after the rows, so until then its copies count as trainers,
 * too.
 */
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/why/why_impl.h"

#define LAZY 4 /* a launcher's CPU time is at most a 4th of what its busiest descendant used */
/*
 * So many messages may a launcher receive, and two more for each process below it: that it has started, and an error. A
 * trainer receives more: batches.
 */
#define GREETINGS 8
#define LITTLE_DATA (1U << 20)
#define DEPTH_MAX 4 /* launchers above one process, servers that fork for another process included */

static uint64_t cpu_ns(const struct report_proc *p)
{
	return p->user_ns + p->sys_ns;
}

/* Whether pids.out allows that P only launches. A server that forks on behalf of another process may outlive it. */
static bool may_launch(const struct report_proc *p)
{
	return (p->end_ns || p->spawned) && p->below_cpu_ns && p->below_cpu_ns / LAZY >= cpu_ns(p);
}

/* Whether P only launches: pids.out allows it, and P has received and read little. */
static bool launches(const struct report_proc *p)
{
	return may_launch(p) && p->received <= 2 * p->below + GREETINGS &&
	       p->data_read <= MAX(p->below_data, LITTLE_DATA);
}

/*
 * Returns the uppermost launcher above P, a process that does work. NULL: P's parent is not a launcher, or P does
 * little.
 */
static const struct report_proc *launcher_of(const struct report *report, const struct report_proc *proc,
					     bool (*is_launcher)(const struct report_proc *report_proc))
{
	const struct report_proc *up = why_copied_from(report, proc), *first = NULL;

	if (!up || cpu_ns(proc) < up->copies_cpu_ns / 2)
		return NULL;
	for (unsigned int depth = 0; up && depth < DEPTH_MAX; depth++) {
		if (!is_launcher(up))
			return NULL;
		first = up;
		up = why_copied_from(report, up);
	}
	return first;
}

/* Adds PROC's CPU time and data, and COUNT processes, to the processes above it. */
static void sum_up(const struct report *report, const struct report_proc *proc, unsigned int count)
{
	struct report_proc *up = why_copied_from(report, proc);

	if (up)
		up->copies_cpu_ns = MAX(up->copies_cpu_ns, cpu_ns(proc));
	for (unsigned int depth = 0; up && depth < DEPTH_MAX; depth++) {
		up->below_cpu_ns = MAX(up->below_cpu_ns, cpu_ns(proc));
		up->below += count;
		up->below_data = MAX(up->below_data, proc->data_read);
		up = why_copied_from(report, up);
	}
}

static void add_copy(struct report_proc *of, const struct report_proc *p)
{
	of->copies_from_ns = of->copies++ ? MIN(of->copies_from_ns, p->begin_ns) : p->begin_ns;
}

void why_add_ranks(struct report *report)
{
	for (uint32_t i = 0; i < report->procs.n; i++) {
		const struct report_proc *p = table_at(&report->procs, i);
		struct report_proc *up = why_copied_from(report, p);

		sum_up(report, p, 1);
		if (up)
			add_copy(up, p);
	}
	for (uint32_t i = 0; i < report->procs.n; i++) {
		const struct report_proc *p = table_at(&report->procs, i), *first = launcher_of(report, p, may_launch);

		if (first && why_trainer(report->why, first->pid))
			why_add_trainer(report, p);
	}
}

/* Whether P is among the trainers so far. */
static bool trains(const struct report *r, const struct report_proc *p)
{
	return !launches(p) && (!why_copied_from(r, p) || launcher_of(r, p, launches));
}

void why_drop_launchers(struct report *report)
{
	struct why *why = report->why;
	uint32_t n = 0;

	for (uint32_t i = 0; why->by_copies && i < report->procs.n; i++)
		sum_up(report, table_at(&report->procs, i), 0); /* again, now that it is known what they have read */
	for (uint32_t i = 0; i < why->n_trainers; i++) {
		struct report_proc *proc = table_find(&report->procs, why->trainer[i].pid);

		proc->waits = NULL; /* no more rows come, and the struct moves */
		if (!why->by_copies || trains(report, proc)) {
			why->trainer[n++] = why->trainer[i];
			continue;
		}
		spans_free(&why->trainer[i].calls);
		if (!launches(proc))
			why->more_trainers = false; /* those for which there was no room are not trainers either */
		else if (!why_copied_from(report, proc))
			why_note(why,
				 "process %u (%s) only waited for %s of its kind that it had started, on which the "
				 "report is",
				 (unsigned int)proc->pid, proc->comm, FMT_N(proc->copies, "process", "processes"));
	}
	memset(&why->trainer[n], 0, (why->n_trainers - n) * sizeof(why->trainer[0]));
	why->n_trainers = n;
	if (why->more_trainers)
		why_note(why, "more than %u processes train: the report leaves out the others", n);
}
