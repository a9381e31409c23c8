/* SPDX-License-Identifier: BSD-2-Clause */
/* A newer schema is found in the manifest and in line 1 of each file of the trace, packed or not, and nowhere else. */
#include "trace/newer.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/util.h"
#include "trace/reader.h"
#include "tree.h"

#define MANIFEST(tool, schema) "{\"tool\":\"" tool "\",\"version\":\"9.1\",\"schema\":" schema "}"
#define LINES(title) "# dltraced " title "\nTIMESTAMP\tTIME\n1\t-\n"

static struct newer newer;

static bool found(void)
{
	autoclose int fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	newer = (struct newer){ .schema = 77 };
	return newer_find(fd, &newer);
}

static void assert_found(const char *file, uint64_t schema)
{
	assert_true(found());
	assert_string_equal(newer.file, file);
	assert_int_equal(newer.schema, schema);
}

static void finds_it_in_the_manifest(void **state)
{
	tree_put("manifest.json", MANIFEST("dltraced", "1"));
	assert_false(found());
	assert_int_equal(newer.schema, 77); /* untouched */
	tree_put("manifest.json", MANIFEST("dltraced", "2"));
	assert_found("manifest.json", 2);
	assert_string_equal(newer.version, "9.1");
	tree_put("manifest.json", MANIFEST("dltraced", "2") "x"); /* damaged behind it */
	assert_found("manifest.json", 2);
	tree_put("manifest.json", MANIFEST("another", "2"));
	assert_false(found());
}

static void finds_it_in_any_file(void **state)
{
	assert_int_equal(READER_SCHEMA, 1);
	tree_put("manifest.json", MANIFEST("dltraced", "1"));
	tree_put("open.out", LINES("open 1 segment=3"));
	tree_put("cpu.out", LINES("cpu 1"));
	assert_false(found());
	tree_put("cpu.out", LINES("cpu 3 words")); /* of a collector */
	assert_found("cpu.out", 3);
	assert_string_equal(newer.version, "9.1");
	tree_put("cpu.out", LINES("cpu 999999999999"));
	assert_true(found());
	tree_put("cpu.out", LINES("cpu 0"));
	assert_false(found());
	tree_put("open.000002.out", LINES("open 2 segment=2"));
	assert_found("open.000002.out", 2);
	tree_put("manifest.json", "");
	assert_found("open.000002.out", 2);
	assert_string_equal(newer.version, "");
}

static void needs_no_second_line(void **state)
{
	tree_put("vfs_rw.out", "# dltraced vfs_rw 2");
	assert_found("vfs_rw.out", 2);
	tree_put("vfs_rw.out", "# dltraced vfs_rw");
	assert_false(found());
	tree_put("vfs_rw.out", "");
	assert_false(found());
}

static void finds_it_in_a_packed_file(void **state)
{
	autofree char *path = tree_path("bio.000001.out.gz");
	gzFile file = gzopen(path, "wb");

	assert_non_null(file);
	assert_true(gzputs(file, LINES("bio 5")) > 0);
	assert_int_equal(gzclose(file), Z_OK);
	assert_found("bio.000001.out.gz", 5);
	assert_int_equal(truncate(path, 6), 0);
	assert_false(found());
}

static void others_files_do_not_count(void **state)
{
	tree_put("open.out", LINES("open 1"));
	tree_put("run.log", LINES("run 2"));
	tree_put("copy.out", LINES("open 2")); /* by --collect */
	tree_put("deep/open.out", LINES("open 2"));
	assert_false(found());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(finds_it_in_the_manifest),  IN_TREE(finds_it_in_any_file),      IN_TREE(needs_no_second_line),
		IN_TREE(finds_it_in_a_packed_file), IN_TREE(others_files_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
