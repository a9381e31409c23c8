/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings in the memory of other processes. Such memory may be a mapped file on a dead server, or on a file
 * system (FUSE, userfaultfd) whose owner makes us wait: so the reader reads, see process_reader.h. Its thread.
 */
#ifndef HOST_STALL_REMOTE_H
#define HOST_STALL_REMOTE_H

#include <stdint.h>
#include <sys/types.h>

#define REMOTE_STRING_MAX 4096 /* with its NUL; longer strings are cut */

/* Reads the string at ADDR of process PID, and a NUL: returns its length, or -errno, -ETIMEDOUT: it cannot be read in
 * time. */
ssize_t remote_string(pid_t pid, uint64_t addr, char buf[REMOTE_STRING_MAX]);

#endif
