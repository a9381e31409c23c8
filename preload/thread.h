/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread's events: in its page, which leaves when it is full. */
#ifndef PRELOAD_THREAD_H
#define PRELOAD_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "config.h"
#include "dlt/alloc.h"

struct python_cache;
struct stack_cache;

struct thread {
	struct dlt_alloc_page *page; /* NULL: none yet, or no more */
	struct stack_cache *stacks; /* NULL: none yet */
	struct python_cache *python; /* likewise */
	uintptr_t stack_low, stack_high; /* of its own stack; 0: not known yet */
	bool busy; /* within our own code: what allocates there is not recorded */
	bool in_getattr; /* within pthread_getattr_np(3), which holds the lock that we need to know a stack */
	bool ended; /* its page has left for good: each further event goes by itself */
	uint8_t rounds; /* of destructors that have been run */
};
extern _Thread_local struct thread thread __attribute__((tls_model("initial-exec")));

/* Called once. AT_END runs in each thread that ends, before it is gone: what other files keep for the thread goes
 * there. */
void thread_init(void (*at_end)(void));

/* Returns a page with a head, and with room for N events; NULL: the events go by themselves. */
struct dlt_alloc_page *thread_page_make(unsigned int n);
/* Send the thread's page, and go on with an empty one. */
void thread_flush(struct dlt_alloc_page *page);
/*
 * Called while thread.busy: puts the definition OP of NUMBER, with ADDR and the LEN bytes of DATA
 * (include/dlt/alloc.h). Nothing, where there is no page.
 */
void thread_define(enum dlt_alloc_op op, uint32_t number, uint64_t addr, const void *data, size_t len);
/* For a thread without a page: an event by itself. */
void thread_send(const struct dlt_alloc_event *e);

static inline uint64_t thread_ticks(void)
{
	struct timespec t;

#if defined(__x86_64__)
	if (__builtin_expect(config.tsc, 1))
		return __rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The thread's page, with room for N events. */
static inline struct dlt_alloc_page *thread_page(unsigned int n)
{
	struct dlt_alloc_page *page = thread.page;

	/* the magic is gone in a forked child */
	if (__builtin_expect(page && page->head.magic && page->head.n + n <= DLT_ALLOC_EVENTS, 1))
		return page;
	return thread_page_make(n);
}

/*
 * An event is written between these two: whoever reads the page meanwhile finds complete events alone, and whether
 * there is one that has its time, perhaps of a thread that stands still here.
 */
static inline struct dlt_alloc_event *thread_write(struct dlt_alloc_page *page)
{
	__atomic_store_n(&page->head.writing, 1, __ATOMIC_RELEASE);
	__asm__ volatile("" : : : "memory");
	return &page->v[page->head.n];
}

static inline void thread_written(struct dlt_alloc_page *page, uint32_t events)
{
	__atomic_store_n(&page->head.n, page->head.n + events, __ATOMIC_RELEASE);
	__atomic_store_n(&page->head.writing, 0, __ATOMIC_RELEASE);
}

/* Called while thread.busy. */
static inline void thread_put(enum dlt_alloc_op op, const void *block, uint64_t size, uint32_t site, uint32_t n)
{
	struct dlt_alloc_page *page = thread_page(1);
	struct dlt_alloc_event single, *event = page ? thread_write(page) : &single;

	*event = (struct dlt_alloc_event){
		.ticks = thread_ticks(),
		.addr = (uint64_t)block,
		.op_size = (uint64_t)op << DLT_ALLOC_OP_SHIFT | (size < DLT_ALLOC_SIZE_MAX ? size : DLT_ALLOC_SIZE_MAX),
		.site = site,
		.n = n,
	};
	if (__builtin_expect(!page, 0)) {
		thread_send(event);
		return;
	}
	thread_written(page, 1);
	if (__builtin_expect(page->head.n == DLT_ALLOC_EVENTS, 0))
		thread_flush(page);
}

#endif
