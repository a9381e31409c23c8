/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the parts of the report on CPU time that read: report_cpu_scan() walks a file, and each part
 * takes the rows of some in.
 */
#ifndef REPORT_CPU_SCAN_H
#define REPORT_CPU_SCAN_H

#include "report/cpu/cpu.h"
#include "trace/reader.h"

#define CPU_COLUMNS_MAX 20

struct cpu_scan {
	struct report_cpu *r;
	void *own; /* the part's */
	struct reader reader;
	const struct reader_row *row;
	unsigned int at[CPU_COLUMNS_MAX]; /* index of its field; 0: the file has no such column */
	uint64_t time_ns;		  /* TIMESTAMP of this row, where report_cpu_scan() reads it */
	uint64_t bad_rows;
	int error; /* of a file of calls that somebody else reads: why not, or not to its end; 0 */
};

static inline struct reader_field cpu_field(const struct cpu_scan *s, unsigned int column)
{
	return reader_field(s->row, s->at[column]);
}

static inline bool cpu_u64(const struct cpu_scan *s, unsigned int column, uint64_t *ret)
{
	return reader_row_u64(cpu_field(s, column), ret);
}

static inline bool cpu_is(const struct cpu_scan *s, unsigned int column, const char *value)
{
	return reader_is(cpu_field(s, column), value);
}

/* A number, 0 where there is none. */
static inline uint64_t cpu_number(const struct cpu_scan *s, unsigned int column)
{
	uint64_t v;

	return cpu_u64(s, column, &v) ? v : 0;
}

/*
 * Give each row of NAME.out in DIRFD to TAKE, which tells whether it could be read. COLUMNS ends with
 * NULL; a column's place in it is its number. What is odd about the file becomes a note. 0, -ENOENT,
 * -ENODATA or -EBADMSG without a note, -errno with one.
 */
int report_cpu_scan(struct report_cpu *r, int dirfd, const char *name, const char *const *columns,
		    bool (*take)(struct cpu_scan *s), void *own);

/* What is odd about NAME.out, which S has read, and why it could not be read: -errno, 0: it could. Gives that back. */
int report_cpu_note_file(const struct cpu_scan *s, const char *name, int error);

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

/* pids.out. */
int report_cpu_lives(struct report_cpu *r, int dirfd);
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

int report_cpu_sums(struct report_cpu *r, int dirfd);
int report_cpu_switches(struct report_cpu *r, int dirfd);

/* RUN_NS of THREAD under the name of TASK on CPU within [FROM, TO]; SWITCHES times it came. */
struct cpu_run {
	uint32_t thread, task, cpu;
	uint64_t from_ns, to_ns, run_ns, runq_ns, switches, preempted;
};
void report_cpu_add(struct report_cpu *r, const struct cpu_run *run);
/* The task of those who are not told one by one. */
uint32_t report_cpu_nobody(struct report_cpu *r);
/* It waited: the sums of waits in ADD. Its role. */
uint32_t report_cpu_add_wait(struct report_cpu *r, uint32_t thread, uint32_t task, const struct cpu_sums *add);

/* The number of a call, made when it is new. */
uint32_t report_cpu_call_number(struct report_cpu *r, struct reader_field name);
/* The sums of ROLE in the call; NULL: there are none, and MAKE is not set. */
struct cpu_call *report_cpu_call(struct report_cpu *r, uint32_t role, uint32_t call, bool make);

/* --- when: phases.c, gaps.c --------------------------------------------------- */

int report_cpu_phases(struct report_cpu *r, int dirfd);
/* Put the intervals in order, once all are known and r->end_ns is. */
void report_cpu_phases_end(struct report_cpu *r);
/* RUN_NS of TASK, evenly within [FROM_NS, TO_NS]. */
void report_cpu_phase_add(struct report_cpu *r, uint32_t task, uint64_t from_ns, uint64_t to_ns, uint64_t run_ns);

/* time_align.out; and what the manifest counts as lost. */
int report_cpu_clock_gaps(struct report_cpu *r, int dirfd);
void report_cpu_gap(struct report_cpu *r, const struct cpu_gap *gap);
/* In order of time, those without one first. */
void report_cpu_gaps_end(struct report_cpu *r);

/* --- where: folders.c -------------------------------------------------------------------- */

/*
 * files.out and the calls' own files: which folders the calls that waited went to. Between the first and the last of
 * these either the second reads the files of calls, or who reads them anyway gives their rows to report_cpu_calls_rows().
 */
int report_cpu_folders_begin(struct report_cpu *r, int dirfd);
void report_cpu_folders_read(struct report_cpu *r, int dirfd);
void report_cpu_folders_end(struct report_cpu *r);

#endif
