/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of calls for later: what is needed of each a second time, in 20 bytes mostly instead of its line's 100. The first
 * CALLSTORE_MEMORY of it are in memory, more are in a file without a name in $TMPDIR, else /var/tmp. Knows no
 * columns. It may give up, and then has nothing: where there is no memory, and where such a file cannot be made or
 * written, is itself in memory (tmpfs), or would leave its disk less than CALLSTORE_SPARE. Then the lines must be read again.
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
	uint32_t flags; /* CALLSTORE_FLAGS_BITS that are the user's */
};

struct callstore {
	char *buf;	 /* of CALLSTORE_MEMORY: what is not in the file */
	size_t len;	 /* of it */
	int fd;		 /* -1: no file */
	uint64_t stored; /* bytes in the file */
	uint64_t last_ns;
	bool failed; /* it has given up */
};

/* Rows that were added one after the other. */
struct callstore_part {
	uint64_t begin, end;
};

void callstore_init(struct callstore *s);
void callstore_free(struct callstore *s);

/* What is added from here on begins a part: at the place returned, and ends where the next one begins. */
uint64_t callstore_part(struct callstore *s);
/* Rows are smallest in order of their END_NS, and with numbers that are. */
static inline void callstore_add(struct callstore *s, const struct callstore_row *row);

/* A part, row by row, in the order in which they were added; nothing is added meanwhile. */
struct callstore_cursor {
	const struct callstore *store;
	uint64_t at, end; /* of the part, not in buf yet */
	char *buf;
	size_t pos, len; /* in buf */
	uint64_t last_ns;
};

/* 0 or -ENOMEM. */
int callstore_open(struct callstore_cursor *c, const struct callstore *s, struct callstore_part part);
/* 1, 0 at the end, -errno. */
static inline int callstore_next(struct callstore_cursor *c, struct callstore_row *row);
/* Fine on one that is all zero. */
void callstore_close(struct callstore_cursor *c);

/* --- the format ------------------------------------------------------------------------------------ */

/*
 * A row is flags and the time since the row before; who and which file; how long it took: two words and a half, and half of one
 * for the thread where it is not the process's first. Where one of these has no room all are words. What is written
 * for each row of a trace is here, to be compiled into where it comes from.
 */
#define CALLSTORE_WIDE (1U << CALLSTORE_FLAGS_BITS)
#define CALLSTORE_THREAD (2U << CALLSTORE_FLAGS_BITS)
#define CALLSTORE_TIME_SHIFT (CALLSTORE_FLAGS_BITS + 2)
#define CALLSTORE_FILE_BITS 40
#define CALLSTORE_ROW_MAX (6 * sizeof(uint64_t))

/* Make room for a row in S's buffer, or give up. */
void callstore_flush(struct callstore *s);
/* More of the part into C's buffer. 0 or -errno. */
int callstore_fill(struct callstore_cursor *c);

static inline void callstore_word(char *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

static inline void callstore_add(struct callstore *s, const struct callstore_row *row)
{
	const uint64_t since_ns = row->end_ns - s->last_ns;
	char *p;

	if (s->failed)
		return;
	if (CALLSTORE_MEMORY - s->len < CALLSTORE_ROW_MAX) {
		callstore_flush(s);
		if (s->failed)
			return;
	}
	p = s->buf + s->len;
	s->last_ns = row->end_ns;
	if (since_ns >> (64 - CALLSTORE_TIME_SHIFT) | row->pid >> (64 - CALLSTORE_FILE_BITS) | row->file >> CALLSTORE_FILE_BITS |
	    row->lat_ns >> 32 | row->tid >> 32) {
		callstore_word(p, row->flags | CALLSTORE_WIDE);
		callstore_word(p + 8, since_ns);
		callstore_word(p + 16, row->pid);
		callstore_word(p + 24, row->file);
		callstore_word(p + 32, row->lat_ns);
		callstore_word(p + 40, row->tid);
		s->len += CALLSTORE_ROW_MAX;
		return;
	}
	callstore_word(p, row->flags | since_ns << CALLSTORE_TIME_SHIFT | (row->tid != row->pid ? CALLSTORE_THREAD : 0));
	callstore_word(p + 8, row->pid << CALLSTORE_FILE_BITS | row->file);
	callstore_word(p + 16, row->lat_ns | row->tid << 32);
	s->len += row->tid != row->pid ? 24 : 20;
}

static inline uint64_t callstore_word_at(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline int callstore_next(struct callstore_cursor *c, struct callstore_row *row)
{
	uint64_t first, second, third;
	const char *p;
	int res = c->len - c->pos < CALLSTORE_ROW_MAX && c->at < c->end ? callstore_fill(c) : 0;

	if (res < 0 || c->pos == c->len)
		return res < 0 ? res : 0;
	p = c->buf + c->pos;
	first = callstore_word_at(p);
	second = callstore_word_at(p + 8);
	third = callstore_word_at(p + 16);
	row->flags = first & ((1U << CALLSTORE_FLAGS_BITS) - 1);
	if (first & CALLSTORE_WIDE) {
		c->last_ns += second;
		row->pid = third;
		row->file = callstore_word_at(p + 24);
		row->lat_ns = callstore_word_at(p + 32);
		row->tid = callstore_word_at(p + 40);
		c->pos += CALLSTORE_ROW_MAX;
	} else {
		c->last_ns += first >> CALLSTORE_TIME_SHIFT;
		row->pid = second >> CALLSTORE_FILE_BITS;
		row->file = second & ((1ULL << CALLSTORE_FILE_BITS) - 1);
		row->lat_ns = (uint32_t)third;
		row->tid = first & CALLSTORE_THREAD ? third >> 32 : row->pid;
		c->pos += first & CALLSTORE_THREAD ? 24 : 20;
	}
	row->end_ns = c->last_ns;
	return 1;
}

#endif
