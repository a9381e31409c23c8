/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/ring.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/util.h"
#include "ring_memory.h"

#define RING_BYTES 65536UL
#define RINGS 4

/* --- rings in memory, and the kernel's operations on them ------------------------------------- */

static struct ring_memory memories[RINGS];
static struct ring ring[RINGS];
static struct rings rings;

static unsigned int n_seen;
static struct seen {
	uint64_t ts_ns;
	uint32_t tid, len;
} seen[1 << 17];

static int make(void **state)
{
	n_seen = 0;
	for (unsigned int i = 0; i < RINGS; i++)
		ring_memory_make(&memories[i], &ring[i], RING_BYTES);
	return rings_init_memory(&rings, ring, RINGS, RINGS);
}

/* Makes the first ring with BYTES; old content of the others is not read again. */
static void make_first(size_t bytes)
{
	rings_free(&rings);
	ring_memory_free(&memories[0]);
	ring_memory_make(&memories[0], &ring[0], bytes);
	assert_int_equal(rings_init_memory(&rings, ring, RINGS, RINGS), 0);
}

static int unmake(void **state)
{
	rings_free(&rings);
	for (unsigned int i = 0; i < RINGS; i++)
		ring_memory_free(&memories[i]);
	return 0;
}

/* A record of LEN bytes, busy; NULL when there is no room. Its memory keeps its old content. */
static uint32_t *reserve(unsigned int i, uint32_t len)
{
	uint32_t *head = ring_memory_reserve(&memories[i], len);

	if (head)
		memset(&head[1], 0xee, HDR_BYTES - sizeof(*head) + len);
	return head;
}

/* Completes it at TS_NS; TID and its bytes differ from those of others. */
static void submit(uint32_t *head, uint64_t ts_ns, uint32_t tid)
{
	struct dlt_hdr *rec = ring_memory_rec(head);
	uint32_t len = head[0] & ~BUSY;

	memset(rec, (int)(tid & 0xff), len);
	rec->ts_ns = ts_ns;
	rec->tid = tid;
	rec->size = len;
	ring_memory_submit(head);
}

static void put(unsigned int i, uint64_t ts_ns)
{
	uint32_t *head = reserve(i, sizeof(struct dlt_hdr));

	assert_non_null(head);
	submit(head, ts_ns, (uint32_t)ts_ns);
}

static void on_record(void *ctx, const void *data, uint32_t len)
{
	const struct dlt_hdr *rec = data;

	assert_true(n_seen < ARRAY_SIZE(seen));
	assert_int_equal(rec->size, len);
	for (uint32_t i = sizeof(*rec); i < len; i++)
		assert_int_equal(((const uint8_t *)data)[i], rec->tid & 0xff);
	seen[n_seen++] = (struct seen){ rec->ts_ns, rec->tid, len };
}

static uint64_t consume(uint64_t until_ns)
{
	unsigned int before = n_seen;
	uint64_t n = rings_consume(&rings, until_ns, on_record, NULL);

	assert_int_equal(n, n_seen - before);
	return n;
}

#define EXPECT(...) expect((const uint64_t[]){ __VA_ARGS__, 0 })

/* Expects all records so far. */
static void expect(const uint64_t *ts_ns)
{
	unsigned int n = 0;

	for (; ts_ns[n] && n < n_seen; n++)
		assert_int_equal(seen[n].ts_ns, ts_ns[n]);
	assert_int_equal(n_seen, n);
	assert_int_equal(ts_ns[n], 0);
}

static void expect_all_free(void)
{
	for (unsigned int i = 0; i < RINGS; i++)
		assert_int_equal(*memories[i].consumer, *memories[i].producer);
	assert_int_equal(rings_waiting(&rings), 0);
}

/* --- order ------------------------------------------------------------------------------------ */

static void empty_rings_have_nothing(void **state)
{
	assert_int_equal(consume(UINT64_MAX), 0);
	expect_all_free();
}

