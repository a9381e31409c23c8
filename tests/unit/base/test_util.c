/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tree.h"

/* --- owned locals ----------------------------------------------------------------------------- */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void descriptors_are_closed_where_their_local_ends(void **state)
{
	int outer;

	{
		autoclose int none = -1;
		autoclose int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

		outer = fd;
		assert_true(is_open(outer));
		assert_int_equal(none, -1);
	}
	assert_false(is_open(outer));
}

static void memory_handed_over_stays(void **state)
{
	int outer;
	char *kept;

	{
		autoclose int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		autofree char *s = strdup("kept");

		outer = TAKE_FD(fd);
		kept = TAKE_PTR(s);
		assert_int_equal(fd, -1);
		assert_null(s);
	}
	assert_true(is_open(outer));
	assert_string_equal(kept, "kept");
	free(kept);
	util_close(&outer);
	assert_int_equal(outer, -1);
	util_close(&outer); /* nothing to do */
}

static void times_beyond_32_bits(void **state)
{
	const struct timespec ts = { .tv_sec = 5000000000, .tv_nsec = 999999999 };

	assert_true(timespec_ns(&ts) == 5000000000999999999ULL);
	assert_true(clock_now_ns(CLOCK_REALTIME) > 1600000000 * NSEC_PER_SEC);
}

/* --- writing ---------------------------------------------------------------------------------- */

#define MUCH (1 << 20) /* sixteen times what a pipe holds */

static void *write_much(void *ctx)
{
	char *buf = malloc(MUCH);
	long r;

	for (size_t i = 0; i < MUCH; i++)
		buf[i] = (char)(i * 31 >> 3);
	r = util_write_all(*(int *)ctx, buf, MUCH);
	free(buf);
	close(*(int *)ctx);
	return (void *)r;
}

static void writes_all_of_it_to_a_pipe_that_holds_less(void **state)
{
	size_t len = 0;
	pthread_t writer;
	int fds[2];
	void *r;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_much, &fds[1]), 0);
	for (;;) {
		char buf[4099];
		ssize_t n = read(fds[0], buf, sizeof(buf));

		assert_true(n >= 0);
		for (ssize_t i = 0; i < n; i++)
			assert_int_equal(buf[i], (char)((len + (size_t)i) * 31 >> 3));
		len += (size_t)n;
		if (!n)
			break;
	}
	pthread_join(writer, &r);
	assert_null(r);
	assert_int_equal(len, MUCH);
	close(fds[0]);
}

static void writing_says_what_failed(void **state)
{
	autoclose int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_int_equal(util_write_all(full, "x", 1), -ENOSPC);
	assert_int_equal(util_write_all(-1, "x", 1), -EBADF);
	assert_int_equal(util_write_all(-1, NULL, 0), 0);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void expect_file(const char *path, size_t max, const char *want, size_t want_len)
{
	autofree char *text = NULL;
	size_t len = 12345;

	assert_int_equal(util_read_file(path, max, &text, &len), 0);
	assert_int_equal(len, want_len);
	assert_memory_equal(text, want, len);
	assert_int_equal(text[len], '\0');
}

static void reads_files_of_every_size(void **state)
{
	static const size_t sizes[] = { 0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 100000 };
	autofree char *path = tree_path("f");

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		autofree char *text = malloc(sizes[i] + 1);

		memset(text, 'x', sizes[i]);
		text[sizes[i]] = '\0';
		tree_put("f", text);
		expect_file(path, 1 << 20, text, sizes[i]);
		expect_file(path, sizes[i], text, sizes[i]);
		expect_file(path, 3, text, MIN(3, sizes[i]));
		expect_file(path, 0, text, 0);
	}
}

static void reads_files_that_do_not_know_their_size(void **state)
{
	autofree char *text = NULL;
	size_t len;

	assert_int_equal(util_read_file("/proc/self/maps", 1 << 20, &text, &len), 0);
	assert_true(len > 1000); /* fstat says 0 */
	assert_int_equal(strlen(text), len);
	free(TAKE_PTR(text));
	assert_int_equal(util_read_file("/proc/self/comm", 100, &text, NULL), 0);
	assert_string_equal(text, "test_util\n");
}

