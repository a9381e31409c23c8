/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of calls for later: what is needed of each a second time, in some 20 bytes instead of its line's 100. The first
 * CALLSTORE_MEMORY of it are in memory, more are in a file without a name in $TMPDIR, else /var/tmp. Knows no
 * columns. It may give up, and then has nothing: where there is no memory, and where such a file cannot be made or
 * written, is itself in memory (tmpfs), or would leave its disk less than CALLSTORE_SPARE. Then the lines must be read again.
 */
#ifndef CALLSTORE_H
#define CALLSTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CALLSTORE_MEMORY (1U << 20)
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
void callstore_add(struct callstore *s, const struct callstore_row *row);

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
int callstore_next(struct callstore_cursor *c, struct callstore_row *row);
/* Fine on one that is all zero. */
void callstore_close(struct callstore_cursor *c);

#endif
