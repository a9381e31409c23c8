/* SPDX-License-Identifier: BSD-2-Clause */
/* From a trace folder to a struct report_cpu. Offline: needs no root and trusts no byte of the folder. */
#ifndef REPORT_CPU_LOAD_H
#define REPORT_CPU_LOAD_H

#include "report/cpu/cpu.h"

/*
 * Sum up the folder DIR. 0; -ENODATA: it is no trace; -ENOMSG: it has neither sched.out nor
 * sched_switch.out with a header; -EINVAL: an option's list does not fit; -errno.
 */
int report_cpu_load(struct report_cpu **ret, const char *dir, const struct report_cpu_options *o);
void report_cpu_free(struct report_cpu *r);

/*
 * The same in steps, for who reads the files of calls anyway, each once: all but these first, of the folder DIRFD,
 * which is DIR; then their rows; then what follows from all of them.
 */
int report_cpu_begin(struct report_cpu **ret, const char *dir, int dirfd, const struct report_cpu_options *o);
void report_cpu_end(struct report_cpu *r, int dirfd);
struct reader;
struct reader_row;
struct cpu_scan;
/* The rows of NAME.out, which RD reads. NULL: R, which may be NULL, does not ask for them. */
struct cpu_scan *report_cpu_calls_begin(struct report_cpu *r, const char *name, const struct reader *rd);
/* Some of these rows, one after the other: their text, and their numbers, each column's together; 0 where there is none. */
struct cpu_call_rows {
	const struct reader_row *text;
	unsigned int n;
	const uint64_t *time_ns, *pid, *lat_ns, *fid, *disk_bytes, *len; /* rows without a time do not count */
};
void report_cpu_calls_rows(struct cpu_scan *s, const struct cpu_call_rows *rows);
/* BAD_ROWS were without a time; ERROR: -errno, it could not be opened, or not be read to its end. */
void report_cpu_calls_end(struct report_cpu *r, const char *name, const struct reader *rd, uint64_t bad_rows, int error);

#endif
