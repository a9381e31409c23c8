/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/alloc_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "drain/memory/alloc_pull.h"

/* --- threads -------------------------------------------------------------------------------------------- */

static struct alloc_thread **slot_of(struct alloc_threads *t, uint32_t tid)
{
	return &t->slots[tid * 0x9e3779b1U >> 20];
}

_Static_assert(ALLOC_THREAD_SLOTS == 1U << (32 - 20), "slot_of()");

static struct alloc_thread *thread_get(struct alloc_threads *threads, uint32_t tgid, uint32_t tid)
{
	struct alloc_thread **slot = slot_of(threads, tid), *thread;

	for (thread = *slot; thread; thread = thread->next)
		if (thread->tid == tid && thread->tgid == tgid && !thread->ended)
			return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	*thread = (struct alloc_thread){ .tid = tid, .tgid = tgid, .next = *slot };
	*slot = thread;
	threads->n++;
	return thread;
}

static void thread_free(struct alloc_threads *t, struct alloc_thread **at)
{
	struct alloc_thread *thread = *at;

	*at = thread->next;
	t->waiting -= thread->n;
	t->n--;
	free(thread->queue);
	free(thread);
}

/* Threads that have ended, or have no page, and whose events are all gone. */
static void sweep(struct alloc_threads *t)
{
	for (unsigned int i = 0; i < ALLOC_THREAD_SLOTS; i++)
		for (struct alloc_thread **at = &t->slots[i]; *at;) {
			if (((*at)->ended || !(*at)->page) && !(*at)->n)
				thread_free(t, at);
			else
				at = &(*at)->next;
		}
}

/* --- queues --------------------------------------------------------------------------------------------- */

static bool room_for(struct alloc_thread *thread, size_t more)
{
	struct dlt_alloc_event *larger;
	size_t room = MAX(thread->room, (size_t)DLT_ALLOC_EVENTS);

	if (thread->head) {
		memmove(thread->queue, thread->queue + thread->head, thread->n * sizeof(*thread->queue));
		thread->head = 0;
	}
	while (room < thread->n + more)
		room *= 2;
	if (room == thread->room)
		return true;
	larger = reallocarray(thread->queue, room, sizeof(*larger));
	if (!larger)
		return false;
	thread->queue = larger;
	thread->room = room;
	return true;
}

/* How many events belong to E, itself included, if LEFT are there; 0: it is not valid. */
static size_t events_of(const struct dlt_alloc_event *e, size_t left)
{
	unsigned int op = (unsigned int)(e->op_size >> DLT_ALLOC_OP_SHIFT);
	bool has_more = (op >= DLT_ALLOC_SITE && op <= DLT_ALLOC_CODE) || (op > DLT_ALLOC_FREE && op < DLT_ALLOC_END);
	size_t n = has_more ? 1 + (size_t)e->n : 1;

	return op < DLT_ALLOC_OPS && op != DLT_ALLOC_END && n <= left ? n : 0;
}

/* A thread's events are in order, and none is later than when they were read, whatever it has written. */
static void queue_events(struct alloc_threads *threads, struct alloc_thread *thread,
			 const struct dlt_alloc_event *event, size_t n, uint64_t now_ticks)
{
	if (!n)
		return;
	if (!room_for(thread, n)) {
		threads->dropped += n;
		return;
	}
	for (size_t i = 0, many; i < n; i += many) {
		struct dlt_alloc_event *to = &thread->queue[thread->n];

		many = events_of(&event[i], n - i);
		if (!many) {
			util_count(&threads->refused, 1);
			return;
		}
		memcpy(to, &event[i], many * sizeof(*to));
		to->ticks = thread->last_ticks = MAX(thread->last_ticks, MIN(to->ticks, now_ticks));
		thread->n += many;
		threads->waiting += many;
	}
}

/* --- pages ---------------------------------------------------------------------------------------------- */

