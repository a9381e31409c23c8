/* SPDX-License-Identifier: BSD-2-Clause */
/* start --background: the trace goes on in a session of its own, the caller gets the shell back. */
#ifndef HOST_BACKGROUND_H
#define HOST_BACKGROUND_H

#include <stdbool.h>

/*
 * Fork. Returns 0 in the child. In the parent, once the child is set up or has failed: -1 when it has
 * started (its folder has been printed), else the exit status to return.
 */
int background_start(void);

/*
 * Each of these, called in the child, does nothing in a session that background_start() did not start. The
 * trace's folder exists: make the file dltraced.log in it, for messages.
 */
void background_log(int dirfd);
/*
 * How stop and status find the trace: by this process's number, by its folder's name, by its folder, or not
 * at all.
 */
enum background_reach {
	BACKGROUND_BY_NUMBER = '+',
	BACKGROUND_BY_NAME = '=',
	BACKGROUND_BY_FOLDER = '/',
	BACKGROUND_NOT = '-',
};

/*
 * The trace is set up in its folder PATH. Messages go to that file from here on, and the parent, which
 * prints how to REACH the trace, may exit.
 */
void background_ready(const char *path, enum background_reach reach);
/* The parent has ended early: its caller no longer wants a trace. */
bool background_caller_gone(void);

#endif
