/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that hand the job over to a server: what that starts is no child of the workload, so the
 * process tree does not reach it. One line per program says so, and which option would.
 */
#ifndef HOST_UNTRACED_H
#define HOST_UNTRACED_H

#include <stdatomic.h>

struct config;

#define ESCAPES_MAX 16

/* Bits by the table in untraced.c: set by the drain, said by the control plane. */
struct escape {
	_Atomic unsigned int seen;
	unsigned int reported;
};

/* Drain: the target executed a program that calls itself ARGV0. */
void escape_note(struct escape *e, const char *argv0);
/* Control plane: say what is new, unless CFG's targets cover it. */
void escape_say(struct escape *e, const struct config *cfg);

#endif
