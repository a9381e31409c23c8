/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of memory.out: one at the start, at the end, and each --interval. Drain thread. */
#ifndef DRAIN_ROWS_MEMORY_H
#define DRAIN_ROWS_MEMORY_H

struct drain_stage;

extern const struct drain_stage memory_stage;

#endif
