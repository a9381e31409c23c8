/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/system_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static void knows_the_folders_of_systems(void **state)
{
	static const struct {
		const char *path;
		bool software, disk;
	} cases[] = {
		{ "/lib/x.so", true, true },
		{ "/etc/hosts", true, true },
		{ "/usr/lib/python3/a.py", true, true },
		{ "/usr/local/share/mnist/train.bin", false, true },
		{ "/opt/data/train.bin", false, true },
		{ "/proc/self/stat", true, false },
		{ "/run/user/1000/a", true, false },
		{ "/library/train.bin", false, false },
		{ "/data/usr/lib/a", false, false },
		{ "usr/lib/a", false, false },
		{ "/usr", false, false },
		{ "/", false, false },
		{ "", false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const size_t len = strlen(cases[i].path);

		if (system_files_has(SYSTEM_SOFTWARE, cases[i].path, len) != cases[i].software ||
		    system_files_has(SYSTEM_DISK, cases[i].path, len) != cases[i].disk)
			fail_msg("%s", cases[i].path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_folders_of_systems),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
