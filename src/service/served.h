/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace that a user without rights has asked the service for: a process of its own, started by the
 * daemon for one connection (`dltraced serve', which nobody calls by hand). It reads the request, checks
 * it, and runs a session like any other, with files touched as that user and nothing told but of that
 * user's processes. Control plane.
 */
#ifndef SERVICE_SERVED_H
#define SERVICE_SERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "service/protocol.h"

struct session;
struct targets;
struct workload_user;

struct served {
	int fd; /* to the client; -1: it has gone */
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* owned, until served_user() */
	size_t n_groups;
	pid_t client;
	struct service_request rq;
	uint64_t over_ns; /* CLOCK_MONOTONIC when the workload had ended, its status not yet known; 0: it has not */
};

/* Serve the connection that is our standard input; MAX_BUFFER bytes of rings. The exit status. */
int served_run(uint64_t max_buffer_bytes);

/* Steps of its session, which say themselves what failed: 0, or CMD_EXIT_FAILURE. */
int served_user(struct served *sv, struct workload_user *u);
int served_targets(struct session *s);
int served_folder(struct session *s);
int served_adopt(struct session *s);
/* The client may let the workload go; from now on it is listened to. 0 or -errno. */
int served_go(struct session *s);
/* The workload's process has ended: its status is waited for. Once a second: not for ever. */
void served_workload_over(struct session *s);
void served_tick(struct session *s);

#endif
