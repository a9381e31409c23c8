/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that processes have mapped, by the rows of mmap.out and pids.out in the order of time: which file is at an
 * address. A mapping that has ended still counts for the interval in which it ended. Bounded: mappings without room are
 * left out.
 */
#ifndef REPORT_MEMORY_ACCESS_MAPS_H
#define REPORT_MEMORY_ACCESS_MAPS_H

#include "report/scan/scan.h"

#define ACCESS_MAPS_MAX (1U << 20) /* 40 MiB */
#define ACCESS_MAPS_OF_PROCESS_MAX (1U << 16) /* as many as the kernel allows by default */

struct access_maps;

/* A part of a mapping. */
struct access_map {
	uint64_t begin, end; /* addresses */
	uint64_t fid, offset; /* in the file, of BEGIN */
	uint64_t end_ns; /* when it ended; 0: it has not */
};

struct access_maps *access_maps_new(void); /* NULL: no memory */
void access_maps_free(struct access_maps *m);
/* Take the current row of SCAN, of mmap.out and of pids.out. */
void access_maps_take(struct access_maps *access_maps, const struct scan *scan);
void access_maps_process(struct access_maps *maps, const struct scan *scan);

typedef void (*access_map_fn)(void *own, const struct access_map *part);
/* Gives the parts of files from ADDR to END that PID had mapped at FROM_NS or later to TAKE. */
void access_maps_each(const struct access_maps *maps, uint64_t pid, uint64_t addr, uint64_t end, uint64_t from_ns,
		      access_map_fn take, void *own);
/* Returns how many mappings found no room. */
uint64_t access_maps_left_out(const struct access_maps *m);

#endif
