/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "tree.h"

static int open_tree(void)
{
	int fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void make(int dir, const char *file)
{
	int fd = openat(dir, file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void names_and_numbers_are_each_others(void **state)
{
	static const struct {
		const char *file, *base;
		uint32_t nr;
		enum pack pack;
	} names[] = {
		{ "vfs_rw.out", "vfs_rw", SEGMENT_LAST, PACK_NONE },
		{ "vfs_rw.out.gz", "vfs_rw", SEGMENT_LAST, PACK_GZIP },
		{ "vfs_rw.000001.out", "vfs_rw", 1, PACK_NONE },
		{ "cpu.000042.out.zst", "cpu", 42, PACK_ZSTD },
		{ "bio.1234567.out", "bio", 1234567, PACK_NONE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct segment_name name;
		char file[NAME_MAX + 1];

		assert_true(segment_parse(names[i].file, &name));
		assert_string_equal(name.base, names[i].base);
		assert_int_equal(name.nr, names[i].nr);
		assert_int_equal(name.pack, names[i].pack);
		segment_format(file, name.base, name.nr, name.pack);
		assert_string_equal(file, names[i].file);
	}
}

static void other_names_are_no_segments(void **state)
{
	static const char *const files[] = {
		"", ".out", "manifest.json", "workload.log", "vfs_rw.out.bz2", "vfs_rw.out.zst.tmp", ".000001.out",
	};
	struct segment_name name;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		assert_false(segment_parse(files[i], &name));
	/* any other number belongs to the name */
	assert_true(segment_parse("x.000000.out", &name));
	assert_string_equal(name.base, "x.000000");
	assert_true(segment_parse("x.12.out", &name));
	assert_string_equal(name.base, "x.12");
}

static void leftovers_are_known(void **state)
{
	assert_true(segment_is_leftover("vfs_rw.000001.out.zst.tmp"));
	assert_true(segment_is_leftover("vfs_rw.out.new"));
	assert_false(segment_is_leftover("vfs_rw.out"));
	assert_false(segment_is_leftover("manifest.json.tmp"));
	assert_false(segment_is_leftover("workload.log.new"));
}

/* Files of a probe that somebody has packed as no reader unpacks them; none of somebody else's. */
static void foreign_packings_are_found(void **state)
{
	int dir = open_tree();
	char name[NAME_MAX + 1] = "";

	make(dir, "vfs_rw.out");
	make(dir, "vfs_rw.000001.out.gz");
	make(dir, "vfs_rw.out.txt.xz");
	make(dir, "model.out.xz");
	make(dir, "cpu.out.bz2");
	make(dir, ".out.xz");
	assert_false(segment_find_foreign(dir, "vfs_rw", name));
	assert_true(segment_find_foreign(dir, "cpu", name));
	assert_string_equal(name, "cpu.out.bz2");
	make(dir, "open.000002.out.xz");
	assert_true(segment_find_foreign(dir, "open", name));
	assert_string_equal(name, "open.000002.out.xz");
	assert_false(segment_find_foreign(dir, "vfs_rw", name));
	make(dir, "vfs_rw.000002.out.zst.7z");
	assert_true(segment_find_foreign(dir, "vfs_rw", name));
	assert_string_equal(name, "vfs_rw.000002.out.zst.7z");
	close(dir);
}

static void assert_list(int dir, uint32_t before, const char *want, size_t missing)
{
	char got[256] = "", file[NAME_MAX + 1];
	struct segment_list l;

	assert_int_equal(segment_list_read(&l, dir, "x", before), 0);
	for (size_t i = 0; i < l.n; i++) {
		segment_format(file, "x", l.v[i].nr, l.v[i].pack);
		strcat(strcat(got, i ? " " : ""), file);
	}
	assert_string_equal(got, want);
	assert_int_equal(l.missing, missing);
	segment_list_free(&l);
}

static void listed_in_order_each_once(void **state)
{
	autoclose int dir = open_tree();

	assert_list(dir, 0, "", 0);
	make(dir, "x.out");
	assert_list(dir, 0, "x.out", 0);
	make(dir, "x.000003.out");
	make(dir, "x.000001.out.zst");
	make(dir, "x.000002.out.gz");
	make(dir, "xy.000002.out");
	make(dir, "x.000004.out.zst.tmp");
	assert_list(dir, 0, "x.000001.out.zst x.000002.out.gz x.000003.out x.out", 0);
	/* killed between the new name and the end of the old one */
	make(dir, "x.000003.out.zst");
	make(dir, "x.out.zst");
	assert_list(dir, 0, "x.000001.out.zst x.000002.out.gz x.000003.out x.out", 0);
	assert_list(dir, 3, "x.000001.out.zst x.000002.out.gz", 0);
}

static void gaps_are_counted_but_not_dropped_segments(void **state)
{
	autoclose int dir = open_tree();

	make(dir, "x.000005.out");
	make(dir, "x.000009.out");
	assert_list(dir, 0, "x.000005.out x.000009.out", 3);
	/* the growing file will be the twelfth */
	assert_list(dir, 12, "x.000005.out x.000009.out", 5);
	assert_list(dir, 1, "", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(gaps_are_counted_but_not_dropped_segments),
		IN_TREE(foreign_packings_are_found),
		cmocka_unit_test(leftovers_are_known),
		IN_TREE(listed_in_order_each_once),
		cmocka_unit_test(names_and_numbers_are_each_others),
		cmocka_unit_test(other_names_are_no_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
