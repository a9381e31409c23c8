/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/cells.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/util.h"

int cells_init(struct cells *c, uint32_t bins, uint32_t lines, double line_bytes)
{
	*c = (struct cells){ .bins = bins, .lines = lines, .line_bytes = line_bytes };
	c->v = calloc((size_t)bins * lines, sizeof(*c->v));
	return c->v ? 0 : -ENOMEM;
}

void cells_free(struct cells *c)
{
	free(c->v);
	c->v = NULL;
}

void cells_add(struct cells *cells, const struct cells_add *add)
{
	struct cell *cell = &cells->v[(size_t)add->line * cells->bins + add->bin];

	if (add->interval && add->interval != cell->interval) {
		cell->interval = add->interval;
		cell->interval_touched = cell->interval_written = 0;
	}
	cell->interval_touched += add->touched;
	cell->interval_written += add->written;
	cell->touched = fmax(cell->touched, cell->interval_touched);
	cell->written = fmax(cell->written, cell->interval_written);
	cell->known |= add->known;
}

static enum cells_written hue_of(const struct cell *v)
{
	if (!v->known)
		return CELLS_UNKNOWN;
	if (v->written <= 0)
		return CELLS_READ;
	return v->written * 2 < v->touched ? CELLS_MIXED : CELLS_WRITTEN;
}

uint8_t cells_level(const struct cells *c, uint32_t x, uint32_t y, enum cells_written *hue)
{
	const struct cell *v = &c->v[(size_t)y * c->bins + x];
	const double share = fmin(1, v->touched / c->line_bytes);

	*hue = hue_of(v);
	return (uint8_t)ceil(share * CELLS_LEVELS - 1e-9);
}

/* --- rectangles ------------------------------------------------------------------------------------- */

/* The codes of cells, level and hue as one number; 0: nothing was touched, or a rectangle has it. */
struct codes {
	uint32_t bins, lines;
	uint8_t *v;
};

static uint8_t *code_at(const struct codes *k, uint32_t x, uint32_t y)
{
	return &k->v[(size_t)y * k->bins + x];
}

static int codes_make(struct codes *codes, const struct cells *cells, uint32_t fold)
{
	*codes = (struct codes){ .bins = (cells->bins + fold - 1) / fold, .lines = cells->lines };
	codes->v = calloc((size_t)codes->bins * codes->lines, 1);
	if (!codes->v)
		return -ENOMEM;
	for (uint32_t y = 0; y < cells->lines; y++)
		for (uint32_t x = 0; x < cells->bins; x++) {
			enum cells_written hue;
			const uint8_t level = cells_level(cells, x, y, &hue),
				      code = level ? (uint8_t)(level << 2 | hue) : 0;
			uint8_t *at = code_at(codes, x / fold, y);

			*at = MAX(*at, code);
		}
	return 0;
}

static bool is_row(const struct codes *k, const struct cells_rect *r, uint32_t y, uint8_t code)
{
	for (uint32_t x = r->x; x < r->x + r->w; x++)
		if (*code_at(k, x, y) != code)
			return false;
	return true;
}

/* Cuts the widest rectangle at X, Y, and of these the highest, out of CODES. */
static struct cells_rect cut(const struct codes *codes, uint32_t x, uint32_t y)
{
	const uint8_t code = *code_at(codes, x, y);
	struct cells_rect r = { .x = x, .y = y, .w = 1, .h = 1, .level = code >> 2, .hue = code & 3 };

	while (x + r.w < codes->bins && *code_at(codes, x + r.w, y) == code)
		r.w++;
	while (y + r.h < codes->lines && is_row(codes, &r, y + r.h, code))
		r.h++;
	for (uint32_t i = y; i < y + r.h; i++)
		for (uint32_t j = x; j < x + r.w; j++)
			*code_at(codes, j, i) = 0;
	return r;
}

struct cells_rect *cells_rects(const struct cells *cells, uint32_t fold, uint32_t *n)
{
	struct cells_rect *rects = NULL;
	struct codes k;

	*n = 0;
	if (!cells->v || codes_make(&k, cells, fold) < 0)
		return NULL;
	for (uint32_t y = 0; y < k.lines; y++)
		for (uint32_t x = 0; x < k.bins; x++)
			if (*code_at(&k, x, y) && util_room(&rects, *n, sizeof(*rects)) == 0)
				rects[(*n)++] = cut(&k, x, y);
	free(k.v);
	return rects;
}
