/* SPDX-License-Identifier: BSD-2-Clause */
/* Page tables in memory of the test in, the pages that were accessed, or written, out. */
#include "kernel/access/page_walk.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

#define PRESENT 1ULL
#define ACCESSED 0x20ULL
#define HUGE_PAGE 0x80ULL
#define NO_EXEC (1ULL << 63)
#define TABLES 512
#define PAGE 4096ULL

static uint64_t memory[TABLES][PAGE_WALK_ENTRIES]; /* physical: table I is at I * PAGE */
static unsigned int n_tables;
static void (*before_copy)(unsigned int call);
static unsigned int copies;

static int copy(void *ctx, const uint64_t *phys, unsigned int n, uint64_t (*pages)[PAGE_WALK_ENTRIES])
{
	assert_true(n <= PAGE_WALK_BATCH);
	for (unsigned int i = 0; i < n; i++) {
		if (before_copy)
			before_copy(copies);
		copies++;
		assert_int_equal(phys[i] % PAGE, 0);
		if (phys[i] / PAGE < TABLES)
			memcpy(pages[i], memory[phys[i] / PAGE], PAGE);
		else
			memset(pages[i], 0, PAGE);
	}
	return 0;
}

static char *seen; /* of the first GiB */
static uint64_t seen_bytes, last;

static void found(void *ctx, uint64_t addr, uint64_t bytes, bool huge)
{
	assert_true(bytes && addr >= last);
	last = addr + bytes;
	seen_bytes += bytes;
	for (uint64_t at = addr; seen && at < addr + bytes && at < 1ULL << 30; at += PAGE)
		seen[at / PAGE] = 1;
}

static struct page_walk *walk_new(unsigned int levels)
{
	struct page_walk *w = calloc(1, sizeof(*w));

	memset(memory, 0, sizeof(memory));
	n_tables = 1;
	seen_bytes = last = copies = 0;
	before_copy = NULL;
	w->levels = levels;
	w->copy = copy;
	w->found = found;
	w->tables_max = TABLES;
	return w;
}

/* The entry for ADDR at LEVEL of the tables from table 0 on. */
static uint64_t *entry(unsigned int levels, unsigned int level, uint64_t addr)
{
	unsigned int table = 0;

	for (unsigned int l = levels - 1;; l--) {
		uint64_t *e = &memory[table][addr >> (12 + 9 * l) & 511];

		if (l == level)
			return e;
		if (!*e) {
			assert_true(n_tables < TABLES);
			*e = n_tables++ * PAGE | PRESENT | ACCESSED | 0x46;
		}
		table = (unsigned int)((*e & 0xffffffffff000) / PAGE);
	}
}

static void pages_at_random_are_found(void **state)
{
	for (unsigned int seed = 0; seed < 40; seed++) {
		const unsigned int levels = 4 + seed % 2;
		autofree struct page_walk *w = walk_new(levels);
		autofree char *want = calloc(1, 1 << 18), *got = calloc(1, 1 << 18);

		srand(seed);
		seen = got;
		for (unsigned int region = 0; region < 200; region++) {
			const uint64_t at = (uint64_t)(rand() % 512) << 21;
			uint64_t *pmd = entry(levels, 1, at);

			if (*pmd)
				continue;
			if (rand() % 4 == 0) {
				const bool old = rand() % 2;

				*pmd = 0x40000000 | PRESENT | HUGE_PAGE | (old ? 0 : ACCESSED);
				memset(want + at / PAGE, !old, 512);
				continue;
			}
			for (unsigned int i = 0; i < 512; i++) {
				const uint64_t bits = (rand() % 8 ? PRESENT : 0) | (rand() % 2 ? ACCESSED : 0);

				*entry(levels, 0, at + i * PAGE) = 0x123000 | bits | NO_EXEC;
				want[at / PAGE + i] = bits == (PRESENT | ACCESSED);
			}
		}
		assert_int_equal(page_walk(w, 0), 0);
		assert_memory_equal(got, want, 1 << 18);
		seen = NULL;
	}
}

