/* SPDX-License-Identifier: BSD-2-Clause */
/* The job's cgroups, in made-up traces. */
#include "report/limits/cgroups.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"
#include "tree.h"

#define START_NS UINT64_C(1000000000000)
#define SECOND UINT64_C(1000000000)
#define COLUMNS                                                                                           \
	"TIMESTAMP\tTIME\tLEVEL\tSPAN_NS\tCPU_MAX\tCPU_NS\tPERIODS\tTHROTTLED\tTHROTTLED_NS\tMEM_BYTES\t" \
	"MEM_MAX\tREFAULT_FILE\tREFAULT_ANON\tMAX_EVENTS\tOOM_KILL\tR_BYTES\tMEM_FULL_NS\tIO_FULL_NS\tCGROUP"

static FILE *out;

static int begin(void **state)
{
	autofree char *path = NULL;

	if (tree_make(state) < 0)
		return -1;
	tree_put("close.out",
		 "# dltraced close 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tFD\tLAST\tFID\tFILE\n");
	path = tree_path("cgroup.out");
	out = fopen(path, "we");
	if (!out)
		return -1;
	fprintf(out, "# dltraced cgroup 1 command=\"dltraced sample cgroup 1\"\n" COLUMNS "\n");
	return 0;
}

static int end(void **state)
{
	return tree_remove(state);
}

/* A row SECONDS after the begin; VALUES: from LEVEL on. */
static void row(unsigned int seconds, const char *values)
{
	fprintf(out, "%" PRIu64 "\t2026-11-21T01:02:03.000000000Z\t%s\n", START_NS + seconds * SECOND, values);
}

static struct report *loaded(uint64_t from_ns)
{
	struct report_options options = { .timed = true };
	struct report *r;

	assert_int_equal(fclose(out), 0);
	if (from_ns)
		options.window = (struct window){ .begin_ns = from_ns, .end_ns = UINT64_MAX };
	assert_int_equal(report_load(&r, tree, &options), 0);
	return r;
}

static void limits_that_were_reached_have_a_sentence(void **state)
{
	const struct report_cgroup *v;
	struct report *r;

	row(0, "0\t-\t-\t-\t-\t-\t-\t8000000\t-\t-\t-\t-\t-\t-\t-\t-\t/");
	row(0, "1\t-\t1.500\t-\t-\t-\t-\t1000000\t2097152\t-\t-\t-\t-\t-\t-\t-\t/user.slice");
	row(0, "2\t-\t-\t-\t-\t-\t-\t100\t-\t-\t-\t-\t-\t-\t-\t-\t/user.slice/j");
	for (unsigned int i = 1; i <= 2; i++) {
		row(i, "0\t1000000000\t-\t2000000000\t-\t-\t-\t9000000\t-\t3\t0\t-\t-\t5\t900000000\t900000000\t/");
		row(i, "1\t1000000000\t1.500\t1500000000\t10\t7\t1035000000\t2013265\t2097152\t400\t6\t0\t1\t5\t-\t-"
		       "\t/user.slice");
		row(i, "2\t1000000000\t-\t1500000000\t-\t-\t-\t100\t-\t0\t0\t0\t0\t5\t40000000\t250000000"
		       "\t/user.slice/j");
	}
	r = loaded(0);
	assert_int_equal(r->cgroups->n, 3);
	v = r->cgroups->v;
	assert_null(v[0].text); /* the machine's pressure is not the job's */
	assert_int_equal(v[1].span_ns, 2 * SECOND);
	assert_int_equal(v[1].sum[CGROUP_SUM_THROTTLED_NS], 2070000000);
	assert_int_equal(v[1].sum[CGROUP_SUM_R_BYTES], 10);
	assert_false(v[1].has[CGROUP_SUM_IO_FULL_NS]);
	assert_int_equal(v[1].mem_bytes, 2013265);
	assert_string_equal(v[1].text, "CPU: cpu.max 1.5 CPUs, throttled 2.07 s in 70.0 % of its periods; memory: 96 % "
				       "of memory.max (2.00 MiB), 406 refaults/s, a process was killed");
	assert_string_equal(v[2].text, "all its work waited for I/O in 25 % of the time");
	assert_ptr_equal(report_cgroups_own(r->cgroups, CGROUP_SUM_IO_FULL_NS), &v[2]);
	assert_ptr_equal(report_cgroups_own(r->cgroups, CGROUP_SUM_THROTTLED_NS), &v[1]);
	report_free(r);
}

/* 94 % of a limit is no limit, nor a quota that was used up for a moment; without samples there is nothing. */
static void limits_not_reached_have_none(void **state)
{
	const struct report_cgroup *v;
	struct report *r;

	row(0, "1\t-\t2.000\t-\t-\t-\t-\t94\t100\t-\t-\t-\t-\t-\t-\t-\t/a");
	row(1, "1\t1000000000\t2.000\t5\t10\t1\t900000\t94\t100\t9\t9\t0\t0\t0\t99000000\t99000000\t/a");
	row(1, "1\t1000000000\t-\t5\t10\t1\t900000000\t-\t-\t9\t9\t0\t0\t0\t-\t-\t/b"); /* limits are its parent's */
	r = loaded(0);
	v = r->cgroups->v;
	assert_int_equal(r->cgroups->n, 2);
	assert_null(v[0].text);
	assert_null(v[1].text);
	report_free(r);
}

/* Sums of a row that begins before the part would be of the time outside. */
static void a_part_has_its_own_sums(void **state)
{
	struct report *r;

	for (unsigned int i = 1; i <= 4; i++)
		row(i, "1\t1000000000\t-\t100\t-\t-\t-\t50\t-\t-\t-\t-\t-\t-\t-\t-\t/a");
	r = loaded(START_NS + 2 * SECOND);
	assert_int_equal(r->cgroups->n, 1);
	assert_int_equal(r->cgroups->v[0].sum[CGROUP_SUM_CPU_NS], 200);
	assert_int_equal(r->cgroups->v[0].span_ns, 2 * SECOND);
	report_free(r);
}

static void odd_rows_do_no_harm(void **state)
{
	struct report *r;
	char values[160];

	row(1, "x\t18446744073709551615\tinf\t18446744073709551615\t-\t-\t-\t-\t0\t-\t-\t-\t-\t-\t-\t-\t/a");
	row(2, "1\t1000000000\tnan\t18446744073709551615\t-\t-\t-\t-\t0\t-\t-\t-\t-\t-\t-\t-\t/a");
	for (unsigned int i = 0; i < CGROUPS_MAX + 10; i++) {
		snprintf(values, sizeof(values), "1\t1000000000\t-\t1\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t/x%u", i);
		row(3, values);
	}
	r = loaded(0);
	assert_int_equal(r->cgroups->n, CGROUPS_MAX);
	assert_int_equal(r->cgroups->left_out, 11);
	assert_null(r->cgroups->v[0].text);
	assert_int_equal(r->cgroups->v[0].sum[CGROUP_SUM_CPU_NS], 0);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(limits_that_were_reached_have_a_sentence, begin, end),
		cmocka_unit_test_setup_teardown(limits_not_reached_have_none, begin, end),
		cmocka_unit_test_setup_teardown(a_part_has_its_own_sums, begin, end),
		cmocka_unit_test_setup_teardown(odd_rows_do_no_harm, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
