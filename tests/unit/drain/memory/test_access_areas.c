/* SPDX-License-Identifier: BSD-2-Clause */
/* Where an address is among the mappings of a process. */
#include "drain/memory/access_areas.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/util.h"
#include "dlt/page_tables.h"

static void an_address_is_in_an_area_or_in_a_gap(void **state)
{
	struct dlt_access_area v[] = {
		{ .begin = 0x1000, .end = 0x3000 },
		{ .begin = 0x3000, .end = 0x4000 },
		{ .begin = 0x8000, .end = 0x9000 },
	};
	const struct access_areas a = { .v = v, .n = 3 }, none = { 0 };
	const struct {
		uint64_t addr, end;
		int area;
	} want[] = {
		{ 0, 0x1000, -1 },     { 0xfff, 0x1000, -1 },  { 0x1000, 0x3000, 0 }, { 0x2fff, 0x3000, 0 },
		{ 0x3000, 0x4000, 1 }, { 0x4000, 0x8000, -1 }, { 0x8fff, 0x9000, 2 }, { 0x9000, 1ULL << 63, -1 },
	};
	uint64_t end;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(access_areas_find(&a, want[i].addr, &end), want[i].area);
		assert_int_equal(end, want[i].end);
	}
	assert_int_equal(access_areas_find(&none, 0x1000, &end), -1);
	assert_int_equal(end, 1ULL << 63);
}

/* Where the kernel cannot list mappings. */
static void heap_and_stack_are_known_without_the_mappings(void **state)
{
	const struct dlt_memory_of of = {
		.start_brk = 0x10000, .brk = 0x20000, .start_stack = 0x7ffff0000000, .env_end = 0x7ffff0010000
	};
	struct access_areas a = { 0 };
	uint64_t end;
	int i;

	access_areas_update(&a, -1, &of);
	i = access_areas_find(&a, 0x10000, &end);
	assert_true(i >= 0 && a.v[i].kind == DLT_ACCESS_HEAP && end == 0x20000);
	i = access_areas_find(&a, 0x7fffefff0000, &end);
	assert_true(i >= 0 && a.v[i].kind == DLT_ACCESS_STACK && end == 0x7ffff0010000);
	assert_int_equal(access_areas_find(&a, 0x30000, &end), -1);
	access_areas_free(&a);
}

/* Such as by a thread that has ended since it was listed. */
static void what_cannot_be_read_is_read_again(void **state)
{
	const struct dlt_memory_of of = { .start_brk = 0x10000, .brk = 0x20000, .total_vm = 5, .mappings = 3 };
	struct dlt_access_area *v = calloc(1, sizeof(*v));
	struct access_areas a = { .v = v, .n = 1, .read_ns = 1, .total_vm = 5, .mappings = 3 };
	autoclose int no_program = open("/dev/null", O_RDONLY | O_CLOEXEC);

	*v = (struct dlt_access_area){ .begin = 0x8000, .end = 0x9000 };
	access_areas_update(&a, no_program, &of);
	assert_int_equal(a.read_ns, 0);
	assert_int_equal(a.n, 1);
	assert_int_equal(a.v[0].begin, 0x10000);
	access_areas_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_in_an_area_or_in_a_gap),
		cmocka_unit_test(heap_and_stack_are_known_without_the_mappings),
		cmocka_unit_test(what_cannot_be_read_is_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
