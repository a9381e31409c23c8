/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry points of this room. The service supervises `dltraced start' for the always-on traces of its config and
 * `dltraced serve' for users' connections, a process each; it reads nothing that a user sends. `dltraced start' of a user
 * who may not trace has the workload, its terminal and the folder, and the tracing is the service's (protocol.h). All return
 * the exit status. Control plane.
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

struct config;

/* Runs by the config FILE, which may be absent when MAY_LACK, until SIGTERM or SIGINT. */
int daemon_run(const char *file, bool may_lack);
/* Prints the mistakes in the config FILE and starts nothing. */
int daemon_check(const char *file, bool may_lack);

/*
 * Serves the connection on our standard input, from the daemon: checks its request and runs a session like any other, with
 * rings of MAX_BUFFER bytes, files touched as that user, and rows of that user's processes only.
 */
int served_run(uint64_t max_buffer_bytes);

/* Whether this user needs the service. */
bool client_needed(void);
/*
 * Runs the trace through the service. ARGV is dltraced's own command line. Returns as session_run() does, or -1 after a
 * message when there is no service and the workload may run untraced.
 */
int client_run(const struct config *cfg, char **argv);

#endif
