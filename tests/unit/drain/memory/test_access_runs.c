/* SPDX-License-Identifier: BSD-2-Clause */
/* Touched pages in, rows of blocks with equal shares out. Whatever is joined, the sums stay. */
#include "drain/memory/access_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK 0x10000ULL
#define PAGE 0x1000ULL

static char rows[4096];

static void emit(void *ctx, struct access_row *row)
{
	size_t at = strlen(rows);

	snprintf(rows + at, sizeof(rows) - at,
		 "%#llx+%#llx touched %#llx written %lld count %lld huge %lld tid %lld kind %u\n",
		 (unsigned long long)row->addr, (unsigned long long)row->bytes, (unsigned long long)row->touched,
		 row->written == DLT_NONE ? -1 : (long long)row->written,
		 row->count == DLT_NONE ? -1 : (long long)row->count, row->huge == DLT_NONE ? -1 : (long long)row->huge,
		 row->tid == DLT_NONE ? -1 : (long long)row->tid, row->kind);
}

static struct access_runs runs_begin(access_runs_fn fn)
{
	rows[0] = '\0';
	return (struct access_runs){ .block_bytes = BLOCK, .page_bytes = PAGE, .emit = fn };
}

/* A page with one event at byte AT of it. */
static struct access_touch event(uint64_t page, uint64_t at, int64_t written)
{
	return (struct access_touch){ .addr = page,
				      .bytes = PAGE,
				      .written = written,
				      .huge = DLT_NONE,
				      .count = 1,
				      .tid = 7,
				      .ip = 9,
				      .at = page + at };
}

/* Pages of which only the state is known. */
static struct access_touch state_of(uint64_t addr, uint64_t bytes, int64_t huge)
{
	return (struct access_touch){
		.addr = addr, .bytes = bytes, .written = DLT_NONE, .huge = huge, .count = DLT_NONE
	};
}

static void add(struct access_runs *r, struct access_touch t)
{
	access_runs_add(r, &t);
}

static void blocks_with_equal_shares_are_one_row(void **state)
{
	struct access_runs r = runs_begin(emit);

	for (uint64_t block = 1; block <= 3; block++) { /* two pages each, one written */
		add(&r, event(block * BLOCK, 1, 0));
		add(&r, event(block * BLOCK + 5 * PAGE, 1, PAGE));
	}
	add(&r, event(4 * BLOCK, 0, PAGE)); /* another share */
	add(&r, event(6 * BLOCK, 0x123, PAGE)); /* not beside it */
	access_runs_end(&r);
	assert_string_equal(rows, "0x10000+0x30000 touched 0x6000 written 12288 count 6 huge -1 tid -1 kind 0\n"
				  "0x40000+0x1000 touched 0x1000 written 4096 count 1 huge -1 tid 7 kind 0\n"
				  "0x60123+0x1000 touched 0x1000 written 4096 count 1 huge -1 tid 7 kind 0\n");
}

/* A read and a written block have equal shares, but are not alike; memory of another kind neither. */
static void what_differs_is_apart(void **state)
{
	struct access_runs r = runs_begin(emit);
	struct access_touch other = event(3 * BLOCK, 0, PAGE);

	other.kind = DLT_ACCESS_HEAP;
	add(&r, event(BLOCK, 0, 0));
	add(&r, event(2 * BLOCK, 0, PAGE));
	add(&r, other);
	other.addr += PAGE;
	other.kind = DLT_ACCESS_STACK; /* within one block */
	add(&r, other);
	access_runs_end(&r);
	assert_string_equal(rows, "0x10000+0x1000 touched 0x1000 written 0 count 1 huge -1 tid 7 kind 0\n"
				  "0x20000+0x1000 touched 0x1000 written 4096 count 1 huge -1 tid 7 kind 0\n"
				  "0x30000+0x1000 touched 0x1000 written 4096 count 1 huge -1 tid 7 kind 1\n"
				  "0x30000+0x1000 touched 0x1000 written 4096 count 1 huge -1 tid 7 kind 3\n");
}

