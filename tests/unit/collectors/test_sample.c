/* SPDX-License-Identifier: BSD-2-Clause */
/* Our rows in place of mpstat's and iostat's: numbers worked out by hand; tests/native/collectors/sample.sh has the
 * tools. */
#include "collectors/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"
#include "tree.h"

#define UTC 1795000000 /* 2026-11-18T11:06:40Z */
#define AT "11:06:40 "

static char *cpus(const char *before, const char *after)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	sample_cpus(out, before, after, UTC);
	fclose(out);
	return text;
}

static char *disks(const char *before, const char *after, uint64_t ns)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	sample_disks(out, tree, before, after, ns);
	fclose(out);
	return text;
}

/* 100 ticks: 40 user of which 10 a guest's, 20 nice of which 5 a guest's, then the rest in the order of the columns. */
static void shares_of_a_cpus_time(void **state)
{
	autofree char *text = cpus("cpu  1000 100 100 100 100 100 100 100 10 10\n"
				   "cpu0 1000 100 100 100 100 100 100 100 10 10\n"
				   "intr 5 0\n",
				   "cpu  1040 120 110 115 106 102 103 104 20 15\n"
				   "cpu0 1040 120 110 115 106 102 103 104 20 15\n"
				   "intr 9 0\n");

	assert_string_equal(text, AT "all 30.00 15.00 10.00 6.00 2.00 3.00 4.00 10.00 5.00 15.00\n" AT
				     "0 30.00 15.00 10.00 6.00 2.00 3.00 4.00 10.00 5.00 15.00\n");
}

/* No tick at all is idle; counters that go back count as 0; columns that a kernel lacks, too; CPU 1 has just come. */
static void odd_times(void **state)
{
	autofree char *still = cpus("cpu0 10 0 0 50\n", "cpu0 10 0 0 50\n"),
		      *back = cpus("cpu0 10 0 0 50 20\n", "cpu0 13 0 0 51 10\n"),
		      *come = cpus("cpu0 10 0 0 50\ncpu2 0 0 0 0\n", "cpu0 11 0 0 50\ncpu1 9 0 0 9\ncpu2 0 0 1 0\n"),
		      *none = cpus("", "cpu0 11 0 0 50\n"), *garbage = cpus("cpu", "cpu\ncpux\n\n");

	assert_string_equal(still, AT "0 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 100.00\n");
	assert_string_equal(back, AT "0 75.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 25.00\n");
	assert_string_equal(come, AT "0 100.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00\n" AT
				     "2 0.00 0.00 100.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00\n");
	assert_string_equal(none, "");
	assert_non_null(garbage);
}

/* In 2 s: 100 reads of 8 KiB, 50 merged, 300 ms in all; 10 writes of 1 MiB, 2 s; 4 discards; 2 flushes of 6 ms. */
static void rates_of_a_disk(void **state)
{
	autofree char *text = disks("   8       0 sda 1000 10 8000 100 20 5 160 30 0 500 700 1 0 8 1 3 9\n"
				    "   8       1 sda1 900 10 8000 100 20 5 160 30 0 500 700 1 0 8 1 3 9\n",
				    "   8       0 sda 1100 60 9600 400 30 5 20640 2030 3 1500 4700 5 4 2056 9 5 21\n"
				    "   8       1 sda1 950 60 9600 400 30 5 20640 2030 3 1500 4700 5 4 2056 9 5 21\n",
				    2 * NSEC_PER_SEC);

	assert_string_equal(text, "sda 50.00 0.39 25.00 33.33 3.00 8.00"
				  " 5.00 5.00 0.00 0.00 200.00 1024.00"
				  " 2.00 0.50 2.00 50.00 2.00 256.00"
				  " 1.00 6.00 2.00 50.00\n");
}

/* One that has never done anything has no row; one that was plugged in has; a name with a slash; lines of Linux 4.17.
 */
static void odd_disks(void **state)
{
	autofree char *text = disks("   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
				    "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
				    " 104       0 cciss/c0d0 1 0 2 3 0 0 0 0 0 10 3\n"
				    "garbage\n   8 0 sda 1\n",
				    NSEC_PER_SEC);

	assert_string_equal(text, "cciss/c0d0 1.00 0.00 0.00 0.00 3.00 1.00"
				  " 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 0.00 1.00\n");
}

static void refuses_what_it_does_not_know(void **state)
{
	assert_int_equal(sample_run("gpu", 1), -EINVAL);
	assert_int_equal(sample_run("cpu", 0), -EINVAL);
}

static int make_disks(void **state)
{
	if (tree_make(state) < 0)
		return -1;
	tree_put("sys/block/sda/size", "1\n");
	tree_put("sys/block/loop0/size", "1\n");
	tree_put("sys/block/cciss!c0d0/size", "1\n");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_of_a_cpus_time),
		cmocka_unit_test(odd_times),
		cmocka_unit_test(rates_of_a_disk),
		cmocka_unit_test(odd_disks),
		cmocka_unit_test(refuses_what_it_does_not_know),
	};

	return cmocka_run_group_tests(tests, make_disks, tree_remove);
}
