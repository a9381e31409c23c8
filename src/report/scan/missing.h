/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How sure a report can be: each reason why it is of less than the job did, how large a part that is, and whether the
 * answer could be another one with it. report/missing.c finds them; why, text, JSON and page only print them.
 */
#ifndef REPORT_SCAN_MISSING_H
#define REPORT_SCAN_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#define MISSING_MAX 32
#define MISSING_MATTERS 0.01 /* of what is looked at: less does not change the answer */

/* In the order in which they are printed. */
enum missing_kind {
	MISSING_CUT,	      /* rows that the manifest counts are not in the file */
	MISSING_SURPLUS,      /* the file has more rows than the manifest counts */
	MISSING_LOST,	      /* while tracing: no room in a ring or on the disk */
	MISSING_UNSEEN,	      /* the kernel did not call a hook for it */
	MISSING_NO_END,	      /* the trace still runs, or dltraced was killed */
	MISSING_LEFT_RUNNING, /* processes of the job outlived the trace */
	MISSING_DROPPED,      /* by --keep */
	MISSING_SUMMED,	      /* by --rollup-only */
	MISSING_UNTRACED,     /* a probe could not be attached */
	MISSING_ENDED_BEFORE, /* the trace was ended on demand while the job ran */
	MISSING_NOT_RECORDED, /* a probe was off */
	MISSING_IO_URING,     /* its requests have no rows */
	MISSING_COMPAT,	      /* 32-bit calls: counted, not decoded */
	MISSING_SKIPPED,      /* runs of hooks that the kernel left out */
	MISSING_KINDS,
};

struct missing_reason {
	enum missing_kind kind;
	char file[16]; /* that it is about; "": all of them */
	uint64_t n;    /* rows, calls, processes */
	double share;  /* of OF; NAN: not known */
	const char *of;
	bool matters;  /* the answer could be another one */
	bool of_calls; /* N is part of the share of the calls */
	char *brief;   /* some words for the line of the answer; NULL: none */
	char *text;    /* a sentence */
};

struct report_missing {
	struct missing_reason reason[MISSING_MAX];
	unsigned int n;
	uint64_t calls, calls_missing; /* rows that are there, and those that are not */
	char *caveat;	/* of the answer; NULL: none */
	bool complete; /* all rows of all of the job are there, of what was to be recorded */
	bool damaged;  /* a file is not as the manifest says */
};

/* What JSON calls it. */
extern const char *const missing_codes[MISSING_KINDS];

/* Add a reason, whose BRIEF is ours then, with its sentence. */
void missing_add(struct report_missing *m, struct missing_reason r, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* All reasons are there: sort them, and put the caveat together. */
void missing_end(struct report_missing *m);
void missing_free(struct report_missing *m);

/* The part of the calls that is not there. */
static inline double missing_share(const struct report_missing *m)
{
	return m->calls_missing ? (double)m->calls_missing / (double)(m->calls + m->calls_missing) : 0;
}

/* Whether the sentence of R is that a file of the trace is damaged. */
static inline bool missing_is_damage(const struct missing_reason *r)
{
	return r->kind == MISSING_CUT || r->kind == MISSING_SURPLUS;
}

#endif
