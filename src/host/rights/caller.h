/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has called this dltraced: a user, by sudo or not, and in which session of a terminal. Control plane. */
#ifndef HOST_RIGHTS_CALLER_H
#define HOST_RIGHTS_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

/* In the environment of what the service starts. */
#define CALLER_SERVICE "DLTRACED_SERVICE"

struct caller {
	bool service; /* nobody: the service's own trace */
	uid_t uid;    /* of who called sudo, where that was it */
	pid_t session; /* setsid(2)'s, of sudo where that has made one for us (use_pty): a login's, a pane's of tmux. 0: not known */
};

/* Before anything is done about our session. */
void caller_find(struct caller *c);
/* User UID, in process PID, by the service. */
void caller_of(struct caller *c, uid_t uid, pid_t pid);

#endif