static void rings_are_merged_by_time(void **state)
{
	put(0, 3), put(0, 6), put(0, 12);
	put(1, 1), put(1, 2), put(1, 9), put(1, 10);
	put(3, 5), put(3, 11);
	assert_int_equal(consume(UINT64_MAX), 9);
	EXPECT(1, 2, 3, 5, 6, 9, 10, 11, 12);
	expect_all_free();
}

static void a_record_is_handed_out_whole(void **state)
{
	static const uint32_t lens[] = { sizeof(struct dlt_hdr), 49, 55, 56, 57, 384, 24576 };

	for (uint32_t i = 0; i < ARRAY_SIZE(lens); i++)
		submit(reserve(0, lens[i]), 10 + i, i);
	assert_int_equal(consume(UINT64_MAX), ARRAY_SIZE(lens));
	for (uint32_t i = 0; i < ARRAY_SIZE(lens); i++) {
		assert_int_equal(seen[i].len, lens[i]);
		assert_int_equal(seen[i].tid, i);
	}
	expect_all_free();
}

static void neighbours_that_are_swapped_are_put_right(void **state)
{
	put(0, 2), put(0, 1), put(0, 4), put(0, 3);
	put(1, 6), put(1, 5);
	consume(UINT64_MAX);
	EXPECT(1, 2, 3, 4, 5, 6);
}

static void the_earliest_may_lie_as_far_as_the_window_reaches(void **state)
{
	for (unsigned int i = 1; i < RING_AHEAD; i++)
		put(0, 10 + i);
	put(0, 1);
	put(1, 5);
	consume(UINT64_MAX);
	assert_int_equal(n_seen, RING_AHEAD + 1);
	assert_int_equal(seen[0].ts_ns, 1);
	assert_int_equal(seen[1].ts_ns, 5);
	for (unsigned int i = 1; i < RING_AHEAD; i++)
		assert_int_equal(seen[1 + i].ts_ns, 10 + i);
}

/* An interrupt between a reserve and its TIMESTAMP may last: its record waits while others pass it. */
static void a_late_record_lets_any_number_pass(void **state)
{
	put(0, 1000);
	for (uint64_t i = 1; i <= 500; i++)
		put(0, i);
	consume(UINT64_MAX);
	for (uint64_t i = 0; i < 500; i++)
		assert_int_equal(seen[i].ts_ns, i + 1);
	assert_int_equal(seen[500].ts_ns, 1000);
}

static void beyond_the_window_a_record_is_late_but_there(void **state)
{
	for (uint64_t i = 0; i < RING_AHEAD; i++)
		put(0, 10 + i);
	put(0, 1);
	assert_int_equal(consume(UINT64_MAX), RING_AHEAD + 1);
	assert_int_equal(seen[1].ts_ns, 1);
	expect_all_free();
}

/* CPUs that share a ring reserve one after the other, and the last of them submits first. */
static void the_window_is_as_wide_as_cpus_share_a_ring(void **state)
{
	static const unsigned int cpus[] = { 16, 64, 128, 512 };

	for (unsigned int c = 0; c < ARRAY_SIZE(cpus); c++) {
		unsigned int n = cpus[c];

		make_first(1UL << 20);
		rings_free(&rings);
		assert_int_equal(rings_init_memory(&rings, ring, 1, n), 0);
		n_seen = 0;
		for (unsigned int lap = 0; lap < 3; lap++) {
			for (unsigned int i = 0; i < n; i++)
				put(0, 1 + lap * n + (n - 1 - i));
			put(0, 1000000 + lap); /* one that is always held up */
		}
		assert_int_equal(consume(999999), 3 * n);
		for (unsigned int i = 0; i < 3 * n; i++)
			assert_int_equal(seen[i].ts_ns, i + 1);
		consume(UINT64_MAX);
	}
}

static void equal_times_all_come(void **state)
{
	for (unsigned int i = 0; i < 20; i++)
		put(i % RINGS, 7);
	assert_int_equal(consume(7), 20);
	expect_all_free();
}

