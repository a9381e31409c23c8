/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/machine/space.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/statvfs.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"

/* Other processes write there, too, so all limits are far apart. */
static void is_low_below_the_least_and_until_there_is_more(void **state)
{
	autoclose int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct space s = {};
	uint64_t free_bytes;

	assert_int_equal(space_look(&s, fd, 0), 0);
	free_bytes = s.free_bytes;
	assert_true(free_bytes > 0);
	assert_false(s.low);
	assert_int_equal(space_look(&s, fd, free_bytes - free_bytes / 32), 0);
	assert_false(s.low);
	assert_int_equal(space_look(&s, fd, 4 * free_bytes), 0);
	assert_true(s.low);
	assert_int_equal(s.least_bytes, 4 * free_bytes);
	assert_int_equal(space_look(&s, fd, free_bytes - free_bytes / 32), 0);
	assert_true(s.low);
	assert_int_equal(space_look(&s, fd, free_bytes / 2), 0);
	assert_false(s.low);
}

static void no_least_is_too_large(void **state)
{
	autoclose int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct space s = {};

	for (int i = 0; i < 2; i++) {
		assert_int_equal(space_look(&s, fd, UINT64_MAX - 1), 0);
		assert_true(s.low);
	}
}

static void a_file_system_without_a_size_is_never_low(void **state)
{
	autoclose int fd = memfd_create("space", MFD_CLOEXEC);
	struct space s = { .low = true };

	assert_int_equal(space_look(&s, fd, 1ULL << 40), 0);
	assert_false(s.low);
}

static void by_default_a_disk_of_any_size_has_room(void **state)
{
	autoclose int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct space s = {};
	struct statvfs fs;

	assert_int_equal(fstatvfs(fd, &fs), 0);
	assert_int_equal(space_look(&s, fd, SPACE_DEFAULT), 0);
	assert_false(s.low);
	assert_true(s.least_bytes <= 2ULL << 30);
	assert_true(s.least_bytes <= (uint64_t)fs.f_blocks * fs.f_frsize / 20);
	assert_true(s.least_bytes <= s.free_bytes / 2);
}

/* When the trace has taken its half, the limit is not half of the rest. */
static void the_default_is_that_of_the_first_look(void **state)
{
	autoclose int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct space s = { .looked = true, .least_bytes = 1ULL << 60 };

	assert_int_equal(space_look(&s, fd, SPACE_DEFAULT), 0);
	assert_true(s.least_bytes == 1ULL << 60);
	assert_true(s.low);
}

static void what_cannot_be_looked_at_changes_nothing(void **state)
{
	struct space s = { .low = true };

	assert_int_equal(space_look(&s, -1, 0), -EBADF);
	assert_true(s.low);
}

static void files_on_tmpfs_are_memory(void **state)
{
	struct statfs fs;
	int fd = open("/dev/shm", O_RDONLY | O_DIRECTORY);

	if (fd < 0 || fstatfs(fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
		skip();
	assert_true(space_is_memory(fd));
	close(fd);
	fd = open("/proc", O_RDONLY | O_DIRECTORY);
	assert_false(space_is_memory(fd));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_on_tmpfs_are_memory),
		cmocka_unit_test(is_low_below_the_least_and_until_there_is_more),
		cmocka_unit_test(no_least_is_too_large),
		cmocka_unit_test(a_file_system_without_a_size_is_never_low),
		cmocka_unit_test(by_default_a_disk_of_any_size_has_room),
		cmocka_unit_test(the_default_is_that_of_the_first_look),
		cmocka_unit_test(what_cannot_be_looked_at_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
