/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that hand the job over to a server: processes started by the server are no children of the
 * workload, so the process tree does not reach them. One line per program reports this, with the option
 * that would.
 */
#ifndef HOST_UNTRACED_H
#define HOST_UNTRACED_H

#include <stdatomic.h>

#include "dlt/pids.h"

struct config;

#define UNTRACED_MAX 16

/* Bits by the table in untraced.c: set by the drain, reported by the control plane. */
struct untraced {
	_Atomic unsigned int seen;
	unsigned int reported;
};

/*
 * Drain: the target has executed a program that the kernel has called COMM since: by the name of its file, also where
 * that is a script, whose first argument is its interpreter.
 */
void untraced_note(struct untraced *e, const char comm[DLT_COMM_LEN]);
/* Control plane: report new ones, unless CFG's targets cover them. */
void untraced_report(struct untraced *untraced, const struct config *cfg);

#endif
