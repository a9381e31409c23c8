/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

void util_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int util_write_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = TEMP_FAILURE_RETRY(write(fd, p, len));

		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int util_open_regular(int dirfd, const char *name, int flags)
{
	autoclose int look = openat(dirfd, name, O_PATH | O_CLOEXEC | flags);
	char path[32];
	struct stat st;
	int fd;

	if (look < 0 || fstat(look, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", look);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int util_read_file(const char *path, size_t max, char **ret, size_t *len_ret)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : util_read_fd(fd, max, ret, len_ret);
}

int util_read_fd(int fd, size_t max, char **ret, size_t *len_ret)
{
	autofree char *buf = NULL;
	size_t len = 0, room = 0;
	ssize_t n;

	do {
		if (len + 1 >= room) {
			char *bigger;

			room = room ? 2 * room : 4096;
			bigger = realloc(buf, room);
			if (!bigger)
				return -ENOMEM;
			buf = bigger;
		}
		n = TEMP_FAILURE_RETRY(read(fd, buf + len, MIN(room - len - 1, max - len)));
		if (n < 0)
			return -errno;
		len += (size_t)n;
	} while (n > 0 && len < max);
	buf[len] = '\0';
	if (len_ret)
		*len_ret = len;
	*ret = TAKE_PTR(buf);
	return 0;
}

int util_read_line(const char *path, char *buf, size_t size)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		return -errno;
	while (n > 0 && strchr(" \t\n", buf[n - 1]))
		n--;
	buf[n] = '\0';
	return 0;
}

int util_fd_path(int fd, char path[PATH_MAX])
{
	char link[32];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, PATH_MAX);
	if (len < 0)
		return -errno;
	path[MIN(len, PATH_MAX - 1)] = '\0';
	return len == PATH_MAX ? -ENAMETOOLONG : 0;
}

int util_create_at(int dirfd, const char *name, int flags)
{
	autoclose int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
	struct stat dir, st;

	if (fd < 0 || fstat(dirfd, &dir) < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (dir.st_uid != st.st_uid && fchown(fd, dir.st_uid, dir.st_gid) < 0)
		return -errno;
	return TAKE_FD(fd);
}

char *util_fmt(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : s;
}

int util_room(void *v, size_t n, size_t size)
{
	void **at = v, *more;

	if (n & (n - 1))
		return 0;
	more = reallocarray(*at, n ? 2 * n : 1, size);
	if (!more)
		return -ENOMEM;
	*at = more;
	return 0;
}

void util_raise_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void util_signals_default(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

bool util_is_gone(pid_t tid)
{
	return kill(tid, 0) < 0 && errno == ESRCH;
}

int util_pidfd_open(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : (int)fd;
}

int util_pidfd_kill(int pidfd, int sig)
{
	return syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) < 0 ? -errno : 0;
}
