/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/callstore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include <cmocka.h>

#include "base/util.h"

#define ROWS 200000 /* several times as many as stay in memory */
#define PARTS 3

/* A number at a limit of its size in bytes, or between two. */
static uint64_t number(uint64_t *seed)
{
	static const uint64_t edges[] = { 0,          1,          0xffff,           0x10000,    0xffffff,
					  0x1000000,  1U << 31,   UINT64_MAX,       1ULL << 63, 0x123456789abcdef,
					  UINT32_MAX, 1ULL << 32, (1ULL << 40) - 1, 1ULL << 40, (1ULL << 24) - 1 };

	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 60 < ARRAY_SIZE(edges) ? edges[*seed >> 60] : *seed >> 40;
}

/* Row I: every second one like real rows. */
static struct callstore_row row_of(uint64_t *seed, uint64_t i)
{
	struct callstore_row row = {
		.end_ns = number(seed),
		.pid = number(seed),
		.tid = number(seed),
		.lat_ns = number(seed),
		.file = number(seed),
		.flags = (uint32_t)number(seed) & ((1U << CALLSTORE_FLAGS_BITS) - 1),
	};

	if (i % 4 >= 2)
		row.end_ns = i << 20;
	if (i % 4 == 3)
		row.tid = row.pid;
	return row;
}

static void add_parts(struct callstore *s, struct callstore_part *part, unsigned int rows)
{
	for (uint64_t k = 0; k < PARTS; k++) {
		uint64_t seed = k;

		part[k].begin = callstore_part(s);
		for (unsigned int i = 0; i < rows; i++) {
			const struct callstore_row row = row_of(&seed, i);

			callstore_add(s, &row);
		}
		part[k].end = callstore_part(s);
	}
}

/* Expects all parts together, as a merge reads them. */
static void expect_parts(const struct callstore *s, const struct callstore_part *part, unsigned int rows)
{
	struct callstore_cursor c[PARTS];
	uint64_t seed[PARTS];
	struct callstore_row got;

	for (uint64_t k = 0; k < PARTS; k++) {
		seed[k] = k;
		assert_int_equal(callstore_open(&c[k], s, part[k]), 0);
	}
	for (unsigned int i = 0; i < rows; i++)
		for (unsigned int k = 0; k < PARTS; k++) {
			const struct callstore_row row = row_of(&seed[k], i);

			memset(&got, 0xff, sizeof(got));
			assert_int_equal(callstore_next(&c[k], &got), 1);
			assert_memory_equal(&got, &row, offsetof(struct callstore_row, flags) + sizeof(row.flags));
		}
	for (unsigned int k = 0; k < PARTS; k++) {
		assert_int_equal(callstore_next(&c[k], &got), 0);
		assert_int_equal(callstore_next(&c[k], &got), 0);
		callstore_close(&c[k]);
	}
}

/* /var/tmp is not memory, and has room. */
static void need_a_disk(void)
{
	struct statfs v;

	unsetenv("TMPDIR");
	if (statfs("/var/tmp", &v) < 0 || v.f_type == TMPFS_MAGIC || v.f_type == RAMFS_MAGIC ||
	    v.f_bavail * (uint64_t)v.f_bsize < 2 * CALLSTORE_SPARE || v.f_bavail < v.f_blocks / 20)
		skip();
}

static void gives_back_the_calls_put_in(void **state)
{
	static const unsigned int rows[] = { 0, 1, 1000, ROWS };

	need_a_disk();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct callstore_part part[PARTS];
		struct callstore s;

		callstore_init(&s);
		add_parts(&s, part, rows[i]);
		assert_int_equal(s.fd >= 0, rows[i] == ROWS);
		assert_false(s.failed);
		expect_parts(&s, part, rows[i]);
		callstore_free(&s);
	}
}

/* A part may lie in the file, in memory, or in both. */
static void a_part_may_be_in_both(void **state)
{
	struct callstore_part part[PARTS];
	struct callstore s;

	need_a_disk();
	callstore_init(&s);
	add_parts(&s, part, 11000);
	assert_true(s.fd >= 0 && s.len > 0);
	assert_true(part[PARTS - 1].end > s.stored);
	expect_parts(&s, part, 11000);
	callstore_free(&s);
}

static void gives_up_where_no_file_can_be(void **state)
{
	struct callstore_part part[PARTS];
	struct callstore s;

	setenv("TMPDIR", "/nonexistent", 1);
	callstore_init(&s);
	add_parts(&s, part, 1000);
	assert_false(s.failed); /* it has taken none yet */
	add_parts(&s, part, ROWS);
	assert_true(s.failed);
	callstore_free(&s);
	setenv("TMPDIR", "/proc", 1);
	callstore_init(&s);
	add_parts(&s, part, ROWS);
	assert_true(s.failed);
	callstore_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_back_the_calls_put_in),
		cmocka_unit_test(a_part_may_be_in_both),
		cmocka_unit_test(gives_up_where_no_file_can_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
