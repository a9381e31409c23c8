/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry points of this room. The service runs a process for each trace: `dltraced start' for the always-on traces
 * of its config, `dltraced serve' for users' connections. The service itself reads nothing that a user sends. When a
 * user who may not trace runs `dltraced start', that process keeps the workload, the terminal and the folder, and the
 * service does the tracing (protocol.h). Functions that return an int return the exit status. Control plane.
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

struct config;

/* Runs the service with the config FILE, which may be absent when MAY_LACK, until SIGTERM or SIGINT. */
int daemon_run(const char *file, bool may_lack);
/* Prints the mistakes in the config FILE and starts nothing. */
int daemon_check(const char *file, bool may_lack);

/*
 * Serves the connection on standard input, which the daemon has put there: checks the request and runs a session like
 * any other, but with at most MAX_BUFFER_BYTES of rings. It handles files with that user's rights, and writes rows only
 * of that user's processes. LOGGED: why a request is refused goes to the daemon's log, too, with the user's name.
 */
int served_run(uint64_t max_buffer_bytes, bool logged);

/* Whether this user needs the service, having no right to trace. */
bool client_needed(void);
/*
 * Runs the trace through the service. ARGV is dltraced's own command line. Returns as session_run() does, or -1 after a
 * message when there is no service and the workload may run untraced.
 */
int client_run(const struct config *cfg, char **argv);

#endif
