/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory as a picture: time, and the addresses that were touched or allocated, without the gaps between them. It has a
 * cell for each bin of time and block of addresses (access.out), the largest blocks that programs allocated
 * (alloc.out), and names.
 */
#ifndef REPORT_MEMORY_MEMORY_MAP_H
#define REPORT_MEMORY_MEMORY_MAP_H

#include "report/memory/access_live.h"
#include "report/memory/accesses.h"
#include "stats/cells.h"

#define MEMORY_LINES 384
#define MEMORY_BINS 480
#define MEMORY_LINES_MAX 1024 /* where the user sets their size */
#define MEMORY_BINS_MAX 2048
#define MEMORY_BLOCKS_MAX 2000
#define MEMORY_SITES_MAX 200
#define MEMORY_PROCESSES 24 /* those with the most bytes */
#define MEMORY_PART_LEAST 8 /* a part has at least such a part of a line's bytes */

struct memory_options {
	uint64_t min_bytes; /* of allocated blocks */
	uint64_t block_bytes; /* a line is of so many; 0: as many as fit */
	uint64_t bin_ns; /* 0: likewise */
	uint64_t from, to; /* addresses; TO 0: all */
	bool borderless; /* blocks are not framed */
};

/* Addresses that follow each other. */
struct memory_part {
	uint64_t pid, begin, end;
	uint64_t used; /* bytes that were touched or allocated */
	uint32_t line, lines;
};

struct memory_name {
	uint64_t pid;
	uint32_t line, lines;
	char *text; /* escaped as in the .out files */
};

struct memory_map {
	struct memory_options options;
	uint64_t begin_ns, bin_ns, line_bytes;
	struct cells cells;
	struct memory_part *part; /* by process and address */
	uint32_t n_parts;
	struct memory_name *name; /* from the first line on */
	uint32_t n_names;
	struct memory_block {
		struct access_block b;
		double y, height; /* in lines */
		uint32_t site; /* index for SITE; MEMORY_SITES_MAX: it has none */
	} block[MEMORY_BLOCKS_MAX];
	uint32_t n_blocks;
	uint64_t all_blocks; /* of MIN_BYTES and more */
	struct {
		uint64_t id;
		char *stack;
	} site[MEMORY_SITES_MAX];
	uint32_t n_sites;
	uint64_t parts_left_out, processes_left_out; /* small ones, or too many */
};

/* Makes REPORT's map, after report_accesses_read(). OPTIONS NULL: with the defaults. It stays NULL where there is
 * nothing to show. */
void memory_map_read(struct report *report, const struct memory_options *options);
void memory_map_free(struct memory_map *map);

#endif
