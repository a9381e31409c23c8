/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads of simulated disks: a limit is found, and a latency of each read is not taken for one. */
#include "report/whatif/storage.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/util.h"

#define N 600U
#define MS 1e6
#define BYTES 100000.0

static struct whatif_read reads[N];
static double end_ns;

/*
 * READERS that compute for PAUSE_MS after each read of a disk that lets RATE bytes/ns through: these come each
 * SLICE_MS, as the kernel's throttle of cgroups has it, or one by one for 0.
 */
static void put_limited(unsigned int readers, double pause_ms, double rate, double slice_ms)
{
	double next[8] = { 0 }, at = 0; /* when the bytes taken so far have come */
	const double slice = MAX(1, slice_ms * MS);

	srand(3);
	for (uint32_t i = 0; i < N; i++) {
		const double bytes = BYTES * (0.5 + rand() % 1000 / 1000.0);
		unsigned int reader = 0;
		double wait;

		for (unsigned int k = 1; k < readers; k++)
			reader = next[k] < next[reader] ? k : reader;
		at = MAX(at, next[reader] - slice) + bytes / rate;
		wait = MAX(0.0, ceil(at / slice) * slice - slice - next[reader]) + bytes / 2; /* a copy of 2 bytes/ns */
		reads[i] = (struct whatif_read){ .span = { (uint64_t)(1e9 + next[reader]),
							   (uint64_t)(1e9 + next[reader] + wait) },
						 .bytes = (uint64_t)bytes,
						 .reader = reader };
		next[reader] += wait + pause_ms * MS;
		end_ns = MAX(end_ns, next[reader]);
	}
}

static int set_up(void **state)
{
	end_ns = 0;
	return 0;
}

/* Most reads find bytes of the slice, and the others wait for the next one. */
static void a_limit_in_slices_is_found(void **state)
{
	static const double rates[] = { 8e6, 24e6, 64e6 };

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		const double rate = rates[i] / 1e9;
		struct whatif_storage storage;

		put_limited(1 + (unsigned int)i, 0.5 * BYTES / rate / MS, rate, 100);
		storage = whatif_storage_find(reads, N, end_ns);
		assert_int_equal(storage.kind, WHATIF_LIMIT);
		if (fabs(storage.rate / rate - 1) > 0.1)
			fail_msg("%.1f MB/s, not %.1f", storage.rate * 1e3, rate * 1e3);
	}
}

/* Where all reads wait alike a limit looks as a latency does; but the most that it gave is the limit. */
static void a_smooth_limit_is_the_most_seen(void **state)
{
	const double rate = 24e6 / 1e9;
	struct whatif_storage storage;

	put_limited(2, 0.1, rate, 0);
	storage = whatif_storage_find(reads, N, end_ns);
	assert_int_equal(storage.kind, WHATIF_LATENCY);
	assert_true(fabs(storage.most / rate - 1) < 0.1);
}

static void a_latency_is_no_limit(void **state)
{
	srand(5);
	for (uint32_t i = 0; i < N; i++) {
		const double begin = 1e9 + i * 12 * MS, wait = (8 + rand() % 5) * MS;

		reads[i] = (struct whatif_read){ .span = { (uint64_t)begin, (uint64_t)(begin + wait) },
						 .bytes = (uint64_t)(BYTES / 2) + (uint64_t)rand() % 100000 };
	}
	assert_int_equal(whatif_storage_find(reads, N, N * 12 * MS).kind, WHATIF_LATENCY);
}

static void few_waits_are_none(void **state)
{
	for (uint32_t i = 0; i < N; i++)
		reads[i] = (struct whatif_read){ .span = { 1000000 + i, 1000000 + i + 1 }, .bytes = 4096 };
	assert_int_equal(whatif_storage_find(reads, N, 1e9).kind, WHATIF_NO_STORAGE);
	assert_int_equal(whatif_storage_find(reads, 3, 1).kind, WHATIF_NO_STORAGE);
	assert_int_equal(whatif_storage_find(NULL, 0, 1).kind, WHATIF_NO_STORAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_limit_in_slices_is_found, set_up),
		cmocka_unit_test_setup(a_smooth_limit_is_the_most_seen, set_up),
		cmocka_unit_test_setup(a_latency_is_no_limit, set_up),
		cmocka_unit_test_setup(few_waits_are_none, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
