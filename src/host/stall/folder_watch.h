/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The look at the trace folder each second: does it exist, how much space is left, does its file system
 * answer at all? Control plane; an async_call makes the requests, so that a server that is gone holds up
 * nothing.
 */
#ifndef HOST_STALL_FOLDER_WATCH_H
#define HOST_STALL_FOLDER_WATCH_H

#include "host/machine/space.h"
#include "host/stall/async_call.h"

struct folder_watch {
	struct async_call call;
	struct folder_watch_answer {
		int fd;
		uint64_t min_free;
		struct space space;
		int error; /* of the space: 0 or -errno */
		int refused;
		bool gone;
	} answer; /* the thread's while its call is in flight */
	/* as of the last answer */
	struct space space;
	/* removed by another process: what is written now would reach nobody, but still take space */
	bool gone;
	/*
	 * The server's answer about it, -errno: removed there, or not exported for now. ESTALE does not
	 * distinguish these, and the latter may be over in a minute.
	 */
	int refused;
};
#define FOLDER_WATCH_NONE               \
	{                               \
		.call = ASYNC_CALL_NONE \
	}

/*
 * Query the folder FD, unless the last query has no answer yet, and take the answer when it comes within
 * WAIT_MS. Returns whether it has: space and gone are up to date then.
 */
bool folder_watch_request(struct folder_watch *l, int fd, uint64_t min_free, int wait_ms);

/* There has been no answer for 3 s. */
bool folder_watch_hangs(const struct folder_watch *l);

#endif
