/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/waits/wait_call.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "base/util.h"

/* Whether the call has no timeout, after which it ends by itself. */

static bool always(const uint64_t arg[6])
{
	return true;
}

static bool no_third(const uint64_t arg[6])
{
	return !arg[2];
}

#ifdef __NR_poll
static bool third_is_endless(const uint64_t arg[6])
{
	return (int)arg[2] < 0;
}
#endif

static bool fourth_is_endless(const uint64_t arg[6])
{
	return (int)arg[3] < 0;
}

/* A futex of one process, without a time: others may change one that is shared. */
static bool is_private_futex(const uint64_t arg[6])
{
	const unsigned int op = (unsigned int)arg[1], cmd = op & FUTEX_CMD_MASK;

	return op & FUTEX_PRIVATE_FLAG && !arg[3] &&
	       (cmd == FUTEX_WAIT || cmd == FUTEX_WAIT_BITSET || cmd == FUTEX_LOCK_PI);
}

static bool is_lock(const uint64_t arg[6])
{
	return arg[1] == F_SETLKW || arg[1] == F_OFD_SETLKW;
}

#define ROW(call, what, fits)                             \
	{                                                 \
		__NR_##call, #call, WAIT_FOR_##what, fits \
	}

static const struct row {
	long nr;
	const char *name;
	enum wait_for what;
	bool (*fits)(const uint64_t arg[6]);
} rows[] = {
	ROW(read, INPUT, always),
	ROW(readv, INPUT, always),
	ROW(recvfrom, INPUT, always),
	ROW(recvmsg, INPUT, always),
	ROW(write, ROOM, always),
	ROW(writev, ROOM, always),
	ROW(sendto, ROOM, always),
	ROW(sendmsg, ROOM, always),
	ROW(flock, LOCK, always),
	ROW(fcntl, LOCK, is_lock),
	ROW(wait4, CHILD, always),
	ROW(waitid, CHILD, always),
	ROW(futex, THREAD, is_private_futex),
	ROW(ppoll, POLL, no_third),
	ROW(epoll_pwait, EPOLL, fourth_is_endless),
#ifdef __NR_poll
	ROW(poll, POLL, third_is_endless),
#endif
#ifdef __NR_epoll_wait
	ROW(epoll_wait, EPOLL, fourth_is_endless),
#endif
};

static const struct row *row_of(long nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].nr == nr)
			return &rows[i];
	return NULL;
}

bool wait_call_parse(struct wait_call *call, const char *text)
{
	unsigned long long arg[6];
	const struct row *row;
	long nr;

	if (sscanf(text, "%ld %llx %llx %llx %llx %llx %llx", &nr, &arg[0], &arg[1], &arg[2], &arg[3], &arg[4],
		   &arg[5]) != 7)
		return false;
	row = row_of(nr);
	*call = (struct wait_call){ .fd = -1 };
	for (int i = 0; i < 6; i++)
		call->arg[i] = arg[i];
	if (!row || !row->fits(call->arg))
		return false;
	call->name = row->name;
	call->what = row->what;
	if (row->what <= WAIT_FOR_EPOLL || row->what == WAIT_FOR_LOCK)
		call->fd = (int)arg[0];
	return true;
}
