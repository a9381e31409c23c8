/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/lives/rows.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct path_row *row_at(const char *rows, size_t i, size_t size)
{
	return (const void *)(rows + i * size);
}

static int by_time(const void *a, const void *b)
{
	const struct path_row *x = a, *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* Sets where the rows of each life begin. */
static void count(struct path_range *ranges, const char *rows, uint32_t n, size_t size, uint32_t lives)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < n; i++)
		ranges[row_at(rows, i, size)->life].n++;
	for (uint32_t i = 0; i < lives; i++) {
		ranges[i].first = first;
		first += ranges[i].n;
		ranges[i].n = 0;
	}
}

static void sort(char *rows, struct path_range range, size_t size)
{
	bool sorted = true;

	for (uint32_t i = 1; i < range.n && sorted; i++)
		sorted = row_at(rows, range.first + i - 1, size)->at_ns <= row_at(rows, range.first + i, size)->at_ns;
	if (!sorted)
		qsort(rows + range.first * size, range.n, size, by_time);
}

struct path_range *path_rows_sort(void *rows, uint32_t n, size_t size, uint32_t lives)
{
	char **from = rows, *to = calloc(n + 1ULL, size);
	struct path_range *ranges = calloc(lives + 1ULL, sizeof(*ranges));

	if (!to || !ranges) {
		free(to);
		free(ranges);
		return NULL;
	}
	if (n)
		count(ranges, *from, n, size, lives);
	for (uint32_t i = 0; i < n; i++) {
		struct path_range *range = &ranges[row_at(*from, i, size)->life];

		memcpy(to + (range->first + range->n++) * size, *from + i * size, size);
	}
	for (uint32_t i = 0; i < lives; i++)
		sort(to, ranges[i], size);
	free(*from);
	*from = to;
	return ranges;
}
