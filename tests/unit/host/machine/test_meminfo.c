/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/machine/meminfo.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

static void lines_are_found_by_their_whole_label(void **state)
{
	int64_t bytes[MEMINFO_LINES];

	meminfo_parse("MemTotal:       24650940 kB\nMemFree:        17730612 kB\nSwapCached:            7 kB\n"
		      "Cached:          2481572 kB\nDirty:                 0 kB\nWritebackTmp:         9 kB\n"
		      "Writeback:           16 kB\nAnonPages:       1955828 kB\nShmem:             11496 kB\n"
		      "ShmemHugePages:        5 kB\nSwapFree:             12 kB",
		      bytes);
	assert_int_equal(bytes[MEMINFO_TOTAL], 24650940LL * 1024);
	assert_int_equal(bytes[MEMINFO_FREE], 17730612LL * 1024);
	assert_int_equal(bytes[MEMINFO_AVAILABLE], -1); /* before Linux 3.14 */
	assert_int_equal(bytes[MEMINFO_CACHED], 2481572LL * 1024);
	assert_int_equal(bytes[MEMINFO_DIRTY], 0);
	assert_int_equal(bytes[MEMINFO_WRITEBACK], 16 * 1024);
	assert_int_equal(bytes[MEMINFO_ANON], 1955828LL * 1024);
	assert_int_equal(bytes[MEMINFO_SHMEM], 11496 * 1024);
	assert_int_equal(bytes[MEMINFO_SWAP_FREE], 12 * 1024);
}

static void nothing_is_found_in_nothing(void **state)
{
	int64_t bytes[MEMINFO_LINES];

	meminfo_parse("", bytes);
	for (int i = 0; i < MEMINFO_LINES; i++)
		assert_int_equal(bytes[i], -1);
	meminfo_parse(NULL, bytes);
	assert_int_equal(bytes[0], -1);
	meminfo_parse("\n\nDirty:", bytes);
	assert_int_equal(bytes[MEMINFO_DIRTY], 0);
}

/* Each reading begins at the file's begin, with new values. */
static void this_machine_has_all_of_them(void **state)
{
	int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	int64_t bytes[MEMINFO_LINES];

	assert_true(fd >= 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(meminfo_read(fd, bytes), 0);
		for (int i = 0; i < MEMINFO_LINES; i++)
			assert_true(bytes[i] >= 0);
		assert_true(bytes[MEMINFO_FREE] > 0);
	}
	close(fd);
	assert_int_equal(meminfo_read(fd, bytes), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_found_by_their_whole_label),
		cmocka_unit_test(nothing_is_found_in_nothing),
		cmocka_unit_test(this_machine_has_all_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
