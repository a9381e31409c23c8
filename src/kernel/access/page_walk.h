/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows x86-64's page tables to the pages that have been accessed, or written, since the kernel cleared their bits.
 * It reads physical memory by a function, and believes nothing of it: tables may be freed, and their memory be used for
 * something else, while they are read. What is found then may be wrong, but it has an end, and it is never more than
 * addresses.
 */
#ifndef KERNEL_ACCESS_PAGE_WALK_H
#define KERNEL_ACCESS_PAGE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE_WALK_ENTRIES 512
#define PAGE_WALK_LEVELS 5
#define PAGE_WALK_BATCH 64

/* Which pages are looked for. */
enum page_use {
	PAGE_ACCESSED,
	PAGE_WRITTEN, /* by soft-dirty bits: a kernel without these has no such pages */
};

struct page_walk {
	enum page_use use;
	unsigned int levels; /* 4 or 5 */
	/* Copies the N pages at PHYS, at most PAGE_WALK_BATCH, one after the other to PAGES. 0 or -errno. */
	int (*copy)(void *copy_ctx, const uint64_t *phys, unsigned int n, uint64_t (*pages)[PAGE_WALK_ENTRIES]);
	/* BYTES of these pages from ADDR on, in rising order, of small pages or of HUGE ones. */
	void (*found)(void *ctx, uint64_t addr, uint64_t bytes, bool huge);
	void *copy_ctx, *ctx;
	uint64_t tables_max; /* more tables are too many: they are none */

	/* its own */
	uint64_t tables[PAGE_WALK_LEVELS][PAGE_WALK_ENTRIES]; /* the one of each level that is being looked at */
	uint64_t pages[PAGE_WALK_BATCH][PAGE_WALK_ENTRIES];
	uint64_t n_tables;
	uint64_t run, run_bytes;
	bool run_huge;
};

/* Walks the table at PHYS, the topmost one, through the half that is the process's. 0 or -errno; -ELOOP: too many
 * tables. */
int page_walk(struct page_walk *w, uint64_t phys);

#endif
