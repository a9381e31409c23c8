/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user side of BPF ring buffers: records of several rings in the order of their TIMESTAMP, in place,
 * without copies. libbpf's ring_buffer drains one ring after the other; the rows must come out merged.
 *
 * Layout (kernel: kernel/bpf/ringbuf.c): the consumer's position on one page, writable; the producer's on
 * the next; then the data, mapped twice so that no record wraps. A record is a u32 length with two flag
 * bits, 4 bytes for the kernel, then the payload, all rounded up to 8.
 *
 * The kernel fills in all of a mapping at once, and each page of it counts as resident memory of this
 * process. So the data is mapped in pieces, when records first reach them.
 */
#ifndef KERNEL_RING_H
#define KERNEL_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlt/dlt.h"

#define RINGS_MAX 512
/*
 * Records of one ring are nearly in order: between a reserve and its TIMESTAMP an interrupt, or another
 * CPU where CPUs share the ring, may reserve and be done. No record can have more before it that are
 * later than can be held up at once, four deep (task, softirq, hardirq, NMI) on each of the ring's
 * CPUs: so many are looked ahead, at least these.
 */
#define RING_AHEAD 8
#define RING_AHEAD_PER_CPU 4

/*
 * The load assumed for a stalled drain: more than one thread of small reads reached (534 000 rows/s), and a
 * row's 120 bytes with the 8 of BPF_RINGBUF_HDR_SZ.
 */
#define RING_STALL_RECORDS_PER_S 600000U
#define RING_STALL_RECORD_BYTES (120U + 8U)

/* How long the drain may stall while one CPU fills its ring, except RESERVE, at that rate. */
static inline uint64_t ring_stall_ms(uint64_t ring_bytes, uint64_t reserve)
{
	uint64_t room = ring_bytes > reserve ? ring_bytes - reserve : 0;

	return room / (RING_STALL_RECORDS_PER_S / 1000 * RING_STALL_RECORD_BYTES);
}

struct rings_plan {
	unsigned int n;
	uint64_t bytes; /* of each */
};
/*
 * Returns how many rings for CPUS CPUs: one each of at least 64 MiB; where that is too much in all, CPUs
 * share. WANTED: bytes for all of them, an upper bound; 0: 1/64 of the machine's MEMORY bytes, at most 1
 * GiB and 1/8 of LIMIT, the memory cgroup's (0: none), but 64 MiB where 1/8 of both allows it. Never less
 * than one ring of a page.
 */
struct rings_plan rings_plan(unsigned int cpus, uint64_t wanted, uint64_t memory, uint64_t limit);

struct ring {
	/* all that a ring with nothing new is asked for */
	const uint64_t *producer_pos;
	uint64_t freed; /* *consumer_pos, which nobody else writes */

	uint64_t *consumer_pos;
	const char *data;
	uint64_t mask;
	uint64_t mapped; /* positions before this one have been mapped */
	int fd; /* of the kernel's */
	uint64_t scan; /* next record to look at */
	uint64_t limit; /* producer's position when this round began */
	struct ring_ahead {
		uint64_t ts_ns, pos;
	} * ahead; /* circular, by ts_ns; behind its first those handed out last */
	unsigned int first, n_ahead; /* of those ahead the earliest; how many there are */
};

struct rings {
	struct ring *ring;
	unsigned int n;
	bool mapped;
	struct ring_ahead *ahead; /* of all of them */
	unsigned int n_ahead, ahead_mask; /* as far as each looks; its places, a power of two, less one */
	struct ring_next {
		uint64_t ts_ns;
		uint32_t ring;
	} heap[RINGS_MAX + 1]; /* those with records, earliest first; one beyond for the end */
	unsigned int n_heap;
	uint16_t busy[RINGS_MAX]; /* those that had something in this round */
	unsigned int n_busy;
	uint64_t reached_ns; /* CLOCK_MONOTONIC: all records until then have been handed out */
};

typedef void (*ring_fn)(void *ctx, const void *rec, uint32_t len);

/*
 * Map N ring buffers of BYTES each, given as descriptors, that CPUS CPUs write to; FDS stay open until
 * rings_free(). 0 or -errno.
 */
int rings_init(struct rings *rs, const int *fds, unsigned int n, size_t bytes, unsigned int cpus);
/*
 * Maps memory of the caller's laid out like rings, of which RINGS has producer_pos, consumer_pos, data and
 * mask: for tests and replays.
 */
int rings_init_memory(struct rings *rs, const struct ring *rings, unsigned int n, unsigned int cpus);
void rings_free(struct rings *rs);

/*
 * Hand every record with a TIMESTAMP of at most UNTIL_NS to FN in order, and free its space. A record that
 * is still being written ends the round early, at the earliest time that it or one behind it may have; so
 * does a very large number of records, since the caller's thread has other work. Returns the number of
 * records. Of a ring without new records only the producer's position is read.
 */
uint64_t rings_consume(struct rings *rs, uint64_t until_ns, ring_fn fn, void *ctx);

/* Bytes waiting in the fullest ring, and in all of them: for other threads too, approximately. */
uint64_t rings_waiting(const struct rings *rs);
uint64_t rings_used(const struct rings *rs);

#endif
