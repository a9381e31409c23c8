/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of /proc/PID/maps, as the kernel writes them. */
#include "host/mapping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/util.h"

static void a_line_of_a_file_has_all(void **state)
{
	struct mapping m;

	assert_true(mapping_parse(
		"7f0c1e400000-7f0c1e5c7000 r-xp 00028000 103:02 2098203                    /usr/lib/a b/libc.so.6 (deleted)",
		&m));
	assert_int_equal(m.begin, 0x7f0c1e400000);
	assert_int_equal(m.end, 0x7f0c1e5c7000);
	assert_int_equal(m.offset, 0x28000);
	assert_true(m.code);
	assert_int_equal(m.major, 0x103);
	assert_int_equal(m.minor, 2);
	assert_int_equal(m.ino, 2098203);
	assert_string_equal(m.path, "/usr/lib/a b/libc.so.6 (deleted)");
	assert_string_equal(mapping_name(&m), "libc.so.6 (deleted)");
}

static void memory_of_no_file_has_no_path(void **state)
{
	struct mapping m;

	assert_true(mapping_parse("7ffc5a5e6000-7ffc5a607000 rw-p 00000000 00:00 0 ", &m));
	assert_false(m.code);
	assert_int_equal(m.ino, 0);
	assert_string_equal(m.path, "");
	assert_true(mapping_parse("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]",
				  &m));
	assert_true(m.code);
	assert_int_equal(m.begin, 0xffffffffff600000);
	assert_string_equal(mapping_name(&m), "[vsyscall]");
}

static void what_is_no_such_line_is_refused(void **state)
{
	static const char *const lines[] = {
		"",
		"x",
		"7f",
		"7f-",
		"7f-80",
		"7f-80 ",
		"7f-80 r-x",
		"7f-80 r-xp",
		"7f-80 r-xp 0",
		"7f-80 r-xp 0 8:1",
		"7f-80 r-xp 0 8:1 5",
		"-1-80 r-xp 0 8:1 5 /a",
		"7f--80 r-xp 0 8:1 5 /a",
		"7f-80 r-xp 0 8-1 5 /a",
		"7f-80 r-xp 0 8:1 0x5 /a",
		"7f-80  r-xp 0 8:1 5 /a",
	};
	struct mapping m;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (mapping_parse(lines[i], &m))
			fail_msg("%s", lines[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_of_a_file_has_all),
		cmocka_unit_test(memory_of_no_file_has_no_path),
		cmocka_unit_test(what_is_no_such_line_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
