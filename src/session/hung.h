/* SPDX-License-Identifier: BSD-2-Clause */
/* The waits of the job's threads that have lasted for long, with who can end them: those that have not ended. */
#ifndef SESSION_HUNG_H
#define SESSION_HUNG_H

#include <stdint.h>

#include "trace/open_waits.h"

#define HUNG_THREADS_MAX 4096U /* further threads that wait are not looked at */

/* The threads that wait for long at a moment. */
struct hung_now {
	struct hung_thread {
		uint64_t tid, since_ns;
	} v[HUNG_THREADS_MAX];
	unsigned int n;
	uint64_t now_ns, newest_ns; /* the begin of the newest of these waits */
};

struct hung {
	struct open_waits *kept; /* NULL: no look was needed yet */
	uint64_t seen_ns[OPEN_WAITS_MAX]; /* of each: when it was open, or its thread gone */
	uint64_t looked_ns; /* when the last look began; 0: none has */
	uint64_t next_ns; /* the next one is not before */
};

/*
 * Drops what ended a while ago, as the job goes on. What a signal ended stays until the job is gone, too: the rows show
 * what ended it.
 */
void hung_settle(struct hung *hung, const struct hung_now *waiting);
/* Keeps of FOUND the waits that lasted for all of the last look. */
void hung_take(struct hung *hung, const struct open_waits *found, const struct hung_now *waiting);
/* Sets OPEN to those that last. */
void hung_open(const struct hung *hung, const struct hung_now *waiting, struct open_waits *open);
void hung_free(struct hung *hung);

#endif