/* --- the end of a round ----------------------------------------------------------------------- */

static void what_is_later_than_the_round_waits_for_the_next(void **state)
{
	put(0, 1), put(0, 10), put(0, 11);
	put(1, 5), put(1, 12);
	assert_int_equal(consume(10), 3);
	EXPECT(1, 5, 10);
	assert_int_equal(consume(10), 0);
	assert_int_equal(consume(11), 1);
	EXPECT(1, 5, 10, 11);
	put(0, 13);
	assert_int_equal(consume(UINT64_MAX), 2);
	EXPECT(1, 5, 10, 11, 12, 13);
	expect_all_free();
}

/* Records that have not been handed out must not be overwritten. */
static void space_is_given_back_up_to_the_first_that_waits(void **state)
{
	uint64_t pos;

	put(0, 1);
	pos = *memories[0].producer;
	put(0, 100);
	put(0, 2);
	consume(50);
	EXPECT(1, 2);
	assert_int_equal(*memories[0].consumer, pos);
	assert_int_equal(rings_waiting(&rings), *memories[0].producer - pos);
	consume(100);
	expect_all_free();
}

static uint64_t most_held;

static void on_record_look_at_space(void *ctx, const void *data, uint32_t len)
{
	const struct dlt_hdr *rec = data;

	/* record N, from 1, of 4096 bytes begins at (N - 1) * 4096 */
	most_held = MAX(most_held, (rec->ts_ns - 1) * 4096 - *memories[0].consumer);
	assert_true(*memories[0].consumer <= (rec->ts_ns - 1) * 4096);
}

static void a_long_round_holds_no_more_than_a_megabyte(void **state)
{
	const size_t bytes = 8UL << 20;

	make_first(bytes);
	for (uint64_t ts = 1; *memories[0].producer + 4096 < bytes; ts++)
		submit(reserve(0, 4088), ts, (uint32_t)ts);
	most_held = 0;
	rings_consume(&rings, UINT64_MAX, on_record_look_at_space, NULL);
	assert_true(most_held <= (1 << 20) + RING_AHEAD * 4096);
	expect_all_free();
}

static void a_round_ends_however_much_there_is_and_the_next_goes_on(void **state)
{
	const unsigned int n = 100000;

	make_first(16UL << 20);
	put(1, n / 2);
	for (unsigned int ts = 1; ts <= n; ts++)
		put(0, ts);
	assert_in_range(consume(UINT64_MAX), 1, n / 4 * 3);
	assert_in_range(rings.reached_ns, seen[n_seen - 1].ts_ns - 1, seen[n_seen - 1].ts_ns);
	consume(UINT64_MAX);
	assert_int_equal(n_seen, n + 1);
	for (unsigned int i = 1; i <= n; i++)
		assert_true(seen[i - 1].ts_ns <= seen[i].ts_ns);
	expect_all_free();
}

/* --- records that are not there yet, or never will be ----------------------------------------- */

static void a_busy_record_at_the_front_stops_all(void **state)
{
	uint32_t *busy;

	put(0, 1);
	busy = reserve(1, sizeof(struct dlt_hdr));
	put(1, 3);
	assert_int_equal(consume(10), 0);
	submit(busy, 2, 2);
	consume(10);
	EXPECT(1, 2, 3);
	expect_all_free();
}

static void nothing_later_than_a_busy_record_is_handed_out(void **state)
{
	uint32_t *busy;

	put(0, 5), put(0, 25), put(0, 30);
	put(1, 10);
	busy = reserve(1, sizeof(struct dlt_hdr));
	put(1, 22);
	consume(100);
	assert_true(!n_seen || seen[n_seen - 1].ts_ns < 20);
	assert_true(rings.reached_ns < 20);
	submit(busy, 20, 20);
	consume(100);
	EXPECT(5, 10, 20, 22, 25, 30);
	expect_all_free();
}

