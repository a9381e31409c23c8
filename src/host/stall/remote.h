/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings in the memory of other processes. Such memory may be a file's on a server that is dead, or
 * on a file system (FUSE, userfaultfd) whose owner lets us wait: so a thread of its own reads, and is given
 * up after a while. Any thread.
 */
#ifndef HOST_STALL_REMOTE_H
#define HOST_STALL_REMOTE_H

#include <stdint.h>
#include <sys/types.h>

#define REMOTE_STRING_MAX 4096 /* with its NUL; what is longer is cut */

/*
 * The string at ADDR of process PID, and a NUL: its length, or -errno. -ETIMEDOUT: it cannot be had in time;
 * nothing more is read then by this program, of no process.
 */
ssize_t remote_string(pid_t pid, uint64_t addr, char buf[REMOTE_STRING_MAX]);

#endif
