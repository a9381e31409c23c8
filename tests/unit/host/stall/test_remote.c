/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stall/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"

static char buf[REMOTE_STRING_MAX];

static ssize_t read_at(const void *addr)
{
	memset(buf, 'x', sizeof(buf));
	return remote_string(getpid(), (uintptr_t)addr, buf);
}

static void reads_a_string(void **state)
{
	assert_int_equal(read_at("a string"), 8);
	assert_string_equal(buf, "a string");
	assert_int_equal(read_at(""), 0);
	assert_string_equal(buf, "");
}

static void ends_before_what_is_not_there(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(two != MAP_FAILED);
	assert_int_equal(munmap(two + page, page), 0);
	memcpy(two + page - 4, "end", 4);
	assert_int_equal(read_at(two + page - 4), 3);
	assert_string_equal(buf, "end");
	assert_int_equal(read_at(two + page), -EFAULT);
	assert_int_equal(read_at(NULL), -EFAULT);
	munmap(two, page);
}

static void a_long_one_is_cut(void **state)
{
	char *text = malloc(2 * REMOTE_STRING_MAX);

	memset(text, 'a', 2 * REMOTE_STRING_MAX);
	assert_int_equal(read_at(text), REMOTE_STRING_MAX - 1);
	assert_int_equal(strlen(buf), REMOTE_STRING_MAX - 1);
	free(text);
}

static void a_process_that_is_gone_has_none(void **state)
{
	assert_int_equal(remote_string(0x3fffffff, (uintptr_t)buf, buf), -ESRCH);
}

/* A page that comes when its owner decides, here never. Others are read after it. */
static void one_that_never_comes_is_given_up(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *late = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register reg = {
		.range = { (uintptr_t)late, page },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	autoclose int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };

	assert_true(late != MAP_FAILED);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &reg) < 0) {
		print_message("skipped: needs userfaultfd(2)\n");
		skip();
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(read_at(late), -ETIMEDOUT);
		assert_int_equal(read_at("a string"), 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_string),
		cmocka_unit_test(ends_before_what_is_not_there),
		cmocka_unit_test(a_long_one_is_cut),
		cmocka_unit_test(a_process_that_is_gone_has_none),
		cmocka_unit_test(one_that_never_comes_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
