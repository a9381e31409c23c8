/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page tables of running processes, read by BPF programs of its own: which pages have been accessed, or written,
 * since the bits that show it were cleared last. x86-64 alone. Finds out by itself where the kernel has physical memory
 * mapped, and whether all of it works, on memory of our own. One thread at a time.
 */
#ifndef KERNEL_ACCESS_PAGE_TABLES_H
#define KERNEL_ACCESS_PAGE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dlt/page_tables.h"
#include "kernel/access/page_walk.h"

struct kernel_btf;
struct page_tables;

/* Needs root. 0, or -errno with the reason in WHY. */
int page_tables_open(struct page_tables **ret, const struct kernel_btf *kernel, enum page_use use, char *why,
		     size_t size);
void page_tables_close(struct page_tables *tables);

/*
 * Calls FN for each process of the machine that has memory, with its struct dlt_memory_of, once; where the main thread
 * has ended, for each other thread. 0 or -errno.
 */
int page_tables_list(struct page_tables *t, void (*fn)(void *ctx, const void *memory_of), void *ctx);

/* Calls FN as page_walk() does. 0 or -errno; OF may have executed another program, or ended, meanwhile. */
int page_tables_find(struct page_tables *tables, const struct dlt_memory_of *of,
		     void (*fn)(void *ctx, uint64_t addr, uint64_t bytes, bool huge), void *ctx);

/* Any thread: what is being read ends soon with -ECANCELED, and so does what is read later. */
void page_tables_stop(struct page_tables *t);
bool page_tables_stopped(const struct page_tables *t);

/*
 * Clears the bits of the process of thread TID, holding its memory's lock: may take long. A CPU that still has a page's
 * translation does not set the accessed bit again for it; where page_tables_flushes(), translations are cleared, too. 0
 * or -errno.
 */
int page_tables_clear(const struct page_tables *t, pid_t tid);
bool page_tables_flushes(const struct page_tables *t);

#endif
