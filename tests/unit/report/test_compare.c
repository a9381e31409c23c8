/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/util.h"
#include "report/report.h"
#include "report/show/show.h"

static const char *const dirs[] = { "tests/golden/trace-small", "tests/golden/trace-other",
				    "tests/golden/trace-hostile" };
static struct report *reports[ARRAY_SIZE(dirs)];
static struct compare all;

static int set_up(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (report_load(&reports[i], dirs[i], &(struct report_options){ .timed = true }) < 0)
			return -1;
	return compare_init(&all, reports, ARRAY_SIZE(dirs));
}

static int tear_down(void **state)
{
	compare_free(&all);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		report_free(reports[i]);
	return 0;
}

static const struct compare_measure *measure(const char *section, const char *name)
{
	for (size_t i = 0; i < all.n_measures; i++)
		if (strcmp(all.measure[i].section, section) == 0 && strcmp(all.measure[i].name, name) == 0)
			return &all.measure[i];
	fail_msg("no %s: %s", section, name);
	return NULL;
}

static void ratios_are_to_the_first(void **state)
{
	const struct compare_measure *m = measure("Run", "lasted");

	assert_true(m->value[0] == 2.5e9 && m->value[1] == 3e9);
	assert_true(compare_ratio(m, 0) == 1);
	assert_true(fabs(compare_ratio(m, 1) - 1.2) < 1e-9);
	m = measure("Run", "lost");
	assert_true(m->value[0] == 2 && m->value[1] == 0);
	assert_true(isnan(m->value[2])); /* it has no manifest */
	assert_true(isnan(compare_ratio(m, 2)));
}

static void what_one_trace_lacks_is_not_known(void **state)
{
	const struct compare_measure *m = measure("Probes", "disk reads: bytes");

	assert_true(m->value[0] == 131072 + 1024 * 1024);
	assert_true(isnan(m->value[1]));
	m = measure("Reads of regular files", "network: calls");
	assert_true(m->value[0] == 1 && isnan(m->value[1]));
	m = measure("Reads of regular files", "buffered: from the page cache");
	assert_true(fabs(m->value[0] - 36) < 0.01);
}

static void a_section_is_in_one_piece(void **state)
{
	for (size_t i = 1; i < all.n_measures; i++)
		for (size_t k = 0; strcmp(all.measure[i].section, all.measure[i - 1].section) != 0 && k < i; k++)
			assert_string_not_equal(all.measure[k].section, all.measure[i].section);
}

/* A trace whose three epochs have no numbers. */
static void epochs_of_one_name_are_kept_apart(void **state)
{
	struct report *r;
	struct compare c;
	unsigned int n = 0;

	assert_int_equal(report_load(&r, "tests/golden/trace-panels", &(struct report_options){ .timed = true }), 0);
	assert_int_equal(compare_init(&c, &r, 1), 0);
	for (size_t i = 0; i < c.n_measures; i++)
		n += strcmp(c.measure[i].section, "Epochs") == 0 && strstr(c.measure[i].name, ": lasted") != NULL;
	assert_int_equal(n, 3);
	compare_free(&c);
	report_free(r);
}

static void allocated_memory_is_compared(void **state)
{
	struct compare c;
	struct report *r;
	double peak = 0;

	assert_int_equal(report_load(&r, "tests/golden/trace-panels", &(struct report_options){ .timed = true }), 0);
	assert_int_equal(compare_init(&c, &r, 1), 0);
	for (size_t i = 0; i < c.n_measures; i++)
		if (!strcmp(c.measure[i].section, "Memory that programs allocated") &&
		    !strcmp(c.measure[i].name, "in use at most"))
			peak = c.measure[i].value[0];
	assert_true(peak == (16 + 64 + 256 + 2 * 1024) * 1024); /* of blocks of these sizes, in KiB */
	compare_free(&c);
	report_free(r);
}

static void nothing_of_a_trace_reaches_the_terminal_unescaped(void **state)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	compare_text(&all, out);
	fclose(out);
	for (const unsigned char *p = (unsigned char *)text; *p; p++)
		assert_true(*p == '\n' || (*p >= ' ' && *p != 0x7f));
	assert_non_null(strstr(text, "(1) tests/golden/trace-small: /bin/sh -c 'python train.py', on node1, "));
	assert_non_null(strstr(text, "(1) vfs_rw: 2 lost\n"));
	assert_non_null(strstr(text, "lasted                                 2.50 s       3.00 s     1.20"));
}

static void json_and_page_hold_it(void **state)
{
	struct json j = { 0 };
	autofree char *json = NULL, *html = NULL;
	static struct manifest_facts m;
	size_t len = 0;
	FILE *out = open_memstream(&json, &len);

	compare_json(&all, &j);
	assert_int_equal(json_write(&j, out), 0);
	fclose(out);
	assert_non_null(strstr(json, "\"name\": \"bytes read\""));
	assert_non_null(strstr(json, "2500000000"));
	assert_int_equal(manifest_parse(&m, json), 0); /* well-formed */
	out = open_memstream(&html, &len);
	compare_json(&all, &j);
	assert_int_equal(report_page(&j, out), 0);
	fclose(out);
	assert_non_null(strstr(html, "\"compare\":{\"traces\":["));
}

/* In this test alone: bins become those of the longest trace. */
static void all_are_on_one_axis(void **state)
{
	struct json j = { 0 };

	(void)state;
	compare_fit(&all, &j);
	assert_int_equal(j.error, 0);
	assert_non_null(strstr(j.buf, "\"compare\""));
	for (unsigned int i = 0; i < ARRAY_SIZE(dirs); i++) {
		autofree char *host = util_fmt("\"host\": \"(%u)\"", i + 1);
		const struct timeline *t = reports[i]->timeline;

		assert_non_null(strstr(strstr(j.buf, "\"timeline\""), host));
		assert_int_equal(t->bin_ns, reports[0]->timeline->bin_ns);
		assert_int_equal(t->end_ns - t->begin_ns,
				 reports[0]->timeline->end_ns - reports[0]->timeline->begin_ns);
		assert_null(t->host);
	}
	assert_non_null(strstr(j.buf, "\"begin_utc\": null"));
	json_free(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_section_is_in_one_piece),
		cmocka_unit_test(epochs_of_one_name_are_kept_apart),
		cmocka_unit_test(allocated_memory_is_compared),
		cmocka_unit_test(json_and_page_hold_it),
		cmocka_unit_test(nothing_of_a_trace_reaches_the_terminal_unescaped),
		cmocka_unit_test(ratios_are_to_the_first),
		cmocka_unit_test(what_one_trace_lacks_is_not_known),
		cmocka_unit_test(all_are_on_one_axis),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
