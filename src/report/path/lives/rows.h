/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of many threads in one array: brings those of each thread together, in the order of time. */
#ifndef REPORT_PATH_LIVES_ROWS_H
#define REPORT_PATH_LIVES_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* What a row begins with. */
struct path_row {
	uint64_t at_ns;
	uint32_t life;
};

/* The rows of a thread. */
struct path_range {
	uint32_t first, n;
};

/*
 * Sorts the N rows of SIZE bytes in *ROWS, an array that is replaced, by life and time. Returns the range of each of
 * LIVES lives, to be freed; NULL: memory is out, and nothing has changed. In linear time where each thread's rows are
 * in order.
 */
struct path_range *path_rows_sort(void *rows, uint32_t n, size_t size, uint32_t lives);

#endif
