/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/cells.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static uint8_t level_of(const struct cells *c, uint32_t x, uint32_t y)
{
	enum cells_written hue;

	return cells_level(c, x, y, &hue);
}

/* Rows of an interval are added up, and of several intervals the largest counts. */
static void share_is_that_of_the_busiest_interval(void **state)
{
	struct cells c;
	enum cells_written hue;

	assert_int_equal(cells_init(&c, 2, 2, 800), 0);
	cells_add(&c, &(struct cells_add){ .touched = 100, .interval = 1 });
	cells_add(&c, &(struct cells_add){ .touched = 150, .interval = 1 });
	cells_add(&c, &(struct cells_add){ .touched = 200, .interval = 2 });
	assert_int_equal(level_of(&c, 0, 0), 3); /* 250 of 800 */
	/* instants add up, to no more than all */
	for (unsigned int i = 0; i < 20; i++)
		cells_add(&c, &(struct cells_add){
				      .bin = 1, .line = 1, .touched = 50, .written = i < 5 ? 50 : 0, .known = true });
	assert_int_equal(cells_level(&c, 1, 1, &hue), CELLS_LEVELS);
	assert_int_equal(hue, CELLS_MIXED);
	cells_level(&c, 0, 0, &hue);
	assert_int_equal(hue, CELLS_UNKNOWN);
	assert_int_equal(level_of(&c, 1, 0), 0);
	cells_free(&c);
}

/* Any picture: each cell is in one rectangle, of its own level and hue, and no other cell is in any. */
static void rectangles_cover_each_cell_once(void **state)
{
	enum { BINS = 61, LINES = 43 };
	uint8_t seen[LINES][BINS] = { { 0 } };
	struct cells_rect *rects;
	struct cells c;
	uint32_t n;

	srand(1);
	assert_int_equal(cells_init(&c, BINS, LINES, 8), 0);
	for (unsigned int i = 0; i < 300; i++) {
		const uint32_t x = (uint32_t)rand() % BINS, y = (uint32_t)rand() % LINES;
		const double touched = 1 + rand() % 8, written = rand() % 9;

		for (uint32_t j = 0; j < 5 && x + j < BINS; j++)
			cells_add(&c, &(struct cells_add){ .bin = x + j,
							   .line = y,
							   .touched = touched,
							   .written = written,
							   .known = i % 2,
							   .interval = i + 1 });
	}
	rects = cells_rects(&c, 1, &n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t y = rects[i].y; y < rects[i].y + rects[i].h; y++)
			for (uint32_t x = rects[i].x; x < rects[i].x + rects[i].w; x++) {
				enum cells_written hue;

				assert_int_equal(seen[y][x]++, 0);
				assert_int_equal(cells_level(&c, x, y, &hue), rects[i].level);
				assert_int_equal(hue, rects[i].hue);
			}
	for (uint32_t y = 0; y < LINES; y++)
		for (uint32_t x = 0; x < BINS; x++)
			assert_int_equal(seen[y][x], level_of(&c, x, y) != 0);
	free(rects);
	cells_free(&c);
}

static void equal_cells_are_few_rectangles(void **state)
{
	struct cells_rect *rects;
	struct cells c;
	uint32_t n;

	assert_int_equal(cells_init(&c, 100, 100, 1), 0);
	for (uint32_t y = 10; y < 90; y++)
		for (uint32_t x = 20; x < 70; x++)
			cells_add(&c, &(struct cells_add){ .bin = x, .line = y, .touched = 1 });
	rects = cells_rects(&c, 1, &n);
	assert_int_equal(n, 1);
	assert_int_equal(rects->w * rects->h, 50 * 80);
	free(rects);
	/* of seven bins each: the first and the last are in part */
	rects = cells_rects(&c, 7, &n);
	assert_int_equal(n, 1);
	assert_int_equal(rects->x, 2);
	assert_int_equal(rects->w, 8);
	free(rects);
	cells_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(share_is_that_of_the_busiest_interval),
		cmocka_unit_test(rectangles_cover_each_cell_once),
		cmocka_unit_test(equal_cells_are_few_rectangles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
