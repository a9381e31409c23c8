/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log relay: a process between the workload's output and where it went before, that also
 * writes it to the log. It lives until the last writer has gone, whatever becomes of dltraced.
 */
#ifndef RELAY_H
#define RELAY_H

#include <sys/types.h>

struct workload_user;

/*
 * Fork the relay, as user U, between our stdout and stderr and the two new ENDS (close-on-exec),
 * which the workload takes for its own: a pty where ours was a terminal, else a pipe. It ends when
 * every copy of ENDS is closed. 0 or -errno; on failure nothing is left behind.
 */
int relay_start(const struct workload_user *u, int log_fd, int ends[2], pid_t *pid);

#endif
