/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target's output, put together to lines: of each process and descriptor by itself, however many writes
 * a line takes. Lines about the job's phases (applog) become rows of printed.out; all others are forgotten
 * at once. A line has the time at which its last byte was written. A progress bar is drawn many times: its
 * first and last state are kept, and states NEAR_NS apart. To know the last one, a row waits for HOLD_NS,
 * and rows leave in order of time.
 *
 * Trusts nothing: memory is bounded, and so is the text that is searched in a second. Drain thread.
 */
#ifndef DRAIN_ROWS_PRINTED_H
#define DRAIN_ROWS_PRINTED_H

#include <stdint.h>

#include "dlt/printed.h"

struct decode;
struct drain_stage;

/* REC, followed by LEN bytes of text, has come out of a ring. Without a state it is dropped. */
void printed_take(struct decode *decode, const struct dlt_printed *rec, uint32_t len);

/* Each turn searches lines without an end, and releases rows that have waited; a step of UTC and the end release all.
 */
extern const struct drain_stage printed_stage;

#endif
