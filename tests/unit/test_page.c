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
		cmocka_unit_test(blanks_outside_of_strings_are_left_out),
		cmocka_unit_test(the_page_asks_for_nothing),
		cmocka_unit_test(a_report_s_page_is_around_its_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
