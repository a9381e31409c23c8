/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does a thread or process stand still in the kernel, waiting for a server that does not answer?
 *
 * Its CPU time shows it. It does not change where nothing wakes the waiting thread (FUSE); a thread that
 * retries again and again from inside its system call (NFS, at each timeout) uses very little, in an
 * uninterruptible wait (state D) at every look. A thread that makes progress by itself, even by sleeps of a
 * second at a time, is found in other states; one that is found runnable waits for a CPU, not for a server.
 */
#ifndef HOST_STALL_CLOCK_H
#define HOST_STALL_CLOCK_H

#include <stdint.h>
#include <sys/types.h>

struct stall_clock {
	pid_t tid;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
	uint64_t used_ns; /* CPU time then */
};

/* TID, as of /proc, has used this much CPU time up to NOW_NS. */
void stall_clock_begin(struct stall_clock *s, pid_t tid, uint64_t used_ns, uint64_t now_ns);

/* To be called again and again, each second at least: returns for how long it has stood still at NOW_NS, ns. */
uint64_t stall_clock_ns(struct stall_clock *s, uint64_t used_ns, uint64_t now_ns);

#endif
