/* SPDX-License-Identifier: BSD-2-Clause */
/* start --background: the trace goes on in a session of its own, the caller gets the shell back. */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include <stdbool.h>

/*
 * Fork. In the child: 0. In the parent, once the child has said that it stands or has failed: -1
 * for started (its folder has been printed), else the exit status to return.
 */
int background_start(void);

/*
 * In the child: the trace stands in its folder PATH; MAY_ASK: it listens to stop and status. Messages
 * go to dltraced.log in it from here on, and the parent may leave. Does nothing in a session that was
 * not started by background_start().
 */
void background_ready(int dirfd, const char *path, bool may_ask);

#endif