/* It may also be exchanged with its neighbor. */
static void a_busy_record_may_be_earlier_than_those_before_it(void **state)
{
	uint32_t *busy;

	put(0, 10), put(0, 12);
	busy = reserve(0, sizeof(struct dlt_hdr));
	put(1, 5), put(1, 20);
	consume(100);
	submit(busy, 9, 9);
	consume(100);
	EXPECT(5, 9, 10, 12, 20);
}

/* As above, for a record after it, if an earlier one that was held up does not show the time. */
static void nothing_overtakes_what_a_busy_record_hides(void **state)
{
	uint32_t *busy;

	put(0, 95);
	busy = reserve(0, sizeof(struct dlt_hdr));
	put(0, 40);
	put(1, 50), put(1, 60);
	consume(100);
	submit(busy, 99, 99);
	consume(100);
	EXPECT(40, 50, 60, 95, 99);
	expect_all_free();
}

static void a_busy_record_holds_up_nothing_before_the_window(void **state)
{
	uint32_t *busy;

	for (uint64_t i = 1; i <= 100; i++)
		put(0, i);
	busy = reserve(0, sizeof(struct dlt_hdr));
	assert_true(consume(1000) > 100 - RING_AHEAD);
	submit(busy, 101, 101);
	consume(1000);
	assert_int_equal(n_seen, 101);
	for (uint64_t i = 0; i < n_seen; i++)
		assert_int_equal(seen[i].ts_ns, i + 1);
	expect_all_free();
}

static void discarded_records_are_passed_over(void **state)
{
	ring_memory_discard(reserve(0, 100));
	put(0, 1);
	ring_memory_discard(reserve(0, sizeof(struct dlt_hdr)));
	ring_memory_discard(reserve(1, 1)); /* shorter than any record */
	assert_int_equal(consume(10), 1);
	EXPECT(1);
	expect_all_free();
}

/* --- positions -------------------------------------------------------------------------------- */

static void the_fullest_ring_is_what_waits(void **state)
{
	put(0, 1);
	put(1, 2), put(1, 3), put(1, 4);
	put(3, 5), put(3, 6);
	assert_int_equal(rings_waiting(&rings), 3 * (HDR_BYTES + sizeof(struct dlt_hdr)));
}

static uint64_t random_next(uint64_t *x)
{
	*x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17; /* Marsaglia, xorshift64 */
	return *x;
}

static void records_wrap_around_the_end_many_times(void **state)
{
	uint64_t x = 88172645463325252ULL, ts = 0;
	unsigned int expected = 0;

	for (unsigned int lap = 0; lap < 500; lap++) {
		unsigned int n = 1 + (unsigned int)(random_next(&x) % 20);

		for (unsigned int i = 0; i < n; i++) {
			uint32_t *head = reserve(0, 48 + (uint32_t)(random_next(&x) % 2000));

			assert_non_null(head);
			ts++;
			submit(head, ts, (uint32_t)ts);
		}
		assert_int_equal(consume(UINT64_MAX), n);
		expected += n;
	}
	assert_int_equal(n_seen, expected);
	assert_true(*memories[0].producer > 20 * RING_BYTES);
	for (uint64_t i = 0; i < n_seen; i++)
		assert_int_equal(seen[i].tid, i + 1);
	expect_all_free();
}

static void positions_go_on_at_the_consumers(void **state)
{
	/* positions only grow; a ring that was drained before does not begin at 0 */
	*memories[0].consumer = *memories[0].producer = 5 * RING_BYTES - 56;
	rings_free(&rings);
	assert_int_equal(rings_init_memory(&rings, ring, RINGS, RINGS), 0);
	put(0, 1), put(0, 2);
	assert_int_equal(consume(10), 2);
	expect_all_free();
}

