/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that writes messages to a file: the file may lie on a server that does not answer, which is just
 * when the control plane has something to report.
 */
#ifndef HOST_STALL_ASYNC_LOG_H
#define HOST_STALL_ASYNC_LOG_H

#include <stdbool.h>

/*
 * From now on messages (log.h) that go to a regular file go through the thread; else, and where no thread
 * can be made, nothing changes. Messages beyond a backlog of 64 KiB are dropped.
 */
void async_log_begin(void);
/*
 * Write the backlog, for 2 s at most; messages go to the file itself again, unless it does not answer.
 * Returns whether there was a thread: a thread begun with privileges keeps them, so a caller that gives up
 * its own ends it and begins another.
 */
bool async_log_end(void);

#endif
