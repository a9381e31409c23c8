/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of free pages is taken as a whole, one page of it kept, and the others put back: so no page can be taken and
 * come back between two looks at the list, and there is no lock that a fork could leave locked.
 */
#include "pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dlt/alloc.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif
#define PIECE_BYTES (64 << 10) /* also a page of every architecture, as the kernel clears whole ones */

struct free_page {
	struct free_page *next;
};
static struct free_page *free_pages;

static void put(struct free_page *page)
{
	page->next = __atomic_load_n(&free_pages, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&free_pages, &page->next, page, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static struct dlt_alloc_page *fresh(void)
{
	char *piece = mmap(NULL, PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (piece == MAP_FAILED)
		return NULL;
	/* without it, a child would send its parent's events a second time */
	if (madvise(piece, PIECE_BYTES, MADV_WIPEONFORK) < 0) {
		munmap(piece, PIECE_BYTES);
		return NULL;
	}
	for (size_t at = DLT_ALLOC_PAGE; at < PIECE_BYTES; at += DLT_ALLOC_PAGE)
		put((struct free_page *)(piece + at));
	return (struct dlt_alloc_page *)piece;
}

struct dlt_alloc_page *pool_take(void)
{
	struct free_page *list = __atomic_exchange_n(&free_pages, NULL, __ATOMIC_ACQUIRE), *rest;

	if (!list)
		return fresh();
	for (struct free_page *page = list->next; page; page = rest) {
		rest = page->next;
		put(page);
	}
	return (struct dlt_alloc_page *)list;
}

void pool_give(struct dlt_alloc_page *page)
{
	put((struct free_page *)page);
}
