/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How sure a report can be: each reason why it covers less than the whole job, how large the missing part is, and
 * whether it could change the answer. report/missing.c finds the reasons; why, text, JSON and page only print them.
 */
#ifndef REPORT_SCAN_MISSING_H
#define REPORT_SCAN_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#define MISSING_MAX 32
#define MISSING_MATTERS 0.01 /* of all rows: a smaller share does not change the answer */

/* In the order in which they are printed, after those that matter. */
enum missing_kind {
	MISSING_CUT, /* rows that the manifest counts are not in the file */
	MISSING_SURPLUS, /* the file has more rows than the manifest counts */
	MISSING_LOST, /* while tracing: no room in a ring or on the disk */
	MISSING_UNSEEN, /* the kernel did not call a hook for it */
	MISSING_NO_END, /* the trace still runs, or dltraced was killed */
	MISSING_LEFT_RUNNING, /* processes of the job outlived the trace */
	MISSING_DROPPED, /* by --keep */
	MISSING_SUMMED, /* by --keep sums */
	MISSING_UNTRACED, /* a probe could not be attached */
	MISSING_ENDED_BEFORE, /* the trace was ended on demand while the job ran */
	MISSING_NOT_RECORDED, /* a probe was off */
	MISSING_IO_URING, /* its requests have no rows */
	MISSING_COMPAT, /* 32-bit calls: counted, not decoded */
	MISSING_SKIPPED, /* runs of hooks that the kernel left out */
	MISSING_KINDS,
};

struct missing_reason {
	enum missing_kind kind;
	char file[16]; /* the file that lacks rows; "": all of them */
	uint64_t n; /* rows, calls, processes */
	double share; /* of OF; NAN: not known */
	const char *of;
	bool matters; /* it could change the answer */
	bool of_calls; /* N counts in the share of missing calls */
	char *brief; /* some words for the line of the answer; NULL: none */
	char *text; /* a sentence */
};

struct report_missing {
	struct missing_reason reason[MISSING_MAX];
	unsigned int n;
	uint64_t calls, calls_missing; /* rows that the trace has, and rows that it lacks */
	char *caveat; /* of the answer; NULL: none */
	bool complete; /* no row of the job that was to be recorded is missing */
	bool damaged; /* a file is not as the manifest says */
};

/* The names in JSON. */
extern const char *const missing_codes[MISSING_KINDS];

/* Adds a reason with its sentence; takes ownership of R.BRIEF. */
void missing_add(struct report_missing *missing, struct missing_reason r, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Sorts the reasons and writes the caveat, after the last of them. */
void missing_end(struct report_missing *missing);
void missing_free(struct report_missing *m);

/* Returns the share of the calls that is missing. */
static inline double missing_share(const struct report_missing *m)
{
	return m->calls_missing ? (double)m->calls_missing / (double)(m->calls + m->calls_missing) : 0;
}

/* Whether R says that a file of the trace is damaged. */
static inline bool missing_is_damage(const struct missing_reason *r)
{
	return r->kind == MISSING_CUT || r->kind == MISSING_SURPLUS;
}

#endif
