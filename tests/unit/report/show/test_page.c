/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/show/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/util.h"
#include "report/report.h"
#include "report/scan/model.h"
#include "report/show/show.h"

/* Returns the page around JSON, to be freed. */
static char *page(const char *json, size_t *bytes)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	*bytes = page_write("[]", json, strlen(json), f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(len, *bytes);
	return text;
}

/* Expects WANTED in the page's element for JSON. */
static void holds(const char *json, const char *wanted)
{
	static const char begin[] = "<script type=\"application/json\" id=\"report\">";
	size_t bytes;
	autofree char *text = page(json, &bytes);
	const char *at = strstr(text, begin), *end;

	assert_non_null(at);
	at += strlen(begin);
	end = strstr(at, "</script>");
	assert_non_null(end);
	assert_int_equal((size_t)(end - at), strlen(wanted));
	assert_memory_equal(at, wanted, strlen(wanted));
}

static void nothing_in_the_json_ends_its_element(void **state)
{
	holds("{\"a\":\"</script><!--\"}", "{\"a\":\"\\u003c/script>\\u003c!--\"}");
	holds("[\"\xe2\x80\xa8\xe2\x80\xa9\"]", "[\"\\u2028\\u2029\"]");
	/* their neighbors, and a partial character */
	holds("[\"\xe2\x80\xaa\xe2\x81\xa8\"]", "[\"\xe2\x80\xaa\xe2\x81\xa8\"]");
	holds("[\"\xe2\x80", "[\"\xe2\x80");
}

/* The size is counted without writing the page. */
static void its_size_is_known_before(void **state)
{
	static const char json[] = "{\n  \"a b\": [ \"</script>\", \"\\\" \", \"\xe2\x80\xa8\" ]\n}\n";
	size_t bytes;
	autofree char *text = page(json, &bytes);

	assert_non_null(text);
	assert_int_equal(page_write("[]", json, strlen(json), NULL), bytes);
}

/* A busy machine for hours: 16 GPUs, 200 processes, each active all the time. */
static void a_timeline_that_is_too_large_gets_longer_bins(void **state)
{
	struct json j = { 0 };
	struct report r = { .dir = "t", .timeline = timeline_new(1) };
	struct timeline *t = r.timeline;
	autofree char *html = NULL;
	uint64_t reads = 0, bin_ns;
	size_t len;
	FILE *out;

	assert_non_null(t);
	for (uint64_t ms = 1; ms <= 2000; ms++) {
		uint64_t at_ns = 1 + ms * TIMELINE_FIRST_BIN_NS;

		for (uint64_t pid = 1; pid <= 200; pid++)
			for (enum timeline_busy b = 0; b < TIMELINE_BUSY; b++)
				timeline_busy(t, pid, b, at_ns, TIMELINE_FIRST_BIN_NS, 100000 + ms * pid % 99991);
		for (unsigned int g = 0; g < 48; g++) {
			autofree char *panel = util_fmt("gpu:%u", g);

			timeline_point(t, timeline_points(t, panel, "sm", "%"), at_ns, (double)ms / 7);
		}
		timeline_add(t, TIMELINE_READS, at_ns, ms);
		reads += ms;
	}
	bin_ns = t->bin_ns;
	report_fit(&r, &j);
	assert_true(t->bin_ns > bin_ns);
	out = open_memstream(&html, &len);
	assert_int_equal(report_page(&j, out), 0);
	fclose(out);
	assert_in_range(len, PAGE_BYTES_MAX / 4, PAGE_BYTES_MAX);
	for (unsigned int i = 0; i < TIMELINE_BINS; i++)
		reads -= t->sum[TIMELINE_READS][i];
	assert_int_equal(reads, 0);
	timeline_free(t);
}

/* Not because of the bins: most of them stay. */
static void what_is_too_large_by_itself_keeps_its_timeline(void **state)
{
	struct report r = { .dir = "t", .timeline = timeline_new(1) };
	struct json j = { 0 };
	char *note = calloc(1, 200000);
	uint64_t bin_ns;

	assert_non_null(r.timeline);
	memset(note, 'x', 199999);
	while (r.n_notes < 40)
		r.notes[r.n_notes++] = note;
	for (uint64_t ms = 1; ms <= 2000; ms++)
		timeline_add(r.timeline, TIMELINE_READS, 1 + ms * TIMELINE_FIRST_BIN_NS, ms);
	bin_ns = r.timeline->bin_ns;
	report_fit(&r, &j);
	assert_in_range(r.timeline->bin_ns, bin_ns, 2 * bin_ns);
	json_free(&j);
	timeline_free(r.timeline);
	free(note);
}

#define EVIL "</script><!--\\040\\011<<<<\xe2\x80\xa8&\\\\"

/* 3900 bytes, each of which takes six in the page. */
static char *long_path(void)
{
	char *path = calloc(1, 3901);

	memset(path, '<', 3900);
	return path;
}

static void put_much_of_a_machine(struct timeline *t)
{
	for (uint64_t ms = 1; ms <= 2048; ms += 40) {
		uint64_t at_ns = 1 + ms * TIMELINE_FIRST_BIN_NS;

		for (unsigned int i = 0; i < TIMELINE_POINTS_MAX; i++) {
			char panel[40];

			snprintf(panel, sizeof(panel), "gpu:<<<<<<<%u", i);
			timeline_point(t, timeline_points(t, panel, "sm", "%"), at_ns, (double)ms / 7 + i);
		}
		for (unsigned int i = 0; i < TIMELINE_DISKS_MAX; i++) {
			char name[64];
			int n = snprintf(name, sizeof(name), EVIL "%u", i);

			for (unsigned int k = 0; k < TIMELINE_D_SUMS; k++)
				timeline_disk(t, name, (size_t)n)->sum[k][timeline_bin(t, at_ns)] = ms * 7919 * (i + 1);
		}
		timeline_add(t, TIMELINE_READS, at_ns, ms);
	}
	for (uint64_t pid = 1; pid <= 5000; pid++)
		for (unsigned int call = 0; call < 16; call++)
			timeline_busy(t, pid, TIMELINE_B_READ, 1 + (pid % 1000 + call * 16) * TIMELINE_FIRST_BIN_NS,
				      990000, 900000);
}

