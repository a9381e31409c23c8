/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"

/* linux/bpf.h: BPF_RINGBUF_BUSY_BIT, BPF_RINGBUF_DISCARD_BIT, BPF_RINGBUF_HDR_SZ */
#define BUSY (1U << 31)
#define DISCARD (1U << 30)
#define HDR_BYTES 8
#define CACHE_LINE 64

#define PIECE_BYTES (8ULL << 20) /* of a ring, mapped at once: far more than a record */
#define ALL_MAPPED UINT64_MAX
#define RELEASE_EVERY (1U << 20) /* bytes: return space during a round as well */
#define ROUND_MAX (1U << 16) /* records: some 100 ms, then the caller attends to other things */

#define RING_MIN_BYTES (64ULL << 20)
#define RING_MAX_BYTES (2ULL << 30) /* the largest power of two in the 32 bits of max_entries */
#define RINGS_DEFAULT_MAX (1ULL << 30)

struct rings_plan rings_plan(unsigned int cpus, uint64_t wanted, uint64_t memory, uint64_t limit)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t most = MIN(limit ? MIN(limit, memory) : memory, 8 * RINGS_DEFAULT_MAX) / 8;
	uint64_t total = wanted ? wanted : MIN(MAX(memory / 64, RING_MIN_BYTES), most);
	uint64_t n = MIN(MAX(total / RING_MIN_BYTES, 1), MIN(cpus, RINGS_MAX));

	return (struct rings_plan){ (unsigned int)n, util_pow2_below(MIN(MAX(total / n, page), RING_MAX_BYTES)) };
}

static int rings_begin(struct rings *rs, unsigned int n, unsigned int cpus)
{
	unsigned int size = 1;

	memset(rs, 0, sizeof(*rs));
	if (n > RINGS_MAX)
		return -E2BIG;
	rs->n_ahead = n ? MAX(RING_AHEAD, (cpus + n - 1) / n * RING_AHEAD_PER_CPU) : RING_AHEAD;
	while (size < rs->n_ahead)
		size *= 2;
	rs->ahead_mask = size - 1;
	rs->ring = calloc(MAX(n, 1), sizeof(*rs->ring)); /* NULL only when memory is out */
	rs->ahead = calloc((size_t)MAX(n, 1) * size, sizeof(*rs->ahead));
	return rs->ring && rs->ahead ? 0 : -ENOMEM;
}

static void ring_add(struct rings *rs, const struct ring *ring)
{
	struct ring *r = &rs->ring[rs->n];

	*r = *ring;
	if (!rs->mapped) /* memory of the caller's, which is all there */
		r->mapped = ALL_MAPPED;
	r->ahead = &rs->ahead[(size_t)rs->n++ * (rs->ahead_mask + 1)];
	r->scan = r->freed = *r->consumer_pos;
}

/*
 * The bytes of R's data that are mapped in the end: no record wraps, so of the second mapping as much as one
 * record needs.
 */
static uint64_t data_bytes(const struct ring *r)
{
	return r->mask + 1 + MIN(r->mask + 1, PIECE_BYTES);
}

/* Maps R's data as far as a producer at LIMIT has written it. 0 or -errno. */
static int data_map(struct ring *r, uint64_t limit)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), all = data_bytes(r);

	for (uint64_t len; r->mapped < MIN(limit, all); r->mapped += len) {
		len = MIN(all - r->mapped, PIECE_BYTES);
		if (mmap((char *)(uintptr_t)r->data + r->mapped, len, PROT_READ, MAP_SHARED | MAP_FIXED, r->fd,
			 (off_t)(2 * page + r->mapped)) == MAP_FAILED)
			return -errno;
	}
	if (r->mapped == all)
		r->mapped = ALL_MAPPED;
	return 0;
}

