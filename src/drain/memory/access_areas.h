/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mappings of one process, by address, as they were when they were read last. Owned by the thread of
 * access_pages.c.
 */
#ifndef DRAIN_MEMORY_ACCESS_AREAS_H
#define DRAIN_MEMORY_ACCESS_AREAS_H

#include <stdint.h>

#include "dlt/access.h"

struct dlt_memory_of;

struct access_areas {
	struct dlt_access_area *v; /* in the order of their addresses */
	unsigned int n;
	uint64_t read_ns; /* CLOCK_MONOTONIC; 0: never */
	uint64_t total_vm; /* as of then */
	uint32_t mappings;
};

/*
 * Reads those of process OF by the program PROG_FD, if they may have changed. PROG_FD -1: this kernel has no such
 * program, and then only heap and stack are known; so are they where reading fails, until the next call.
 */
void access_areas_update(struct access_areas *areas, int prog_fd, const struct dlt_memory_of *of);
void access_areas_free(struct access_areas *a);

/* Returns the index of the area that ADDR is in, or -1, and in *END where it, or the gap between areas, ends. */
int access_areas_find(const struct access_areas *areas, uint64_t addr, uint64_t *end);

#endif
