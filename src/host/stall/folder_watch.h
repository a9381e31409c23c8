/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The look at the trace folder that is due each second: is it there, what space is left, does its file
 * system answer at all? Control plane; they are asked by an async_call, so that a server that is gone holds up
 * nobody.
 */
#ifndef HOST_STALL_FOLDER_WATCH_H
#define HOST_STALL_FOLDER_WATCH_H

#include "host/space.h"
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
	} answer; /* the thread's while it asks */
	/* as answered last */
	struct space space;
	/* removed by somebody: what is written now would reach nobody, and take space all the same */
	bool gone;
	/*
	 * Its server says so of it, -errno: removed there, or not exported for now. Which of them ESTALE does
	 * not tell, and the latter may be over in a minute.
	 */
	int refused;
};
#define FOLDER_WATCH_NONE                                                                                              \
	{                                                                                                              \
		.call = ASYNC_CALL_NONE                                                                                \
	}

/*
 * Ask about the folder FD, unless the last question has no answer yet, and take the answer when it comes
 * within WAIT_MS. Whether it has: space and gone are as of now.
 */
bool folder_watch_ask(struct folder_watch *l, int fd, uint64_t min_free, int wait_ms);

/* Nobody has answered for 3 s. */
bool folder_watch_hangs(const struct folder_watch *l);

#endif