/* Nothing comes later than the round that has said so. */
static void consume_behind(uint64_t *reached_ns, uint64_t until_ns)
{
	unsigned int before = n_seen;

	consume(until_ns);
	for (unsigned int i = before; i < n_seen; i++)
		assert_true(seen[i].ts_ns > *reached_ns);
	assert_true(rings.reached_ns <= until_ns);
	*reached_ns = rings.reached_ns;
}

/*
 * CPUs that share rings: each reserves, is held up for a while, takes its TIMESTAMP and submits (or discards); the
 * drain reads at any moment. All records come, once, and in order.
 */
static void whatever_the_moment_all_come_in_order(void **state)
{
	struct {
		uint32_t *head;
		unsigned int ring;
	} cpus[2 * RINGS] = {};
	uint64_t x = 0x9e3779b97f4a7c15ULL, now = 1, submitted = 0, reached = 0;
	static bool came[ARRAY_SIZE(seen)];

	memset(came, 0, sizeof(came));
	for (unsigned int step = 0; step < 300000 && submitted < ARRAY_SIZE(seen) - 1; step++) {
		unsigned int cpu = (unsigned int)(random_next(&x) % ARRAY_SIZE(cpus));

		now++;
		if (random_next(&x) % 50 == 0) {
			consume_behind(&reached, now);
		} else if (!cpus[cpu].head) {
			cpus[cpu].head = reserve(cpu % RINGS, 48 + (uint32_t)(random_next(&x) % 400));
		} else if (random_next(&x) % 10 == 0) {
			ring_memory_discard(TAKE_PTR(cpus[cpu].head));
		} else {
			submitted++;
			submit(TAKE_PTR(cpus[cpu].head), now, (uint32_t)submitted);
		}
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(cpus); i++)
		if (cpus[i].head)
			ring_memory_discard(cpus[i].head);
	consume_behind(&reached, now);
	assert_int_equal(reached, now);
	assert_true(submitted > 50000);
	assert_int_equal(n_seen, submitted);
	for (unsigned int i = 0; i < n_seen; i++) {
		assert_true(!i || seen[i - 1].ts_ns <= seen[i].ts_ns);
		assert_false(came[seen[i].tid]);
		came[seen[i].tid] = true;
	}
	expect_all_free();
}

/* --- the largest number, and the kernel's mapping ---------------------------------------------- */

static void no_more_rings_than_there_is_room_for(void **state)
{
	int fds[RINGS_MAX + 1] = {};
	struct rings rs;

	assert_int_equal(rings_init(&rs, fds, RINGS_MAX + 1, 4096, 1), -E2BIG);
	assert_int_equal(rings_init_memory(&rs, ring, RINGS_MAX + 1, 1), -E2BIG);
}

static void as_many_rings_as_there_can_be(void **state)
{
	static struct ring many[RINGS_MAX];
	static struct {
		uint64_t consumer, producer;
		uint32_t head[2];
		struct dlt_hdr rec;
	} mem[RINGS_MAX];
	struct rings rs;

	for (unsigned int i = 0; i < RINGS_MAX; i++) {
		mem[i].rec.ts_ns = 1 + i * 7919 % RINGS_MAX; /* a prime: each value once */
		mem[i].rec.size = sizeof(mem[i].rec);
		mem[i].head[0] = sizeof(mem[i].rec);
		mem[i].producer = HDR_BYTES + sizeof(mem[i].rec);
		many[i] = (struct ring){ .consumer_pos = &mem[i].consumer,
					 .producer_pos = &mem[i].producer,
					 .data = (char *)mem[i].head,
					 .mask = 4095 };
	}
	assert_int_equal(rings_init_memory(&rs, many, RINGS_MAX, RINGS_MAX), 0);
	assert_int_equal(rings_consume(&rs, UINT64_MAX, on_record, NULL), RINGS_MAX);
	for (unsigned int i = 0; i < RINGS_MAX; i++)
		assert_int_equal(seen[i].ts_ns, i + 1);
	rings_free(&rs);
}

#define MIB (1ULL << 20)

