/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the relay is to write into the workload's log, up to 1 MiB of it, and the thread that does so. A log
 * that is slow holds up whoever prints; one that does not take anything for a second does not: what finds
 * no room then is counted as lost, until it takes something again.
 */
#ifndef JOB_BACKLOG_H
#define JOB_BACKLOG_H

#include <stddef.h>

struct relay_log;

/* Into the file FD, whose account is LOG; once, in a process of one thread so far. 0 or -errno. */
int backlog_start(int fd, struct relay_log *log);
void backlog_put(const char *text, size_t len);
/* Wait until all is written, for TIMEOUT_MS at most; -1: however long it takes. */
void backlog_await(int timeout_ms);

#endif
