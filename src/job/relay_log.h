/* SPDX-License-Identifier: BSD-2-Clause */
/* The relay's account of the workload's log, while it runs and after: memory that it shares with us. Relaxed loads. */
#ifndef JOB_RELAY_LOG_H
#define JOB_RELAY_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relay_log {
	uint64_t written_bytes;
	uint64_t lost_bytes; /* of the workload's output, that are not in the log */
	int error;	     /* why the last of them were lost: -errno; 0: --min-free */
	/* written by us */
	uint64_t min_free;
	bool ended;
};

/*
 * backlog.c: what the relay is to write into the log, up to 1 MiB of it, and the thread that does so. A log that is slow
 * holds up whoever prints; one that does not take anything for a second does not: what finds no room then is counted as
 * lost, until it takes something again. Into the file FD, whose account is LOG; once, in a process of one thread so far.
 * 0 or -errno.
 */
int backlog_start(int fd, struct relay_log *log);
void backlog_put(const char *text, size_t len);
/* Wait until all is written, for TIMEOUT_MS at most; -1: however long it takes. */
void backlog_await(int timeout_ms);

#endif
