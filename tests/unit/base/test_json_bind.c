/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_bind.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

struct values {
	bool flag;
	int status;
	int64_t offset;
	uint64_t n, deep;
	char text[6], literal[6];
	int own;
};

enum { OWN_DOUBLED = JSON_OWN };

static const struct json_member members[] = {
	JSON_MEMBER("flag", JSON_BOOL, values, flag),
	JSON_MEMBER("status", JSON_INT, values, status),
	JSON_MEMBER("offset", JSON_S64, values, offset),
	JSON_MEMBER("n", JSON_U64, values, n),
	JSON_MEMBER("a.b[].c", JSON_U64, values, deep),
	JSON_MEMBER("text", JSON_TEXT, values, text),
	JSON_MEMBER("literal", JSON_LITERAL, values, literal),
	JSON_MEMBER("own", OWN_DOUBLED, values, own),
	{ 0 },
};

static struct values v;

static void take(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	const struct json_member *m = json_bind(members, ctx, path, event, text, len);

	if (m && m->kind == OWN_DOUBLED && event == JSON_WORD)
		*(int *)((char *)ctx + m->at) = 2 * atoi(text);
}

/* Reads TEXT to what it leaves as it is. */
static int bind(const char *text)
{
	v = (struct values){ .flag = true, .status = 7, .offset = 7, .n = 7, .deep = 7, .text = "7", .literal = "7" };
	return json_read(text, strlen(text), take, &v);
}

static bool is_unchanged(void)
{
	return v.flag && v.status == 7 && v.offset == 7 && v.n == 7 && v.deep == 7 && !strcmp(v.text, "7") &&
	       !strcmp(v.literal, "7");
}

static void sets_each_kind(void **state)
{
	assert_int_equal(
		bind("{\"flag\":false,\"status\":-3,\"offset\":-9223372036854775808,\"n\":18446744073709551615,"
		     "\"a\":{\"b\":[{\"c\":1},{\"c\":\"2\"}]},\"text\":\"\\u00e4b\",\"literal\":-1.5,\"own\":4}"),
		0);
	assert_false(v.flag);
	assert_int_equal(v.status, -3);
	assert_true(v.offset == INT64_MIN);
	assert_true(v.n == UINT64_MAX);
	assert_int_equal(v.deep, 2);
	assert_string_equal(v.text, "\xc3\xa4"
				    "b");
	assert_string_equal(v.literal, "-1.5");
	assert_int_equal(v.own, 8);
}

static void leaves_what_a_value_does_not_fit(void **state)
{
	static const char *const texts[] = {
		/* missing */
		"{}",
		"{\"x\":1,\"N\":1,\"a\":{\"c\":1},\"b\":[{\"c\":1}],\"x\":{\"n\":1,\"flag\":false}}",
		/* of another kind */
		"{\"flag\":\"false\",\"status\":\"\",\"offset\":null,\"n\":true,\"text\":5,\"literal\":\"1\"}",
		"{\"flag\":0,\"status\":{},\"offset\":[],\"n\":[1],\"text\":null,\"literal\":null}",
		"{\"flag\":nil,\"status\":-,\"offset\":- 1,\"n\":-1,\"text\":[\"a\"],\"literal\":NaN}",
		"{\"flag\":t,\"status\":1.5,\"offset\":1e3,\"n\":+1,\"text\":{\"text\":\"a\"},\"literal\":true}",
		"{\"n\":\" 1\",\"offset\":\"1 \",\"status\":\"0x1\"}",
		/* too long */
		"{\"literal\":123456}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		bind(texts[i]);
		if (!is_unchanged())
			fail_msg("%s", texts[i]);
	}
}

static void numbers_stay_in_their_range(void **state)
{
	assert_int_equal(bind("{\"status\":2147483648,\"offset\":9223372036854775808,\"n\":18446744073709551616}"), 0);
	assert_int_equal(v.status, INT32_MAX);
	assert_true(v.offset == INT64_MAX);
	assert_true(v.n == UINT64_MAX);
	assert_int_equal(
		bind("{\"status\":-2147483649,\"offset\":-9223372036854775809,\"n\":100000000000000000000000}"), 0);
	assert_int_equal(v.status, INT32_MIN);
	assert_true(v.offset == INT64_MIN);
	assert_true(v.n == UINT64_MAX);
	assert_int_equal(
		bind("{\"status\":-99999999999999999999999999,\"offset\":-0,\"n\":00000000000000000000000009}"), 0);
	assert_int_equal(v.status, INT32_MIN);
	assert_true(v.offset == 0);
	assert_true(v.n == 9);
}

static void texts_are_cut(void **state)
{
	assert_int_equal(bind("{\"text\":\"abcdefgh\",\"literal\":12345}"), 0);
	assert_string_equal(v.text, "abcde");
	assert_string_equal(v.literal, "12345");
}

static void depth_is_bounded(void **state)
{
	char text[4096];
	size_t len = 0;

	for (unsigned int i = 0; i < 500; i++)
		len += (size_t)sprintf(text + len, "{\"n\":");
	strcpy(text + len, "1");
	assert_int_equal(bind(text), -EBADMSG);
	assert_true(is_unchanged());
}

static void finds_the_place_of_a_path(void **state)
{
	const struct json_place places[] = { { "a[].", members, NULL },
					     { "all.", members, &v },
					     { "", members, NULL } };
	const char *path = "all.n";

	assert_ptr_equal(json_place_of(places, &path), &places[1]);
	assert_string_equal(path, "n");
	path = "a[]";
	assert_ptr_equal(json_place_of(places, &path), &places[2]);
	assert_string_equal(path, "a[]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_each_kind),
		cmocka_unit_test(leaves_what_a_value_does_not_fit),
		cmocka_unit_test(numbers_stay_in_their_range),
		cmocka_unit_test(texts_are_cut),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(finds_the_place_of_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
