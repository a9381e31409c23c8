/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `dltraced start' of a user who may not trace: the workload, its terminal and the folder are ours, the
 * tracing is the service's (protocol.h). Control plane.
 */
#ifndef SERVICE_CLIENT_H
#define SERVICE_CLIENT_H

#include <stdbool.h>

struct config;

/* Is this user one who needs the service? */
bool client_needed(void);

/*
 * Run the trace by way of the service. ARGV is dltraced's own command line. The exit status, as
 * session_run() has it; -1: there is no service, which has been said, and the workload may run untraced.
 */
int client_run(const struct config *cfg, char **argv);

#endif