static void reading_says_what_failed(void **state)
{
	char *text = (char *)1;
	size_t len = 77;

	assert_int_equal(util_read_file("/no/such/file", 100, &text, &len), -ENOENT);
	assert_int_equal(util_read_file("/", 100, &text, &len), -EISDIR);
	assert_ptr_equal(text, (char *)1); /* untouched */
	assert_int_equal(len, 77);
}

static void expect_line(const char *text, const char *want)
{
	autofree char *path = tree_path("f");
	char line[16];

	tree_put("f", text);
	memset(line, 'z', sizeof(line));
	assert_int_equal(util_read_line(path, line, sizeof(line)), 0);
	assert_string_equal(line, want);
}

static void lines_come_without_what_is_blank_at_their_end(void **state)
{
	expect_line("none\n", "none");
	expect_line("none", "none");
	expect_line(" a b \t\n\n", " a b");
	expect_line("", "");
	expect_line("\n", "");
	expect_line(" \t \n", "");
	expect_line("0123456789abcdef", "0123456789abcde");
	expect_line("0123456789abcd\n", "0123456789abcd");
}

static void reading_a_line_says_what_failed(void **state)
{
	char line[16] = "untouched";

	assert_int_equal(util_read_line("/no/such/file", line, sizeof(line)), -ENOENT);
	assert_int_equal(util_read_line("/", line, sizeof(line)), -EISDIR);
	assert_string_equal(line, "untouched");
}

static void formats_into_memory_of_its_own(void **state)
{
	autofree char *s = util_fmt("%s/%d", "a", -5), *empty = util_fmt("%s", "");

	assert_string_equal(s, "a/-5");
	assert_string_equal(empty, "");
}

/* --- processes -------------------------------------------------------------------------------- */

static void a_process_is_known_by_its_descriptor(void **state)
{
	pid_t pid = fork_bound();
	siginfo_t info = {};
	struct pollfd poll_fd;
	int fd;

	if (!pid) {
		pause();
		_exit(1);
	}
	assert_true(pid > 0);
	fd = util_pidfd_open(pid);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	poll_fd = (struct pollfd){ .fd = fd, .events = POLLIN };
	assert_int_equal(poll(&poll_fd, 1, 0), 0);
	assert_int_equal(util_pidfd_kill(fd, 0), 0);
	assert_int_equal(util_pidfd_kill(fd, SIGKILL), 0);
	assert_int_equal(poll(&poll_fd, 1, -1), 1);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
	assert_int_equal(info.si_code, CLD_KILLED);
	assert_int_equal(info.si_status, SIGKILL);
	assert_int_equal(util_pidfd_kill(fd, SIGKILL), -ESRCH);
	assert_int_equal(util_pidfd_open(pid), -ESRCH);
	close(fd);
}

static void processes_that_cannot_be_are_refused(void **state)
{
	assert_int_equal(util_pidfd_open(-1), -EINVAL);
	assert_int_equal(util_pidfd_kill(-1, SIGTERM), -EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_known_by_its_descriptor),
		cmocka_unit_test(descriptors_are_closed_where_their_local_ends),
		cmocka_unit_test(formats_into_memory_of_its_own),
		IN_TREE(lines_come_without_what_is_blank_at_their_end),
		cmocka_unit_test(processes_that_cannot_be_are_refused),
		IN_TREE(reads_files_of_every_size),
		cmocka_unit_test(reads_files_that_do_not_know_their_size),
		cmocka_unit_test(reading_a_line_says_what_failed),
		cmocka_unit_test(reading_says_what_failed),
		cmocka_unit_test(times_beyond_32_bits),
		cmocka_unit_test(memory_handed_over_stays),
		cmocka_unit_test(writes_all_of_it_to_a_pipe_that_holds_less),
		cmocka_unit_test(writing_says_what_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
