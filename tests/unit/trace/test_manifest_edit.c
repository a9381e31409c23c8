/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/manifest_edit.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

/* Replaces the member x of any object. */
static char *edit(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	return !strcmp(path, "x") || !strcmp(path, "list[].x") ? strdup(ctx) : NULL;
}

static void assert_edited(const char *text, const char *first, const char *value, const char *wanted)
{
	autofree char *is = NULL;

	assert_int_equal(manifest_edit(text, strlen(text), first, edit, (void *)value, &is), 0);
	assert_string_equal(is, wanted);
}

static void only_the_value_changes(void **state)
{
	assert_edited("{ \"a\": 1,\n\"x\": \"old\", \"y\": 2 }\n", NULL, "7", "{ \"a\": 1,\n\"x\": 7, \"y\": 2 }\n");
	assert_edited("{\"x\":12.5,\"y\":0}", NULL, "\"s\"", "{\"x\":\"s\",\"y\":0}");
	assert_edited("{\"x\": [1, {\"y\": \"]\\\"}\"}, []], \"b\": {}}", NULL, "[]", "{\"x\": [], \"b\": {}}");
	assert_edited("{\"list\": [{\"x\": 1}, {\"x\": {\"x\": 2}}]}", NULL, "null",
		      "{\"list\": [{\"x\": null}, {\"x\": null}]}");
	assert_edited("{\"a\": {\"x\": 1}}", NULL, "2", "{\"a\": {\"x\": 1}}");
}

static void members_come_first(void **state)
{
	assert_edited("{\"a\": [], \"x\": 1}", " \"new\": {\"x\": 0},", "2",
		      "{ \"new\": {\"x\": 0},\"a\": [], \"x\": 2}");
}

static void malformed_text_is_refused(void **state)
{
	static const char *const texts[] = { "", "{", "{\"x\": ", "{\"x\": [", "{\"a\" 1}" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *is = NULL;

		assert_int_equal(manifest_edit(texts[i], strlen(texts[i]), NULL, edit, (void *)"1", &is), -EBADMSG);
		assert_null(is);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_text_is_refused),
		cmocka_unit_test(members_come_first),
		cmocka_unit_test(only_the_value_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
