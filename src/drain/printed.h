/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the target prints, put together to lines: of each process and descriptor by itself, however many writes a line
 * takes. Lines about the job's phases (applog) become rows of printed.out; all else is forgotten at once. A line has the
 * time at which its last byte was written. A progress bar is drawn many times: its first and last state are kept, and what
 * lies NEAR_NS apart. So that the last one is known a row waits for HOLD_NS, and rows leave in order of time.
 *
 * Trusts nothing: memory is bounded, and so is the text that is looked at in a second. Drain thread.
 */
#ifndef DRAIN_PRINTED_H
#define DRAIN_PRINTED_H

#include <stdint.h>

#include "dlt/printed.h"

struct config_list;
struct decode;
struct printed;

/* PHASES: rules for more lines, REGEX=NAME each, which were found to be good. NULL: no memory. */
struct printed *printed_new(const struct config_list *phases);
void printed_free(struct printed *p);

/* REC, whose text is LEN bytes behind it, has come out of a ring; D takes the rows. */
void printed_take(struct printed *p, struct decode *d, const struct dlt_printed *rec, uint32_t len);

/* All records until NOW_NS (CLOCK_MONOTONIC) have come: lines without an end yet are looked at, rows that have waited leave. */
void printed_turn(struct printed *p, struct decode *d, uint64_t now_ns);

/* None of the rows waits any longer: the clock is about to be another one, or the trace ends. */
void printed_flush(struct printed *p, struct decode *d);

#endif
