/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where messages go to a file, a thread that writes them there: the file may lie where nobody answers, and
 * the control plane has something to say just then.
 */
#ifndef HOST_STALL_ASYNC_LOG_H
#define HOST_STALL_ASYNC_LOG_H

#include <stdbool.h>

/*
 * Messages (log.h) that go to a regular file go by way of the thread from now on; else, and where there is
 * no thread to be had, nothing changes. What finds no room in 64 KiB is left out.
 */
void async_log_begin(void);
/*
 * Write what waits, for 2 s at most; messages go to the file itself again, unless it does not answer.
 * Whether there was a thread: one that has been begun with privileges keeps them, so who gives up his own
 * ends it and begins another.
 */
bool async_log_end(void);

#endif
