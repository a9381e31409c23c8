/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How computing and I/O overlapped in each epoch of a process that has steps. Computing is the exact union of its
 * regions of compute and device; I/O the exact union of its own and its loaders' calls on files and waits for pages.
 * The time that only one of them covers is computing alone or, as DFAnalyzer calls it, unoverlapped I/O.
 */
#ifndef REPORT_WHY_OVERLAP_H
#define REPORT_WHY_OVERLAP_H

#include <stdint.h>

struct overlap {
	uint64_t pid;
	int64_t epoch; /* -1: not given */
	uint64_t wall_ns;
	uint64_t compute_ns, io_ns; /* unions */
	uint64_t both_ns, compute_alone_ns, io_alone_ns;
	uint64_t neither_ns;
};

struct report;
/* Returns *N overlaps in the order of the steps' sums. NULL when memory is out. After why_walk(). */
struct overlap *overlap_all(const struct report *report, uint32_t *n);

#endif
