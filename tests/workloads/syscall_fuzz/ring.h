/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker's rings, one of each kind that the kernel has. No library: the ABI alone (linux/io_uring.h), which the build
 * machine's headers may lack.
 */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ENTRIES 8 /* submissions; completions are twice as many */

#define SQE_FIXED_FILE 1
#define SQE_DRAIN 2
#define SQE_LINK 4
#define SQE_HARDLINK 8
#define SQE_ASYNC 16
#define SQE_BUFFER_SELECT 32
#define SQE_CQE_SKIP_SUCCESS 64
#define CQE_MORE 2
#define FEAT_CQE_SKIP (1U << 11) /* since 5.17: opens and closes in slots are since 5.15, which no bit shows */

struct sqe {
	uint8_t op, flags;
	uint16_t ioprio;
	int32_t fd;
	uint64_t off, addr;
	uint32_t len, op_flags;
	uint64_t user_data;
	uint16_t buf, personality;
	uint32_t file_index; /* or splice_fd_in */
	uint64_t pad[2];
};

struct cqe {
	uint64_t user_data;
	int32_t res;
	uint32_t flags;
};

struct offsets {
	uint32_t head, tail, mask, entries, word[2], array, pad; /* word: flags of submissions; where the completions are */
	uint64_t user_addr;
};

struct params {
	uint32_t sq_entries, cq_entries, flags, cpu, idle, features, wq_fd, pad[3];
	struct offsets sq, cq;
};

enum ring_kind {
	RING_PLAIN,
	RING_SKIP,   /* requests may ask for no report of their success: from then on the kernel refuses drains */
	RING_SQPOLL, /* the kernel's own thread submits */
	RING_COOP,   /* nothing interrupts the thread to complete requests */
	RING_DEFER,  /* they complete in io_uring_enter(2) alone */
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
	int slots[SLOTS]; /* descriptors of the ring's own files: kept, so that we know their positions; -1: none is there */
};

struct sqe *ring_next(struct ring *r); /* the next submission, all zero */
void ring_enter(struct ring *r, unsigned int completions); /* submits, and waits until there are so many */
unsigned int ring_completions(const struct ring *r);
const struct cqe *ring_completion(const struct ring *r, unsigned int i);
void ring_taken(struct ring *r, unsigned int n); /* so many completions */
int ring_alone(struct ring *r, struct sqe sqe);	 /* its result: nothing else is in flight */

#endif
