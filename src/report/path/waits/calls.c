/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/waits/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define METADATA .storage = PATH_DISK_METADATA
#define SYNC .storage = PATH_DISK_SYNC
#define WRITE .storage = PATH_DISK_WRITE
#define READ .storage = PATH_DISK_READ

/*
 * futex(2) is no lock here: queues, conditions and the ends of threads are futexes, too, and the row does not show
 * which it was.
 */
const struct path_call path_calls[] = {
	{ "", READ },
	/* in strcmp()'s order */
	{ "accept", READ, .accepts = true },
	{ "accept4", READ, .accepts = true },
	{ "access", METADATA },
	{ "chdir", METADATA },
	{ "clock_nanosleep", READ, .sleeps = true, .polls = true },
	{ "creat", METADATA, .opens = true },
	{ "epoll_pwait", READ, .polls = true },
	{ "epoll_pwait2", READ, .polls = true },
	{ "epoll_wait", READ, .polls = true },
	{ "execve", READ, .opens = true },
	{ "execveat", READ, .opens = true },
	{ "faccessat", METADATA },
	{ "faccessat2", METADATA },
	{ "fallocate", WRITE },
	{ "fault", .storage = PATH_DISK_FAULT },
	{ "fcntl", READ, .locks = true },
	{ "fdatasync", SYNC },
	{ "flock", READ, .locks = true },
	{ "fstat", METADATA },
	{ "fsync", SYNC },
	{ "ftruncate", WRITE },
	{ "futex", READ, .polls = true, .queues = true },
	{ "futex_wait", READ, .polls = true, .queues = true },
	{ "futex_waitv", READ, .polls = true, .queues = true },
	{ "getdents", METADATA },
	{ "getdents64", METADATA },
	{ "getxattr", METADATA },
	{ "lgetxattr", METADATA },
	{ "link", METADATA },
	{ "linkat", METADATA },
	{ "lstat", METADATA },
	{ "mkdir", METADATA },
	{ "mkdirat", METADATA },
	{ "mknod", METADATA },
	{ "mknodat", METADATA },
	{ "msync", SYNC },
	{ "nanosleep", READ, .sleeps = true, .polls = true },
	{ "newfstatat", METADATA },
	{ "open", METADATA, .opens = true },
	{ "openat", METADATA, .opens = true },
	{ "openat2", METADATA, .opens = true },
	{ "pause", READ, .children = true, .signals = true },
	{ "poll", READ, .polls = true },
	{ "ppoll", READ, .polls = true },
	{ "pselect6", READ, .polls = true },
	{ "pwrite64", WRITE },
	{ "pwritev", WRITE },
	{ "pwritev2", WRITE },
	{ "readlink", METADATA },
	{ "readlinkat", METADATA },
	{ "rename", METADATA },
	{ "renameat", METADATA },
	{ "renameat2", METADATA },
	{ "rmdir", METADATA },
	{ "rt_sigsuspend", READ, .children = true, .signals = true },
	{ "rt_sigtimedwait", READ, .polls = true, .children = true, .signals = true },
	{ "select", READ, .polls = true },
	{ "semtimedop", READ, .polls = true },
	{ "sendfile", READ, .sends = true },
	{ "sendmmsg", READ, .sends = true },
	{ "sendmsg", READ, .sends = true },
	{ "sendto", READ, .sends = true },
	{ "stat", METADATA },
	{ "statfs", METADATA },
	{ "statx", METADATA },
	{ "stopped", READ, .stops = true },
	{ "symlink", METADATA },
	{ "symlinkat", METADATA },
	{ "sync", SYNC },
	{ "sync_file_range", SYNC },
	{ "syncfs", SYNC },
	{ "truncate", WRITE },
	{ "unlink", METADATA },
	{ "unlinkat", METADATA },
	{ "wait4", READ, .children = true },
	{ "waitid", READ, .children = true },
	{ "write", WRITE },
	{ "writev", WRITE },
};

static int by_name(const void *key, const void *at)
{
	const struct reader_field *call = key;
	const char *name = ((const struct path_call *)at)->name;
	const int order = strncmp(call->p, name, call->len);

	if (order)
		return order;
	return name[call->len] ? -1 : 0;
}

_Static_assert(ARRAY_SIZE(path_calls) <= UINT8_MAX, "an index has a byte");

uint8_t path_call_of(struct reader_field call)
{
	const struct path_call *found =
		bsearch(&call, path_calls, ARRAY_SIZE(path_calls), sizeof(path_calls[0]), by_name);

	return found ? (uint8_t)(found - path_calls) : 0;
}
