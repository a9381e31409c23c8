/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process of ours that finds who holds what others wait for (host/waits/holders.h): a look at a process may hang, and
 * takes rights that the trace gives up. Beside the reader of process_reader.h, as that one is the drain's. One that
 * hangs is left alone, and there are no further answers. For one thread.
 */
#ifndef HOST_STALL_HOLD_READER_H
#define HOST_STALL_HOLD_READER_H

#include <stddef.h>
#include <sys/types.h>

#include "trace/open_waits.h"

#define HOLD_READER_PIDS_MAX 512 /* further processes are not looked at */

/* Forks it; it calls CONFINE(CTX) to give up rights. Returns 0 or -errno. */
int hold_reader_begin(int (*confine)(void *ctx), void *ctx);
/* Returns its PID; 0: there is none. */
pid_t hold_reader_pid(void);
void hold_reader_end(void);

/* Begins a look at the N processes PIDS. Returns 0; -EBUSY: the last one goes on; -ECHILD: there is no reader. */
int hold_reader_query(const pid_t *pids, size_t n);
/* Waits for its end up to WAIT_MS. Returns 0 with *RET, until the next look; -EAGAIN: not yet, or none began; -ECHILD.
 */
int hold_reader_answer(int wait_ms, const struct open_waits **ret);

#endif
