/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Accesses of memory: the kernel side's page faults, and accesses that were watched or sampled, become rows of access.out, sorted
 * and joined in each interval. Rows are up to a second late. Drain thread.
 */
#ifndef DRAIN_ACCESS_H
#define DRAIN_ACCESS_H

#include <stdint.h>

#include "dlt/access.h"

struct access;
struct config;
struct decode;

/* NULL: no memory. */
struct access *access_new(const struct config *cfg);
void access_free(struct access *a);

/* REC has come out of a ring; without D's access it is dropped. */
void access_take(struct decode *d, const struct dlt_access *rec);

/* All records until READ_NS, of CLOCK_MONOTONIC, have come: rows of the interval, if it has ended. */
void access_turn(struct decode *d, uint64_t read_ns);
/* The trace ends at END_NS: rows of all that is left. */
void access_end(struct decode *d, uint64_t end_ns);

#endif
