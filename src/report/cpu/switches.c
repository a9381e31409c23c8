/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_switch.out: a row for each switch by which a thread of the target gets a CPU or leaves it. Without sched.out,
 * all sums are made of these rows; with it, they show to the nanosecond in which phase the target ran, and when it ran
 * on no CPU.
 *
 * A row has the thread that left and how long it had run. So the time of a CPU since its previous row is known, except
 * that of other threads in between, which are not of the target: it counts as nobody's.
 */
#include "report/cpu/scan.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

#define NOT_KNOWN UINT64_MAX
/* TIMESTAMP is taken a moment after the clock that RUN_NS comes from. */
#define SLACK_NS 10000

struct side {
	uint32_t pid, tid, task, thread;
	enum cpu_kind kind;
};

struct at {
	bool seen;
	uint64_t first_ns, first_run_ns, last_ns;
	struct side first, next; /* which thread left at the first row; which came at the last */
	uint64_t off_ns; /* since when the target does not run there, if it does not */
	bool off, off_idle;
};

/* A stretch of a CPU without the target. */
struct off {
	uint64_t start_ns, end_ns;
	bool idle;
};

struct switches {
	struct report_cpu *r;
	struct at at[CPU_CPUS_MAX];
	struct off *offs;
	size_t n_offs;
	bool offs_full;
};

/* --- threads ---------------------------------------------------------------------------------------------- */

/* Returns the kind of a thread, which the file lacks: kernel threads are recognized by the names in the rules. */
static enum cpu_kind kind_of(const struct report_cpu *cpu, uint32_t pid, struct reader_field comm)
{
	if (!pid)
		return reader_is(comm, "-") ? CPU_OTHER : CPU_IDLE;
	if (report_cpu_is_target(cpu, pid))
		return CPU_TARGET;
	if (pid == cpu->manifest.self_pid)
		return CPU_SELF;
	for (uint32_t i = 0; i < cpu->n_rules; i++)
		if (!cpu->rules[i].any && comm.len >= strlen(cpu->rules[i].prefix) &&
		    memcmp(comm.p, cpu->rules[i].prefix, strlen(cpu->rules[i].prefix)) == 0)
			return CPU_KERNEL;
	return cpu->has_pids ? CPU_OTHER : CPU_TARGET;
}

/* The columns of the thread that left, and of the one that came. */
struct side_columns {
	enum column pid, tid, comm;
};
static const struct side_columns prev_columns = { COL_PREV_PID, COL_PREV_TID, COL_PREV_COMM },
				 next_columns = { COL_NEXT_PID, COL_NEXT_TID, COL_NEXT_COMM };

static bool side_of(struct report_cpu *cpu, const struct scan *scan, const struct side_columns *columns,
		    uint64_t time_ns, struct side *ret)
{
	struct reader_field comm = scan_field(scan, columns->comm);
	uint64_t pid, tid;

	if (!scan_u64(scan, columns->pid, &pid) || !scan_u64(scan, columns->tid, &tid) || pid > UINT32_MAX ||
	    tid > UINT32_MAX)
		return false;
	*ret = (struct side){ .pid = (uint32_t)pid, .tid = (uint32_t)tid };
	ret->kind = kind_of(cpu, ret->pid, comm);
	ret->task = report_cpu_task(cpu, ret->kind, comm);
	ret->thread = report_cpu_thread(cpu, ret->kind, ret->pid, ret->tid, ret->task, time_ns);
	return true;
}

static bool is_same(const struct side *a, const struct side *b)
{
	return a->kind == b->kind && a->tid == b->tid && (a->tid || a->task == b->task);
}

/* --- sums ----------------------------------------------------------------------------------------------- */

static void ran(struct report_cpu *report_cpu, uint32_t cpu, const struct side *side, uint64_t from_ns, uint64_t to_ns,
		bool preempted)
{
	struct cpu_run run = {
		.thread = side->thread,
		.task = side->task,
		.cpu = cpu,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.sums = { .run_ns = to_ns - from_ns, .preempted = preempted },
	};

	if (from_ns > to_ns)
		return;
	if (side->kind == CPU_TARGET || !report_cpu->has_sums)
		report_cpu_phase_add(report_cpu, side->task, from_ns, to_ns, run.sums.run_ns);
	if (!report_cpu->has_sums)
		report_cpu_add(report_cpu, &run);
}

