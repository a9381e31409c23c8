/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service: supervises `dltraced start' for the always-on traces of its config and `dltraced serve'
 * for users' connections, a process each. It reads nothing that a user sends. Control plane.
 */
#ifndef SERVICE_DAEMON_H
#define SERVICE_DAEMON_H

#include <stdbool.h>

/* Run by the config FILE, which may be absent when MAY_LACK, until SIGTERM or SIGINT. The exit status. */
int daemon_run(const char *file, bool may_lack);
/* Say what keeps the config FILE from being run, and start nothing. The exit status. */
int daemon_check(const char *file, bool may_lack);

#endif
