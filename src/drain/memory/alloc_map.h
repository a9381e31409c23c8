/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mappings with code of one process, as /proc/PID/maps has them, and the headers of their files, as its memory has
 * them. Reading may wait for whoever owns that memory.
 */
#ifndef DRAIN_MEMORY_ALLOC_MAP_H
#define DRAIN_MEMORY_ALLOC_MAP_H

#include <stdint.h>
#include <sys/types.h>

#include "dlt/alloc.h"

/* A file that a process has mapped. */
struct alloc_module {
	uint64_t begin; /* of its first mapping */
	uint64_t bias; /* addresses in the process, less this, are those in the file */
	uint64_t ino;
	uint32_t major, minor;
	uint32_t number; /* the caller's; 0: none yet */
	uint32_t id_len;
	unsigned char id[DLT_ALLOC_BUILD_ID];
	char *path; /* as /proc/PID/maps has it */
};

struct alloc_map {
	struct alloc_area {
		uint64_t begin, end;
		uint32_t module; /* its place in MODULES, from 1; 0: none */
	} * areas; /* in the order of their addresses */
	uint32_t n;
	struct alloc_module *modules;
	uint32_t n_modules;
};

/* Returns those of process PID, which share with BEFORE, its last ones or NULL, what a file has; NULL: it is gone, or
 * no memory. */
struct alloc_map *alloc_map_read(pid_t pid, const struct alloc_map *before);
void alloc_map_free(struct alloc_map *m);
/* Returns the area that ADDR is in, or NULL. */
const struct alloc_area *alloc_map_find(const struct alloc_map *map, uint64_t addr);

#endif
