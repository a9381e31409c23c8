/* SPDX-License-Identifier: BSD-2-Clause */
/* sched_switch.out in the walk through the calls: when loaders ran, or could have run. */
#include "base/util.h"
#include "report/why/walk.h"

#define THREADS_MAX (1U << 16)

/* --- switches ------------------------------------------------------------------------------------------ */

static void loader_ran(struct why_walk *w, const struct why_role *role, enum why_state state, uint64_t begin_ns,
		       uint64_t end_ns)
{
	struct why_stretch x = { .r = w->r, .why = w->why, .role = role, .state = state };

	why_loader_add(&x, begin_ns, end_ns);
}

static void thread_switched(struct why_walk *walk, const struct why_switches *switches)
{
	uint64_t pid, tid, wait_ns, *since;
	const struct why_role *role;

	if (scan_u64(&switches->scan, COL_PREV_PID, &pid) && (role = why_role_of(walk, pid))->loader &&
	    scan_u64(&switches->scan, COL_PREV_TID, &tid)) {
		since = table_get(&walk->switches.threads, tid);
		if (since && *since)
			loader_ran(walk, role, WHY_CPU, *since, switches->scan.time_ns);
		if (since)
			*since = 0;
	}
	if (scan_u64(&switches->scan, COL_NEXT_PID, &pid) && (role = why_role_of(walk, pid))->loader &&
	    scan_u64(&switches->scan, COL_NEXT_TID, &tid)) {
		since = table_get(&walk->switches.threads, tid);
		if (since)
			*since = switches->scan.time_ns;
		if (scan_u64(&switches->scan, COL_WAIT_NS, &wait_ns))
			loader_ran(walk, role, WHY_RUNQ, switches->scan.time_ns - MIN(wait_ns, switches->scan.time_ns),
				   switches->scan.time_ns);
	}
}

/* --- the file ---------------------------------------------------------------------------------------------- */

/*
 * Reads the next switch. The file was read before, for CPU time and the trainers' waits; now its rows are taken among
 * the calls, in order of time.
 */
static void next_switch(struct why_switches *s)
{
	s->more = false;
	while (s->open && scan_next(&s->scan) > 0)
		if (scan_has_number(&s->scan, COL_TIMESTAMP)) {
			s->more = true;
			return;
		}
}

void why_switches_open(struct why_switches *s, struct report *r)
{
	table_init_pids(&s->threads, sizeof(uint64_t), THREADS_MAX);
	s->open = scan_begin(&s->scan, r->folder, "sched_switch") == 0;
	next_switch(s);
}

void why_switches_take(struct why_walk *w)
{
	thread_switched(w, &w->switches);
	next_switch(&w->switches);
}

void why_switches_end(struct why_switches *s)
{
	table_free(&s->threads);
}
