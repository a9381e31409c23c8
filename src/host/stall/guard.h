/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For work that asks a file system, which may be one of a server that does not answer, in a thread that
 * cannot do anything else meanwhile: at the start, at the end, and in `dltraced report'. Another thread looks
 * on, says so once, and ends the process where a signal asks for that which is blocked here.
 */
#ifndef HOST_STALL_GUARD_H
#define HOST_STALL_GUARD_H

#include <stdbool.h>

#define STALL_GUARD_SAYS (-2) /* no more than that: a signal does what it does */
#define STALL_GUARD_BY_SIGNAL (-1) /* with the status of the signal, 128+N */

/*
 * From here on to stall_guard_end() the calling thread asks for WHAT, a file or folder; one stretch at a time, and
 * nobody else is forked in it who would end it. CODE: one of the above, or the exit status with which a signal ends it.
 * It is told by the thread's CPU time, which stands still for 3 s (clock.h): also who merely waits for something else
 * does not answer then.
 */
void stall_guard_begin(const char *what, int code);
void stall_guard_end(void);

/*
 * A reason not to go on that nobody has taken yet, as an exit status: a signal that waits, or whoever was called for
 * this trace has gone (stall_guard_behind(), background.h). 0: none.
 */
int stall_guard_lost(void);

/* Another process stands in front of this one: whether it has gone, and how to end it with a status before we exit. */
struct stall_guard_front {
	bool (*gone)(void);
	void (*leave)(int code);
};
/* F, const and static, is in front from here on. */
void stall_guard_behind(const struct stall_guard_front *f);

#endif