/* Maps the positions of the ring FD, and keeps addresses for its data. 0 or -errno. */
static int ring_map(struct ring *r, int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *positions[2], *data;

	*r = (struct ring){ .mask = bytes - 1, .fd = fd };
	positions[0] = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (positions[0] == MAP_FAILED)
		return -errno;
	r->consumer_pos = positions[0];
	positions[1] = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (positions[1] == MAP_FAILED)
		return -errno;
	r->producer_pos = positions[1];
	data = mmap(NULL, data_bytes(r), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (data == MAP_FAILED)
		return -errno;
	r->data = data;
	return data_map(r, 1);
}

static void ring_unmap(const struct ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (r->consumer_pos)
		munmap(r->consumer_pos, page);
	if (r->producer_pos)
		munmap((void *)(uintptr_t)r->producer_pos, page);
	if (r->data)
		munmap((void *)(uintptr_t)r->data, data_bytes(r));
}

int rings_init(struct rings *rs, const int *fds, unsigned int n, size_t bytes, unsigned int cpus)
{
	int r = rings_begin(rs, n, cpus);
	struct ring ring;

	if (r < 0)
		return r;
	rs->mapped = true;
	for (unsigned int i = 0; i < n; i++) {
		r = ring_map(&ring, fds[i], bytes);
		if (r < 0) {
			ring_unmap(&ring);
			return r;
		}
		ring_add(rs, &ring);
	}
	return 0;
}

int rings_init_memory(struct rings *rs, const struct ring *rings, unsigned int n, unsigned int cpus)
{
	int r = rings_begin(rs, n, cpus);

	for (unsigned int i = 0; !r && i < n; i++)
		ring_add(rs, &rings[i]);
	return r;
}

void rings_free(struct rings *rs)
{
	for (unsigned int i = 0; rs->mapped && i < rs->n; i++)
		ring_unmap(&rs->ring[i]);
	free(rs->ring);
	free(rs->ahead);
	memset(rs, 0, sizeof(*rs));
}

static void release(const struct rings *rs, struct ring *r)
{
	uint64_t pos = r->scan;

	for (unsigned int i = 0; i < r->n_ahead; i++)
		pos = MIN(pos, r->ahead[(r->first + i) & rs->ahead_mask].pos);
	if (pos == r->freed)
		return;
	__atomic_store_n(&r->freed, pos, __ATOMIC_RELAXED); /* read by rings_waiting() in other threads */
	__atomic_store_n(r->consumer_pos, pos, __ATOMIC_RELEASE);
}

static uint32_t head_of(const struct ring *r, uint64_t pos)
{
	return __atomic_load_n((const uint32_t *)(r->data + (pos & r->mask)), __ATOMIC_ACQUIRE);
}

static const struct dlt_hdr *rec_of(const struct ring *r, uint64_t pos)
{
	return (const void *)(r->data + (pos & r->mask) + HDR_BYTES);
}

/*
 * Look ahead until the window is full, keeping it sorted by time. Returns the earliest possible time of a
 * record not seen yet, because it, or one before it, is reserved and not yet submitted: not all of the
 * records in a full window can be later than it, be they ahead or handed out already.
 */
static uint64_t look(const struct rings *rs, struct ring *ring)
{
	const unsigned int mask = rs->ahead_mask;

	while (ring->n_ahead < rs->n_ahead && ring->scan < ring->limit) {
		uint32_t head = head_of(ring, ring->scan), len = head & ~(BUSY | DISCARD);
		unsigned int i = ring->first + ring->n_ahead;
		uint64_t ts_ns;

		if (head & BUSY)
			return ring->ahead[(i - rs->n_ahead) & mask].ts_ns;
		if (!(head & DISCARD)) {
			ts_ns = rec_of(ring, ring->scan)->ts_ns;
			for (; i != ring->first && ring->ahead[(i - 1) & mask].ts_ns > ts_ns; i--)
				ring->ahead[i & mask] = ring->ahead[(i - 1) & mask];
			ring->ahead[i & mask] = (struct ring_ahead){ ts_ns, ring->scan };
			ring->n_ahead++;
		}
		ring->scan += (HDR_BYTES + (uint64_t)len + 7) & ~7ULL;
		/* among many rings the hardware prefetcher fails: cached when this one's turn comes again */
		__builtin_prefetch(ring->data + (ring->scan & ring->mask));
		__builtin_prefetch(ring->data + (ring->scan & ring->mask) + CACHE_LINE);
	}
	return UINT64_MAX;
}

/* Move NEXT to its place in the heap, from the free place I on. */
static void heap_put(struct rings *rs, unsigned int i, struct ring_next next)
{
	const unsigned int n = rs->n_heap;
	struct ring_next *heap = rs->heap;

	for (unsigned int child; (child = 2 * i + 1) < n; i = child) {
		child += heap[child + 1].ts_ns < heap[child].ts_ns; /* behind the last: the end */
		if (heap[child].ts_ns >= next.ts_ns)
			break;
		heap[i] = heap[child];
	}
	heap[i] = next;
}

static void heap_shrink(struct rings *rs)
{
	struct ring_next last = rs->heap[--rs->n_heap];

	rs->heap[rs->n_heap].ts_ns = UINT64_MAX;
	if (rs->n_heap)
		heap_put(rs, 0, last);
}

/* Builds the heap of records to hand out. Returns the time up to which that is allowed: UNTIL_NS or before. */
static uint64_t round_begin(struct rings *rs, uint64_t until_ns)
{
	rs->n_heap = rs->n_busy = 0;
	for (unsigned int i = 0; i < rs->n; i++) {
		struct ring *ring = &rs->ring[i];
		/* records reserved from now on get a later TIMESTAMP than the round's */
		uint64_t limit = __atomic_load_n(ring->producer_pos, __ATOMIC_ACQUIRE), until;

		if (limit == ring->freed)
			continue;
		/* without memory for that, the records stay where they are, and so do all later ones of other rings */
		if (ring->mapped < limit && data_map(ring, limit) < 0)
			until_ns = MIN(until_ns, rs->reached_ns);
		else
			ring->limit = limit;
		rs->busy[rs->n_busy++] = (uint16_t)i;
		until = look(rs, ring);
		until_ns = MIN(until_ns, until);
		if (ring->n_ahead) {
			rs->heap[rs->n_heap].ts_ns = ring->ahead[ring->first & rs->ahead_mask].ts_ns;
			rs->heap[rs->n_heap++].ring = i;
		}
	}
	rs->heap[rs->n_heap].ts_ns = UINT64_MAX;
	for (unsigned int i = rs->n_heap / 2; i-- > 0;)
		heap_put(rs, i, rs->heap[i]);
	return until_ns;
}

uint64_t rings_consume(struct rings *rs, uint64_t until_ns, ring_fn fn, void *ctx)
{
	uint64_t n = 0, until;

	until_ns = round_begin(rs, until_ns);
	while (n < ROUND_MAX && rs->n_heap && rs->heap[0].ts_ns <= until_ns) {
		struct ring *ring = &rs->ring[rs->heap[0].ring];
		uint64_t pos = ring->ahead[ring->first & rs->ahead_mask].pos;

		fn(ctx, rec_of(ring, pos), head_of(ring, pos));
		n++;
		ring->first++;
		ring->n_ahead--;
		until = look(rs, ring);
		until_ns = MIN(until_ns, until);
		if (ring->scan - ring->freed > RELEASE_EVERY)
			release(rs, ring);
		if (ring->n_ahead)
			heap_put(rs, 0,
				 (struct ring_next){ ring->ahead[ring->first & rs->ahead_mask].ts_ns,
						     rs->heap[0].ring });
		else
			heap_shrink(rs);
	}
	rs->reached_ns = rs->n_heap && rs->heap[0].ts_ns <= until_ns ? rs->heap[0].ts_ns - 1 : until_ns;
	for (unsigned int i = 0; i < rs->n_busy; i++)
		release(rs, &rs->ring[rs->busy[i]]);
	return n;
}

static uint64_t ring_waiting(const struct ring *r)
{
	uint64_t pos = __atomic_load_n(r->producer_pos, __ATOMIC_ACQUIRE),
		 freed = __atomic_load_n(&r->freed, __ATOMIC_RELAXED);

	return pos > freed ? pos - freed : 0;
}

uint64_t rings_waiting(const struct rings *rs)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < rs->n; i++)
		most = MAX(most, ring_waiting(&rs->ring[i]));
	return most;
}

uint64_t rings_used(const struct rings *rs)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < rs->n; i++)
		sum += ring_waiting(&rs->ring[i]);
	return sum;
}