static void nobody_ran(struct report_cpu *r, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	struct side side = { .kind = CPU_OTHER, .task = report_cpu_nobody(r) };

	if (from_ns >= to_ns)
		return;
	side.thread = report_cpu_thread(r, CPU_OTHER, 0, 0, side.task, from_ns);
	ran(r, cpu, &side, from_ns, to_ns, false);
}

/* Adds the wait of SIDE from when it left until NOW; RUNQ_NS of that for a CPU. */
static void waited(struct report_cpu *cpu, const struct side *side, uint64_t now_ns, uint64_t runq_ns)
{
	struct cpu_thread *thread = table_at(&cpu->threads, side->thread);
	struct cpu_sums add = { 0 };
	uint64_t off_ns;

	if (side->kind != CPU_TARGET || !thread->left_ns || thread->left_ns > now_ns)
		return;
	off_ns = now_ns - thread->left_ns;
	off_ns -= MIN(runq_ns, off_ns);
	if (thread->left_state == 'D')
		add.blocked_ns = off_ns;
	else if (thread->left_state != 'R')
		add.sleep_ns = off_ns;
	report_cpu_add_sums(cpu, side->thread, side->task, &add);
}

static void came(struct report_cpu *r, const struct scan *s, uint32_t cpu, const struct side *next)
{
	struct cpu_run run = { .thread = next->thread,
			       .task = next->task,
			       .cpu = cpu,
			       .from_ns = s->time_ns,
			       .to_ns = s->time_ns,
			       .sums = { .switches = 1, .runq_ns = scan_number(s, COL_WAIT_NS) } };

	waited(r, next, s->time_ns, run.sums.runq_ns);
	((struct cpu_thread *)table_at(&r->threads, next->thread))->left_ns = 0;
	report_cpu_add(r, &run);
}

static void left(struct report_cpu *r, const struct scan *s, const struct side *prev)
{
	struct cpu_thread *t = table_at(&r->threads, prev->thread);
	struct reader_field state = scan_field(s, COL_PREV_STATE);

	t->left_state = state.len ? state.p[0] : '-';
	t->left_ns = t->left_state == 'X' ? 0 : s->time_ns;
}

/* --- without the target ---------------------------------------------------------------------------------- */

static void off_ends(struct report_cpu *cpu, struct switches *sw, uint64_t start_ns, uint64_t end_ns, bool idle)
{
	if (end_ns < start_ns || end_ns - start_ns < cpu->options.gap_ns)
		return;
	if (sw->n_offs == CPU_IDLES_MAX || util_room(&sw->offs, sw->n_offs, sizeof(*sw->offs)) < 0) {
		sw->offs_full = true;
		return;
	}
	sw->offs[sw->n_offs++] = (struct off){ start_ns, end_ns, idle };
}

struct edge {
	uint64_t ns;
	int n, idle;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns) : x->n - y->n;
}

/* Adds a gap wherever all CPUs are without the target at the same time. */
static void find_gaps(struct report_cpu *cpu, const struct switches *sw, int cpus)
{
	struct edge *edges = calloc(2 * sw->n_offs + 1, sizeof(*edges));
	struct gap gap = { .cpu = GAP_ALL_CPUS };
	int n = 0, idle = 0;

	for (size_t i = 0; edges && i < sw->n_offs; i++) {
		edges[2 * i] = (struct edge){ sw->offs[i].start_ns, 1, sw->offs[i].idle };
		edges[2 * i + 1] = (struct edge){ sw->offs[i].end_ns, -1, -sw->offs[i].idle };
	}
	if (edges)
		qsort(edges, 2 * sw->n_offs, sizeof(*edges), by_time);
	for (size_t i = 0; edges && i < 2 * sw->n_offs; i++) {
		if (n == cpus) {
			gap.end_ns = edges[i].ns;
			gap.kind = idle == cpus ? GAP_IDLE : GAP_OFF;
			gap.ns = (int64_t)(gap.end_ns - gap.begin_ns);
			if ((uint64_t)gap.ns >= cpu->options.gap_ns)
				gaps_put(&cpu->gaps, &gap);
		}
		n += edges[i].n;
		idle += edges[i].idle;
		gap.begin_ns = edges[i].ns;
	}
	free(edges);
	if (sw->offs_full)
		report_cpu_note(cpu, "too many long gaps without the job: only the first are listed");
}

