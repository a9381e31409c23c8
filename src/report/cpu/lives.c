/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lives: when each process and thread began and ended, from pids.out, and which of them had a PID or TID at a given
 * time, as numbers are reused. Of CPU time it knows only that a thread that ran was alive.
 */
#include "report/cpu/scan.h"

#include <errno.h>

#include "base/util.h"

/*
 * Returns the key for the tables of PIDs and TIDs. Kernel threads have no row in pids.out, so their numbers are keys
 * apart from the target's; kinds without numbers have one key for each name. A number of the target is its own key.
 */
static uint64_t key_of(enum cpu_kind kind, uint32_t number, uint32_t task)
{
	return (uint64_t)kind << 32 | (kind == CPU_IDLE || kind == CPU_OTHER ? task : number);
}

static struct cpu_proc *proc_at(const struct report_cpu *r, uint32_t i)
{
	return table_at(&r->procs, i);
}

static struct cpu_thread *thread_at(const struct report_cpu *r, uint32_t i)
{
	return table_at(&r->threads, i);
}

/* --- processes --------------------------------------------------------------------------------------- */

static uint32_t newest(const struct table *t, uint64_t key)
{
	const uint32_t *n = table_find(t, key);

	return n ? *n : 0;
}

/* Adds a life of KEY, a PID or TID. Returns its number, and in *BEFORE that of the previous life. */
static uint32_t life_new(struct table *lives, struct table *keys, uint64_t key, uint32_t *before)
{
	uint32_t *last = table_get(keys, key);
	void *life = last ? table_get(lives, lives->n) : NULL;

	if (!life)
		return 0;
	*before = *last;
	*last = report_cpu_number(lives, life);
	return *last;
}

static uint32_t proc_new(struct report_cpu *r, enum cpu_kind kind, uint32_t pid, uint64_t key, uint64_t start_ns)
{
	uint32_t before = 0, i = life_new(&r->procs, &r->pids, key, &before);

	if (i)
		*proc_at(r, i) = (struct cpu_proc){ .start_ns = start_ns, .pid = pid, .before = before, .kind = kind };
	return i;
}

/* Returns the last life that had begun by then; when all began later, the first. */
static uint32_t proc_at_time(const struct report_cpu *r, uint64_t key, uint64_t time_ns)
{
	uint32_t i = newest(&r->pids, key);

	while (i && proc_at(r, i)->before && proc_at(r, i)->start_ns > time_ns)
		i = proc_at(r, i)->before;
	return i;
}

uint32_t report_cpu_proc_at(const struct report_cpu *r, uint32_t pid, uint64_t time_ns)
{
	return proc_at_time(r, pid, time_ns);
}

bool report_cpu_lived_before(const struct report_cpu *r, uint32_t pid)
{
	return proc_at(r, newest(&r->pids, pid))->before;
}

bool report_cpu_is_target(const struct report_cpu *r, uint32_t pid)
{
	uint32_t i = newest(&r->pids, pid);

	return i && proc_at(r, i)->kind == CPU_TARGET;
}

/* --- threads ----------------------------------------------------------------------------------------- */

static uint32_t thread_new(struct report_cpu *cpu, uint32_t proc, uint32_t tid, uint64_t key, uint32_t task,
			   uint64_t start_ns)
{
	uint32_t before = 0, i = life_new(&cpu->threads, &cpu->tids, key, &before);

	if (!i)
		return 0;
	*thread_at(cpu, i) = (struct cpu_thread){
		.start_ns = start_ns,
		.since_ns = start_ns,
		.tid = tid,
		.proc = proc,
		.task = task,
		.first_task = task,
		.before = before,
		.sibling = proc_at(cpu, proc)->threads,
	};
	proc_at(cpu, proc)->threads = i;
	return i;
}

static uint32_t thread_at_time(const struct report_cpu *r, uint64_t key, uint64_t time_ns)
{
	uint32_t i = newest(&r->tids, key);

	while (i && thread_at(r, i)->before && thread_at(r, i)->start_ns > time_ns)
		i = thread_at(r, i)->before;
	return i;
}

uint32_t report_cpu_thread_role(struct report_cpu *r, uint32_t thread, uint32_t task)
{
	uint32_t n = r->role_threads.n, role = report_cpu_role(r, thread_at(r, thread)->proc, task);
	uint8_t *seen = table_get(&r->role_threads, report_cpu_pair(thread, task));

	if (seen && r->role_threads.n != n) {
		((struct cpu_role *)table_at(&r->roles, role))->threads++;
		report_cpu_task_at(r, task)->threads++;
	}
	return role;
}

/* Ends the time of thread I under its name. */
static void name_ends(struct report_cpu *r, uint32_t i, uint64_t now_ns)
{
	struct cpu_thread *t = thread_at(r, i);
	uint32_t role = report_cpu_thread_role(r, i, t->task);

	if (now_ns <= t->since_ns)
		return;
	((struct cpu_role *)table_at(&r->roles, role))->life_ns += now_ns - t->since_ns;
	report_cpu_task_at(r, t->task)->life_ns += now_ns - t->since_ns;
	t->since_ns = now_ns;
}

