/* SPDX-License-Identifier: BSD-2-Clause */
/* What a thread waits in, by its system call as /proc/TID/syscall shows it: proc_pid_syscall(5). Pure. */
#ifndef HOST_WAITS_WAIT_CALL_H
#define HOST_WAITS_WAIT_CALL_H

#include <stdbool.h>
#include <stdint.h>

enum wait_for {
	WAIT_FOR_ANYTHING, /* not known, or for a time, a signal, a device */
	WAIT_FOR_INPUT, /* of a descriptor */
	WAIT_FOR_ROOM, /* likewise */
	WAIT_FOR_EPOLL, /* likewise */
	WAIT_FOR_POLL, /* of an array of descriptors */
	WAIT_FOR_LOCK, /* of a file */
	WAIT_FOR_CHILD,
	WAIT_FOR_THREAD, /* of its own process */
};

struct wait_call {
	const char *name; /* of the call */
	enum wait_for what;
	int fd; /* -1: it has none */
	uint64_t arg[6];
};

/* Parses TEXT. False: the thread runs, is in no call, or in one that is no wait for another process or thread. */
bool wait_call_parse(struct wait_call *call, const char *text);

#endif
