/* SPDX-License-Identifier: BSD-2-Clause */
/* A worker's rings, one of each kind that the kernel has. */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../uring.h"

#define ENTRIES 8 /* submissions; completions are twice as many */

enum ring_kind {
	RING_PLAIN,
	RING_SKIP, /* requests may omit the report of their success: from then on the kernel refuses drains */
	RING_SQPOLL, /* the kernel's own thread submits */
	RING_COOP, /* the kernel does not interrupt the thread to complete requests */
	RING_DEFER, /* requests complete only in io_uring_enter(2) */
	RING_KINDS,
};

/* The ring's own files; SLOT_FREE is for opens and closes. */
enum { SLOT_FILE, SLOT_APPEND, SLOT_FOLDER, SLOT_SOCKET, SLOT_FREE, SLOTS };

struct ring {
	enum ring_kind kind;
	int fd;
	pid_t tid; /* the thread that submits */
	struct params p;
	char *sq, *cq;
	struct sqe *sqes;
	uint32_t tail;
	int slots[SLOTS]; /* descriptors of the files in slots: kept, so that their positions are known; -1: none */
};

struct sqe *ring_next(struct ring *r); /* the next submission, all zero */
void ring_enter(struct ring *r, unsigned int completions); /* submits, and waits for that number of completions */
unsigned int ring_completions(const struct ring *r);
const struct cqe *ring_completion(const struct ring *r, unsigned int i);
void ring_taken(struct ring *r, unsigned int n); /* removes N completions */
int ring_alone(struct ring *r, struct sqe sqe); /* returns the result; nothing else is in flight */

#endif
