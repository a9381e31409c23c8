/* SPDX-License-Identifier: BSD-2-Clause */
#include "ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util.h"

/* linux/bpf.h: BPF_RINGBUF_BUSY_BIT, BPF_RINGBUF_DISCARD_BIT, BPF_RINGBUF_HDR_SZ */
#define BUSY (1U << 31)
#define DISCARD (1U << 30)
#define HDR_BYTES 8

#define RELEASE_EVERY (1U << 20) /* bytes: give space back during a round too */
#define ROUND_MAX (1U << 16)	 /* records: some 100 ms, then the caller looks after other things */

int rings_init(struct rings *rs, const int *fds, unsigned int n, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (n > RINGS_MAX)
		return -E2BIG;
	memset(rs, 0, sizeof(*rs));
	rs->ring = calloc(n, sizeof(*rs->ring));
	if (!rs->ring)
		return -ENOMEM;
	for (; rs->n < n; rs->n++) {
		struct ring *r = &rs->ring[rs->n];
		void *cons = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fds[rs->n], 0);
		char *prod;

		if (cons == MAP_FAILED)
			return -errno;
		prod = mmap(NULL, page + 2 * bytes, PROT_READ, MAP_SHARED, fds[rs->n], (off_t)page);
		if (prod == MAP_FAILED) {
			munmap(cons, page);
			return -errno;
		}
		*r = (struct ring){ .consumer_pos = cons,
				    .producer_pos = (const uint64_t *)prod,
				    .data = prod + page,
				    .mask = bytes - 1 };
	}
	return 0;
}

int rings_init_memory(struct rings *rs, struct ring *rings, unsigned int n)
{
	if (n > RINGS_MAX)
		return -E2BIG;
	memset(rs, 0, sizeof(*rs));
	rs->ring = rings;
	rs->n = n;
	return 0;
}

void rings_free(struct rings *rs, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned int i = 0; i < rs->n; i++) {
		munmap(rs->ring[i].consumer_pos, page);
		munmap((void *)(uintptr_t)rs->ring[i].producer_pos, page + 2 * bytes);
	}
	free(rs->ring);
	memset(rs, 0, sizeof(*rs));
}

static void release(struct ring *r)
{
	uint64_t pos = r->scan;

	for (unsigned int i = 0; i < r->n_ahead; i++)
		pos = MIN(pos, r->ahead[i].pos);
	__atomic_store_n(r->consumer_pos, pos, __ATOMIC_RELEASE);
}

/* Look ahead until the window is full, keeping it sorted by time. */
static void look(struct ring *r)
{
	while (r->n_ahead < RING_AHEAD && r->scan < r->limit) {
		const char *at = r->data + (r->scan & r->mask);
		uint32_t head = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
		const struct dlt_hdr *rec = (const void *)(at + HDR_BYTES);
		uint32_t len = head & ~(BUSY | DISCARD);
		unsigned int i = r->n_ahead;

		if (head & BUSY) {
			r->blocked = true;
			return;
		}
		if (!(head & DISCARD)) {
			for (; i && r->ahead[i - 1].ts_ns > rec->ts_ns; i--)
				r->ahead[i] = r->ahead[i - 1];
			r->ahead[i].ts_ns = rec->ts_ns;
			r->ahead[i].pos = r->scan;
			r->ahead[i].rec = rec;
			r->ahead[i].len = len;
			r->n_ahead++;
		}
		r->scan += (HDR_BYTES + (uint64_t)len + 7) & ~7ULL;
	}
}

static uint64_t heap_ts(const struct rings *rs, unsigned int i)
{
	return rs->ring[rs->heap[i]].ahead[0].ts_ns;
}

static void heap_down(struct rings *rs, unsigned int i)
{
	for (;;) {
		unsigned int least = i, child = 2 * i + 1;
		uint16_t t;

		for (unsigned int c = child; c < child + 2 && c < rs->n_heap; c++)
			if (heap_ts(rs, c) < heap_ts(rs, least))
				least = c;
		if (least == i)
			return;
		t = rs->heap[i];
		rs->heap[i] = rs->heap[least];
		rs->heap[least] = t;
		i = least;
	}
}

uint64_t rings_consume(struct rings *rs, uint64_t until_ns, ring_fn fn, void *ctx)
{
	uint64_t n = 0;

	rs->n_heap = 0;
	for (unsigned int i = 0; i < rs->n; i++) {
		struct ring *r = &rs->ring[i];

		/* what is reserved from now on gets a later TIMESTAMP than UNTIL_NS */
		r->limit = __atomic_load_n(r->producer_pos, __ATOMIC_ACQUIRE);
		r->blocked = false;
		look(r);
		if (r->blocked && !r->n_ahead)
			return 0; /* its record may be the earliest of all */
		if (r->n_ahead)
			rs->heap[rs->n_heap++] = (uint16_t)i;
	}
	for (unsigned int i = rs->n_heap; i-- > 0;)
		heap_down(rs, i);

	while (n < ROUND_MAX && rs->n_heap && heap_ts(rs, 0) <= until_ns) {
		struct ring *r = &rs->ring[rs->heap[0]];

		if (r->blocked)
			break; /* what is being written may be a neighbour of these */
		fn(ctx, r->ahead[0].rec, r->ahead[0].len);
		n++;
		memmove(&r->ahead[0], &r->ahead[1], --r->n_ahead * sizeof(r->ahead[0]));
		look(r);
		if (r->scan - *r->consumer_pos > RELEASE_EVERY)
			release(r);
		if (!r->n_ahead)
			rs->heap[0] = rs->heap[--rs->n_heap];
		heap_down(rs, 0);
	}
	for (unsigned int i = 0; i < rs->n; i++)
		if (rs->ring[i].scan != *rs->ring[i].consumer_pos)
			release(&rs->ring[i]);
	return n;
}

uint64_t rings_waiting(const struct rings *rs)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < rs->n; i++) {
		const struct ring *r = &rs->ring[i];
		uint64_t pos = __atomic_load_n(r->producer_pos, __ATOMIC_ACQUIRE);

		most = MAX(most, pos - *r->consumer_pos);
	}
	return most;
}
