/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of allocations: the numbers that processes give them become numbers of the trace, the same for equal stacks,
 * with a row of sites.out each. Drain thread.
 */
#ifndef DRAIN_MEMORY_ALLOC_SITES_H
#define DRAIN_MEMORY_ALLOC_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlt/dlt.h"

struct decode;
struct dlt_alloc_event;

enum alloc_site_kind { ALLOC_SITE_NATIVE, ALLOC_SITE_MODULE, ALLOC_SITE_PYTHON };

/* A row of sites.out. */
struct alloc_site_row {
	struct dlt_hdr hdr;
	struct dlt_segs segs; /* 0: FRAMES, 1: BUILD_ID */
	uint32_t site, kind;
	int64_t pid; /* of the process that was there first */
};

/* By the numbers of one process, from 1. All zero: none. */
struct alloc_numbers {
	uint32_t *v; /* of the trace; 0: none */
	uint32_t room;
};
void alloc_numbers_free(struct alloc_numbers *n);

/* What one process has defined, and PARENT, whose definitions it has, too, where it has none of its own. */
struct alloc_names {
	struct alloc_numbers sites, modules, codes;
	const struct alloc_names *parent;
};

/* Numbers, from 1, by a hash. All zero: none. */
struct alloc_table {
	struct alloc_table_slot {
		uint64_t hash; /* 0: free */
		uint32_t number;
	} * v;
	uint32_t n, room;
};

/* An address: in the file of MODULE, a number of the trace, as the file has it; 0: in none. */
struct alloc_frame {
	uint64_t at;
	uint32_t module;
};

struct alloc_sites {
	struct alloc_table sites, codes;
	char *text; /* of functions in Python, file and name: a code's number is where its own begins */
	uint32_t text_len, text_room;
	const char *watch; /* the sites with this frame are watched; "": none */
	uint32_t *watched; /* their numbers, in order */
	unsigned int n_watched;
	uint64_t lost; /* definitions for which there was no memory */
};

/* EVENT, with the events behind it, defines a site, a module or a function of the process of NAMES. HDR: of the row. */
void alloc_sites_define(struct alloc_sites *sites, struct decode *decode, struct alloc_names *names,
			const struct dlt_hdr *hdr, const struct dlt_alloc_event *event);
/* Return the trace's number of a file that code is in, and of a stack, which need no definition. 0: no memory. HDR: of
 * the row. */
uint32_t alloc_sites_module(struct alloc_sites *s, struct decode *d, const struct dlt_hdr *hdr, const char *path,
			    const unsigned char *id, size_t id_len);
uint32_t alloc_sites_stack(struct alloc_sites *sites, struct decode *decode, const struct dlt_hdr *hdr,
			   const struct alloc_frame *frame, size_t n);
/* Returns the trace's number of a process's site, 0: not known. */
uint32_t alloc_sites_number(const struct alloc_names *names, uint32_t site);

/* Whether WANT, as "train.py:42", "src/train.py:42" or a function's name, is a frame of FRAMES, which are as sites.out
 * has them for Python. */
bool alloc_sites_has(const char *frames, const char *want);
/* Whether the blocks of the trace's SITE are to be watched. */
bool alloc_sites_watched(const struct alloc_sites *s, uint32_t site);
void alloc_sites_free(struct alloc_sites *s);

#endif
