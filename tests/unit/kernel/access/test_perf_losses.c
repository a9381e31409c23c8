/* SPDX-License-Identifier: BSD-2-Clause */
/* Records as the kernel writes them into an event's ring, by the documented layout (linux/perf_event.h). */
#include "kernel/access/perf_losses.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

#define BYTES 256

static struct perf_event_mmap_page page;
static uint64_t ring[BYTES / 8];
static struct perf_losses got;

static int begin(void **state)
{
	page = (struct perf_event_mmap_page){ 0 };
	memset(ring, 0, sizeof(ring));
	got = (struct perf_losses){ 0 };
	return 0;
}

/* Writes a record with the words of its body, where the last one ended. */
static void put(uint32_t type, uint16_t size, const uint64_t *body)
{
	const struct perf_event_header h = { .type = type, .size = size };

	memcpy(&ring[page.data_head / 8 % ARRAY_SIZE(ring)], &h, sizeof(h));
	for (size_t i = 0; i + 1 < size / 8U; i++)
		ring[(page.data_head / 8 + 1 + i) % ARRAY_SIZE(ring)] = body[i];
	page.data_head += size;
}

#define PUT(type, ...)                                                                          \
	put(type, sizeof(struct perf_event_header) + sizeof((const uint64_t[]){ __VA_ARGS__ }), \
	    (const uint64_t[]){ __VA_ARGS__ })

static void expect(uint64_t throttled, uint64_t samples, uint64_t records)
{
	perf_losses_read(&got, &page, (const uint8_t *)ring, BYTES);
	assert_int_equal(got.throttled, throttled);
	assert_int_equal(got.lost_samples, samples);
	assert_int_equal(got.lost_records, records);
	assert_int_equal(page.data_tail, page.data_head);
}

static void each_kind_is_counted(void **state)
{
	expect(0, 0, 0);
	PUT(PERF_RECORD_THROTTLE, 1000, 7, 7); /* time, id, stream_id */
	PUT(PERF_RECORD_UNTHROTTLE, 1001, 7, 7);
	PUT(PERF_RECORD_LOST_SAMPLES, 12);
	PUT(PERF_RECORD_LOST, 7, 5); /* id, lost */
	expect(1, 12, 5);
	expect(1, 12, 5); /* once */
	PUT(PERF_RECORD_LOST_SAMPLES, 30);
	PUT(PERF_RECORD_THROTTLE, 1002, 7, 7);
	expect(2, 42, 5);
}

/* At each place of the ring, and in pieces at its end and its begin. */
static void a_record_may_wrap(void **state)
{
	for (uint64_t i = 1; i <= 1000; i++) {
		PUT(PERF_RECORD_LOST, 7, 2);
		PUT(PERF_RECORD_THROTTLE, 1000, 7, 7);
		expect(i, 0, 2 * i);
	}
}

static void other_records_are_skipped(void **state)
{
	PUT(PERF_RECORD_SAMPLE, 0x401000, 0x1000000010, 99, 0x7f0000001000);
	put(4711, sizeof(struct perf_event_header), NULL);
	PUT(PERF_RECORD_LOST, 7, 1, 8, 8); /* with more behind it, as newer kernels may have */
	expect(0, 0, 1);
}

/* What is no record ends the reading, and not the program. */
static void damage_is_passed(void **state)
{
	static const uint16_t sizes[] = { 0, 4, 12, 250, 65528 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const struct perf_event_header h = { .type = PERF_RECORD_THROTTLE, .size = sizes[i] };

		PUT(PERF_RECORD_THROTTLE, 1000, 7, 7);
		memcpy(&ring[page.data_head / 8 % ARRAY_SIZE(ring)], &h, sizeof(h));
		page.data_head += 64;
		expect(i + 1, 0, 0);
	}
	put(PERF_RECORD_LOST, sizeof(struct perf_event_header), NULL); /* too short for what it should have */
	put(PERF_RECORD_LOST_SAMPLES, sizeof(struct perf_event_header), NULL);
	expect(ARRAY_SIZE(sizes), 0, 0);
	page.data_head += BYTES + 8; /* more than there can be */
	expect(ARRAY_SIZE(sizes), 0, 0);
}

static void sums_add_up(void **state)
{
	struct perf_losses sum = { 1, 2, 3 };

	perf_losses_add(&sum, &(struct perf_losses){ 10, 20, 30 });
	assert_int_equal(sum.throttled, 11);
	assert_int_equal(sum.lost_samples, 22);
	assert_int_equal(sum.lost_records, 33);
}

#define WITH(fn) cmocka_unit_test_setup(fn, begin)
int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(each_kind_is_counted), WITH(a_record_may_wrap), WITH(other_records_are_skipped),
		WITH(damage_is_passed),     WITH(sums_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
