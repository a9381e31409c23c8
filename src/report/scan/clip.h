/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The piece of a row in the part of a trace that is looked at, where the row is a sum of a time: it counts evenly over
 * this, so that the parts of a trace add up to the whole. Pure.
 */
#ifndef REPORT_SCAN_CLIP_H
#define REPORT_SCAN_CLIP_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/window.h"

/* The time [BEGIN, BEGIN + ALL) that a row is about, and its piece in the part, from FROM to TO after BEGIN. */
struct scan_clip {
	uint64_t from_ns, to_ns, all_ns;
};

/* Returns the piece in PART of the ALL_NS before END_NS. */
struct scan_clip clip_of(const struct window *part, uint64_t all_ns, uint64_t end_ns);
/* Returns the piece's share of NUMBER. The shares of parts of a trace add up to NUMBER, without a rest. */
uint64_t clip_share(const struct scan_clip *clip, uint64_t number);

/* Whether C has all of the row. */
static inline bool clip_is_all(const struct scan_clip *c)
{
	return c->to_ns - c->from_ns == c->all_ns;
}

#endif