static void off_row(struct switches *sw, const struct scan *scan, struct at *at, const struct side *prev,
		    const struct side *next, uint64_t run_ns)
{
	if (at->off && prev->kind != CPU_TARGET) {
		/* idle all the time only when the last idle stretch reaches back to its begin */
		off_ends(sw->r, sw, at->off_ns, scan->time_ns,
			 prev->kind == CPU_IDLE && at->off_idle && run_ns != NOT_KNOWN &&
				 run_ns + SLACK_NS >= scan->time_ns - at->off_ns);
		at->off = false;
	}
	if (next->kind != CPU_TARGET) {
		at->off = true;
		at->off_ns = scan->time_ns;
		at->off_idle = next->kind == CPU_IDLE;
	}
}

/* --- rows ------------------------------------------------------------------------------------------------ */

/*
 * Returns when a thread that came, and has no row of leaving, ended, within [FROM, TO]; TO when it has not. From then
 * on it does not count as the target.
 */
static uint64_t end_of(const struct report_cpu *r, const struct side *side, uint64_t from_ns, uint64_t to_ns)
{
	const struct cpu_thread *t = table_at(&r->threads, side->thread);

	return t->ended ? MIN(MAX(t->end_ns, from_ns), to_ns) : to_ns;
}

/* Adds the time of the CPU between the previous row and this one. */
static void between(struct report_cpu *report_cpu, const struct scan *scan, struct at *at, uint32_t cpu,
		    const struct side *prev, uint64_t run_ns, bool preempted)
{
	uint64_t begin_ns = at->last_ns, now = scan->time_ns, since;
	bool whole;

	if (now < begin_ns)
		return; /* the row is late */
	whole = is_same(prev, &at->next) && (prev->kind == CPU_TARGET || run_ns + SLACK_NS >= now - begin_ns);
	since = whole || run_ns == NOT_KNOWN ? begin_ns : now - MIN(run_ns, now - begin_ns);
	/* the thread that calls execve(2) becomes its process's first thread, with that one's TID */
	if (at->next.kind == CPU_TARGET && at->next.pid != prev->pid) {
		uint64_t end_ns = end_of(report_cpu, &at->next, begin_ns, since);

		if (end_ns == since)
			gaps_put(&report_cpu->gaps, &(struct gap){ .kind = GAP_LOST,
								   .cpu = cpu,
								   .begin_ns = begin_ns,
								   .end_ns = since,
								   .ns = (int64_t)(since - begin_ns) });
		else
			ran(report_cpu, cpu, &at->next, begin_ns, end_ns, false);
		begin_ns = end_ns == since ? begin_ns : end_ns;
	}
	nobody_ran(report_cpu, cpu, begin_ns, since);
	ran(report_cpu, cpu, prev, since, now, preempted);
}