static void add(uint64_t *sum, uint64_t now, uint64_t *seen)
{
	if (now > *seen)
		util_count(sum, now - *seen);
	*seen = now;
}

/* What the head of the page counts, since it was last seen. */
static void head_seen(struct alloc_threads *t, struct alloc_thread *thread, const struct dlt_alloc_head *head)
{
	add(&t->small_calls, head->small_calls, &thread->seen.small_calls);
	add(&t->small_bytes, head->small_bytes, &thread->seen.small_bytes);
	add(&t->skipped, head->skipped, &thread->seen.skipped);
	add(&t->siteless, head->siteless, &thread->seen.siteless);
}

/* PAGE's events beyond those that have been taken. */
static void page_take(struct alloc_threads *threads, struct alloc_thread *thread, const struct dlt_alloc_page *page,
		      uint64_t now_ticks)
{
	size_t n = MIN(page->head.n, (uint64_t)DLT_ALLOC_EVENTS);

	if (page->head.seq != thread->seq) {
		thread->seq = page->head.seq;
		thread->taken = 0;
	}
	if (n > thread->taken)
		queue_events(threads, thread, page->v + thread->taken, n - thread->taken, now_ticks);
	thread->taken = (uint32_t)MAX(n, (size_t)thread->taken);
	head_seen(threads, thread, &page->head);
}

struct alloc_thread *alloc_threads_take(struct alloc_threads *threads, const struct dlt_alloc *rec, uint64_t now_ticks)
{
	struct alloc_thread *thread = thread_get(threads, rec->hdr.tgid, rec->hdr.tid);
	size_t n = MIN(rec->at.head.n, (uint64_t)DLT_ALLOC_EVENTS);

	if (!thread || rec->hdr.size < DLT_ALLOC_BYTES(n) ||
	    (rec->at.head.magic != threads->magic && rec->copy != DLT_ALLOC_CALLED)) {
		util_count(&threads->refused, 1);
		return NULL;
	}
	memcpy(thread->comm, rec->hdr.comm, sizeof(thread->comm));
	thread->heard_ns = rec->hdr.ts_ns;
	if (rec->copy == DLT_ALLOC_SINGLE || rec->copy == DLT_ALLOC_CALLED) {
		queue_events(threads, thread, rec->at.v, n, now_ticks);
		return thread;
	}
	if (rec->at.head.id != thread->id) { /* it has begun: the first copy says so, unless there was no room for it */
		thread->page = rec->page;
		thread->id = rec->at.head.id;
		thread->seq = rec->at.head.seq;
		thread->taken = 0;
		thread->begun_ns = rec->hdr.ts_ns;
		thread->gone_ns = 0;
		memset(&thread->seen, 0, sizeof(thread->seen));
		util_count(&threads->begun, 1);
	}
	page_take(threads, thread, &rec->at, now_ticks);
	if (rec->copy == DLT_ALLOC_FULL) {
		thread->seq = rec->at.head.seq + 1;
		thread->taken = 0;
	}
	if (rec->copy == DLT_ALLOC_LAST)
		thread->page = 0;
	return thread;
}

/* --- pages that have not been sent ---------------------------------------------------------------------- */

#define STUCK_NS \
	(10 * NSEC_PER_SEC) /* a reader that has not come back for so long never will: busy machines take seconds */
#define STUCK_MAX 8

static struct alloc_thread *thread_find(struct alloc_threads *t, const struct alloc_pull_page *of)
{
	struct alloc_thread *thread = *slot_of(t, of->tid);

	while (thread &&
	       (thread->tid != of->tid || thread->tgid != of->tgid || thread->page != of->page || thread->ended))
		thread = thread->next;
	return thread;
}

/*
 * The head is read again behind the events: where that has changed, they are on their way through a ring. A thread that
 * is writing an event may have given it a time long ago, if it has not run since.
 */
