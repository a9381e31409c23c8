/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accesses of memory: the kernel side's page faults, and accesses that were watched or sampled, become rows of
 * access.out, sorted and joined in each interval. Rows are up to a second late. Drain thread.
 */
#ifndef DRAIN_MEMORY_ACCESS_H
#define DRAIN_MEMORY_ACCESS_H

#include <stdint.h>

#include "dlt/access.h"

struct access;
struct access_counts;
struct access_source;
struct alloc_block;
struct config;
struct decode;

/* NULL: no memory. */
struct access *access_new(const struct config *cfg);
void access_free(struct access *a);

/* REC has come out of a ring; without DECODE's access it is dropped. */
void access_take(struct decode *decode, const struct dlt_access *rec);

/* A block that is to be watched, of process TGID, is in use; the block at ADDR has ended. In the order of time. */
void access_block_begins(struct access *a, uint32_t tgid, const struct alloc_block *block);
void access_block_ends(struct access *a, uint32_t tgid, uint64_t addr, uint64_t end_ns);
/* All blocks until UNTIL_NS, and all accesses, have come: rows of these. */
void access_blocks_known(struct decode *decode, uint64_t until_ns);
/* Any thread: what the manifest has of it. */
void access_count(const struct access *a, struct access_counts *ret);
/* What moves the breakpoints. */
void access_watch_by(struct access *a, struct access_source *source);

/* All records until READ_NS, of CLOCK_MONOTONIC, have come: rows of the interval, if it has ended. */
void access_turn(struct decode *d, uint64_t read_ns);
/* The trace ends at END_NS: rows of all that is left. */
void access_end(struct decode *d, uint64_t end_ns);

#endif
