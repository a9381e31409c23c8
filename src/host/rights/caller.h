/* SPDX-License-Identifier: BSD-2-Clause */
/* The caller of this dltraced: a user, by sudo or not, and in which session of a terminal. Control plane. */
#ifndef HOST_RIGHTS_CALLER_H
#define HOST_RIGHTS_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

/* In the environment of the service's children. */
#define CALLER_SERVICE "DLTRACED_SERVICE"

struct caller {
	bool service; /* no user: the service's own trace */
	uid_t uid; /* of sudo's caller, if it was run by sudo */
	pid_t session; /* by setsid(2), sudo's if it made one for us (use_pty): a login's, a tmux pane's. 0: not known
			*/
};

/* Call before anything changes our session. */
void caller_find(struct caller *c);
/* User UID, in process PID, through the service. */
void caller_of(struct caller *c, uid_t uid, pid_t pid);

#endif
