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

struct config_list;
struct decode;
struct printed;

/* PHASES: rules for more lines, REGEX=NAME each, already validated. NULL: no memory. */
struct printed *printed_new(const struct config_list *phases);
void printed_free(struct printed *p);

/* REC, followed by LEN bytes of text, has come out of a ring; DECODE takes the rows. */
void printed_take(struct printed *printed, struct decode *decode, const struct dlt_printed *rec, uint32_t len);

/*
 * All records until NOW_NS (CLOCK_MONOTONIC) have come: search lines without an end, release rows that have
 * waited.
 */
void printed_turn(struct printed *p, struct decode *d, uint64_t now_ns);

/* Release all waiting rows: the clock is about to change, or the trace ends. */
void printed_flush(struct printed *p, struct decode *d);

#endif
