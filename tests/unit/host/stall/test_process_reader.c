/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stall/process_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "host/process.h"

/* The readers of PID that have not ended: one that was killed may take its time, and stays a zombie. Returns how many.
 */
static unsigned int children(pid_t pid, pid_t v[8])
{
	autofree struct process *list = NULL;
	unsigned int n = 0;
	size_t all;

	assert_int_equal(process_list(&list, &all), 0);
	for (size_t i = 0; i < all && n < 8; i++)
		if (list[i].ppid == pid && !strcmp(list[i].comm, "dltraced-reader") &&
		    process_state(list[i].pid) != 'Z')
			v[n++] = list[i].pid;
	return n;
}

static void expect_own_file(const char *name)
{
	autofree char *got = NULL, *want = NULL, *path = util_fmt("/proc/self/%s", name);
	size_t got_len, want_len;

	assert_int_equal(process_reader_file(getpid(), name, 4096, &got, &got_len), 0);
	assert_int_equal(util_read_file(path, 4096, &want, &want_len), 0);
	assert_int_equal(got_len, want_len);
	assert_memory_equal(got, want, want_len + 1);
}

static void reads_a_file(void **state)
{
	expect_own_file("cmdline");
	expect_own_file("environ");
}

static void no_more_than_is_wanted(void **state)
{
	autofree char *got = NULL;
	size_t len;

	assert_int_equal(process_reader_file(getpid(), "cmdline", 3, &got, &len), 0);
	assert_int_equal(len, 3);
	assert_int_equal(strlen(got), 3);
}

static void a_process_that_is_gone_has_none(void **state)
{
	char *got;
	size_t len;

	assert_int_equal(process_reader_file(0x3fffffff, "cmdline", 4096, &got, &len), -ENOENT);
	assert_int_equal(process_reader_file(getpid(), "no-such-file", 4096, &got, &len), -ENOENT);
}

static void two_texts_in_one_look(void **state)
{
	const struct process_reader_look look = { .pid = getpid(), .name = { "comm", "cmdline" }, .max = { 16, 4096 } };
	struct process_reader_text texts[PROCESS_READER_TEXTS];

	assert_int_equal(process_reader_query(&look), 0);
	assert_int_equal(process_reader_answer(-1, texts), 0);
	assert_string_equal(texts[0].text, "test_process_re\n"); /* TASK_COMM_LEN */
	assert_int_equal(strlen(texts[1].text) + 1, texts[1].len);
}

/* A look that nobody takes is not mistaken for the next one. */
static void the_last_look_counts(void **state)
{
	const struct process_reader_look look = { .pid = getpid(), .name = { "comm" }, .max = { 16 } };

	assert_int_equal(process_reader_query(&look), 0);
	expect_own_file("cmdline");
}

static void one_that_is_killed_is_replaced(void **state)
{
	pid_t v[8], w[8];

	expect_own_file("cmdline");
	assert_int_equal(children(process_reader_pid(), v), 1);
	assert_true(process_reader_is(process_reader_pid(), getpid()));
	assert_true(process_reader_is(v[0], process_reader_pid()));
	assert_false(process_reader_is(getpid(), getppid()));
	assert_int_equal(kill(v[0], SIGKILL), 0);
	for (int r = -ETIMEDOUT; r == -ETIMEDOUT;) { /* of the look that it was killed in, if it was not before */
		char *got = NULL;

		r = process_reader_file(getpid(), "cmdline", 4096, &got, NULL);
		free(got);
	}
	while (children(process_reader_pid(), w) != 1)
		usleep(1000);
	assert_int_not_equal(v[0], w[0]);
	expect_own_file("cmdline");
}

/* A page that comes when its owner decides, here never. Others are read meanwhile, and nobody waits for longer than was
 * wanted. */
static void one_that_does_not_answer_is_given_up(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *late = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register reg = {
		.range = { (uintptr_t)late, page },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	const struct process_reader_look look = { .pid = getpid(), .addr = (uintptr_t)late, .max = { 100 } };
	struct process_reader_text texts[PROCESS_READER_TEXTS];
	autoclose int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };

	assert_true(late != MAP_FAILED);
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &reg) < 0) {
		print_message("skipped: needs userfaultfd(2)\n");
		skip();
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(process_reader_query(&look), 0);
		assert_int_equal(process_reader_answer(1, texts), -EAGAIN);
		assert_int_equal(process_reader_answer(-1, texts), -ETIMEDOUT);
		expect_own_file("cmdline");
	}
}

static void it_ends(void **state)
{
	pid_t origin = process_reader_pid(), v[8];

	while (children(origin, v) != 1)
		usleep(1000);
	process_reader_end();
	assert_int_equal(process_reader_pid(), 0);
	assert_int_equal(process_state(origin), 0);
	while (process_state(v[0]) && process_state(v[0]) != 'Z')
		usleep(1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_file),
		cmocka_unit_test(no_more_than_is_wanted),
		cmocka_unit_test(a_process_that_is_gone_has_none),
		cmocka_unit_test(two_texts_in_one_look),
		cmocka_unit_test(the_last_look_counts),
		cmocka_unit_test(one_that_is_killed_is_replaced),
		cmocka_unit_test(one_that_does_not_answer_is_given_up),
		cmocka_unit_test(it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
