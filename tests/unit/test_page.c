/* SPDX-License-Identifier: BSD-2-Clause */
#include "page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report.h"
#include "util.h"

/* The page around JSON; free() it. */
static char *page(const char *json, size_t *bytes)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	*bytes = page_write(json, strlen(json), f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(len, *bytes);
	return text;
}

/* What stands in the page's element for JSON. */
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
	/* their neighbours, and one that is cut off */
	holds("[\"\xe2\x80\xaa\xe2\x81\xa8\"]", "[\"\xe2\x80\xaa\xe2\x81\xa8\"]");
	holds("[\"\xe2\x80", "[\"\xe2\x80");
}

/* Counted without being written. */
static void its_size_is_known_before(void **state)
{
	static const char json[] = "{\n  \"a b\": [ \"</script>\", \"\\\" \", \"\xe2\x80\xa8\" ]\n}\n";
	size_t bytes;
	autofree char *text = page(json, &bytes);

	assert_non_null(text);
	assert_int_equal(page_bytes(json, strlen(json)), bytes);
}

/* A busy machine for hours: 16 GPUs, 200 processes, each with something to do all the time. */
static void a_timeline_that_is_too_large_gets_longer_bins(void **state)
{
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
	report_fit(&r);
	assert_true(t->bin_ns > bin_ns);
	out = open_memstream(&html, &len);
	assert_int_equal(report_html(&r, out), 0);
	fclose(out);
	assert_in_range(len, PAGE_BYTES_MAX / 4, PAGE_BYTES_MAX);
	for (unsigned int i = 0; i < TIMELINE_BINS; i++)
		reads -= t->sum[TIMELINE_READS][i];
	assert_int_equal(reads, 0);
	timeline_free(t);
}

/* It is not the bins: most of them stay. */
static void what_is_too_large_by_itself_keeps_its_timeline(void **state)
{
	struct report r = { .dir = "t", .timeline = timeline_new(1) };
	char *note = calloc(1, 200000);
	uint64_t bin_ns;

	assert_non_null(r.timeline);
	memset(note, 'x', 199999);
	while (r.n_notes < 40)
		r.notes[r.n_notes++] = note;
	for (uint64_t ms = 1; ms <= 2000; ms++)
		timeline_add(r.timeline, TIMELINE_READS, 1 + ms * TIMELINE_FIRST_BIN_NS, ms);
	bin_ns = r.timeline->bin_ns;
	report_fit(&r);
	assert_in_range(r.timeline->bin_ns, bin_ns, 2 * bin_ns);
	timeline_free(r.timeline);
	free(note);
}

static void blanks_outside_of_strings_are_left_out(void **state)
{
	holds("{\n  \"a b\": [\n    1,\n    2\n  ]\n}\n", "{\"a b\":[1,2]}");
	holds("[ \"x \\\" y\" , \" \\\\\" , 1 ]", "[\"x \\\" y\",\" \\\\\",1]");
	holds("", "");
	holds("[\"\\", "[\"\\");
	/* the mark of the page's own in a name */
	holds("[\"@data@\"]", "[\"@data@\"]");
}

static void the_page_asks_for_nothing(void **state)
{
	size_t bytes;
	autofree char *text = page("{}", &bytes);

	assert_non_null(strstr(text, "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"));
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
	struct report *r;
	autofree char *html = NULL, *json = NULL;
	size_t len = 0;
	FILE *f;

	assert_int_equal(report_load(&r, "tests/golden/trace-small", true), 0);
	f = open_memstream(&html, &len);
	assert_int_equal(report_html(r, f), 0);
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
		cmocka_unit_test(blanks_outside_of_strings_are_left_out),
		cmocka_unit_test(its_size_is_known_before),
		cmocka_unit_test(the_page_asks_for_nothing),
		cmocka_unit_test(a_report_s_page_is_around_its_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