/* Gives thread I the name of TASK from NOW on. */
static void thread_named(struct report_cpu *r, uint32_t i, uint32_t task, uint64_t now_ns)
{
	struct cpu_thread *t = thread_at(r, i);
	const char *comm = report_cpu_task_at(r, task)->comm;

	if (t->task != task)
		name_ends(r, i, now_ns);
	t->task = task;
	t->patterns |= report_cpu_matches(r, (struct reader_field){ comm, strlen(comm) });
}

uint32_t report_cpu_thread(struct report_cpu *cpu, enum cpu_kind kind, uint32_t pid, uint32_t tid, uint32_t task,
			   uint64_t time_ns)
{
	uint64_t key = key_of(kind, tid, task), pid_key = key_of(kind, pid, task);
	uint32_t i = thread_at_time(cpu, key, time_ns), proc;

	/* the thread has no row of its birth; or the known life ended long before */
	if (i && !(thread_at(cpu, i)->ended && thread_at(cpu, i)->end_ns + NSEC_PER_SEC < time_ns))
		return i;
	proc = proc_at_time(cpu, pid_key, time_ns);
	if (!proc)
		proc = proc_new(cpu, kind, pid, pid_key, time_ns);
	i = thread_new(cpu, proc, tid, key, task, time_ns);
	thread_at(cpu, i)->has_life = i && kind == CPU_TARGET;
	if (thread_at(cpu, i)->has_life)
		thread_named(cpu, i, task, time_ns);
	return i;
}

/* A thread from before the trace, or whose birth was lost, existed when it ran. */
void report_cpu_seen(struct report_cpu *cpu, uint32_t i, uint32_t task, uint64_t from_ns, uint64_t to_ns)
{
	struct cpu_thread *thread = thread_at(cpu, i);
	struct cpu_proc *proc = proc_at(cpu, thread->proc);
	uint32_t role;

	if (!thread->has_life)
		return;
	if (!thread->born && from_ns < thread->start_ns) {
		role = report_cpu_thread_role(cpu, i, task);
		((struct cpu_role *)table_at(&cpu->roles, role))->life_ns += thread->start_ns - from_ns;
		report_cpu_task_at(cpu, task)->life_ns += thread->start_ns - from_ns;
		thread->start_ns = from_ns;
		if (!proc->born && from_ns < proc->start_ns)
			proc->start_ns = from_ns;
	}
	if (!cpu->has_pids) {
		if (thread->task != task)
			thread_named(cpu, i, task, from_ns);
		thread->end_ns = MAX(thread->end_ns, to_ns);
	}
}

/* --- pids.out ---------------------------------------------------------------------------------------- */

static void thread_ends(struct report_cpu *r, uint32_t i, uint64_t now_ns)
{
	struct cpu_thread *t = thread_at(r, i);

	if (!i || t->ended)
		return;
	name_ends(r, i, now_ns);
	t->end_ns = now_ns;
	t->ended = true;
}

/* Returns the process of a row: a new one if the row is its birth (FORK), or if none is known. */
static uint32_t row_proc(struct report_cpu *r, const struct scan *s, uint32_t pid, bool fork)
{
	uint32_t i = newest(&r->pids, pid);

	if (i && !fork && !proc_at(r, i)->ended)
		return i;
	i = proc_new(r, CPU_TARGET, pid, pid, s->time_ns);
	if (i)
		proc_at(r, i)->born = fork;
	return i;
}

static uint32_t row_thread(struct report_cpu *cpu, const struct scan *scan, uint32_t proc, uint32_t tid, bool born)
{
	uint32_t i = newest(&cpu->tids, tid);

	if (i && !born && !thread_at(cpu, i)->ended)
		return i;
	thread_ends(cpu, i, scan->time_ns); /* their ends are not known */
	i = thread_new(cpu, proc, tid, tid, report_cpu_task(cpu, CPU_TARGET, scan_field(scan, COL_COMM)),
		       scan->time_ns);
	thread_at(cpu, i)->born = born;
	thread_at(cpu, i)->has_life = i != 0;
	return i;
}

/* Ends a process; its last thread has no row of its own. */
static void proc_ends(struct report_cpu *r, uint32_t i, uint64_t now_ns)
{
	for (uint32_t t = proc_at(r, i)->threads; t; t = thread_at(r, t)->sibling)
		thread_ends(r, t, now_ns);
	proc_at(r, i)->ended = true;
	proc_at(r, i)->end_ns = now_ns;
}

/* Takes the end of a thread, of a process, or of its time as a target. */
static bool row_of_end(struct report_cpu *cpu, const struct scan *scan, uint32_t pid, uint32_t tid, bool whole)
{
	uint32_t proc = newest(&cpu->pids, pid), thread = newest(&cpu->tids, tid);

	if (!proc || proc_at(cpu, proc)->ended)
		proc = row_proc(cpu, scan, pid, false);
	if (!thread)
		thread = row_thread(cpu, scan, proc, tid, false);
	thread_ends(cpu, thread, scan->time_ns);
	if (whole)
		proc_ends(cpu, proc, scan->time_ns);
	return true;
}

