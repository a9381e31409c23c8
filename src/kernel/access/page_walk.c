/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/access/page_walk.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"

/* arch/x86/include/asm/pgtable_types.h */
#define PRESENT 1ULL
#define WRITABLE 2ULL
#define ACCESSED 0x20ULL
#define DIRTY 0x40ULL
#define HUGE_PAGE 0x80ULL /* _PAGE_PSE */
#define NO_ACCESS 0x100ULL /* _PAGE_PROTNONE, where it is not present */
#define SPECIAL 0x200ULL
#define SOFT_DIRTY 0x800ULL
#define SWAPPED_SOFT_DIRTY 2ULL /* of a page that is not in memory */
#define FRAME 0x000ffffffffff000ULL

#define PAGE_SHIFT 12
#define BITS 9 /* of an address, per level */

enum level { PTE, PMD, PUD };

static uint64_t bytes_at(unsigned int level)
{
	return 1ULL << (PAGE_SHIFT + BITS * level);
}

static void run_end(struct page_walk *w)
{
	if (w->run_bytes)
		w->found(w->ctx, w->run, w->run_bytes, w->run_huge);
	w->run_bytes = 0;
}

/*
 * A clear takes the right to write away, so that the next write sets the bit. Of a shared mapping that is newer than
 * that, a page may become writable when it is read: only the CPU's own bit shows its writes. Special ones, of devices,
 * are never cleared.
 */
static bool is_written(uint64_t entry)
{
	if (!(entry & (PRESENT | NO_ACCESS)))
		return entry & SWAPPED_SOFT_DIRTY;
	return !(entry & SPECIAL) && (entry & SOFT_DIRTY || (entry & (WRITABLE | DIRTY)) == (WRITABLE | DIRTY));
}

static bool is_accessed(uint64_t entry)
{
	return entry & PRESENT && entry & ACCESSED;
}

static void page(struct page_walk *walk, uint64_t entry, uint64_t addr, unsigned int level)
{
	const bool huge = level != PTE;

	if (!(walk->use == PAGE_WRITTEN ? is_written(entry) : is_accessed(entry)))
		return;
	if (!walk->run_bytes || walk->run + walk->run_bytes != addr || walk->run_huge != huge) {
		run_end(walk);
		walk->run = addr;
		walk->run_huge = huge;
	}
	walk->run_bytes += bytes_at(level);
}

/* Entries of a PMD whose tables are read together. */
struct batch {
	uint64_t phys; /* of the PMD */
	uint64_t base; /* the address of its first entry */
	unsigned int at[PAGE_WALK_BATCH], n; /* indexes of the entries */
};

/* A table belongs to its entry only if the entry is still there after it has been read. */
static int batch_end(struct page_walk *walk, struct batch *batch)
{
	const uint64_t *pmd = walk->tables[PMD], *again;
	uint64_t phys[PAGE_WALK_BATCH];
	unsigned int n = 0, next = 0;
	int r;

	for (unsigned int i = 0; i < batch->n; i++)
		if (!(pmd[batch->at[i]] & HUGE_PAGE))
			phys[n++] = pmd[batch->at[i]] & FRAME;
	if ((walk->n_tables += n) > walk->tables_max)
		return -ELOOP;
	phys[n] = batch->phys;
	r = walk->copy(walk->copy_ctx, phys, n + 1, walk->pages);
	if (r < 0)
		return r;
	again = walk->pages[n];
	for (unsigned int i = 0; i < batch->n; i++) {
		const unsigned int at = batch->at[i];
		const uint64_t addr = batch->base + at * bytes_at(PMD), *pte;

		if (pmd[at] & HUGE_PAGE) {
			page(walk, pmd[at], addr, PMD);
			continue;
		}
		pte = walk->pages[next++];
		if ((pmd[at] ^ again[at]) & (FRAME | PRESENT | HUGE_PAGE))
			continue;
		for (unsigned int k = 0; k < PAGE_WALK_ENTRIES; k++)
			page(walk, pte[k], addr + k * bytes_at(PTE), PTE);
	}
	batch->n = 0;
	return 0;
}

static int walk_pmd(struct page_walk *walk, uint64_t phys, uint64_t base)
{
	struct batch b = { .phys = phys, .base = base };
	int r = 0;

	for (unsigned int i = 0; !r && i < PAGE_WALK_ENTRIES; i++) {
		if (!(walk->tables[PMD][i] & PRESENT))
			continue;
		b.at[b.n++] = i;
		if (b.n == PAGE_WALK_BATCH - 1)
			r = batch_end(walk, &b);
	}
	return r || !b.n ? r : batch_end(walk, &b);
}

static int walk_table(struct page_walk *walk, unsigned int level, uint64_t phys, uint64_t base)
{
	const uint64_t *table = walk->tables[level];
	const unsigned int n = level == walk->levels - 1 ? PAGE_WALK_ENTRIES / 2 : PAGE_WALK_ENTRIES;
	int r = ++walk->n_tables > walk->tables_max ? -ELOOP : walk->copy(walk->copy_ctx, &phys, 1, walk->pages);

	if (r < 0)
		return r;
	memcpy(walk->tables[level], walk->pages[0], sizeof(walk->tables[level]));
	if (level == PMD)
		return walk_pmd(walk, phys, base);
	for (unsigned int i = 0; !r && i < n; i++) {
		const uint64_t addr = base + i * bytes_at(level);

		if (!(table[i] & PRESENT))
			continue;
		if (level == PUD && table[i] & HUGE_PAGE)
			page(walk, table[i], addr, level);
		else
			r = walk_table(walk, level - 1, table[i] & FRAME, addr);
	}
	return r;
}

int page_walk(struct page_walk *w, uint64_t phys)
{
	int r;

	w->run_bytes = w->n_tables = 0;
	r = walk_table(w, w->levels - 1, phys, 0);
	run_end(w);
	return r;
}