/* A file laid out like a ring's descriptor in the kernel: consumer, producer, data, data. */
static int ring_fd(size_t bytes, uint64_t ts_ns)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("ring", MFD_CLOEXEC);
	const struct dlt_hdr rec = { .ts_ns = ts_ns, .size = sizeof(rec) };
	/* the record lies in the second half, after a discarded one */
	const uint32_t gone[2] = { (uint32_t)(bytes / 2) | DISCARD }, head[2] = { sizeof(rec) };
	const uint64_t at = HDR_BYTES + bytes / 2, producer = at + HDR_BYTES + sizeof(rec);
	off_t data = (off_t)(2 * page);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(2 * page + 2 * bytes)), 0);
	assert_int_equal(pwrite(fd, &producer, sizeof(producer), (off_t)page), sizeof(producer));
	assert_int_equal(pwrite(fd, gone, sizeof(gone), data), sizeof(gone));
	data += (off_t)at;
	assert_int_equal(pwrite(fd, head, sizeof(head), data), sizeof(head));
	data += HDR_BYTES;
	assert_int_equal(pwrite(fd, &rec, sizeof(rec), data), sizeof(rec));
	return fd;
}

/* Adds to the ring FD, which RING maps, what fills it up to its end, and a record that is split by that. */
static bool ring_wrap(int fd, size_t bytes, const struct ring *ring, uint64_t ts_ns)
{
	const off_t page = (off_t)sysconf(_SC_PAGESIZE);
	const struct dlt_hdr rec = { .ts_ns = ts_ns, .size = sizeof(rec) };
	const uint64_t at = *ring->producer_pos, begin = bytes - 2 * HDR_BYTES;
	const uint32_t gone[2] = { (uint32_t)(begin - at - HDR_BYTES) | DISCARD }, head[2] = { sizeof(rec) };
	const uint64_t producer = begin + HDR_BYTES + sizeof(rec);
	char all[HDR_BYTES + sizeof(rec)];
	off_t data = 2 * page;

	memcpy(all, head, HDR_BYTES);
	memcpy(all + HDR_BYTES, &rec, sizeof(rec));
	return pwrite(fd, gone, sizeof(gone), data + (off_t)at) == sizeof(gone) &&
	       pwrite(fd, all, sizeof(all), data + (off_t)begin) == sizeof(all) &&
	       pwrite(fd, &producer, sizeof(producer), page) == sizeof(producer);
}

static void descriptors_are_mapped_as_the_kernel_lays_them_out(void **state)
{
	int fds[2] = { ring_fd(8192, 2), ring_fd(8192, 1) };
	uint64_t consumer = 0;
	struct rings rs;

	assert_int_equal(rings_init(&rs, fds, 2, 8192, 2), 0);
	assert_int_equal(rings_consume(&rs, 10, on_record, NULL), 2);
	EXPECT(1, 2);
	rings_free(&rs);
	assert_null(rs.ring);
	/* the kernel has the new position, through the mapping */
	assert_int_equal(pread(fds[0], &consumer, sizeof(consumer), 0), sizeof(consumer));
	assert_int_equal(consumer, HDR_BYTES + 4096 + HDR_BYTES + sizeof(struct dlt_hdr));
	close(fds[0]);
	close(fds[1]);
}

/* A ring whose records reach its middle is mapped until there, one whose records wrap as a whole. */
static void data_is_mapped_when_records_reach_it(void **state)
{
	const size_t bytes = 64 * MIB;
	int fd = ring_fd(bytes, 1);
	struct rings rs;

	assert_int_equal(rings_init(&rs, &fd, 1, bytes, 1), 0);
	assert_true(rs.ring[0].mapped < bytes / 2);
	assert_int_equal(rings_consume(&rs, 10, on_record, NULL), 1);
	EXPECT(1);
	assert_true(rs.ring[0].mapped > bytes / 2 && rs.ring[0].mapped < bytes);
	assert_true(ring_wrap(fd, bytes, &rs.ring[0], 2));
	assert_int_equal(rings_consume(&rs, 10, on_record, NULL), 1);
	EXPECT(1, 2);
	assert_true(rs.ring[0].mapped > bytes);
	rings_free(&rs);
	close(fd);
}