static void pulled(struct alloc_threads *threads, const struct alloc_pull_page *got, uint64_t at_ns, uint64_t at_ticks)
{
	struct alloc_thread *thread = thread_find(threads, got);
	const struct dlt_alloc_head *head = &got->got.page.head;
	bool whole;

	if (!thread)
		return;
	if (got->n != sizeof(got->got) || head->magic != threads->magic || head->id != thread->id) {
		/* the thread has ended, or is about to: its last copy is on its way, if it could be made */
		if (!thread->gone_ns)
			thread->gone_ns = clock_now_ns(CLOCK_MONOTONIC);
		return;
	}
	whole = got->got.after.seq == head->seq && head->seq == thread->seq;
	if (whole)
		page_take(threads, thread, &got->got.page, at_ticks);
	/* nobody waits for ever for what a program writes there */
	if ((whole && !head->writing) || at_ns > thread->heard_ns + STUCK_NS)
		thread->heard_ns = MAX(thread->heard_ns, at_ns);
}

static bool is_stale(const struct alloc_thread *thread, uint64_t since_ns)
{
	return thread->page && !thread->ended && !thread->unreadable && thread->heard_ns < since_ns;
}

/* Pages that are gone, of whose threads no last copy has come, though all records since have been taken. */
static void forget_gone(struct alloc_threads *t, uint64_t since_ns)
{
	for (unsigned int i = 0; i < ALLOC_THREAD_SLOTS; i++)
		for (struct alloc_thread *thread = t->slots[i]; thread; thread = thread->next)
			if (thread->gone_ns && thread->gone_ns <= since_ns)
				thread->page = thread->gone_ns = 0;
}

/* Choose pages to be read: false if there are none. */
static bool pull_choose(struct alloc_threads *threads, uint64_t since_ns)
{
	struct alloc_pull *pull = threads->pull;

	pull->n = 0;
	for (unsigned int i = 0; i < ALLOC_THREAD_SLOTS && pull->n < ALLOC_PULL_MAX; i++)
		for (struct alloc_thread *thread = threads->slots[i]; thread && pull->n < ALLOC_PULL_MAX;
		     thread = thread->next) {
			if (!is_stale(thread, since_ns) || thread->looked_ns >= since_ns)
				continue;
			thread->looked_ns = since_ns;
			pull->v[pull->n].tgid = thread->tgid;
			pull->v[pull->n].tid = thread->tid;
			pull->v[pull->n++].page = thread->page;
		}
	return pull->n;
}

/* Whoever owns the page that the reader waits for does without it; the reader is left alone. */
static void give_up(struct alloc_threads *t)
{
	struct alloc_thread *thread = thread_find(t, &t->pull->v[__atomic_load_n(&t->pull->at, __ATOMIC_RELAXED)]);

	if (thread)
		thread->unreadable = true;
	util_count(&t->unread, 1);
	t->stuck++;
	t->pull = NULL;
}

/* Take what the reader has read, after up to WAIT_MS. False: it is still reading. */
static bool pull_end(struct alloc_threads *threads, const struct ticks *ticks, int wait_ms)
{
	struct alloc_pull *pull = threads->pull;

	if (!async_call_wait(&pull->call, wait_ms)) {
		if (async_call_busy_ns(&pull->call) > STUCK_NS)
			give_up(threads);
		return false;
	}
	for (unsigned int i = 0; i < pull->n; i++)
		pulled(threads, &pull->v[i], pull->begun_ns, ticks_of_ns(ticks, clock_now_ns(CLOCK_MONOTONIC)));
	pull->n = 0;
	return true;
}

static bool pull_some(struct alloc_threads *t, const struct ticks *ticks, uint64_t since_ns, int wait_ms)
{
	if (!t->pull && t->stuck < STUCK_MAX)
		t->pull = alloc_pull_new();
	return t->pull && pull_end(t, ticks, wait_ms) && pull_choose(t, since_ns) && !alloc_pull_begin(t->pull) &&
	       pull_end(t, ticks, wait_ms);
}

