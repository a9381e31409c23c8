/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ways into this room. The service supervises `dltraced start' for the always-on traces of its config and `dltraced
 * serve' for users' connections, a process each; it reads nothing that a user sends. `dltraced start' of a user who may
 * not trace has the workload, its terminal and the folder, and the tracing is the service's (protocol.h). All return the
 * exit status. Control plane.
 */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

struct config;

/* Run by the config FILE, which may be absent when MAY_LACK, until SIGTERM or SIGINT. */
int daemon_run(const char *file, bool may_lack);
/* Prints the mistakes in the config FILE and starts nothing. */
int daemon_check(const char *file, bool may_lack);

/*
 * Serve the connection that is our standard input, of the daemon: its request is read and checked, and a session run like
 * any other, of MAX_BUFFER bytes of rings, with files touched as that user and nothing told but of that user's processes.
 */
int served_run(uint64_t max_buffer_bytes);

/* Whether this user needs the service. */
bool client_needed(void);
/*
 * Run the trace by way of the service. ARGV is dltraced's own command line. As session_run() has it; -1: there is no
 * service, which has been said, and the workload may run untraced.
 */
int client_run(const struct config *cfg, char **argv);

#endif
