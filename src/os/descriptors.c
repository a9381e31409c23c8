/* SPDX-License-Identifier: BSD-2-Clause */
/* Which descriptors are open, by /proc/self/fd, without memory from malloc(3): see descriptors.h. */
#include "os/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436 /* one number on every architecture, since Linux 5.9 */
#endif

typedef int (*descriptor_fn)(int fd, void *ctx);

/* Returns the number that TEXT is, -1 when it is none, as "." and "..". */
static int number(const char *text)
{
	int n = 0;

	if (!*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || n > INT_MAX / 10 - 1)
			return -1;
		n = n * 10 + (*text - '0');
	}
	return n;
}

#define POSSIBLE_MAX (1 << 20) /* fs.nr_open as the kernel sets it: a limit may be higher, or none */

/* Without /proc: all that there may be. */
static int each_possible(unsigned int first, descriptor_fn fn, void *ctx)
{
	struct rlimit limit;
	int r = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > POSSIBLE_MAX)
		limit.rlim_cur = POSSIBLE_MAX;
	for (int fd = (int)first; !r && (rlim_t)fd < limit.rlim_cur; fd++)
		r = fcntl(fd, F_GETFD) < 0 ? 0 : fn(fd, ctx);
	return r;
}

/* Calls FN for each open descriptor from FIRST on, until it returns something other than 0, which this returns, too. */
static int each_open(unsigned int first, descriptor_fn fn, void *ctx)
{
	const int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char buf[1024] __attribute__((aligned(__alignof__(struct dirent64))));
	long n;
	int r = 0;

	if (dir < 0)
		return each_possible(first, fn, ctx);
	/* the folder's position is a descriptor's number: nothing is left out when earlier ones are closed */
	while (!r && (n = syscall(SYS_getdents64, dir, buf, sizeof(buf))) > 0)
		for (long at = 0; !r && at < n;) {
			const struct dirent64 *entry = (const struct dirent64 *)(const void *)(buf + at);
			const int fd = number(entry->d_name);

			if (fd >= 0 && (unsigned int)fd >= first && fd != dir)
				r = fn(fd, ctx);
			at += entry->d_reclen;
		}
	close(dir);
	return r;
}

static int close_one(int fd, void *ctx)
{
	close(fd);
	return 0;
}

void descriptors_close_from(unsigned int first)
{
	if (syscall(SYS_close_range, first, ~0U, 0U) < 0) /* before Linux 5.9, or a filter of system calls */
		each_open(first, close_one, NULL);
}

static int add_one(int fd, void *ctx)
{
	return posix_spawn_file_actions_addclose(ctx, fd);
}

int descriptors_spawn_close_from(posix_spawn_file_actions_t *actions, unsigned int first)
{
	return each_open(first, add_one, actions);
}
