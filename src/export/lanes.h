/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts slices of time onto lanes on which none overlaps another, or only as a whole: viewers silently shorten slices of one
 * track that overlap otherwise. Slices come by their ends, as rows of a trace do. Pure.
 */
#ifndef EXPORT_LANES_H
#define EXPORT_LANES_H

#include <stddef.h>
#include <stdint.h>

#define LANES_MAX 4096 /* of one set */
#define LANES_NONE UINT32_MAX /* all lanes are taken, or memory is out */

struct lane {
	uint64_t id;	 /* the caller's */
	uint64_t end_ns; /* of the last slice */
	uint32_t part;	 /* the caller's */
	/* of a lane with slices in each other: the outermost ones, none of which overlaps another; the first may stand for many */
	struct lane_span { uint64_t begin_ns, end_ns; } *spans;
	uint32_t n, room;
	uint8_t merged; /* the first one does */
};

struct lanes {
	struct lane *v;
	uint32_t n, room;
};

void lanes_free(struct lanes *l);

/*
 * Returns the lane for a slice that may overlap no other at all: of the free ones that which became free last. Lanes by this
 * rule are as many as slices overlap at most, and few of them where few do.
 */
uint32_t lanes_put(struct lanes *l, uint64_t begin_ns, uint64_t end_ns);

/*
 * Returns the first lane on which the slice contains whole slices, or lies behind them. Slices of a lane, written one after
 * the other as begin and end and sorted by time, those of one instant as they were written, nest rightly: so a slice
 * that begins when one within it does is put on another lane, but one of the same begin and end is not.
 */
uint32_t lanes_nest(struct lanes *l, uint64_t begin_ns, uint64_t end_ns);

#endif
