/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/traces/verdict.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/util.h"
#include "os/descriptors.h"
#include "report/report.h"
#include "report/scan/missing.h"
#include "report/show/show.h"

/*
 * A larger trace is not read. 277 MiB take 0.4 s of CPU time (gen_trace -r 2000000), so VERDICT_CPU_S suffices for 1.4
 * GiB: reading much more would give no answer, and would take CPU time from the job.
 */
#define TOO_LARGE (2ULL << 30)
#define ANSWER_MAX 4096
#define ENDS_MS 200 /* how long to wait for the reader's end; if its disk holds it in the kernel, it ends later */

uint64_t verdict_trace_bytes(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	uint64_t bytes = 0;
	struct dirent *dirent;
	struct stat st;

	if (!dir) {
		util_close(&fd);
		return 0;
	}
	while ((dirent = readdir(dir)))
		if (fstatat(dirfd, dirent->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	closedir(dir);
	return bytes;
}

/* --- the reader's process --------------------------------------------------------------------------------- */

/* Whether `start' prints the reason by itself: processes that still run. */
static bool is_listed(const struct missing_reason *r)
{
	return r->kind == MISSING_LEFT_RUNNING || r->kind == MISSING_ENDED_BEFORE;
}

static void put_missing(const struct report_missing *missing, FILE *out)
{
	const struct missing_reason *first = NULL;
	unsigned int more = 0;

	for (unsigned int i = 0; i < missing->n; i++) {
		if (is_listed(&missing->reason[i]))
			continue;
		if (first)
			more++;
		else
			first = &missing->reason[i];
	}
	if (first)
		fputs(first->text, out);
	if (more)
		fprintf(out, " (and %u more)", more);
}

/* Writes three strings, each with its NUL: text, brief and missing of struct verdict; "" for none. */
static void answer(const char *dir, int dirfd, FILE *out)
{
	struct report *report;

	if (report_load_at(&report, dir, dirfd, &(struct report_options){ .timed = true }) < 0)
		return;
	why_sentence(report, out);
	fputc('\0', out);
	why_words(report, out);
	fputc('\0', out);
	put_missing(&report->missing, out);
	fputc('\0', out);
	fflush(out);
}

#define EXIT_LARGE 2

/*
 * Closes all inherited descriptors but *FD and *DIRFD, which may be -1. The kernel may hold this process for long, and
 * no other process should wait because, for example, an end of a pipe is still open here.
 */
static bool leave_descriptors(int *fd, int *dirfd)
{
	int null = open("/dev/null", O_RDWR);

	/* for now to numbers above those that they get below */
	*fd = fcntl(*fd, F_DUPFD, STDERR_FILENO + 4);
	*dirfd = *dirfd < 0 ? -1 : fcntl(*dirfd, F_DUPFD, STDERR_FILENO + 4);
	if (*fd < 0 || null < 0)
		return false;
	for (int i = 0; i <= STDERR_FILENO; i++)
		dup2(null, i);
	*fd = dup2(*fd, STDERR_FILENO + 1);
	*dirfd = *dirfd < 0 ? -1 : dup2(*dirfd, STDERR_FILENO + 2);
	descriptors_close_from(STDERR_FILENO + (*dirfd < 0 ? 2 : 3));
	return *fd >= 0;
}

static __attribute__((noreturn)) void read_trace(const char *dir, int dirfd, int fd, pid_t parent)
{
	FILE *out;

	const struct rlimit cpu = { .rlim_cur = VERDICT_CPU_S, .rlim_max = VERDICT_CPU_S };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent || setrlimit(RLIMIT_CPU, &cpu) < 0 ||
	    !leave_descriptors(&fd, &dirfd))
		_exit(EXIT_FAILURE);
	if (dirfd < 0)
		dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (verdict_trace_bytes(dirfd) > TOO_LARGE)
		_exit(EXIT_LARGE);
	out = dirfd < 0 ? NULL : fdopen(fd, "w");
	if (out)
		answer(dir, dirfd, out);
	_exit(EXIT_SUCCESS); /* not exit(3): buffered output belongs to the parent */
}

/* --- the waiting process ---------------------------------------------------------------------------------- */

/* Reads FD until its other end is closed. Returns the number of bytes; -ETIME when the time is over; or -errno. */
static ssize_t take(int fd, char buf[ANSWER_MAX])
{
	const uint64_t end_ns = clock_now_ns(CLOCK_MONOTONIC) + VERDICT_MS * NSEC_PER_MSEC;
	size_t len = 0;

	for (;;) {
		struct pollfd p = { fd, POLLIN, 0 };
		uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
		ssize_t n;

		if (now_ns >= end_ns || poll(&p, 1, (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1) == 0)
			return -ETIME;
		n = read(fd, buf + len, ANSWER_MAX - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : (ssize_t)len;
		len += (size_t)n;
	}
}

/* Ends the reader, which has written all, or whose time is OVER. Returns its exit status, -1 where it did not exit. */
static int end_reader(pid_t pid, bool over)
{
	autoclose int pidfd = util_pidfd_open(pid);
	struct pollfd p = { pidfd, POLLIN, 0 };
	int status;

	if (over)
		kill(pid, SIGKILL);
	poll(&p, 1, ENDS_MS);
	return waitpid(pid, &status, WNOHANG) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Returns the string at *AT in the LEN bytes of BUF, and moves *AT behind it; NULL when it is empty, or not whole. */
static char *next_string(const char *buf, size_t len, size_t *at)
{
	const char *s = buf + *at;
	size_t n = *at < len ? strnlen(s, len - *at) : 0;

	if (*at + n >= len)
		return NULL;
	*at += n + 1;
	return n ? strdup(s) : NULL;
}

void verdict_read(struct verdict *verdict, const char *dir, int dirfd)
{
	char buf[ANSWER_MAX];
	pid_t parent = getpid(), pid;
	size_t at = 0;
	ssize_t len;
	int fds[2], code;

	*verdict = (struct verdict){ 0 };
	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0)
		read_trace(dir, dirfd, fds[1], parent);
	close(fds[1]);
	len = pid < 0 ? -errno : take(fds[0], buf);
	code = pid > 0 ? end_reader(pid, len < 0) : 0;
	close(fds[0]);
	verdict->large = code == EXIT_LARGE;
	verdict->late = code < 0 && len <= 0;
	if (len <= 0)
		return;
	verdict->text = next_string(buf, (size_t)len, &at);
	verdict->brief = next_string(buf, (size_t)len, &at);
	verdict->missing = next_string(buf, (size_t)len, &at);
}

void verdict_free(struct verdict *v)
{
	free(v->text);
	free(v->brief);
	free(v->missing);
	*v = (struct verdict){ 0 };
}
