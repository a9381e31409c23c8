/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Predictions from a recorded trace, tests/golden/trace-loader: tests/what-if/jobs.py data=peer batch=2 n=48 ms=1
 * step=10 workers=1 with PyTorch 2.15, a server that answers in 20 ms, of which the rows of its epoch are kept.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/util.h"
#include "report/report.h"
#include "report/scan/model.h"
#include "report/show/text.h"
#include "report/whatif/whatif.h"

#define TRACE "tests/golden/trace-loader"

static struct report *recorded(const char *const *changes, size_t n)
{
	static struct whatif_wanted wanted;
	struct report *r = NULL;
	char why[256];

	wanted.n = 0;
	for (size_t i = 0; i < n; i++)
		assert_null(whatif_change_parse(&wanted.change[wanted.n++], changes[i], why, sizeof(why)));
	assert_int_equal(report_load(&r, TRACE, &(struct report_options){ .timed = true, .what_if = &wanted }), 0);
	return r;
}

static void text_is_that_of_the_golden_file(void **state)
{
	static const char *const changes[] = { "workers=2",  "workers=3",    "latency=5ms",
					       "prefetch=1", "storage=0.5x", "ready" };
	struct report *r = recorded(changes, ARRAY_SIZE(changes));
	autofree char *text = NULL, *want = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	what_if_text(r, out);
	fclose(out);
	assert_int_equal(util_read_file(TRACE ".what-if", 1 << 20, &want, NULL), 0);
	assert_string_equal(text, want);
	report_free(r);
}

/*
 * The same job without a trace: four runs with 1, 2 and 3 workers in turn, on a machine that did other work, too. These
 * are the shortest; the unchanged one took 1.197 s at least, and 1.196 s when it was traced.
 */
static void the_job_took_as_long(void **state)
{
	static const char *const changes[] = { "workers=2", "workers=3" };
	static const double took_s[] = { 0.691, 0.588 };
	struct report *r = recorded(changes, ARRAY_SIZE(changes));

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		const struct whatif_prediction *row = &r->whatif->row[i];

		assert_true(fabs(row->ns / 1e9 / took_s[i] - 1) < 0.05);
		assert_true(row->low_ns / 1e9 < took_s[i] && took_s[i] < row->high_ns / 1e9);
	}
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_that_of_the_golden_file),
		cmocka_unit_test(the_job_took_as_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
