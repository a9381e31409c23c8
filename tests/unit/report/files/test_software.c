/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/files/software.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static struct reader_field text(const char *s)
{
	return (struct reader_field){ s, strlen(s) };
}

static void programs_are_no_data(void **state)
{
	static const struct {
		const char *path;
		bool data;
	} all[] = {
		{ "/data/train/n01440764/n01440764_10026.JPEG", true },
		{ "/data/shard-000.tar", true },
		{ "/library/x", true },
		{ "/home/x/model.pt", true },
		{ "/data/a.c.bin", true },
		{ "x", false },
		{ "/home/x/train.py", false },
		{ "/home/x/Makefile", false },
		{ "/opt/x/libcuda.so.1", false },
		{ "/opt/conda/lib/python3.11/lib2to3/Grammar.txt", false },
		{ "/x/site-packages/y/z.json", false },
		{ "/lib64/x", false },
		{ "/usr/lib/x", false },
		{ "/etc/passwd", false },
		{ "/proc/1/maps", false },
		{ "/opt/conda/bin/python3.11", false },
		{ "/x/python", false },
		{ "/data/python3.tokens", true },
		{ "/usr/local/lib/x.json", false },
		{ "/usr/local/data/x.json", true },
		{ "", false },
		{ "/", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (report_is_data(REPORT_REG, text(all[i].path)) != all[i].data)
			fail_msg("%s", all[i].path);
	assert_false(report_is_data(REPORT_FIFO, text("/data/x")));
	assert_false(report_is_data(REPORT_DIR, text("/data/x")));
	assert_true(report_is_data(REPORT_BLK, text("/dev/sdb")));
	assert_true(report_is_data(REPORT_SHM, text("/dev/shm/x")));
}

static void a_package_is_known_by_its_folder(void **state)
{
	assert_true(report_is_package(text("site-packages")));
	assert_true(report_is_package(text("python3.11")));
	assert_false(report_is_package(text("python")));
	assert_false(report_is_package(text("packages")));
	assert_false(report_is_package(text("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_no_data),
		cmocka_unit_test(a_package_is_known_by_its_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