/* Single events with an equal share, each in its block, lose their addresses when they become one row. */
static void single_events_are_joined(void **state)
{
	struct access_runs r = runs_begin(emit);

	for (uint64_t block = 1; block <= 4; block++)
		add(&r, event(block * BLOCK + 3 * PAGE, 0x77, PAGE));
	access_runs_end(&r);
	assert_string_equal(rows, "0x10000+0x40000 touched 0x4000 written 16384 count 4 huge -1 tid -1 kind 0\n");
}

static void emit_node(void *ctx, struct access_row *row)
{
	size_t at = strlen(rows);

	snprintf(rows + at, sizeof(rows) - at, "%#llx+%#llx node %lld\n", (unsigned long long)row->addr,
		 (unsigned long long)row->bytes, row->node == DLT_NONE ? -1 : (long long)row->node);
}

/* A block is of one node, that of its first pages, and a row is, too. */
static void blocks_of_other_nodes_are_apart(void **state)
{
	static const int64_t nodes[] = { 0, 0, 1, DLT_NONE };
	struct access_runs r = runs_begin(emit_node);

	for (unsigned int i = 0; i < 4; i++) {
		struct access_touch t = state_of((i + 1) * BLOCK, BLOCK / 2, 0);

		t.node = nodes[i];
		add(&r, t);
		t.addr += BLOCK / 2;
		t.node = 2;
		add(&r, t);
	}
	access_runs_end(&r);
	assert_string_equal(rows, "0x10000+0x20000 node 0\n0x30000+0x10000 node 1\n0x40000+0x10000 node -1\n");
}

static void pages_that_reach_over_blocks_are_split(void **state)
{
	struct access_runs r = runs_begin(emit);

	add(&r, state_of(0x200000, 0x200000, 0x200000)); /* a huge page, and the small ones behind it */
	add(&r, state_of(0x400000, PAGE, 0));
	access_runs_end(&r);
	assert_string_equal(rows, "0x200000+0x200000 touched 0x200000 written -1 count -1 huge 2097152 tid -1 kind 0\n"
				  "0x400000+0x10000 touched 0x1000 written -1 count -1 huge 0 tid -1 kind 0\n");
}

struct sums {
	uint64_t touched, count, rows, end;
	int64_t written;
};

static void add_up(void *ctx, struct access_row *row)
{
	struct sums *s = ctx;

	assert_true(row->bytes && row->touched > 0 && (uint64_t)row->touched <= row->bytes);
	assert_true((row->addr & ~(BLOCK - 1)) >= s->end); /* in order, and not over one another */
	s->end = row->count == 1 ? (row->addr & ~(BLOCK - 1)) + BLOCK : row->addr + row->bytes;
	s->touched += row->touched;
	s->written += row->written;
	s->count += (uint64_t)row->count;
	s->rows++;
}

static void sums_stay_whatever_is_touched(void **state)
{
	for (unsigned int seed = 0; seed < 300; seed++) {
		struct access_runs r = runs_begin(add_up);
		struct sums got = { 0 }, want = { 0 };
		const unsigned int one_in = 1 + seed % 40;

		srand(seed);
		r.ctx = &got;
		for (uint64_t page = 0; page < 600; page++) {
			const int64_t written = rand() % 3 ? 0 : PAGE;

			if (rand() % (int)one_in)
				continue;
			add(&r, event(page * PAGE, 1, written));
			want.touched += PAGE;
			want.written += written;
			want.count++;
		}
		access_runs_end(&r);
		assert_int_equal(got.touched, want.touched);
		assert_int_equal(got.written, want.written);
		assert_int_equal(got.count, want.count);
		assert_true(got.rows <= 600 / 16 + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_with_equal_shares_are_one_row),
		cmocka_unit_test(what_differs_is_apart),
		cmocka_unit_test(blocks_of_other_nodes_are_apart),
		cmocka_unit_test(single_events_are_joined),
		cmocka_unit_test(pages_that_reach_over_blocks_are_split),
		cmocka_unit_test(sums_stay_whatever_is_touched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
