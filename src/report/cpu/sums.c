/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched.out: rows of a thread's time on a CPU in an interval, and of its waits in a call; and how a stretch of running
 * is added to the report's tables, for either file.
 */
#include "report/cpu/scan.h"

#include "base/util.h"

/* --- adding to the tables ----------------------------------------------------------------------------- */

uint32_t report_cpu_add_sums(struct report_cpu *r, uint32_t thread, uint32_t task, const struct cpu_sums *add)
{
	uint32_t role = report_cpu_thread_role(r, thread, task);

	cpu_sums_add(&report_cpu_task_at(r, task)->sums, add);
	cpu_sums_add(&((struct cpu_thread *)table_at(&r->threads, thread))->sums, add);
	cpu_sums_add(&((struct cpu_role *)table_at(&r->roles, role))->sums, add);
	return role;
}

static void add_cell(struct table *t, uint32_t what, const struct cpu_run *run)
{
	struct cpu_cell *c = table_get(t, report_cpu_pair(what, run->cpu));

	if (!c)
		c = table_at(t, 0);
	c->run_ns += run->sums.run_ns;
	c->switches += run->sums.switches;
}

void report_cpu_add(struct report_cpu *report_cpu, const struct cpu_run *run)
{
	uint32_t role = report_cpu_add_sums(report_cpu, run->thread, run->task, &run->sums),
		 at = MIN(run->cpu, CPU_CPUS_MAX - 1);
	struct cpu_cpu *cpu = &report_cpu->cpus[at];

	report_cpu_seen(report_cpu, run->thread, run->task, run->from_ns, run->to_ns);
	if (report_cpu_task_at(report_cpu, run->task)->kind == CPU_IDLE)
		cpu->idle_ns += run->sums.run_ns;
	else
		cpu->busy_ns += run->sums.run_ns;
	cpu->switches += run->sums.switches;
	report_cpu->n_cpus = MAX(report_cpu->n_cpus, at + 1);
	add_cell(&report_cpu->task_cpus, run->task, run);
	add_cell(&report_cpu->role_cpus, role, run);
}

uint32_t report_cpu_nobody(struct report_cpu *r)
{
	return report_cpu_task(r, CPU_OTHER, (struct reader_field){ "-", 1 });
}

/* --- calls --------------------------------------------------------------------------------------------- */

uint32_t report_cpu_call_number(struct report_cpu *cpu, struct reader_field name)
{
	uint32_t i;

	for (i = 0; i < cpu->n_calls; i++)
		if (reader_is(name, cpu->call_names[i]))
			return i;
	if (name.len >= sizeof(cpu->call_names[0]) || i == CPU_CALLS_MAX - 1)
		name = (struct reader_field){ "?", 1 };
	if (cpu->n_calls < CPU_CALLS_MAX)
		cpu->n_calls++;
	i = MIN(i, CPU_CALLS_MAX - 1);
	memcpy(cpu->call_names[i], name.p, name.len);
	return i;
}

struct cpu_call *report_cpu_call(struct report_cpu *r, uint32_t role, uint32_t call, bool make)
{
	uint64_t key = report_cpu_pair(role, call);
	struct cpu_call *c = make ? table_get(&r->calls, key) : table_find(&r->calls, key);

	return c || !make ? c : table_at(&r->calls, 0);
}

static void row_of_call(struct report_cpu *cpu, const struct scan *scan, uint32_t thread, uint32_t task)
{
	struct cpu_sums add = {
		.disk_ns = scan_number(scan, COL_DISK_NS),
		.blocked_ns = scan_number(scan, COL_BLOCKED_NS),
		.sleep_ns = scan_number(scan, COL_SLEEP_NS),
	};
	uint32_t role = report_cpu_add_sums(cpu, thread, task, &add);
	struct cpu_call *c = report_cpu_call(cpu, role, report_cpu_call_number(cpu, scan_field(scan, COL_CALL)), true);
	uint64_t max_ns = scan_number(scan, COL_MAX_NS);

	c->disk_ns += add.disk_ns;
	c->blocked_ns += add.blocked_ns;
	c->sleep_ns += add.sleep_ns;
	c->waits += scan_clipped(scan, scan_number(scan, COL_COUNT));
	if (scan_is_clipped(scan)) /* of the longest wait no more than all of them have in this part */
		max_ns = MIN(max_ns, add.disk_ns + add.blocked_ns + add.sleep_ns);
	c->max_ns = MAX(c->max_ns, max_ns);
}

/* --- rows ---------------------------------------------------------------------------------------------- */

static bool kind_of(struct reader_field f, enum cpu_kind *ret)
{
	for (*ret = 0; *ret < CPU_KINDS; (*ret)++)
		if (reader_is(f, report_cpu_kind_names[*ret]))
			return true;
	return false;
}

static bool row(struct scan *scan, void *own)
{
	struct report_cpu *report_cpu = own;
	struct cpu_run run = { .to_ns = scan->time_ns };
	uint64_t pid, tid, cpu = 0, span;
	enum cpu_kind kind;
	bool of_call = !scan_is(scan, COL_CALL, "-");
	const struct cpu_thread *thread;

	if (!scan_u64(scan, COL_PID, &pid) || !scan_u64(scan, COL_TID, &tid) || pid > UINT32_MAX || tid > UINT32_MAX ||
	    !scan_u64(scan, COL_SPAN_NS, &span) || !kind_of(scan_field(scan, COL_KIND), &kind) ||
	    !(of_call ||
	      (scan_u64(scan, COL_CPU, &cpu) && cpu < CPU_CPUS_MAX && scan_u64(scan, COL_RUN_NS, &run.sums.run_ns))))
		return false;
	run.from_ns = scan->time_ns - MIN(span, scan->time_ns);
	if (!report_cpu->begin_ns || run.from_ns < report_cpu->begin_ns)
		report_cpu->begin_ns = run.from_ns;
	report_cpu->end_ns = MAX(report_cpu->end_ns, scan->time_ns);
	report_cpu->span_max_ns = MAX(report_cpu->span_max_ns, span);
	run.task = report_cpu_task(report_cpu, kind, scan_field(scan, COL_COMM));
	run.thread = report_cpu_thread(report_cpu, kind, (uint32_t)pid, (uint32_t)tid, run.task, run.from_ns);
	if (of_call) {
		report_cpu_seen(report_cpu, run.thread, run.task, run.from_ns, run.to_ns);
		row_of_call(report_cpu, scan, run.thread, run.task);
		return true;
	}
	run.cpu = (uint32_t)cpu;
	run.sums.runq_ns = scan_number(scan, COL_RUNQ_NS);
	run.sums.switches = scan_clipped(scan, scan_number(scan, COL_COUNT));
	run.sums.preempted = scan_clipped(scan, scan_number(scan, COL_PREEMPTED));
	report_cpu_add(report_cpu, &run);
	thread = table_at(&report_cpu->threads, run.thread);
	if (!report_cpu->has_switches || kind != CPU_TARGET) /* sched_switch.out has the target's time more exactly */
		report_cpu_phase_add(report_cpu, run.task, run.from_ns,
				     thread->ended ? MAX(MIN(run.to_ns, thread->end_ns), run.from_ns) : run.to_ns,
				     run.sums.run_ns);
	return true;
}

int report_cpu_sums(struct report_cpu *r, struct scan_folder *folder)
{
	int res = report_cpu_read(r, folder, "sched", row, r);

	r->has_sums = res == 0;
	return res;
}
