/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls as walk.c looks at them, by their files. They are kept while the report reads its rows; where that
 * could not be, the files are read again, and what comes is the same.
 */
#ifndef REPORT_WHY_CALLS_H
#define REPORT_WHY_CALLS_H

#include "report/scan/callstore.h"
#include "report/scan/model.h"
#include "report/why/why.h"

enum why_call_flag {
	WHY_CALL_STATE = 7,   /* these bits are an enum why_state */
	WHY_CALL_FILE = 8,    /* FILE is an index for the report's table of files; else a FID that is not there, or 0 */
	WHY_CALL_ON_FILE = 16,
	WHY_CALL_RECEIVES = 32, /* on a pipe or the like, or sends */
	WHY_CALL_SENDS = 64,
	WHY_CALL_FETCHED = 128, /* a read: from a disk */
	WHY_CALL_SLOW = 256,	/* a read: as far as is known from the page cache, and yet as long as from elsewhere */
	WHY_CALL_SAMPLE = 512,	/* an open of a file on a disk or network to be read */
	WHY_CALL_NVIDIA = 1024, /* an open of a file of that name */
};

_Static_assert(WHY_STATES <= WHY_CALL_STATE + 1 && WHY_CALL_NVIDIA >> CALLSTORE_FLAGS_BITS == 0, "flags have room for all");

struct why_calls {
	struct callstore store;
	struct callstore_part part[REPORT_KINDS];
};

void why_calls_init(struct why_calls *c);
void why_calls_free(struct why_calls *c);

/* --- while rows are read: by rows.c ----------------------------------------------------------- */

/* The file of KIND begins; it ends. */
void why_calls_begin(struct why_calls *c, enum report_kind kind);
void why_calls_end(struct why_calls *c, enum report_kind kind);

/* --- then ----------------------------------------------------------------------------------------- */

struct why_call_row {
	struct callstore_row kept;
	uint64_t begin_ns;
};

static inline bool why_call_is(const struct why_call_row *row, enum why_call_flag flag)
{
	return row->kept.flags & flag;
}

static inline enum why_state why_call_state(const struct why_call_row *row)
{
	return (enum why_state)(row->kept.flags & WHY_CALL_STATE);
}

/* 0: it has none. */
static inline uint64_t why_call_fid(const struct report *r, const struct why_call_row *row)
{
	return why_call_is(row, WHY_CALL_FILE) ? table_key_at(&r->files, (uint32_t)row->kept.file) : row->kept.file;
}

/* One file's, from the first to the last. */
struct why_calls_stream {
	struct report *report;
	struct callstore_cursor kept;
	struct why_calls_text *text; /* or this */
};

/* 0; -ENOENT: there are none; -errno. */
int why_calls_open(struct why_calls_stream *s, struct report *r, int dirfd, enum report_kind kind);
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
