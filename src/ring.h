/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user side of BPF ring buffers: records of several rings in the order of their TIMESTAMP, in
 * place, without copies. libbpf's ring_buffer drains one ring after the other; the rows must come
 * out merged.
 *
 * Layout (kernel: kernel/bpf/ringbuf.c): the consumer's position on one page, writable; the
 * producer's on the next; then the data, mapped twice so that no record wraps. A record is a u32
 * length with two flag bits, 4 bytes of the kernel's, then the payload, all rounded up to 8.
 */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlt/dlt.h"

#define RINGS_MAX 512
/*
 * Records of one ring are nearly in order: an interrupt between a reserve and its TIMESTAMP swaps
 * neighbours. Looking this far ahead puts them right.
 */
#define RING_AHEAD 8

/*
 * The load that a stalled drain is reckoned with: above what one thread of small reads reached
 * (534 000 rows/s), and a row's 120 bytes with the 8 of BPF_RINGBUF_HDR_SZ.
 */
#define RING_STALL_RECORDS_PER_S 600000U
#define RING_STALL_RECORD_BYTES (120U + 8U)

/* How long the drain may stand still while one CPU fills its ring, but for RESERVE, at that rate. */
static inline uint64_t ring_stall_ms(uint64_t ring_bytes, uint64_t reserve)
{
	uint64_t room = ring_bytes > reserve ? ring_bytes - reserve : 0;

	return room / (RING_STALL_RECORDS_PER_S / 1000 * RING_STALL_RECORD_BYTES);
}

struct ring {
	uint64_t *consumer_pos;
	const uint64_t *producer_pos;
	const char *data;
	uint64_t mask;
	uint64_t scan;	/* next record to look at */
	uint64_t limit; /* producer's position when this round began */
	struct {
		uint64_t ts_ns, pos;
		const struct dlt_hdr *rec;
		uint32_t len;
	} ahead[RING_AHEAD]; /* by ts_ns */
	unsigned int n_ahead;
	bool blocked; /* a record is reserved but not yet submitted */
};

struct rings {
	struct ring *ring;
	unsigned int n;
	uint16_t heap[RINGS_MAX]; /* indices of rings with records, earliest first */
	unsigned int n_heap;
};

typedef void (*ring_fn)(void *ctx, const void *rec, uint32_t len);

/* Map N ring buffers of BYTES each, given as descriptors. 0 or -errno. */
int rings_init(struct rings *rs, const int *fds, unsigned int n, size_t bytes);
/* The same over memory laid out like a ring: for tests and replays. */
int rings_init_memory(struct rings *rs, struct ring *rings, unsigned int n);
void rings_free(struct rings *rs, size_t bytes);

/*
 * Hand every record with a TIMESTAMP of at most UNTIL_NS to FN in order, and free its space. A
 * record that is just being written ends the round early: it may be earlier than others; so do very
 * many records, since the caller's thread has more to do. Returns their number.
 */
uint64_t rings_consume(struct rings *rs, uint64_t until_ns, ring_fn fn, void *ctx);

/* The fullest ring's bytes waiting. */
uint64_t rings_waiting(const struct rings *rs);

#endif
