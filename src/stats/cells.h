/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A picture of cells, each a bin of time and a line of addresses, by the share of its bytes that was touched, and the
 * rectangles that cover it. Pure.
 */
#ifndef STATS_CELLS_H
#define STATS_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#define CELLS_LEVELS 8 /* of the share that was touched; 0: nothing was */

/* What is known of writes in a cell. */
enum cells_written { CELLS_UNKNOWN, CELLS_READ, CELLS_MIXED, CELLS_WRITTEN, CELLS_HUES };

struct cell {
	double touched, written; /* bytes: the most of an interval, or of all instants together */
	double interval_touched, interval_written; /* of the interval that was added last */
	uint64_t interval;
	bool known; /* whether it was written */
};

struct cells {
	uint32_t bins, lines;
	double line_bytes;
	struct cell *v; /* line by line */
};

struct cells_rect {
	uint32_t x, y, w, h;
	uint8_t level;
	enum cells_written hue;
};

/* Returns 0 or -ENOMEM. */
int cells_init(struct cells *c, uint32_t bins, uint32_t lines, double line_bytes);
void cells_free(struct cells *c);

struct cells_add {
	uint32_t bin, line;
	double touched, written; /* bytes */
	bool known; /* WRITTEN is */
	uint64_t interval; /* those of one are added up; of several, the most counts. 0: all are added up */
};

void cells_add(struct cells *cells, const struct cells_add *add);

/* Returns the level of the cell at X, Y, and in *HUE what is known of writes. */
uint8_t cells_level(const struct cells *c, uint32_t x, uint32_t y, enum cells_written *hue);
/*
 * Returns rectangles of equal cells that cover all cells with anything touched, each once, to be freed; *N: how many.
 * FOLD: each is of so many bins, with the largest share of these. NULL: no memory, or there are none.
 */
struct cells_rect *cells_rects(const struct cells *cells, uint32_t fold, uint32_t *n);

#endif
