/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace of sums alone: those of minutes that are over become rows of rollup.out. Drain thread. */
#ifndef DRAIN_ROWS_ROLLUP_STAGE_H
#define DRAIN_ROWS_ROLLUP_STAGE_H

struct drain_stage;

extern const struct drain_stage rollup_stage;

#endif
