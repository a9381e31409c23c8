/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls as walk.c looks at them, by their files. They are kept while the report reads its rows; where that
 * could not be, the files are read again, and what comes is the same.
 */
#ifndef REPORT_WHY_CALLS_H
#define REPORT_WHY_CALLS_H

#include "report/why/call.h"

void why_calls_init(struct why_calls *c);
void why_calls_free(struct why_calls *c);

/* --- while rows are read: by rows.c ----------------------------------------------------------- */

/* The file of KIND begins; it ends. */
void why_calls_begin(struct why_calls *c, enum report_kind kind);
void why_calls_end(struct why_calls *c, enum report_kind kind);

/* --- then ----------------------------------------------------------------------------------------- */

/* One file's, from the first to the last. */
struct scan;
struct why_calls_stream {
	struct report *report;
	struct callstore_cursor kept;
	struct scan *text; /* or this */
};

/* 0; -ENOENT: there are none; -errno. */
int why_calls_open(struct why_calls_stream *s, struct report *r, enum report_kind kind);
int why_calls_next_of_text(struct why_calls_stream *s, struct callstore_row *row);
/* 1, 0 at the end, -errno. */
static inline int why_calls_next(struct why_calls_stream *s, struct why_call_row *row)
{
	int res = s->text ? why_calls_next_of_text(s, &row->kept) : callstore_next(&s->kept, &row->kept);

	row->begin_ns = row->kept.end_ns - row->kept.lat_ns;
	return res;
}
/* Fine on one that is all zero. */
void why_calls_close(struct why_calls_stream *s);

#endif
