/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times of one thread's steps, one after the other, in bounded memory: where there are more than it has room for,
 * two neighbors become one group, with the longest of their times. Pure. All times ns.
 */
#ifndef REPORT_PHASES_STEP_TIMES_H
#define REPORT_PHASES_STEP_TIMES_H

#include <stdint.h>

#define STEP_TIMES_MAX 2048U

struct step_time {
	uint64_t begin_ns, end_ns, longest_ns;
	uint64_t n; /* its steps */
};

/* Zeroed: without steps. */
struct step_times {
	struct step_time *v; /* STEP_TIMES_MAX */
	uint32_t n;
	uint64_t each; /* steps of a group, but for the last one; 0: of none yet */
};

/* Adds a step that begins no earlier than the one before ended. Without memory it is left out. */
void step_times_add(struct step_times *times, uint64_t begin_ns, uint64_t end_ns);
void step_times_free(struct step_times *t);

#endif