static void records_wait_where_they_cannot_be_mapped(void **state)
{
	const size_t bytes = 64 * MIB;
	int fd = ring_fd(bytes, 1);
	struct rings rs;

	assert_int_equal(rings_init(&rs, &fd, 1, bytes, 2), 0);
	rs.ring[0].fd = -1;
	assert_int_equal(rings_consume(&rs, 10, on_record, NULL), 0);
	assert_int_equal(rs.reached_ns, 0);
	assert_true(rings_waiting(&rs) > 0);
	rs.ring[0].fd = fd;
	assert_int_equal(rings_consume(&rs, 10, on_record, NULL), 1);
	EXPECT(1);
	assert_int_equal(rs.reached_ns, 10);
	rings_free(&rs);
	close(fd);
}

static void half_of_the_rings_are_freed_when_one_cannot_be_mapped(void **state)
{
	int fds[2] = { ring_fd(8192, 1), -1 };
	struct rings rs;

	assert_int_equal(rings_init(&rs, fds, 2, 8192, 2), -EBADF);
	rings_free(&rs);
	assert_null(rs.ring);
	close(fds[0]);
}

/* --- number and size of rings ----------------------------------------------------------------- */

#define GIB (1ULL << 30)

static void memory_is_bounded_on_any_number_of_cpus(void **state)
{
	static const unsigned int cpus[] = { 1, 2, 64, 128, 256, 4096 };
	static const struct {
		uint64_t given, memory, limit;
		struct {
			unsigned int n;
			uint64_t mib;
		} rings[ARRAY_SIZE(cpus)];
	} plans[] = {
		/* by default 1/64 of memory, of 8 GiB and of 64, up to 1 GiB */
		{ 0, 8 * GIB, 0, { { 1, 128 }, { 2, 64 }, { 2, 64 }, { 2, 64 }, { 2, 64 }, { 2, 64 } } },
		{ 0, 64 * GIB, 0, { { 1, 1024 }, { 2, 512 }, { 16, 64 }, { 16, 64 }, { 16, 64 }, { 16, 64 } } },
		{ 0, 2048 * GIB, 0, { { 1, 1024 }, { 2, 512 }, { 16, 64 }, { 16, 64 }, { 16, 64 }, { 16, 64 } } },
		/* 64 MiB of small machines, 1/8 of smaller ones */
		{ 0, GIB, 0, { { 1, 64 }, { 1, 64 }, { 1, 64 }, { 1, 64 }, { 1, 64 }, { 1, 64 } } },
		{ 0, 256 * MIB, 0, { { 1, 32 }, { 1, 32 }, { 1, 32 }, { 1, 32 }, { 1, 32 }, { 1, 32 } } },
		/* 1/8 of the cgroup's limit */
		{ 0, 64 * GIB, 2 * GIB, { { 1, 256 }, { 2, 128 }, { 4, 64 }, { 4, 64 }, { 4, 64 }, { 4, 64 } } },
		{ 0, 64 * GIB, 64 * MIB, { { 1, 8 }, { 1, 8 }, { 1, 8 }, { 1, 8 }, { 1, 8 }, { 1, 8 } } },
		{ 0, 8 * GIB, UINT64_MAX, { { 1, 128 }, { 2, 64 }, { 2, 64 }, { 2, 64 }, { 2, 64 }, { 2, 64 } } },
		/* with --buffer, whatever the memory */
		{ 16 * MIB, GIB, 64 * MIB, { { 1, 16 }, { 1, 16 }, { 1, 16 }, { 1, 16 }, { 1, 16 }, { 1, 16 } } },
		{ 100 * MIB, GIB, 0, { { 1, 64 }, { 1, 64 }, { 1, 64 }, { 1, 64 }, { 1, 64 }, { 1, 64 } } },
		{ 16 * GIB,
		  8 * GIB,
		  0,
		  { { 1, 2048 }, { 2, 2048 }, { 64, 256 }, { 128, 128 }, { 256, 64 }, { 256, 64 } } },
		{ 1024 * GIB,
		  8 * GIB,
		  0,
		  { { 1, 2048 }, { 2, 2048 }, { 64, 2048 }, { 128, 2048 }, { 256, 2048 }, { 512, 2048 } } },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(plans); i++)
		for (unsigned int c = 0; c < ARRAY_SIZE(cpus); c++) {
			uint64_t most = plans[i].given ? plans[i].given : GIB;
			struct rings_plan p = rings_plan(cpus[c], plans[i].given, plans[i].memory, plans[i].limit);

			assert_int_equal(p.n, plans[i].rings[c].n);
			assert_int_equal(p.bytes, plans[i].rings[c].mib * MIB);
			assert_true(p.n * p.bytes <= most);
		}
}

