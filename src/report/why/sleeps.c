/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/why/sleeps.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

static const struct sleep_call calls[] = {
	/* in strcmp()'s order */
	{ "accept", SLEEP_SOCKET, true },
	{ "accept4", SLEEP_SOCKET, true },
	{ "access", SLEEP_STAT },
	{ "clock_nanosleep", SLEEP_TIMER },
	{ "close", SLEEP_OPEN },
	{ "close_range", SLEEP_OPEN },
	{ "connect", SLEEP_SOCKET, true },
	{ "copy_file_range", SLEEP_READ },
	{ "creat", SLEEP_OPEN },
	{ "epoll_pwait", SLEEP_POLL, true },
	{ "epoll_pwait2", SLEEP_POLL, true },
	{ "epoll_wait", SLEEP_POLL, true },
	{ "execve", SLEEP_OPEN },
	{ "execveat", SLEEP_OPEN },
	{ "faccessat", SLEEP_STAT },
	{ "faccessat2", SLEEP_STAT },
	{ "fallocate", SLEEP_NAMES },
	{ "fault", SLEEP_FAULT },
	{ "fdatasync", SLEEP_WRITE },
	{ "fstat", SLEEP_STAT },
	{ "fsync", SLEEP_WRITE },
	{ "ftruncate", SLEEP_NAMES },
	{ "futex", SLEEP_THREAD, true },
	{ "futex_wait", SLEEP_THREAD, true },
	{ "futex_waitv", SLEEP_THREAD, true },
	{ "getdents", SLEEP_STAT },
	{ "getdents64", SLEEP_STAT },
	{ "getxattr", SLEEP_STAT },
	{ "io_getevents", SLEEP_READ },
	{ "io_pgetevents", SLEEP_READ },
	{ "io_submit", SLEEP_READ },
	{ "io_uring_enter", SLEEP_READ },
	{ "ioctl", SLEEP_DEVICE },
	{ "lgetxattr", SLEEP_STAT },
	{ "link", SLEEP_NAMES },
	{ "linkat", SLEEP_NAMES },
	{ "lstat", SLEEP_STAT },
	{ "madvise", SLEEP_FAULT },
	{ "mkdir", SLEEP_NAMES },
	{ "mkdirat", SLEEP_NAMES },
	{ "mknod", SLEEP_NAMES },
	{ "mknodat", SLEEP_NAMES },
	{ "mlock", SLEEP_FAULT },
	{ "mmap", SLEEP_FAULT },
	{ "msgrcv", SLEEP_SOCKET, true },
	{ "msync", SLEEP_WRITE },
	{ "nanosleep", SLEEP_TIMER },
	{ "newfstatat", SLEEP_STAT },
	{ "open", SLEEP_OPEN },
	{ "openat", SLEEP_OPEN },
	{ "openat2", SLEEP_OPEN },
	{ "pause", SLEEP_TIMER },
	{ "poll", SLEEP_POLL, true },
	{ "ppoll", SLEEP_POLL, true },
	{ "pread64", SLEEP_READ },
	{ "preadv", SLEEP_READ },
	{ "preadv2", SLEEP_READ },
	{ "pselect6", SLEEP_POLL, true },
	{ "pwrite64", SLEEP_WRITE },
	{ "pwritev", SLEEP_WRITE },
	{ "pwritev2", SLEEP_WRITE },
	{ "read", SLEEP_READ, true },
	{ "readahead", SLEEP_READ },
	{ "readlink", SLEEP_STAT },
	{ "readlinkat", SLEEP_STAT },
	{ "readv", SLEEP_READ, true },
	{ "recvfrom", SLEEP_SOCKET, true },
	{ "recvmmsg", SLEEP_SOCKET, true },
	{ "recvmsg", SLEEP_SOCKET, true },
	{ "rename", SLEEP_NAMES },
	{ "renameat", SLEEP_NAMES },
	{ "renameat2", SLEEP_NAMES },
	{ "rmdir", SLEEP_NAMES },
	{ "rt_sigsuspend", SLEEP_TIMER },
	{ "rt_sigtimedwait", SLEEP_TIMER },
	{ "select", SLEEP_POLL, true },
	{ "semop", SLEEP_THREAD, true },
	{ "semtimedop", SLEEP_THREAD, true },
	{ "sendfile", SLEEP_READ },
	{ "sendmmsg", SLEEP_SOCKET, true },
	{ "sendmsg", SLEEP_SOCKET, true },
	{ "sendto", SLEEP_SOCKET, true },
	{ "splice", SLEEP_READ },
	{ "stat", SLEEP_STAT },
	{ "statfs", SLEEP_STAT },
	{ "statx", SLEEP_STAT },
	{ "symlink", SLEEP_NAMES },
	{ "symlinkat", SLEEP_NAMES },
	{ "sync", SLEEP_WRITE },
	{ "sync_file_range", SLEEP_WRITE },
	{ "syncfs", SLEEP_WRITE },
	{ "truncate", SLEEP_NAMES },
	{ "unlink", SLEEP_NAMES },
	{ "unlinkat", SLEEP_NAMES },
	{ "vfork", SLEEP_CHILD, true },
	{ "wait4", SLEEP_CHILD, true },
	{ "waitid", SLEEP_CHILD, true },
	{ "write", SLEEP_WRITE, true },
	{ "writev", SLEEP_WRITE, true },
};

static int by_name(const void *key, const void *at)
{
	const struct reader_field *call = key;
	const char *name = ((const struct sleep_call *)at)->name;
	int order = call->p[0] - name[0]; /* mostly the first byte is enough */

	if (!order)
		order = strncmp(call->p, name, call->len);
	if (order)
		return order;
	return name[call->len] ? -1 : 0;
}

double sleeps_busy_ns(const struct sleeps *s)
{
	double ns = s->run_ns + s->runq_ns;

	for (unsigned int kind = 0; kind <= SLEEP_DEVICE; kind++)
		ns += s->ns[kind];
	return ns;
}

const struct sleep_call *sleep_call_of(struct reader_field call)
{
	static const struct sleep_call other = { "", SLEEP_OTHER };
	const struct sleep_call *found = bsearch(&call, calls, ARRAY_SIZE(calls), sizeof(calls[0]), by_name);

	return found ? found : &other;
}
