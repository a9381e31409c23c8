/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_switch.out in the walk through the calls: when loaders ran, or could have run; and uninterruptible waits
 * outside of calls, which are waits for pages if the process has mapped data.
 */
#include "base/util.h"
#include "report/why/walk.h"

#define THREADS_MAX (1U << 16)
#define FAULTS_MAX 8192 /* threads, 1 KiB each */

struct thread_faults {
	struct why_faults faults;
	uint64_t pid, tid;
};

/* --- page faults ---------------------------------------------------------------------------------------- */

static void faulted(void *ctx, uint64_t begin_ns, uint64_t end_ns)
{
	struct why_stretch *x = ctx;

	if (x->role->loader)
		why_loader_add(x, begin_ns, end_ns);
	else if (x->role->trainer)
		cover_add(x->main ? x->role->main : x->role->others, begin_ns, end_ns, why_trainer_stretch, x);
}

static struct why_stretch faults_of(struct why_walk *w, const struct thread_faults *f)
{
	return (struct why_stretch){
		.r = w->r, .why = w->why, .role = why_role_of(w, f->pid), .state = WHY_DISK, .main = f->pid == f->tid
	};
}

/*
 * Whether PID may wait for pages outside of calls: it has mapped data, or was forked by a process that has. False with
 * fault.out, which shows these waits.
 */
static bool maps_data(const struct why_walk *walk, uint64_t pid, const struct why_role *role)
{
	const struct report_proc *p = table_find(&walk->r->procs, pid), *trainer = NULL;

	if (walk->why->has_faults)
		return false;
	if (!walk->r->present[REPORT_MMAP])
		return role->loader || role->trainer;
	if (role->loader)
		trainer = table_find(&walk->r->procs, walk->why->trainer[role->loader->trainer].pid);
	return (role->loader || role->trainer) && ((p && p->data_maps) || (trainer && trainer->data_maps));
}

static void thread_left(struct why_walk *walk, const struct why_switches *switches, uint64_t pid)
{
	const struct why_role *role = why_role_of(walk, pid);
	struct thread_faults *faults;
	uint64_t tid;

	if (scan_field(&switches->scan, COL_PREV_STATE).p[0] != 'D' || !scan_u64(&switches->scan, COL_PREV_TID, &tid) ||
	    !maps_data(walk, pid, role))
		return;
	faults = table_get(&walk->switches.faults, tid);
	if (!faults)
		return;
	faults->pid = pid;
	faults->tid = tid;
	faults->faults.left_ns = switches->scan.time_ns;
}

static void thread_came(struct why_walk *walk, const struct why_switches *switches, uint64_t pid)
{
	uint64_t tid, wait_ns = 0;
	struct thread_faults *f;
	struct why_stretch x;

	if (!scan_u64(&switches->scan, COL_NEXT_TID, &tid) || !(f = table_find(&walk->switches.faults, tid)) ||
	    f->pid != pid)
		return;
	scan_u64(&switches->scan, COL_WAIT_NS, &wait_ns);
	x = faults_of(walk, f);
	why_faults_woke(&f->faults, switches->scan.time_ns - MIN(wait_ns, switches->scan.time_ns), faulted, &x);
}

void why_switches_call(struct why_walk *w, const struct why_call_row *row)
{
	struct thread_faults *f = table_find(&w->switches.faults, row->kept.tid);
	struct why_stretch x;

	if (!f || f->pid != row->kept.pid || !f->faults.n)
		return;
	x = faults_of(w, f);
	why_faults_call(&f->faults, row->begin_ns, faulted, &x);
}

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

	if (scan_u64(&switches->scan, COL_PREV_PID, &pid))
		thread_left(walk, switches, pid);
	if (scan_u64(&switches->scan, COL_NEXT_PID, &pid))
		thread_came(walk, switches, pid);
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
	table_init_pids(&s->faults, sizeof(struct thread_faults), FAULTS_MAX);
	s->open = scan_begin(&s->scan, r->folder, "sched_switch") == 0;
	next_switch(s);
}

void why_switches_take(struct why_walk *w)
{
	thread_switched(w, &w->switches);
	next_switch(&w->switches);
}

void why_switches_end(struct why_walk *walk)
{
	struct table *faults = &walk->switches.faults;

	for (uint32_t i = 0; i < faults->n; i++) {
		struct thread_faults *f = table_at(faults, i);
		struct why_stretch x = faults_of(walk, f);

		why_faults_end(&f->faults, faulted, &x);
	}
	table_free(&walk->switches.threads);
	table_free(faults);
}
