/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of allocations by thread, each thread's in order, and all of them together in order: a page comes when it
 * is full, so threads lag behind one another. What is in the pages of threads that have sent nothing for a while is
 * read from their memory. Nothing of what comes from a process is believed: it can only spoil its own events. Drain
 * thread.
 */
#ifndef DRAIN_MEMORY_ALLOC_THREADS_H
#define DRAIN_MEMORY_ALLOC_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlt/alloc.h"
#include "drain/memory/alloc_blocks.h"
#include "drain/memory/ticks.h"

#define ALLOC_THREAD_SLOTS 4096U /* of the hash table */

struct alloc_thread {
	uint32_t tid, tgid;
	char comm[DLT_COMM_LEN];
	uint64_t page, id; /* as the process says */
	uint64_t seq; /* the page that is filled now, */
	uint32_t taken; /* and how many of its events have been taken */
	uint64_t last_ticks; /* of its latest event */
	uint64_t begun_ns; /* CLOCK_MONOTONIC: it has got its page */
	uint64_t heard_ns; /* CLOCK_MONOTONIC: all its events until then have been taken */
	uint64_t looked_ns; /* its page was looked for then */
	uint64_t gone_ns; /* CLOCK_MONOTONIC: its page was not there any more, and a last copy has not come yet; 0: it
			     was */
	bool ended; /* nothing more will come */
	bool unreadable; /* a reader of its page does not come back */
	struct dlt_alloc_event *queue; /* waiting, the oldest at HEAD */
	size_t head, n, room;
	struct alloc_block old; /* given to a realloc that has begun; addr 0: none */
	uint64_t old_addr;
	struct alloc_thread *next; /* in its slot */
	struct {
		uint64_t small_calls, small_bytes, skipped, siteless;
	} seen; /* of its page's head, so far */
};

struct alloc_pull;

struct alloc_threads {
	struct alloc_thread *slots[ALLOC_THREAD_SLOTS];
	struct alloc_thread **heap; /* those with events, the earliest at 0 */
	size_t n, n_heap, heap_room;
	uint64_t magic; /* of all pages */
	size_t waiting; /* events of all queues */
	uint64_t small_calls, small_bytes, skipped, siteless; /* sums, relaxed */
	uint64_t begun; /* threads ever, relaxed */
	uint64_t unread; /* threads that ended with events that could not be read, relaxed */
	uint64_t refused; /* pages that were not valid, or not to their end, relaxed */
	uint64_t dropped; /* events for which there was no memory */
	struct alloc_pull *pull; /* NULL: none yet */
	unsigned int stuck; /* readers that have not come back */
};

/*
 * REC has come out of a ring. NOW_TICKS: no event is later. Returns the thread, NULL: there is no memory, or it is no
 * valid record.
 */
struct alloc_thread *alloc_threads_take(struct alloc_threads *threads, const struct dlt_alloc *rec, uint64_t now_ticks);

/*
 * Read the pages of threads that have not been heard of since SINCE_NS, until when all records have been taken, for
 * WAIT_MS at most: what takes longer is there the next time. Returns until when all events of all threads have been
 * taken, at most SINCE_NS.
 */
uint64_t alloc_threads_pull(struct alloc_threads *threads, const struct ticks *ticks, uint64_t since_ns, int wait_ms);

/* Give FN, in order, all waiting events up to TICKS: E, and behind it the E->n that belong to it. */
void alloc_threads_until(struct alloc_threads *threads, uint64_t ticks,
			 void (*fn)(void *ctx, struct alloc_thread *thread, const struct dlt_alloc_event *e),
			 void *ctx);

/*
 * Process TGID ended at END_NS, or executed another program: so have its threads, which began before. KILLED: what they
 * have not sent is not read any more.
 */
void alloc_threads_end(struct alloc_threads *threads, uint32_t tgid, uint64_t end_ns, bool killed);
void alloc_threads_free(struct alloc_threads *t);

#endif
