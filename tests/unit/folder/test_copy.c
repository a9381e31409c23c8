/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies of made-up folders: as many files as there are, sizes, rows that others refer to, stacks without names. */
#include "folder/copy.h"

#include <stdlib.h>

#include "../tree.h"
#include "folder/merge.h"

#define MANIFEST "{ \"tool\": \"dltraced\", \"probes\": [ { \"name\": \"marks\", \"rows\": 2, \"bytes\": 1 } ] }\n"

static char *text_of(const char *name)
{
	autofree char *path = tree_path(name);
	char *text;
	size_t len;

	assert_int_equal(util_read_file(path, 1 << 20, &text, &len), 0);
	return text;
}

static void more_files_than_there_is_room_for_are_refused(void **state)
{
	autofree char *from = tree_path("from"), *to = tree_path("to");

	tree_put("from/manifest.json", MANIFEST);
	for (unsigned int i = 0; i < 100; i++) {
		autofree char *name = util_fmt("from/a_collector_of_ours_%u.out", i);
		autofree char *text = util_fmt("# dltraced a_collector_of_ours_%u 1\nTIMESTAMP\tTIME\n", i);

		tree_put(name, text);
	}
	assert_int_equal(merge_folder(from, to), -E2BIG);
}

static void the_manifest_has_the_size_of_the_copy(void **state)
{
	static const char text[] = "# dltraced marks 1\nTIMESTAMP\tTIME\tPID\tTEXT\n"
				   "1\t1970-01-01T00:00:00.000000001Z\t7\ta\\040b\n2\t1970-01-01T00:00:00.000000002Z\t7\tc\n";
	autofree char *from = tree_path("from"), *to = tree_path("to");
	char bytes[32];

	tree_put("from/manifest.json", MANIFEST);
	tree_put("from/marks.out", text);
	assert_int_equal(merge_folder(from, to), 0);
	autofree char *copy = text_of("to/marks.out"), *manifest = text_of("to/manifest.json");

	assert_string_equal(copy, text);
	snprintf(bytes, sizeof(bytes), "\"bytes\": %zu ", strlen(text));
	assert_non_null(strstr(manifest, bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(more_files_than_there_is_room_for_are_refused),
		IN_TREE(the_manifest_has_the_size_of_the_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
