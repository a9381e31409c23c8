/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the parts of the report on CPU time that read: each takes the rows of some files in. */
#ifndef REPORT_CPU_SCAN_H
#define REPORT_CPU_SCAN_H

#include "report/cpu/cpu.h"
#include "report/scan/clocks.h"
#include "report/scan/scan.h"

struct phases;

/*
 * Give each row of NAME.out to TAKE, which tells whether it could be read. What is odd about the file becomes a note. 0,
 * -ENOENT, -ENODATA or -EBADMSG without a note, -errno with one.
 */
int report_cpu_read(struct report_cpu *r, struct scan_folder *folder, const char *name,
		    bool (*take)(struct scan *s, void *own), void *own);

/* What is odd about F, of which BAD_ROWS could not be taken, and why it could not be read. */
void report_cpu_note_file(struct report_cpu *r, const struct scan_file *f, uint64_t bad_rows);

void report_cpu_note(struct report_cpu *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- who: tasks.c, lives.c --------------------------------------------------- */

/* The rules and patterns of r->options, taken apart. 0, or -EINVAL with a note. */
int report_cpu_rules(struct report_cpu *r);
/* Its number in r->tasks. */
uint32_t report_cpu_task(struct report_cpu *r, enum cpu_kind kind, struct reader_field comm);
/* The same, 0 when no row has had it. */
uint32_t report_cpu_task_known(const struct report_cpu *r, enum cpu_kind kind, struct reader_field comm);
/* The number in r->roles of process PROC under the name of TASK. */
uint32_t report_cpu_role(struct report_cpu *r, uint32_t proc, uint32_t task);
/* Fold the tasks into groups. */
void report_cpu_group(struct report_cpu *r);
/* Bits of the patterns that the name matches. */
uint16_t report_cpu_matches(const struct report_cpu *r, struct reader_field comm);

/* pids.out, all of which T has been given; 0 or -ENOMEM. */
int report_cpu_lives(struct report_cpu *r, const struct scan_file *pids, const struct scan_taker *t);
/* The thread's number in r->threads as of TIME_NS, made when it is not known. */
uint32_t report_cpu_thread(struct report_cpu *r, enum cpu_kind kind, uint32_t pid, uint32_t tid, uint32_t task,
			   uint64_t time_ns);
/* It had TASK's name and did something within [FROM_NS, TO_NS]. */
void report_cpu_seen(struct report_cpu *r, uint32_t thread, uint32_t task, uint64_t from_ns, uint64_t to_ns);
/* The number in r->roles of its process under TASK's name. */
uint32_t report_cpu_thread_role(struct report_cpu *r, uint32_t thread, uint32_t task);
/* Process PID as of TIME_NS: its number in r->procs, 0 when it is not known. */
uint32_t report_cpu_proc_at(const struct report_cpu *r, uint32_t pid, uint64_t time_ns);
/* Whether PID is of more than one process, one after the other. */
bool report_cpu_lived_before(const struct report_cpu *r, uint32_t pid);
bool report_cpu_is_target(const struct report_cpu *r, uint32_t pid);
/* All rows are in: close what is still open. */
void report_cpu_lives_end(struct report_cpu *r);

/* --- what: sums.c, switches.c ------------------------------------------------ */

int report_cpu_sums(struct report_cpu *r, struct scan_folder *folder);
int report_cpu_switches(struct report_cpu *r, struct scan_folder *folder);

/* Of THREAD under the name of TASK: how much is in SUMS. Its role. */
uint32_t report_cpu_add_sums(struct report_cpu *r, uint32_t thread, uint32_t task, const struct cpu_sums *add);
/* What it ran on CPU within [FROM, TO]. */
struct cpu_run {
	uint32_t thread, task, cpu;
	uint64_t from_ns, to_ns;
	struct cpu_sums sums;
};
void report_cpu_add(struct report_cpu *r, const struct cpu_run *run);
/* The task of those who are not told one by one. */
uint32_t report_cpu_nobody(struct report_cpu *r);

/* The number of a call, made when it is new. */
uint32_t report_cpu_call_number(struct report_cpu *r, struct reader_field name);
/* The sums of ROLE in the call; NULL: there are none, and MAKE is not set. */
struct cpu_call *report_cpu_call(struct report_cpu *r, uint32_t role, uint32_t call, bool make);

/* --- when: phases.c --------------------------------------------------- */

void report_cpu_phases(struct report_cpu *r, const struct phases *phases);
/* Put the intervals in order, once all are known and r->end_ns is. */
void report_cpu_phases_end(struct report_cpu *r);
/* RUN_NS of TASK, evenly within [FROM_NS, TO_NS]. */
void report_cpu_phase_add(struct report_cpu *r, uint32_t task, uint64_t from_ns, uint64_t to_ns, uint64_t run_ns);

/* --- where: folders.c -------------------------------------------------------------------- */

/* Whether any call waited so that its folder is asked for: then, 1, files.out and the files of calls come. 0; -ENOMEM. */
int report_cpu_folders_begin(struct report_cpu *r);
/* The files of calls, where nobody else reads them; behind them, what is odd about them. */
void report_cpu_folders_read(struct report_cpu *r, struct scan_folder *folder);
void report_cpu_folders_end(struct report_cpu *r, struct scan_folder *folder);

#endif
