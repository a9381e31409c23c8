/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which pages of processes' memory, or of files, were touched, and when the last two times. Bounded: what finds no room
 * is counted in bytes. Pure: knows neither rows nor processes; a space is a number of the caller's.
 */
#ifndef STATS_TOUCHED_H
#define STATS_TOUCHED_H

#include "stats/table.h"

#define TOUCHED_PAGE 4096ULL
#define TOUCHED_BLOCK (1ULL << 16)
#define TOUCHED_PAGES (TOUCHED_BLOCK / TOUCHED_PAGE)
#define TOUCHED_MAX (1U << 19) /* blocks: 32 GiB of touched memory, in 90 MiB */
#define TOUCHED_SPACES (1ULL << 22)
#define TOUCHED_END (1ULL << 57) /* no address is larger */

struct touched {
	struct table blocks; /* struct touched_block; see touched_space() and touched_at() */
	uint64_t left_out; /* bytes that found no room */
};

/* Instants are the caller's, from 1 on; 0: never. */
struct touched_block {
	uint32_t last[TOUCHED_PAGES], before[TOUCHED_PAGES]; /* the last instant, and the last one before that */
	uint32_t written; /* a bit for each page */
	uint64_t tag; /* the caller's, of the last that was added */
};

struct touched_add {
	uint64_t space, at, bytes; /* a range of addresses */
	uint64_t touched, written; /* bytes of it; which ones is not known if it is not all of them */
	uint32_t when;
	uint64_t tag;
};

struct touched_sum {
	uint64_t bytes; /* touched */
	uint64_t once; /* of these: at one instant only */
	uint64_t written; /* of these: at any time */
};

void touched_init(struct touched *t, uint32_t max);
void touched_free(struct touched *t);
/*
 * Adds ADD. Of a range that was touched in part, as many pages of each block count as its share, always the first ones.
 * So a sum over several instants is never larger than what was touched.
 */
void touched_add(struct touched *touched, const struct touched_add *add);
/* Sets the tag of what was touched of BYTES from AT of SPACE. */
void touched_tag(struct touched *touched, uint64_t space, uint64_t at, uint64_t bytes, uint64_t tag);
/* Adds to SUM what was touched from the instant FROM on, of BYTES from AT of SPACE. */
void touched_sum(const struct touched *touched, uint64_t space, uint64_t at, uint64_t bytes, uint32_t from,
		 struct touched_sum *sum);
/* Adds all that was touched of block I, at any time. */
void touched_sum_block(const struct touched *t, uint32_t i, struct touched_sum *sum);

static inline uint64_t touched_key(uint64_t space, uint64_t at)
{
	return space << 41 | at / TOUCHED_BLOCK;
}

/* The space and the address of block I. */
static inline uint64_t touched_space(const struct touched *t, uint32_t i)
{
	return table_key_at(&t->blocks, i) >> 41;
}

static inline uint64_t touched_at(const struct touched *t, uint32_t i)
{
	return (table_key_at(&t->blocks, i) & ((1ULL << 41) - 1)) * TOUCHED_BLOCK;
}

#endif