/*
 * 65536 phases with a thousand names, 5000 processes, 512 series of collectors, 64 disks, gaps, and paths that are all
 * markup.
 */
static void the_page_of_any_trace_has_5_mib_at_most(void **state)
{
	struct json j = { 0 };
	struct report *r = calloc(1, sizeof(*r));
	autofree char *html = NULL, *path = long_path();
	size_t len;
	FILE *out;

	r->dir = strdup("t");
	r->timeline = timeline_new(1);
	r->phases = phases_new();
	r->n_procs = 5000;
	put_much_of_a_machine(r->timeline);
	for (uint64_t i = 0; i < PHASES_MAX; i++) {
		char name[PHASE_NAME_MAX];

		snprintf(name, sizeof(name), "%.27s%u", path, (unsigned int)(i % 1000));
		phases_add(r->phases, PHASE_MARKS, name, 1 + i * 31250, 1 + i * 31250 + 31250 * (i % 9000), false);
	}
	assert_int_equal(phases_close(r->phases, 1), 0);
	for (unsigned int i = 0; i < GAPS_MAX + 5; i++)
		gaps_add(&r->gaps, GAP_LOST, NULL, 1 + i * 1999999ULL, 1 + i * 1999999ULL + 5, EVIL EVIL EVIL);
	for (unsigned int i = 0; i < REPORT_TOP; i++) {
		r->top_bytes[r->n_top_bytes++].path = strdup(path);
		r->top_time[r->n_top_time++].path = strdup(path);
		r->slow.call[r->slow.n++].target = strdup(path);
		r->waits.call[r->waits.n++].target = strdup(path);
		r->running.call[r->running.n++].target = strdup(path);
		r->running_waits.call[r->running_waits.n++].target = strdup(path);
	}
	while (r->n_notes < 50)
		r->notes[r->n_notes++] = strdup(path);
	table_init(&r->disks, sizeof(struct report_disk), REPORT_DISKS_MAX);
	for (uint64_t i = 0; i < REPORT_DISKS_MAX; i++)
		memset(((struct report_disk *)table_get(&r->disks, i))->name, '<', 63);
	report_fit(r, &j);
	out = open_memstream(&html, &len);
	assert_int_equal(report_page(&j, out), 0);
	fclose(out);
	assert_in_range(len, PAGE_BYTES_MAX / 8, PAGE_BYTES_MAX);
	assert_in_range(r->thin, 1, REPORT_THIN_MAX - 1);
	assert_null(strstr(html, "\"phases_merged\":0"));
	assert_non_null(strstr(html, "\"gaps_merged\":"));
	assert_non_null(strstr(html, "\"lanes_left_out\":49"));
	assert_non_null(strstr(html, "lists are shortened here"));
	report_free(r);
}

static void blanks_outside_of_strings_are_left_out(void **state)
{
	holds("{\n  \"a b\": [\n    1,\n    2\n  ]\n}\n", "{\"a b\":[1,2]}");
	holds("[ \"x \\\" y\" , \" \\\\\" , 1 ]", "[\"x \\\" y\",\" \\\\\",1]");
	holds("", "");
	holds("[\"\\", "[\"\\");
	/* the page's own mark in a name */
	holds("[\"@data@\"]", "[\"@data@\"]");
}

static void the_page_requests_nothing(void **state)
{
	size_t bytes;
	autofree char *text = page("{}", &bytes);

	assert_non_null(strstr(
		text, "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"));
	assert_null(strstr(text, "@css@"));
	assert_null(strstr(text, "@js@"));
	assert_null(strstr(text, "<link"));
	assert_null(strstr(text, " src="));
	assert_null(strstr(text, "@import"));
	assert_null(strstr(text, "innerHTML"));
	assert_int_equal(strncmp(text, "<!DOCTYPE html>", 15), 0);
	assert_int_equal(strcmp(text + bytes - 8, "</html>\n"), 0);
}

static void a_report_s_page_is_around_its_json(void **state)
{
	struct json j = { 0 };
	struct report *r;
	autofree char *html = NULL;
	size_t len = 0;
	FILE *f;

	assert_int_equal(report_load(&r, "tests/golden/trace-small", &(struct report_options){ .timed = true }), 0);
	f = open_memstream(&html, &len);
	report_json(r, &j);
	assert_int_equal(report_page(&j, f), 0);
	fclose(f);
	report_free(r);
	assert_non_null(strstr(html, "\"dir\":\"tests/golden/trace-small\",\"version\":"));
	assert_true(len < PAGE_BYTES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_in_the_json_ends_its_element),
		cmocka_unit_test(a_timeline_that_is_too_large_gets_longer_bins),
		cmocka_unit_test(what_is_too_large_by_itself_keeps_its_timeline),
		cmocka_unit_test(the_page_of_any_trace_has_5_mib_at_most),
		cmocka_unit_test(blanks_outside_of_strings_are_left_out),
		cmocka_unit_test(its_size_is_known_before),
		cmocka_unit_test(the_page_requests_nothing),
		cmocka_unit_test(a_report_s_page_is_around_its_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
