/* SPDX-License-Identifier: BSD-2-Clause */
/* start --background: the trace goes on in a session of its own, the caller gets the shell back. */
#ifndef HOST_BACKGROUND_H
#define HOST_BACKGROUND_H

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
/* How stop and status reach the trace: by this process's number, by its folder's name, by its folder, or not at all. */
enum background_reach {
	BACKGROUND_BY_NUMBER = '+',
	BACKGROUND_BY_NAME = '=',
	BACKGROUND_BY_FOLDER = '/',
	BACKGROUND_NOT = '-',
};

/*
 * The trace stands in its folder PATH. Messages go to that file from here on, and the parent, which tells how to REACH
 * it, may leave.
 */
void background_ready(const char *path, enum background_reach reach);
/* The parent has ended before: who has called it wants nothing any more. */
bool background_caller_gone(void);

#endif
