/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits that nobody will end: each process that could end them is stopped, or all its threads wait in the same way.
 * From `open_waits' of the manifest, and of waits.out which of them lasted until the job, or its trace, ended.
 */
#ifndef REPORT_HANG_HANG_H
#define REPORT_HANG_HANG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/open_waits.h"

struct report_part;

struct report_hang {
	struct open_waits waits;
	bool lasts[OPEN_WAITS_MAX]; /* it had not ended when the job, or its trace, ended */
	bool stuck[OPEN_WAITS_MAX]; /* nobody will end it */
	uint64_t end_ns[OPEN_WAITS_MAX]; /* when it ended, by waits.out; 0: it has no row */
	uint64_t begin_ns, over_ns; /* of the trace; when the first of those ended that a signal or the end did */
};

extern const struct report_part report_hang_part;

/* Sets STUCK of those waits that LAST. Pure. */
void hang_find(struct report_hang *hang);

/* Returns the wait of the first thread of process PID that lasts, or else of another one of it; NULL: none. */
const struct open_wait *hang_of(const struct report_hang *hang, uint64_t pid);
/*
 * Returns the wait that the job hangs in, if it does: that of its first process, PID. One that waits for a signal or a
 * time, as timeout(1) does, has none: then it is another one's.
 */
const struct open_wait *hang_of_job(const struct report_hang *hang, uint64_t pid);
/* Whether nobody will end WAIT, which is one of HANG's. */
bool hang_is_stuck(const struct report_hang *hang, const struct open_wait *wait);
/* Returns since when WAIT, and those behind it that it is for, all wait. */
uint64_t hang_since(const struct report_hang *hang, const struct open_wait *wait);

/* Puts "process 1 (a) waits in read of a pipe for process 2 (b), which waits ...": names are escaped. Pure. */
void hang_sentence(const struct report_hang *hang, const struct open_wait *wait, FILE *out);

#endif
