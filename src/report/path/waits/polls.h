/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What other threads did while one polled. A timer ends each wait of a poll, so nothing shows what it was for: most
 * likely for what the thread's process and its children worked on then. That is an inference, and marked as one.
 */
#ifndef REPORT_PATH_WAITS_POLLS_H
#define REPORT_PATH_WAITS_POLLS_H

#include "report/path/waits/shorts.h"

#define PATH_SHARES_MAX 24
/* Others worked for less than this part of a poll: it only sleeps. */
#define PATH_POLL_LEAST 20
/* Threads that are looked at, of all polls; each is a few steps. Beyond, polls are shown as such. */
#define PATH_POLL_LOOKS 20000000U
#define PATH_BLOCK 64

struct path_polls {
	const struct path_shorts *shorts;
	const bool *on_stack; /* of each life: it waits for the one that polls */
	struct path_block {
		uint64_t begin_ns, end_ns; /* of PATH_BLOCK lives, at most and at least */
	} * blocks;
	uint64_t looks;
	/* of the slice that was looked at last */
	uint32_t slice; /* UINT32_MAX: none */
	uint64_t begin_ns, end_ns;
	unsigned int n;
	uint64_t busy_ns; /* the sum of */
	struct path_share {
		struct path_leaf leaf;
		uint32_t life; /* one that did it */
		uint64_t ns;
	} share[PATH_SHARES_MAX];
};

int path_polls_init(struct path_polls *polls, const struct path_shorts *shorts, const bool *on_stack);
void path_polls_free(struct path_polls *polls);
/* The stack is another one: forgets the last slice. */
void path_polls_forget(struct path_polls *polls);
/* Looks at what others did in the slice of the wait WAIT. */
void path_polls_look(struct path_polls *polls, uint32_t wait);

#endif
