/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of calls kept for a second look: the fields needed then, mostly in 20 bytes where the line has 100. The first
 * CALLSTORE_MEMORY bytes stay in memory, the rest go to an unnamed file in $TMPDIR, else /var/tmp. Knows no columns.
 * The store may give up, and is empty then: when memory is out, or the file cannot be made or written, is itself in
 * memory (tmpfs), or would leave its disk less than CALLSTORE_SPARE. The lines must be read again then.
 */
#ifndef REPORT_SCAN_CALLSTORE_H
#define REPORT_SCAN_CALLSTORE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CALLSTORE_MEMORY (256U << 10)
#define CALLSTORE_SPARE (1ULL << 30) /* and a 20th of the disk */
#define CALLSTORE_FLAGS_BITS 14

struct callstore_row {
	uint64_t end_ns, pid, tid, lat_ns, file;
	uint32_t flags; /* CALLSTORE_FLAGS_BITS bits, whose meaning is the caller's */
};

struct callstore {
	char *buf; /* of CALLSTORE_MEMORY bytes: the rows that are not in the file yet */
	size_t len; /* bytes used of BUF */
	int fd; /* -1: no file */
	uint64_t stored; /* bytes in the file */
	uint64_t last_ns;
	bool failed; /* the store has given up */
};

/* A run of rows that were added one after the other. */
struct callstore_part {
	uint64_t begin, end;
};

void callstore_init(struct callstore *s);
void callstore_free(struct callstore *s);

/* Returns the place at which a new part begins; the part ends where the next one begins. */
uint64_t callstore_part(struct callstore *s);
/* Rows take the least room when they come in order of END_NS and their numbers are small. */
static inline void callstore_add(struct callstore *callstore, const struct callstore_row *row);

/* Reads a part row by row, in the order of adding. No row may be added meanwhile. */
struct callstore_cursor {
	const struct callstore *store;
	uint64_t at, end; /* of the part, not in buf yet */
	char *buf;
	size_t pos, len; /* in buf */
	uint64_t last_ns;
};

/* Returns 0 or -ENOMEM. */
int callstore_open(struct callstore_cursor *c, const struct callstore *s, struct callstore_part part);
/* Returns 1, 0 at the end, or -errno. */
static inline int callstore_next(struct callstore_cursor *cursor, struct callstore_row *row);
/* C may be all zero. */
void callstore_close(struct callstore_cursor *c);

/* --- the format ------------------------------------------------------------------------------------ */

/*
 * A row is two and a half words: flags and the time since the row before; the process and the file; the latency. The
 * thread takes another half word where it is not the process's first. Where a value does not fit its bits, every field
 * is a word. These functions run for each row of a trace and are inline for that reason.
 */
#define CALLSTORE_WIDE (1U << CALLSTORE_FLAGS_BITS)
#define CALLSTORE_THREAD (2U << CALLSTORE_FLAGS_BITS)
#define CALLSTORE_TIME_SHIFT (CALLSTORE_FLAGS_BITS + 2)
#define CALLSTORE_FILE_BITS 40
#define CALLSTORE_ROW_MAX (6 * sizeof(uint64_t))

/* Makes room for a row in CALLSTORE's buffer, or gives up. */
void callstore_flush(struct callstore *callstore);
/* Reads more of the part into CURSOR's buffer. Returns 0 or -errno. */
int callstore_fill(struct callstore_cursor *cursor);

static inline void callstore_word(char *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

static inline void callstore_add(struct callstore *callstore, const struct callstore_row *row)
{
	const uint64_t since_ns = row->end_ns - callstore->last_ns;
	char *p;

	if (callstore->failed)
		return;
	if (CALLSTORE_MEMORY - callstore->len < CALLSTORE_ROW_MAX) {
		callstore_flush(callstore);
		if (callstore->failed)
			return;
	}
	p = callstore->buf + callstore->len;
	callstore->last_ns = row->end_ns;
	if (since_ns >> (64 - CALLSTORE_TIME_SHIFT) | row->pid >> (64 - CALLSTORE_FILE_BITS) |
	    row->file >> CALLSTORE_FILE_BITS | row->lat_ns >> 32 | row->tid >> 32) {
		callstore_word(p, row->flags | CALLSTORE_WIDE);
		callstore_word(p + 8, since_ns);
		callstore_word(p + 16, row->pid);
		callstore_word(p + 24, row->file);
		callstore_word(p + 32, row->lat_ns);
		callstore_word(p + 40, row->tid);
		callstore->len += CALLSTORE_ROW_MAX;
		return;
	}
	callstore_word(p,
		       row->flags | since_ns << CALLSTORE_TIME_SHIFT | (row->tid != row->pid ? CALLSTORE_THREAD : 0));
	callstore_word(p + 8, row->pid << CALLSTORE_FILE_BITS | row->file);
	callstore_word(p + 16, row->lat_ns | row->tid << 32);
	callstore->len += row->tid != row->pid ? 24 : 20;
}

static inline uint64_t callstore_word_at(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline int callstore_next(struct callstore_cursor *cursor, struct callstore_row *row)
{
	uint64_t first, second, third;
	const char *p;
	int res =
		cursor->len - cursor->pos < CALLSTORE_ROW_MAX && cursor->at < cursor->end ? callstore_fill(cursor) : 0;

	if (res < 0 || cursor->pos == cursor->len)
		return res < 0 ? res : 0;
	p = cursor->buf + cursor->pos;
	first = callstore_word_at(p);
	second = callstore_word_at(p + 8);
	third = callstore_word_at(p + 16);
	row->flags = first & ((1U << CALLSTORE_FLAGS_BITS) - 1);
	if (first & CALLSTORE_WIDE) {
		cursor->last_ns += second;
		row->pid = third;
		row->file = callstore_word_at(p + 24);
		row->lat_ns = callstore_word_at(p + 32);
		row->tid = callstore_word_at(p + 40);
		cursor->pos += CALLSTORE_ROW_MAX;
	} else {
		cursor->last_ns += first >> CALLSTORE_TIME_SHIFT;
		row->pid = second >> CALLSTORE_FILE_BITS;
		row->file = second & ((1ULL << CALLSTORE_FILE_BITS) - 1);
		row->lat_ns = (uint32_t)third;
		row->tid = first & CALLSTORE_THREAD ? third >> 32 : row->pid;
		cursor->pos += first & CALLSTORE_THREAD ? 24 : 20;
	}
	row->end_ns = cursor->last_ns;
	return 1;
}

#endif
