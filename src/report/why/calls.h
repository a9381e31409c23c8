/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls for walk.c, a stream for each .out file. They are kept while the report reads its rows; if that fails, the
 * files are read again, with the same results.
 */
#ifndef REPORT_WHY_CALLS_H
#define REPORT_WHY_CALLS_H

#include "report/why/call.h"

void why_calls_init(struct why_calls *c);
void why_calls_free(struct why_calls *c);

/* --- while rows are read: by rows.c ----------------------------------------------------------- */

/* Called before and after the rows of KIND. */
void why_calls_begin(struct why_calls *c, enum report_kind kind);
void why_calls_end(struct why_calls *c, enum report_kind kind);

/* --- then ----------------------------------------------------------------------------------------- */

/* The calls of one file, from the first to the last. */
struct scan;
struct why_calls_stream {
	struct report *report;
	struct callstore_cursor kept;
	struct scan *text; /* the file, which is read again if the calls were not kept */
};

/* Returns 0, -ENOENT when there are no such calls, or -errno. */
int why_calls_open(struct why_calls_stream *stream, struct report *report, enum report_kind kind);
int why_calls_next_of_text(struct why_calls_stream *s, struct callstore_row *row);
/* Returns 1, 0 at the end, or -errno. */
static inline int why_calls_next(struct why_calls_stream *s, struct why_call_row *row)
{
	int res = s->text ? why_calls_next_of_text(s, &row->kept) : callstore_next(&s->kept, &row->kept);

	row->begin_ns = row->kept.end_ns - row->kept.lat_ns;
	return res;
}
/* S may be all zero. */
void why_calls_close(struct why_calls_stream *s);

#endif
