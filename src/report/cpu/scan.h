/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the readers of the report on CPU time: each takes the rows of some files. */
#ifndef REPORT_CPU_SCAN_H
#define REPORT_CPU_SCAN_H

#include "report/cpu/cpu.h"
#include "report/scan/clocks.h"
#include "report/scan/scan.h"

struct phases;

/*
 * Passes each row of NAME.out to TAKE, which returns whether it could read it. Adds notes on an odd file. Returns 0;
 * -ENOENT, -ENODATA or -EBADMSG without a note; or -errno with one.
 */
int report_cpu_read(struct report_cpu *r, struct scan_folder *folder, const char *name,
		    bool (*take)(struct scan *s, void *own), void *own);

/* Adds notes on F: BAD_ROWS rows could not be read, or the file could not. */
void report_cpu_note_file(struct report_cpu *r, const struct scan_file *f, uint64_t bad_rows);

void report_cpu_note(struct report_cpu *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- names and lives: tasks.c, lives.c -------------------------------------- */

/* Parses the rules and patterns of r->options. Returns 0, or -EINVAL with a note. */
int report_cpu_rules(struct report_cpu *r);
/* Returns the number of COMM's task in r->tasks, added when new. */
uint32_t report_cpu_task(struct report_cpu *cpu, enum cpu_kind kind, struct reader_field comm);
/* Returns the number of COMM's task in r->tasks; 0 when no row had it. */
uint32_t report_cpu_task_known(const struct report_cpu *r, enum cpu_kind kind, struct reader_field comm);
/* Returns the number of process PROC, under the name of TASK, in r->roles. */
uint32_t report_cpu_role(struct report_cpu *cpu, uint32_t proc, uint32_t task);
/* Joins the tasks to groups. */
void report_cpu_group(struct report_cpu *cpu);
/* Returns the bits of the patterns that COMM matches. */
uint16_t report_cpu_matches(const struct report_cpu *r, struct reader_field comm);

/* Finishes the lives when TAKER has taken all rows of pids.out. Returns 0 or -ENOMEM. */
int report_cpu_lives(struct report_cpu *cpu, const struct scan_file *pids, const struct scan_taker *taker);
/* Returns the number of the thread at TIME_NS in r->threads, added when it is not known. */
uint32_t report_cpu_thread(struct report_cpu *cpu, enum cpu_kind kind, uint32_t pid, uint32_t tid, uint32_t task,
			   uint64_t time_ns);
/* Notes that THREAD had TASK's name and was active within [FROM_NS, TO_NS]. */
void report_cpu_seen(struct report_cpu *cpu, uint32_t thread, uint32_t task, uint64_t from_ns, uint64_t to_ns);
/* Returns the number of THREAD's process, under TASK's name, in r->roles. */
uint32_t report_cpu_thread_role(struct report_cpu *r, uint32_t thread, uint32_t task);
/* Returns the number of process PID at TIME_NS in r->procs; 0 when it is not known. */
uint32_t report_cpu_proc_at(const struct report_cpu *r, uint32_t pid, uint64_t time_ns);
/* Whether several processes had PID, one after the other. */
bool report_cpu_lived_before(const struct report_cpu *r, uint32_t pid);
bool report_cpu_is_target(const struct report_cpu *r, uint32_t pid);
/* Ends the lives that are still open; after all rows. */
void report_cpu_lives_end(struct report_cpu *cpu);

/* --- time: sums.c, switches.c ------------------------------------------------ */

int report_cpu_sums(struct report_cpu *r, struct scan_folder *folder);
int report_cpu_switches(struct report_cpu *cpu, struct scan_folder *folder);

/* Adds SUMS to THREAD under the name of TASK. Returns its role. */
uint32_t report_cpu_add_sums(struct report_cpu *r, uint32_t thread, uint32_t task, const struct cpu_sums *add);
/* What a thread ran on CPU within [FROM, TO]. */
struct cpu_run {
	uint32_t thread, task, cpu;
	uint64_t from_ns, to_ns;
	struct cpu_sums sums;
};
void report_cpu_add(struct report_cpu *report_cpu, const struct cpu_run *run);
/* Returns the task of all that is not recorded by name. */
uint32_t report_cpu_nobody(struct report_cpu *r);

/* Returns the number of a call, added when new. */
uint32_t report_cpu_call_number(struct report_cpu *cpu, struct reader_field name);
/* Returns the sums of ROLE in CALL; NULL when there are none and MAKE is not set, or there is no room. */
struct cpu_call *report_cpu_call(struct report_cpu *r, uint32_t role, uint32_t call, bool make);

/* --- phases: phases.c ------------------------------------------------- */

void report_cpu_phases(struct report_cpu *cpu, const struct phases *phases);
/* Sorts the intervals, when all of them and r->end_ns are known. */
void report_cpu_phases_end(struct report_cpu *cpu);
/* Adds RUN_NS of TASK, spread evenly over [FROM_NS, TO_NS]. */
void report_cpu_phase_add(struct report_cpu *cpu, uint32_t task, uint64_t from_ns, uint64_t to_ns, uint64_t run_ns);

/* --- folders: folders.c ------------------------------------------------------------------ */

/* Returns 1 when any call waited uninterruptibly, so that rows of files.out and of calls are needed; else 0, or
 * -ENOMEM. */
int report_cpu_folders_begin(struct report_cpu *cpu);
/* Reads the files of calls that nothing else reads, then adds notes on all of them. */
void report_cpu_folders_read(struct report_cpu *r, struct scan_folder *folder);
void report_cpu_folders_end(struct report_cpu *r, struct scan_folder *folder);

#endif