static bool row_of_life(struct scan *s, struct report_cpu *r)
{
	bool fork = scan_is(s, COL_EVENT, "fork"), left = scan_is(s, COL_EVENT, "left");
	uint32_t proc, thread;
	uint64_t pid, tid;

	if (!scan_u64(s, COL_PID, &pid) || !scan_u64(s, COL_TID, &tid) || pid > UINT32_MAX || tid > UINT32_MAX ||
	    !pid || !tid)
		return false;
	if (left || scan_is(s, COL_EVENT, "exit"))
		return row_of_end(r, s, (uint32_t)pid, (uint32_t)tid, left || !scan_is(s, COL_STATUS, "-"));
	proc = row_proc(r, s, (uint32_t)pid, fork);
	thread = row_thread(r, s, proc, (uint32_t)tid, fork || scan_is(s, COL_EVENT, "thread"));
	thread_named(r, thread, report_cpu_task(r, CPU_TARGET, scan_field(s, COL_COMM)), s->time_ns);
	return true;
}

/* Takes a row of all of pids.out: in a part, a life counts from the part's begin on, and later rows do not count. */
bool report_cpu_pids_row(struct scan *s, void *own)
{
	struct report_cpu *cpu = own;
	const struct window part = manifest_part(&cpu->manifest);
	const uint64_t time_ns = s->time_ns;
	bool taken;

	if (part.end_ns && time_ns >= part.end_ns)
		return true;
	s->time_ns = MAX(time_ns, part.begin_ns);
	taken = row_of_life(s, cpu);
	s->time_ns = time_ns;
	return taken;
}

int report_cpu_lives(struct report_cpu *cpu, const struct scan_file *pids, const struct scan_taker *taker)
{
	const int res = pids->error;

	report_cpu_note_file(cpu, pids, taker->bad_rows);
	cpu->has_pids = res == 0;
	if (res == -ENOENT || res == -ENODATA || res == -EBADMSG)
		report_cpu_note(
			cpu,
			"pids.out is missing: lives are taken as the time from the first to the last use of a CPU");
	return res == -ENOMEM ? res : 0;
}

/* --- after all rows ---------------------------------------------------------------------------------- */

uint64_t report_cpu_known_ns(const struct cpu_sums *s)
{
	return s->run_ns + s->runq_ns + s->disk_ns + s->blocked_ns + s->sleep_ns;
}

uint64_t report_cpu_life_ns(const struct cpu_thread *t)
{
	return t->end_ns > t->start_ns ? t->end_ns - t->start_ns : 0;
}

static bool is_lossy(const struct report_cpu *r)
{
	const struct manifest_probe *p = manifest_probe(&r->manifest, r->has_sums ? "sched" : "sched_switch");

	return p && p->lost;
}

/*
 * Extends the lives under a thread's first and last name by rows of CPU time. A thread runs on for a while after its
 * exit's event, which comes early in the kernel's do_exit(), so it lived at least as long as it was seen to run or
 * wait; unless rows are lost, when some of that may be another thread's.
 */
static void thread_end(struct report_cpu *cpu, uint32_t i)
{
	struct cpu_thread *thread = thread_at(cpu, i);
	uint64_t known;

	if (!thread->has_life)
		return;
	if (!thread->ended) {
		thread->end_ns =
			cpu->has_pids ? MAX(cpu->end_ns, thread->since_ns) : MAX(thread->end_ns, thread->since_ns);
		name_ends(cpu, i, thread->end_ns);
	}
	known = report_cpu_known_ns(&thread->sums);
	if (report_cpu_life_ns(thread) < known && !is_lossy(cpu)) {
		thread->since_ns = thread->end_ns;
		thread->end_ns = thread->start_ns + known;
		name_ends(cpu, i, thread->end_ns);
	}
}

static void add_to_patterns(struct report_cpu *cpu, const struct cpu_thread *thread)
{
	for (uint32_t p = 0; p < cpu->n_patterns; p++) {
		struct cpu_pattern *pattern = &cpu->patterns[p];

		if (!(thread->patterns >> p & 1) || !thread->has_life)
			continue;
		pattern->threads++;
		pattern->cut += !thread->born || !thread->ended;
		pattern->life_ns += report_cpu_life_ns(thread);
		pattern->run_ns += thread->sums.run_ns;
		pattern->idle_ns += report_cpu_life_ns(thread) - MIN(report_cpu_life_ns(thread), thread->sums.run_ns);
	}
}

void report_cpu_lives_end(struct report_cpu *cpu)
{
	for (uint32_t i = 1; i < cpu->threads.n; i++) {
		thread_end(cpu, i);
		add_to_patterns(cpu, thread_at(cpu, i));
	}
	for (uint32_t i = 1; i < cpu->procs.n; i++) {
		struct cpu_proc *p = proc_at(cpu, i);

		if (p->kind == CPU_TARGET && !p->ended)
			p->end_ns = MAX(cpu->end_ns, p->start_ns);
	}
}
