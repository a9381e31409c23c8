/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared parts of the workload's tests: the test plays dltraced, and its workload answers by files, pipes and statuses.
 * An alarm ends a test that hangs.
 */
#ifndef WORKLOAD_FIXTURE_H
#define WORKLOAD_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/exit_codes.h"
#include "base/util.h"
#include "host/rights/workload_user.h"
#include "job/workload.h"
#include "temp.h"

#define SH(text) ((char *[]){ "/bin/sh", "-c", text, NULL })
#define SLURP_MAX (4 << 20)

#define NEEDS_ROOT()                                                                    \
	do {                                                                            \
		if (geteuid() != 0) {                                                   \
			print_message("skipped: needs root, to become another user\n"); \
			skip();                                                         \
		}                                                                       \
	} while (0)

/* A test with this fixture. */
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

struct fixture {
	struct workload_user self;
	struct workload w;
	char dir[TEMP_MAX];
	int out, err; /* the test's own stdout and stderr, which teardown restores */
};

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	alarm(60);
	assert_non_null(mkdtemp(temp_template(f->dir, "workload")));
	assert_int_equal(chmod(f->dir, 0777), 0);
	f->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	f->err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_int_equal(workload_user_get(&f->self, NULL), 0);
	*state = f;
	return 0;
}

/* Sends the test's stdout and stderr elsewhere, as a caller's shell would. */
static inline void redirect(int out, int err)
{
	fflush(NULL);
	assert_return_code(dup2(out, STDOUT_FILENO), errno);
	assert_return_code(dup2(err, STDERR_FILENO), errno);
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	autofree char *rm = util_fmt("rm -rf %s", f->dir);

	redirect(f->out, f->err);
	close(f->out);
	close(f->err);
	workload_free(&f->w);
	workload_user_free(&f->self);
	assert_int_equal(system(rm), 0);
	free(f);
	alarm(0);
	return 0;
}

/* Makes a new file in the test's folder. Returns its path, to be freed. */
static inline char *new_file(struct fixture *f, const char *name, const char *text, mode_t mode)
{
	char *path = util_fmt("%s/%s", f->dir, name);
	autoclose int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_return_code(fd, errno);
	assert_int_equal(util_write_all(fd, text, strlen(text)), 0);
	assert_int_equal(fchmod(fd, mode), 0);
	return path;
}

/* Returns everything from FD until its end, which is EIO on a pty. */
static inline char *slurp(int fd, size_t *len)
{
	char *buf = malloc(SLURP_MAX);
	ssize_t n;

	assert_non_null(buf);
	for (*len = 0; (n = read(fd, buf + *len, SLURP_MAX - 1 - *len)) > 0; *len += (size_t)n)
		;
	buf[*len] = '\0';
	return buf;
}

static inline void expect_text(int fd, const char *text)
{
	size_t len;
	autofree char *got = slurp(fd, &len);

	assert_string_equal(got, text);
}

static inline void expect_file(const char *path, const char *text)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_return_code(fd, errno);
	expect_text(fd, text);
}

/* Reads FD until the text so far ends in TEXT. */
static inline void await_text(int fd, const char *text)
{
	char buf[4096];
	size_t n = 0, len = strlen(text);

	while (n < len || memcmp(buf + n - len, text, len)) {
		assert_true(n < sizeof(buf));
		assert_int_equal(read(fd, buf + n, 1), 1);
		n++;
	}
}

static inline int await_exit(struct workload *w)
{
	struct pollfd p = { .fd = w->pidfd, .events = POLLIN };

	while (poll(&p, 1, -1) < 0)
		assert_int_equal(errno, EINTR);
	assert_true(workload_reap(w));
	return exit_code_of(w->status);
}

static inline int run_as(struct fixture *f, const struct workload_user *u, char *const argv[])
{
	int r;

	assert_int_equal(workload_prepare(&f->w, argv, u, -1), 0);
	assert_int_equal(workload_go(&f->w), 0);
	r = await_exit(&f->w);
	workload_free(&f->w);
	return r;
}

static inline int run(struct fixture *f, char *const argv[])
{
	return run_as(f, &f->self, argv);
}

#endif
