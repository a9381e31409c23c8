/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For requests to a file system whose server may not answer, made by a thread that can do nothing else
 * meanwhile: at the start, at the end, and in `dltraced report'. Another thread watches it, reports a stall
 * once, and ends the process where a blocked signal requests that.
 */
#ifndef HOST_STALL_GUARD_H
#define HOST_STALL_GUARD_H

#include <stdbool.h>

#define STALL_GUARD_REPORTS (-2) /* only report: signals act as usual */
#define STALL_GUARD_BY_SIGNAL (-1) /* with the status of the signal, 128+N */

/*
 * From here on to stall_guard_end() the calling thread accesses WHAT, a file or folder; one stretch at a
 * time, and no child is forked in it that would end it. CODE: one of the above, or the exit status with
 * which a signal ends it. A stall shows in the thread's CPU time, which stands still for 3 s (clock.h): a
 * thread that merely waits for something else also counts as stalled.
 */
void stall_guard_begin(const char *what, int code);
void stall_guard_end(void);

/*
 * Returns a pending reason not to go on, as an exit status: a signal, or the end of this trace's caller
 * (stall_guard_behind(), background.h). 0: none.
 */
int stall_guard_lost(void);

/*
 * Another process is the proxy for this one: whether it has gone, and how to end it with a status before we
 * exit.
 */
struct stall_guard_front {
	bool (*gone)(void);
	void (*leave)(int code);
};
/* F, const and static, is the proxy from here on. */
void stall_guard_behind(const struct stall_guard_front *f);

#endif
