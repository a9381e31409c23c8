/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts slices of time onto lanes. Two slices of a lane do not overlap, or one contains the other: viewers silently
 * shorten slices of one track that overlap in another way. Slices come in the order of their ends, as rows of a trace
 * do. Pure.
 */
#ifndef EXPORT_PERFETTO_LANES_H
#define EXPORT_PERFETTO_LANES_H

#include <stddef.h>
#include <stdint.h>

#define LANES_MAX 4096 /* of one set */
#define LANES_NONE UINT32_MAX /* all lanes are taken, or memory is out */

struct lane {
	uint64_t id; /* the caller's */
	uint64_t end_ns; /* of the last slice */
	uint32_t part; /* the caller's */
	/* for lanes_nest(): the outermost slices, which do not overlap; the first may stand for many */
	struct lane_span {
		uint64_t begin_ns, end_ns;
	} * spans;
	uint32_t n, room;
	uint8_t merged; /* the first span stands for many slices */
};

struct lanes {
	struct lane *v;
	uint32_t n, room;
};

void lanes_free(struct lanes *l);

/*
 * Returns a lane for a slice that must not overlap any other: of the free lanes, the one that became free last. So
 * there are never more lanes than slices that overlap, and while few slices overlap only the first lanes are used.
 */
uint32_t lanes_put(struct lanes *lanes, uint64_t begin_ns, uint64_t end_ns);

/*
 * Returns the first lane on which the slice overlaps no other, but may contain whole ones. A slice is written as a
 * begin and an end; viewers sort these by time, and those of one instant in the order of writing. An inner slice is
 * written before the outer one. So a slice that begins in the same instant as one inside of it would nest wrongly, and
 * goes to another lane; one with the same begin and end as another does not.
 */
uint32_t lanes_nest(struct lanes *l, uint64_t begin_ns, uint64_t end_ns);

#endif
