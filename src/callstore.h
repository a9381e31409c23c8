/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of calls for later: what is needed of each a second time, in some 25 bytes instead of its line's 100. The first
 * CALLSTORE_MEMORY of it are in memory, more are in a file without a name in $TMPDIR, else /var/tmp. Knows no
 * columns. It may give up, and then has nothing: where there is no memory, and where such a file cannot be made or
 * written, is itself in memory (tmpfs), or would leave its disk less than CALLSTORE_SPARE. Then the lines must be read again.
 */
#ifndef CALLSTORE_H
#define CALLSTORE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CALLSTORE_MEMORY (256U << 10)
#define CALLSTORE_SPARE (1ULL << 30) /* and a 20th of the disk */
#define CALLSTORE_FLAGS_BITS 13

struct callstore_row {
	uint64_t end_ns, pid, tid, lat_ns, file;
	uint64_t bytes, requested, offset, disk_bytes; /* kept with CALLSTORE_TRANSFER only, else 0 */
	uint32_t flags; /* CALLSTORE_TRANSFER, and CALLSTORE_FLAGS_BITS - 1 that are the user's */
};

#define CALLSTORE_TRANSFER 1U
#define CALLSTORE_USER 2U /* the first of the user's flags */

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
 * A row is two words and a half: flags, how long its further numbers are, and the time since the row before, in the
 * first; who and which file in the second; how long it took. Where one of these has no room they take a word each, behind
 * the first. Its further numbers take none, 2, 3 or 8 bytes: so as to take no branches, eight are written and read
 * of any, and what is too much is written over, or masked. What is written for each row of a trace is here, to be
 * compiled into where it comes from.
 */
#define CALLSTORE_WIDE (1U << CALLSTORE_FLAGS_BITS)
#define CALLSTORE_LENGTHS_SHIFT (CALLSTORE_FLAGS_BITS + 1)
#define CALLSTORE_TIME_SHIFT 24 /* behind 5 lengths of 2 bits */
#define CALLSTORE_FILE_BITS 40
#define CALLSTORE_ROW_MAX (10 * sizeof(uint64_t))

_Static_assert(CALLSTORE_LENGTHS_SHIFT + 2 * 5 <= CALLSTORE_TIME_SHIFT, "a row's first word has room for all");

static const uint8_t callstore_length[4] = { 0, 2, 3, 8 };
static const uint64_t callstore_mask[4] = { 0, 0xffff, 0xffffff, UINT64_MAX };

/* Make room for a row in S's buffer, or give up. */
void callstore_flush(struct callstore *s);
/* More of the part into C's buffer. 0 or -errno. */
int callstore_fill(struct callstore_cursor *c);

static inline void callstore_word(char *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

struct callstore_put {
	char *p;
	uint64_t lengths;
	unsigned int shift;
};

static inline void callstore_put(struct callstore_put *to, uint64_t v)
{
	uint64_t code = (v != 0) + (v >> 16 != 0) + (v >> 24 != 0);

	callstore_word(to->p, v);
	to->p += callstore_length[code];
	to->lengths |= code << to->shift;
	to->shift += 2;
}

/* One that is 0 in nearly all rows: there a branch costs less. */
static inline void callstore_put_rare(struct callstore_put *to, uint64_t v)
{
	if (v)
		callstore_put(to, v);
	else
		to->shift += 2;
}

static inline void callstore_add(struct callstore *s, const struct callstore_row *row)
{
	struct callstore_put to = { .shift = CALLSTORE_LENGTHS_SHIFT };
	uint64_t since_ns = row->end_ns - s->last_ns, first = row->flags;
	char *begin;

	if (s->failed)
		return;
	if (CALLSTORE_MEMORY - s->len < CALLSTORE_ROW_MAX + sizeof(uint64_t)) {
		callstore_flush(s);
		if (s->failed)
			return;
	}
	begin = s->buf + s->len;
	if (since_ns >> (64 - CALLSTORE_TIME_SHIFT) | row->pid >> (64 - CALLSTORE_FILE_BITS) | row->file >> CALLSTORE_FILE_BITS |
	    row->lat_ns >> 32) {
		first |= CALLSTORE_WIDE;
		callstore_word(begin + 8, since_ns);
		callstore_word(begin + 16, row->pid);
		callstore_word(begin + 24, row->file);
		callstore_word(begin + 32, row->lat_ns);
		to.p = begin + 40;
	} else {
		first |= since_ns << CALLSTORE_TIME_SHIFT;
		callstore_word(begin + 8, row->pid << CALLSTORE_FILE_BITS | row->file);
		callstore_word(begin + 16, row->lat_ns);
		to.p = begin + 20;
	}
	callstore_put_rare(&to, row->tid - row->pid);
	if (row->flags & CALLSTORE_TRANSFER) {
		callstore_put(&to, row->bytes);
		callstore_put_rare(&to, row->requested - row->bytes);
		callstore_put(&to, row->offset);
		callstore_put(&to, row->disk_bytes);
	}
	callstore_word(begin, first | to.lengths);
	s->len = (size_t)(to.p - s->buf);
	s->last_ns = row->end_ns;
}

static inline uint64_t callstore_word_at(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

struct callstore_get {
	const char *p;
	uint64_t lengths;
};

static inline uint64_t callstore_get(struct callstore_get *from)
{
	unsigned int code = from->lengths & 3;
	uint64_t v = callstore_word_at(from->p) & callstore_mask[code];

	from->p += callstore_length[code];
	from->lengths >>= 2;
	return v;
}

static inline uint64_t callstore_get_rare(struct callstore_get *from)
{
	if (from->lengths & 3)
		return callstore_get(from);
	from->lengths >>= 2;
	return 0;
}

static inline int callstore_next(struct callstore_cursor *c, struct callstore_row *row)
{
	struct callstore_get from;
	uint64_t first, second;
	const char *p;
	int res = c->len - c->pos < CALLSTORE_ROW_MAX && c->at < c->end ? callstore_fill(c) : 0;

	if (res < 0 || c->pos == c->len)
		return res < 0 ? res : 0;
	p = c->buf + c->pos;
	first = callstore_word_at(p);
	second = callstore_word_at(p + 8);
	if (first & CALLSTORE_WIDE) {
		c->last_ns += second;
		row->pid = callstore_word_at(p + 16);
		row->file = callstore_word_at(p + 24);
		row->lat_ns = callstore_word_at(p + 32);
		from.p = p + 40;
	} else {
		c->last_ns += first >> CALLSTORE_TIME_SHIFT;
		row->pid = second >> CALLSTORE_FILE_BITS;
		row->file = second & ((1ULL << CALLSTORE_FILE_BITS) - 1);
		row->lat_ns = (uint32_t)callstore_word_at(p + 16);
		from.p = p + 20;
	}
	from.lengths = first >> CALLSTORE_LENGTHS_SHIFT;
	row->flags = first & ((1U << CALLSTORE_FLAGS_BITS) - 1);
	row->end_ns = c->last_ns;
	row->tid = row->pid + callstore_get_rare(&from);
	row->bytes = row->requested = row->offset = row->disk_bytes = 0;
	if (row->flags & CALLSTORE_TRANSFER) {
		row->bytes = callstore_get(&from);
		row->requested = row->bytes + callstore_get_rare(&from);
		row->offset = callstore_get(&from);
		row->disk_bytes = callstore_get(&from);
	}
	c->pos = (size_t)(from.p - c->buf);
	return 1;
}

#endif
