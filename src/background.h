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
 * In the child, each of these does nothing in a session that was not started by background_start(). The folder of
 * the trace is there: make the file dltraced.log in it, for messages.
 */
void background_log(int dirfd);
/*
 * The trace stands in its folder PATH; MAY_ASK: it listens to stop and status. Messages go to that file
 * from here on, and the parent may leave.
 */
void background_ready(const char *path, bool may_ask);
/* The parent has ended before: who has called it wants nothing any more. */
bool background_caller_gone(void);

#endif
