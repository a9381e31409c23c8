/* SPDX-License-Identifier: BSD-2-Clause */
/* What a descriptor of a blocked call stands for, and what the other end of that is called in /proc/PID/fd. */
#ifndef HOST_WAITS_WAIT_OBJECT_H
#define HOST_WAITS_WAIT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/waits/wait_call.h"

#define WAIT_OBJECTS_MAX 8 /* descriptors of one poll */
#define WAIT_LINK_MAX 256

/* Whoever has a descriptor with this link, opened so, can end the wait. */
struct wait_object {
	char link[WAIT_LINK_MAX]; /* "pipe:[1]", a FIFO's path, "socket:[2]" of the peer */
	bool reads, writes; /* pipes: a descriptor that may do that; sockets: any */
};

struct wait_objects {
	struct wait_object v[WAIT_OBJECTS_MAX];
	unsigned int n;
	bool known; /* these are all: no clock, terminal, listening socket or the like */
	const char *kind; /* of a single one: as in struct open_wait */
	uint64_t inode; /* likewise */
};

/* Finds those of CALL, a call of process PID on descriptors. */
void wait_objects_of(struct wait_objects *objects, pid_t pid, const struct wait_call *call);

/* Whether descriptor FD of process PID, whose link is LINK, is one of OBJECTS' other ends. */
bool wait_objects_has(const struct wait_objects *objects, pid_t pid, int fd, const char *link);

/* Reads the link of PID's FD into LINK; an error, or a longer link: "". */
void wait_object_link(pid_t pid, int fd, char link[static WAIT_LINK_MAX]);

#endif
