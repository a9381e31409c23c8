/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls as why_walk.c looks at them, by their files. They are kept while the report reads its rows; where that
 * could not be, the files are read again, and what comes is the same.
 */
#ifndef WHY_CALLS_H
#define WHY_CALLS_H

#include "callstore.h"
#include "report.h"

enum why_call_flag {
	WHY_CALL_FID = CALLSTORE_USER,
	WHY_CALL_FOREIGN = CALLSTORE_USER << 1, /* the FID is none that the report knows */
	WHY_CALL_FAILED = CALLSTORE_USER << 2,
	WHY_CALL_RDONLY = CALLSTORE_USER << 3, /* of open: to be read */
	WHY_CALL_NVIDIA = CALLSTORE_USER << 4, /* of open: a file of that name */
	WHY_CALL_WRITE = CALLSTORE_USER << 5,  /* from here on of reads and writes */
	WHY_CALL_DONE = CALLSTORE_USER << 6,   /* it returned a number of bytes */
	WHY_CALL_OFFSET = CALLSTORE_USER << 7, /* it is known where in the file */
	WHY_CALL_ACCOUNTED = CALLSTORE_USER << 8, /* and what it fetched from disks */
	WHY_CALL_DIRECT = CALLSTORE_USER << 9,
	WHY_CALL_STANDARD = CALLSTORE_USER << 10, /* on FD 1 or 2 */
};

struct report_call_facts;
struct scan;

struct why_calls {
	struct callstore store;
	struct callstore_part part[REPORT_KINDS];
};

void why_calls_init(struct why_calls *c);
void why_calls_free(struct why_calls *c);

/* --- while rows are read -------------------------------------------------------------------------- */

/* The file of KIND begins; it ends. */
void why_calls_begin(struct why_calls *c, enum report_kind kind);
void why_calls_end(struct why_calls *c, enum report_kind kind);

/* The present row of S. */
void why_calls_keep(struct why_calls *c, const struct scan *s, const struct report_call_facts *facts);

/* --- then ----------------------------------------------------------------------------------------- */

struct why_call_row {
	struct callstore_row kept; /* its numbers; FILE is for why_calls.c alone */
	uint64_t begin_ns, fid;
	const struct report_file *file; /* NULL: not known */
};

static inline bool why_call_is(const struct why_call_row *row, enum why_call_flag flag)
{
	return row->kept.flags & flag;
}

/* One file's, from the first to the last. */
struct why_calls_stream {
	struct report *report;
	struct callstore_cursor kept;
	struct why_calls_text *text; /* or this */
};

/* 0; -ENOENT: there are none; -errno. */
int why_calls_open(struct why_calls_stream *s, struct report *r, int dirfd, enum report_kind kind);
/* 1, 0 at the end, -errno. */
int why_calls_next(struct why_calls_stream *s, struct why_call_row *row);
/* Fine on one that is all zero. */
void why_calls_close(struct why_calls_stream *s);

#endif