static bool row(struct scan *scan, void *own)
{
	struct switches *sw = own;
	struct side prev, next;
	uint64_t cpu, run_ns;
	bool preempted = scan_is(scan, COL_PREV_STATE, "R+");
	struct at *at;

	if (!scan_u64(scan, COL_CPU, &cpu) || cpu >= CPU_CPUS_MAX)
		return false;
	if (!scan_u64(scan, COL_RUN_NS, &run_ns))
		run_ns = NOT_KNOWN;
	at = &sw->at[cpu];
	if (!side_of(sw->r, scan, &prev_columns,
		     run_ns == NOT_KNOWN ? scan->time_ns : scan->time_ns - MIN(run_ns, scan->time_ns), &prev) ||
	    !side_of(sw->r, scan, &next_columns, scan->time_ns, &next))
		return false;
	off_row(sw, scan, at, &prev, &next, run_ns);
	if (at->seen) {
		between(sw->r, scan, at, (uint32_t)cpu, &prev, run_ns, preempted);
	} else {
		at->seen = true;
		at->first = prev;
		at->first_ns = scan->time_ns;
		at->first_run_ns = run_ns;
	}
	if (!sw->r->has_sums) {
		left(sw->r, scan, &prev);
		came(sw->r, scan, (uint32_t)cpu, &next);
	}
	at->next = next;
	at->last_ns = MAX(at->last_ns, scan->time_ns);
	return true;
}

/* --- first and last rows ---------------------------------------------------------------------------------- */

/* Makes all CPUs begin and end together. */
static void common_span(struct report_cpu *cpu, const struct switches *sw)
{
	for (uint32_t i = 0; i < CPU_CPUS_MAX && !cpu->has_sums; i++) {
		const struct at *at = &sw->at[i];
		uint64_t begin_ns =
			at->first_ns - (at->first_run_ns == NOT_KNOWN ? 0 : MIN(at->first_run_ns, at->first_ns));

		if (!at->seen)
			continue;
		if (!cpu->begin_ns || begin_ns < cpu->begin_ns)
			cpu->begin_ns = begin_ns;
		cpu->end_ns = MAX(cpu->end_ns, at->last_ns);
	}
}

static int cpu_ends(struct report_cpu *report_cpu, struct switches *sw, uint32_t cpu)
{
	const struct at *at = &sw->at[cpu];
	uint64_t since;

	if (!at->seen)
		return 0;
	since = at->first_run_ns == NOT_KNOWN ? report_cpu->begin_ns :
						at->first_ns - MIN(at->first_run_ns, at->first_ns);
	since = MAX(since, report_cpu->begin_ns);
	if (at->first.kind != CPU_TARGET)
		off_ends(report_cpu, sw, report_cpu->begin_ns, at->first_ns,
			 at->first.kind == CPU_IDLE && since <= report_cpu->begin_ns + SLACK_NS);
	nobody_ran(report_cpu, cpu, report_cpu->begin_ns, since);
	ran(report_cpu, cpu, &at->first, since, at->first_ns, false);
	since = at->next.kind == CPU_TARGET ? end_of(report_cpu, &at->next, at->last_ns, report_cpu->end_ns) :
					      at->last_ns;
	ran(report_cpu, cpu, &at->next, at->last_ns, since, false);
	nobody_ran(report_cpu, cpu, since, report_cpu->end_ns);
	if (at->off)
		off_ends(report_cpu, sw, at->off_ns, report_cpu->end_ns, false);
	return 1;
}

static void threads_end(struct report_cpu *r)
{
	for (uint32_t i = 1; i < r->threads.n && !r->has_sums; i++) {
		struct cpu_thread *t = table_at(&r->threads, i);
		struct side side = { .thread = i, .task = t->task, .kind = CPU_TARGET };

		if (t->left_ns && t->has_life && !t->ended)
			waited(r, &side, r->end_ns, t->left_state == 'R' ? r->end_ns - MIN(t->left_ns, r->end_ns) : 0);
	}
}

int report_cpu_switches(struct report_cpu *cpu, struct scan_folder *folder)
{
	struct switches *sw = calloc(1, sizeof(*sw));
	int res = -ENOMEM, cpus = 0;

	if (sw) {
		sw->r = cpu;
		res = report_cpu_read(cpu, folder, "sched_switch", row, sw);
	}
	if (res == 0) {
		common_span(cpu, sw);
		for (uint32_t i = 0; i < CPU_CPUS_MAX; i++)
			cpus += cpu_ends(cpu, sw, i);
		threads_end(cpu);
		if (cpus)
			find_gaps(cpu, sw, cpus);
	}
	if (sw)
		free(sw->offs);
	free(sw);
	return res;
}
