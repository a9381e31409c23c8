/* SPDX-License-Identifier: BSD-2-Clause */
/* From a trace folder to a struct report_cpu. Offline: needs no root and trusts no byte of the folder. */
#ifndef REPORT_CPU_LOAD_H
#define REPORT_CPU_LOAD_H

#include "report/cpu/cpu.h"
#include "report/scan/clocks.h"
#include "report/scan/scan.h"

/*
 * Sum up the folder DIR. 0; -ENODATA: it is no trace; -ENOMSG: it has neither sched.out nor
 * sched_switch.out with a header; -EINVAL: an option's list does not fit; -errno.
 */
int report_cpu_load(struct report_cpu **ret, const char *dir, const struct report_cpu_options *o);
void report_cpu_free(struct report_cpu *r);

/* --- in steps, for who reads the same files, too: of each the rows are given in this order ------------- */

struct phases;

/* MANIFEST says how M, which may lack all of it, could be read. 0; -ENOMSG, -EINVAL or -errno. */
int report_cpu_begin(struct report_cpu **ret, const char *dir, struct scan_folder *folder, const struct manifest_facts *m,
		     int manifest, const struct report_cpu_options *o);
/* Rows of pids.out, for a struct scan_taker. */
bool report_cpu_pids_row(struct scan *s, void *cpu);
/*
 * PIDS has taken them: phases, sched.out and sched_switch.out. 1: rows of files.out and of calls are asked for; 0: no more
 * are; -errno.
 */
int report_cpu_sched(struct report_cpu *r, struct scan_folder *folder, const struct scan_taker *pids, const struct phases *p);
/* Rows of files.out; FILES has taken them. */
bool report_cpu_files_row(struct scan *s, void *cpu);
void report_cpu_files_end(struct report_cpu *r, const struct scan_file *files, const struct scan_taker *t);
/* The file of calls that S begins. NULL: R, which may be NULL, does not ask for its rows. */
struct cpu_calls *report_cpu_calls_begin(struct report_cpu *r, const struct scan *s);
/* Those in ahead[]; rows without a time do not count. */
void report_cpu_calls_rows(struct cpu_calls *calls, struct scan *s);
/* All rows are in; CLOCKS has taken those of time_align.out. */
void report_cpu_end(struct report_cpu *r, struct scan_folder *folder, const struct scan_taker *clocks);

#endif
