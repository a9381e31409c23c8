/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the threads of processes wait in at this moment, and which processes of the machine can end that: those with
 * the other end of a pipe or a socket, the holder of a lock, a child. All of it from /proc, where a look at a process
 * may hang: see host/stall/hold_reader.h.
 */
#ifndef HOST_WAITS_HOLDERS_H
#define HOST_WAITS_HOLDERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/open_waits.h"

/*
 * Finds the waits of the N processes PIDS, without SINCE_NS: those for other processes or threads alone. What is not
 * known at UNTIL_NS (CLOCK_THREAD_CPUTIME_ID: a busy machine takes nothing from it) stays so. Returns 0 or -ENOMEM.
 */
int holders_find(struct open_waits *waits, const pid_t *pids, size_t n, uint64_t until_ns);

/* Returns the process that holds the lock of a file that process PID waits for, by TEXT as of /proc/locks; 0: none. */
pid_t holders_of_lock(const char *text, pid_t pid);

#endif