static void neighbours_are_one_run_and_huge_pages_another(void **state)
{
	autofree struct page_walk *w = walk_new(4);
	const uint64_t far = 0x7f0000000000;

	*entry(4, 1, far) = 0x40000000 | PRESENT | HUGE_PAGE | ACCESSED;
	*entry(4, 2, far + (1ULL << 30)) = 0x40000000 | PRESENT | HUGE_PAGE | ACCESSED;
	*entry(4, 0, far + (2 << 20)) = 0x1000 | PRESENT | ACCESSED;
	assert_int_equal(page_walk(w, 0), 0);
	assert_int_equal(seen_bytes, (1ULL << 30) + (2 << 20) + PAGE);
	assert_int_equal(last, far + (2ULL << 30));
}

/* By the bits of its entry, as the kernel and the CPU set them. */
static void written_pages_are_found(void **state)
{
	static const struct {
		uint64_t entry;
		bool written;
	} pages[] = {
		{ 0, false },
		{ 0x1000067,
		  true }, /* in a mapping that is newer than the last clear: writable, and dirty by the CPU */
		{ 0x1000865, true }, /* soft-dirty, and no longer writable */
		{ 0x1000825, true },
		{ 0x1000027, false }, /* writable, and only read */
		{ 0x1000065, false }, /* written before the last clear */
		{ 0x1000a67, false }, /* special: a device's */
		{ 0x1000225, false }, /* the zero page */
		{ 0x1000800 | 0x140, true }, /* without access: mprotect(PROT_NONE) after the write */
		{ 0x1000000 | 0x140, false }, /* likewise, before the last clear */
		{ 0x1000000 | 2, true }, /* swapped, soft-dirty */
		{ 0x1000000 | 0x800, false }, /* swapped: part of its place */
	};

	for (unsigned int huge = 0; huge < 2; huge++)
		for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
			autofree struct page_walk *w = walk_new(4);
			const uint64_t bits = huge ? pages[i].entry | HUGE_PAGE : pages[i].entry;

			if (huge && !(pages[i].entry & PRESENT))
				continue;
			w->use = PAGE_WRITTEN;
			*entry(4, huge, 0x40000000) = bits;
			assert_int_equal(page_walk(w, 0), 0);
			if ((seen_bytes != 0) != pages[i].written)
				fail_msg("entry %#llx", (unsigned long long)bits);
		}
}

static void the_kernels_half_is_left_alone(void **state)
{
	autofree struct page_walk *w = walk_new(4);

	*entry(4, 0, 0xffff800000000000) = 0x1000 | PRESENT | ACCESSED;
	assert_int_equal(page_walk(w, 0), 0);
	assert_int_equal(seen_bytes, 0);
}

/* Between the first look at the middle table and the second. */
static void replace(unsigned int call)
{
	if (call == 3)
		*entry(4, 1, 0) = 5 * PAGE | PRESENT;
}

static void a_table_that_is_freed_meanwhile_is_not_believed(void **state)
{
	autofree struct page_walk *w = walk_new(4);

	*entry(4, 0, 0) = 0x1000 | PRESENT | ACCESSED;
	*entry(4, 0, 2 << 20) = 0x1000 | PRESENT | ACCESSED;
	before_copy = replace;
	assert_int_equal(page_walk(w, 0), 0);
	assert_int_equal(seen_bytes, PAGE);
	assert_int_equal(last, (2 << 20) + PAGE);
}

/* Whatever is in the memory, a walk ends, and goes to physical memory alone. */
static void tables_that_lead_to_themselves_end(void **state)
{
	autofree struct page_walk *w = walk_new(4);

	for (unsigned int i = 0; i < 512; i++)
		memory[0][i] = 0 * PAGE | PRESENT | ACCESSED;
	assert_int_equal(page_walk(w, 0), -ELOOP);
	assert_true(copies <= 2 * TABLES);
}

static int fail_copy(void *ctx, const uint64_t *phys, unsigned int n, uint64_t (*pages)[PAGE_WALK_ENTRIES])
{
	return -EPERM;
}

static void a_failed_copy_is_an_error(void **state)
{
	autofree struct page_walk *w = walk_new(5);

	w->copy = fail_copy;
	assert_int_equal(page_walk(w, 0), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_copy_is_an_error),
		cmocka_unit_test(a_table_that_is_freed_meanwhile_is_not_believed),
		cmocka_unit_test(neighbours_are_one_run_and_huge_pages_another),
		cmocka_unit_test(pages_at_random_are_found),
		cmocka_unit_test(tables_that_lead_to_themselves_end),
		cmocka_unit_test(the_kernels_half_is_left_alone),
		cmocka_unit_test(written_pages_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
