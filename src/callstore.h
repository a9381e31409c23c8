/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of calls for later: what is needed of each a second time, in some 20 bytes instead of its line's 100. The first
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
#define CALLSTORE_FLAGS_BITS 14

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
 * A row is a word of flags and lengths, then its numbers, each in none, 2, 3 or 8 bytes: so as to take no branches, eight
 * are written and read of any, and what is too much is written over, or masked. What is written for each row of a
 * trace is here, to be compiled into where it comes from.
 */
#define CALLSTORE_NUMBERS 9
#define CALLSTORE_ROW_MAX (sizeof(uint32_t) + CALLSTORE_NUMBERS * sizeof(uint64_t))

_Static_assert(CALLSTORE_FLAGS_BITS + 2 * CALLSTORE_NUMBERS <= 32, "a row's first word has room for flags and lengths");

static const uint8_t callstore_length[4] = { 0, 2, 3, 8 };
static const uint64_t callstore_mask[4] = { 0, 0xffff, 0xffffff, UINT64_MAX };

/* Make room for a row in S's buffer, or give up. */
void callstore_flush(struct callstore *s);
/* More of the part into C's buffer. 0 or -errno. */
int callstore_fill(struct callstore_cursor *c);

struct callstore_put {
	char *p;
	uint32_t lengths;
	unsigned int shift;
};

static inline void callstore_put(struct callstore_put *to, uint64_t v)
{
	unsigned int code = (v != 0) + (v >> 16 != 0) + (v >> 24 != 0);

	v = htole64(v);
	memcpy(to->p, &v, sizeof(v));
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
	struct callstore_put to = { .shift = CALLSTORE_FLAGS_BITS };
	char *begin;

	if (s->failed)
		return;
	if (CALLSTORE_MEMORY - s->len < CALLSTORE_ROW_MAX + sizeof(uint64_t)) {
		callstore_flush(s);
		if (s->failed)
			return;
	}
	begin = s->buf + s->len;
	to.p = begin + sizeof(to.lengths);
	callstore_put(&to, row->end_ns - s->last_ns);
	callstore_put(&to, row->pid);
	callstore_put_rare(&to, row->tid - row->pid);
	callstore_put(&to, row->lat_ns);
	callstore_put(&to, row->file);
	if (row->flags & CALLSTORE_TRANSFER) {
		callstore_put(&to, row->bytes);
		callstore_put_rare(&to, row->requested - row->bytes);
		callstore_put(&to, row->offset);
		callstore_put(&to, row->disk_bytes);
	}
	to.lengths |= row->flags;
	memcpy(begin, &to.lengths, sizeof(to.lengths));
	s->len = (size_t)(to.p - s->buf);
	s->last_ns = row->end_ns;
}

struct callstore_get {
	const char *p;
	uint32_t lengths;
};

static inline uint64_t callstore_get(struct callstore_get *from)
{
	unsigned int code = from->lengths & 3;
	uint64_t v;

	memcpy(&v, from->p, sizeof(v));
	from->p += callstore_length[code];
	from->lengths >>= 2;
	return le64toh(v) & callstore_mask[code];
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
	uint32_t head;
	int res = c->len - c->pos < CALLSTORE_ROW_MAX && c->at < c->end ? callstore_fill(c) : 0;

	if (res < 0 || c->pos == c->len)
		return res < 0 ? res : 0;
	from.p = c->buf + c->pos;
	memcpy(&head, from.p, sizeof(head));
	from.p += sizeof(head);
	from.lengths = head >> CALLSTORE_FLAGS_BITS;
	row->flags = head & ((1U << CALLSTORE_FLAGS_BITS) - 1);
	row->end_ns = c->last_ns += callstore_get(&from);
	row->pid = callstore_get(&from);
	row->tid = row->pid + callstore_get_rare(&from);
	row->lat_ns = callstore_get(&from);
	row->file = callstore_get(&from);
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
