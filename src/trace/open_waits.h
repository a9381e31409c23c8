/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads of the job wait in, and which processes can end that: `open_waits' of manifest.json. The trace has it
 * of waits that are long, as they were at a moment; the rows of waits.out show which of them have ended since.
 */
#ifndef TRACE_OPEN_WAITS_H
#define TRACE_OPEN_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#define OPEN_WAITS_MAX 256
#define OPEN_WAIT_ENDS_MAX 8

struct json;

/* A process that can end a wait: it has the other end, or the lock, or is the child. */
struct open_wait_end {
	uint64_t pid, threads;
	bool stopped, job; /* by a signal or a debugger; it is of the job */
	char comm[64];
};

struct open_wait {
	uint64_t pid, tid, since_ns; /* CLOCK_MONOTONIC; not after the begin of the trace: since before it */
	uint64_t threads; /* of its process */
	uint64_t inode; /* of what it waits in; 0: it has none */
	bool known; /* nobody else than ENDS can end it: no time either */
	char comm[64]; /* of the process */
	char call[24], object[12]; /* "read"; "pipe", "fifo", "socket", "epoll", "poll", "child", "thread", "lock" */
	struct open_wait_end ends[OPEN_WAIT_ENDS_MAX];
	uint64_t n_ends; /* those beyond OPEN_WAIT_ENDS_MAX have no place */
};

struct open_waits {
	struct open_wait v[OPEN_WAITS_MAX];
	uint64_t n;
};

/* Puts the array `open_waits'. */
void open_waits_put(struct json *json, const struct open_waits *waits);

/* Reads them from the manifest.json in DIRFD: 0, -ENOENT, -EBADMSG or -errno. Strings may have any byte but NUL. */
int open_waits_read_at(struct open_waits *waits, int dirfd);
/* Likewise from its TEXT. */
int open_waits_parse(struct open_waits *waits, const char *text);

#endif