uint64_t alloc_threads_pull(struct alloc_threads *threads, const struct ticks *ticks, uint64_t since_ns, int wait_ms)
{
	uint64_t until_ns = since_ns, give_up_ns = clock_now_ns(CLOCK_MONOTONIC) + (uint64_t)wait_ms * NSEC_PER_MSEC;

	forget_gone(threads, since_ns);
	while (pull_some(threads, ticks, since_ns, wait_ms) && clock_now_ns(CLOCK_MONOTONIC) < give_up_ns)
		;
	for (unsigned int i = 0; threads->stuck < STUCK_MAX && i < ALLOC_THREAD_SLOTS; i++)
		for (const struct alloc_thread *thread = threads->slots[i]; thread; thread = thread->next)
			if (is_stale(thread, since_ns))
				until_ns = MIN(until_ns, thread->heard_ns);
	return until_ns;
}

/* --- all of them in order ------------------------------------------------------------------------------- */

static uint64_t first_of(const struct alloc_thread *thread)
{
	return thread->queue[thread->head].ticks;
}

static void heap_down(struct alloc_threads *threads, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < threads->n_heap; i = child) {
		struct alloc_thread *swap = threads->heap[i];

		if (child + 1 < threads->n_heap && first_of(threads->heap[child + 1]) < first_of(threads->heap[child]))
			child++;
		if (first_of(swap) <= first_of(threads->heap[child]))
			return;
		threads->heap[i] = threads->heap[child];
		threads->heap[child] = swap;
	}
}

static bool heap_make(struct alloc_threads *threads)
{
	if (threads->heap_room < threads->n) {
		size_t room = MAX(2 * threads->heap_room, threads->n);
		struct alloc_thread **larger = reallocarray(threads->heap, room, sizeof(struct alloc_thread *));

		if (!larger)
			return false;
		threads->heap = larger;
		threads->heap_room = room;
	}
	threads->n_heap = 0;
	for (unsigned int i = 0; i < ALLOC_THREAD_SLOTS; i++)
		for (struct alloc_thread *thread = threads->slots[i]; thread; thread = thread->next)
			if (thread->n)
				threads->heap[threads->n_heap++] = thread;
	for (size_t i = threads->n_heap / 2; i-- > 0;)
		heap_down(threads, i);
	return true;
}

void alloc_threads_until(struct alloc_threads *threads, uint64_t ticks,
			 void (*fn)(void *ctx, struct alloc_thread *thread, const struct dlt_alloc_event *event),
			 void *ctx)
{
	if (!threads->waiting || !heap_make(threads))
		return;
	while (threads->n_heap && first_of(threads->heap[0]) <= ticks) {
		struct alloc_thread *thread = threads->heap[0];
		const struct dlt_alloc_event *e = &thread->queue[thread->head];
		size_t many = events_of(e, thread->n);

		fn(ctx, thread, e);
		thread->head += many;
		thread->n -= many;
		threads->waiting -= many;
		if (!thread->n)
			threads->heap[0] = threads->heap[--threads->n_heap];
		heap_down(threads, 0);
	}
	sweep(threads);
}

void alloc_threads_end(struct alloc_threads *threads, uint32_t tgid, uint64_t end_ns, bool killed)
{
	for (unsigned int i = 0; i < ALLOC_THREAD_SLOTS; i++)
		for (struct alloc_thread *thread = threads->slots[i]; thread; thread = thread->next) {
			if (thread->tgid != tgid || thread->ended || thread->begun_ns > end_ns)
				continue;
			/* its last copy would have made us forget the address */
			if (killed && thread->page)
				util_count(&threads->unread, 1);
			thread->ended = true;
		}
}

void alloc_threads_free(struct alloc_threads *t)
{
	for (unsigned int i = 0; i < ALLOC_THREAD_SLOTS; i++)
		while (t->slots[i])
			thread_free(t, &t->slots[i]);
	free(t->heap);
	t->heap = NULL;
	alloc_pull_free(TAKE_PTR(t->pull));
}
