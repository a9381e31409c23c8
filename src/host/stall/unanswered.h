/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that did not let themselves be read in time: whoever reads notes them, and the control plane reports each
 * once and counts them. Any thread notes.
 */
#ifndef HOST_STALL_UNANSWERED_H
#define HOST_STALL_UNANSWERED_H

#include <stdint.h>
#include <sys/types.h>

#define UNANSWERED_NAME_MAX 16

/* Notes that PROBE's file lacks facts of process PID, whose name is NAME, of up to UNANSWERED_NAME_MAX bytes; PID 0: it
 * is not known which. */
void unanswered_note(unsigned int probe, pid_t pid, const char *name);
uint64_t unanswered_count(unsigned int probe);
/* Control plane: reports those that have been noted since the last time. */
void unanswered_report(void);

#endif
