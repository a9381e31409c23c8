/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of other processes. Such memory may be a mapped file on a dead server, or on a file
 * system (FUSE, userfaultfd) whose owner makes us wait: so a thread of its own reads, and is given up after
 * a while. Any thread.
 */
#ifndef HOST_STALL_REMOTE_H
#define HOST_STALL_REMOTE_H

#include <stdint.h>
#include <sys/types.h>

#define REMOTE_STRING_MAX 4096 /* with its NUL; longer strings are cut */

/*
 * Reads the string at ADDR of process PID, and a NUL: returns its length, or -errno. -ETIMEDOUT: it cannot
 * be read in time; this program then reads nothing more, of any process.
 */
ssize_t remote_string(pid_t pid, uint64_t addr, char buf[REMOTE_STRING_MAX]);

/*
 * Reads N pieces of process PID's memory, one after the other, into BUF: returns the bytes read, which are fewer where a
 * piece is not mapped, or -errno, as above.
 */
#define REMOTE_PIECES 4
#define REMOTE_BYTES_MAX 8192 /* of all pieces */
struct remote_piece {
	uint64_t addr;
	size_t bytes;
};
ssize_t remote_read(pid_t pid, const struct remote_piece *pieces, unsigned int n, void *buf);

#endif
