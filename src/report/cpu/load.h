/* SPDX-License-Identifier: BSD-2-Clause */
/* From a trace folder to a struct report_cpu. Offline: needs no root and trusts no byte of the folder. */
#ifndef REPORT_CPU_LOAD_H
#define REPORT_CPU_LOAD_H

#include "report/cpu/cpu.h"
#include "report/scan/clocks.h"
#include "report/scan/scan.h"

/*
 * Sums up the folder DIR. Returns 0; -ERANGE when it has nothing of OPTIONS's window; -ENODATA when it is no trace;
 * -ENOMSG when it has neither sched.out nor sched_switch.out with a header; -EINVAL when an option's list is malformed;
 * or -errno.
 */
int report_cpu_load(struct report_cpu **ret, const char *dir, const struct report_cpu_options *options);
void report_cpu_free(struct report_cpu *cpu);

/* --- in steps, for a reader of the same files: it passes on each file's rows in this order ----------------- */

struct phases;

/* MANIFEST is the result of reading FACTS, which may be empty. Returns 0, -ENOMEM, -ENOMSG, -EINVAL or -errno. */
int report_cpu_begin(struct report_cpu **ret, const char *dir, struct scan_folder *folder,
		     const struct manifest_facts *facts, int manifest, const struct report_cpu_options *options);
/* Takes a row of pids.out; for a struct scan_taker. */
bool report_cpu_pids_row(struct scan *s, void *cpu);
/*
 * Reads phases, sched.out and sched_switch.out; PIDS has taken the rows of pids.out. Returns 1 when rows of files.out
 * and of calls are needed, 0 when no more are, or -errno.
 */
int report_cpu_sched(struct report_cpu *cpu, struct scan_folder *folder, const struct scan_taker *pids,
		     const struct phases *phases);
/* Takes a row of files.out; for FILES. */
bool report_cpu_files_row(struct scan *s, void *cpu);
void report_cpu_files_end(struct report_cpu *r, const struct scan_file *files, const struct scan_taker *t);
/* Returns the file of calls that S begins; NULL when R, which may be NULL, needs no rows of it. */
struct cpu_calls *report_cpu_calls_begin(struct report_cpu *r, const struct scan *s);
/* Takes the rows in ahead[]; rows without a time do not count. */
void report_cpu_calls_rows(struct cpu_calls *calls, struct scan *scan);
/* Finishes, after all rows; CLOCKS has taken those of time_align.out. */
void report_cpu_end(struct report_cpu *cpu, struct scan_folder *folder, const struct scan_taker *clocks);

#endif