static void the_least_is_a_ring_of_a_page(void **state)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct rings_plan given = rings_plan(256, 1, 64 * GIB, 0), limited = rings_plan(256, 0, 64 * GIB, 1);

	assert_int_equal(given.n, 1);
	assert_int_equal(given.bytes, page);
	assert_int_equal(limited.n, 1);
	assert_int_equal(limited.bytes, page);
}

#define WITH_RINGS(test) cmocka_unit_test_setup_teardown(test, make, unmake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RINGS(a_busy_record_at_the_front_stops_all),
		WITH_RINGS(a_busy_record_holds_up_nothing_before_the_window),
		WITH_RINGS(a_busy_record_may_be_earlier_than_those_before_it),
		WITH_RINGS(a_long_round_holds_no_more_than_a_megabyte),
		WITH_RINGS(a_record_is_handed_out_whole),
		WITH_RINGS(a_round_ends_however_much_there_is_and_the_next_goes_on),
		WITH_RINGS(as_many_rings_as_there_can_be),
		WITH_RINGS(beyond_the_window_a_record_is_late_but_there),
		WITH_RINGS(descriptors_are_mapped_as_the_kernel_lays_them_out),
		WITH_RINGS(empty_rings_have_nothing),
		WITH_RINGS(equal_times_all_come),
		WITH_RINGS(data_is_mapped_when_records_reach_it),
		WITH_RINGS(records_wait_where_they_cannot_be_mapped),
		WITH_RINGS(half_of_the_rings_are_freed_when_one_cannot_be_mapped),
		cmocka_unit_test(memory_is_bounded_on_any_number_of_cpus),
		WITH_RINGS(neighbours_that_are_swapped_are_put_right),
		WITH_RINGS(no_more_rings_than_there_is_room_for),
		WITH_RINGS(nothing_later_than_a_busy_record_is_handed_out),
		WITH_RINGS(nothing_overtakes_what_a_busy_record_hides),
		WITH_RINGS(a_late_record_lets_any_number_pass),
		WITH_RINGS(positions_go_on_at_the_consumers),
		WITH_RINGS(records_wrap_around_the_end_many_times),
		WITH_RINGS(rings_are_merged_by_time),
		WITH_RINGS(space_is_given_back_up_to_the_first_that_waits),
		WITH_RINGS(the_earliest_may_lie_as_far_as_the_window_reaches),
		WITH_RINGS(the_fullest_ring_is_what_waits),
		cmocka_unit_test(the_least_is_a_ring_of_a_page),
		WITH_RINGS(the_window_is_as_wide_as_cpus_share_a_ring),
		WITH_RINGS(what_is_later_than_the_round_waits_for_the_next),
		WITH_RINGS(discarded_records_are_passed_over),
		WITH_RINGS(whatever_the_moment_all_come_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
