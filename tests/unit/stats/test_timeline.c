/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/timeline.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

#define BEGIN (5 * NSEC_PER_SEC)

static int begin(void **state)
{
	*state = timeline_new(BEGIN);
	return *state ? 0 : -1;
}

static int end(void **state)
{
	timeline_free(*state);
	return 0;
}

static uint64_t sum_of(const uint64_t *values, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum;
}

static void what_happens_is_in_the_bin_of_its_time(void **state)
{
	struct timeline *t = *state;

	timeline_add(t, TIMELINE_READ_BYTES, BEGIN, 3);
	timeline_add(t, TIMELINE_READ_BYTES, BEGIN + TIMELINE_FIRST_BIN_NS - 1, 4);
	timeline_add(t, TIMELINE_READ_BYTES, BEGIN + TIMELINE_FIRST_BIN_NS, 5);
	assert_int_equal(t->sum[TIMELINE_READ_BYTES][0], 7);
	assert_int_equal(t->sum[TIMELINE_READ_BYTES][1], 5);
	assert_int_equal(timeline_bins(t), 2);
}

static void before_the_begin_is_the_first_bin(void **state)
{
	struct timeline *t = *state;

	timeline_add(t, TIMELINE_OPENS, 1, 1);
	timeline_spread(t, TIMELINE_RUN, BEGIN + 10, BEGIN, 1000);
	timeline_busy(t, 7, TIMELINE_B_READ, BEGIN - 1, 100, 100);
	assert_int_equal(t->sum[TIMELINE_OPENS][0], 1);
	assert_int_equal(t->sum[TIMELINE_RUN][0], 1000);
	assert_int_equal(timeline_bins(t), 1);
}

/* However long it gets: nothing is lost, and everything stays in its place. */
static void folding_keeps_sums_and_order(void **state)
{
	struct timeline *t = *state;
	struct timeline_disk *d = timeline_disk(t, "nvme0n1", 7);
	struct timeline_points *p = timeline_points(t, "cpu", "usr", "%");
	uint64_t step = 7777777, n = 20000, heat = 0;
	float busy = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at_ns = BEGIN + i * step;

		timeline_add(t, TIMELINE_READS, at_ns, 1);
		timeline_spread(t, TIMELINE_RUN, at_ns, 3 * step, 1001);
		timeline_latency(t, TIMELINE_H_READ, timeline_bin(t, at_ns), i);
		timeline_busy(t, 1 + i % 3, TIMELINE_B_READ, at_ns, step, step);
		d->sum[TIMELINE_D_READS][timeline_bin(t, at_ns)]++;
		timeline_point(t, p, at_ns, 50);
	}
	assert_true(t->bin_ns > TIMELINE_FIRST_BIN_NS);
	assert_int_equal(t->bin_ns % TIMELINE_FIRST_BIN_NS, 0);
	assert_int_equal(sum_of(t->sum[TIMELINE_READS], TIMELINE_BINS), n);
	assert_int_equal(sum_of(t->sum[TIMELINE_RUN], TIMELINE_BINS), n * 1001);
	assert_int_equal(sum_of(d->sum[TIMELINE_D_READS], TIMELINE_BINS), n);
	for (unsigned int i = 0; i < TIMELINE_BINS; i++) {
		for (unsigned int row = 0; row < TIMELINE_HEAT_ROWS; row++)
			heat += t->heat[TIMELINE_H_READ][i][row];
		if (p->n[i])
			assert_float_equal(p->sum[i] / (float)p->n[i], 50, 0.01);
		/* an even rate stays even, except in the last bin, which is not over */
		if (i + 1 < timeline_bins(t))
			assert_in_range(t->sum[TIMELINE_READS][i], t->bin_ns / step, t->bin_ns / step + 1);
	}
	assert_int_equal(heat, n);
	for (uint64_t pid = 1; pid <= 3; pid++)
		for (unsigned int i = 0; i < TIMELINE_LANE_BINS; i++)
			busy += timeline_lane(t, pid)->busy_ns[TIMELINE_B_READ][i];
	/* the first call began before the trace */
	assert_float_equal(busy / (float)(step * n), 1, 0.001);
}

static void a_span_is_spread_over_its_bins(void **state)
{
	struct timeline *t = *state;

	timeline_spread(t, TIMELINE_SLEEP, BEGIN + 4 * TIMELINE_FIRST_BIN_NS, 4 * TIMELINE_FIRST_BIN_NS, 403);
	for (unsigned int i = 0; i < 4; i++)
		assert_in_range(t->sum[TIMELINE_SLEEP][i], 100, 102);
	assert_int_equal(sum_of(t->sum[TIMELINE_SLEEP], TIMELINE_BINS), 403);
}

static void latencies_are_in_rows_of_powers_of_two(void **state)
{
	struct timeline *t = *state;

	timeline_latency(t, TIMELINE_H_OPEN, timeline_bin(t, BEGIN), 0);
	timeline_latency(t, TIMELINE_H_OPEN, timeline_bin(t, BEGIN), 1);
	timeline_latency(t, TIMELINE_H_OPEN, timeline_bin(t, BEGIN), 1023);
	timeline_latency(t, TIMELINE_H_OPEN, timeline_bin(t, BEGIN), 1024);
	timeline_latency(t, TIMELINE_H_OPEN, timeline_bin(t, BEGIN), UINT64_MAX);
	assert_int_equal(t->heat[TIMELINE_H_OPEN][0][0], 2);
	assert_int_equal(t->heat[TIMELINE_H_OPEN][0][9], 1);
	assert_int_equal(t->heat[TIMELINE_H_OPEN][0][10], 1);
	assert_int_equal(t->heat[TIMELINE_H_OPEN][0][63], 1);
}

/* Where bins are joined, the most of both, and what the later one had at its end. */
static void memory_in_use_stays_until_it_changes(void **state)
{
	static const int64_t values[][2] = {
		{ 0, 10 }, { 0, 40 }, { 0, 30 }, { 1, -5 }, { 3, 7 }, { 4, 9 }
	}; /* bin, bytes */
	struct timeline *t = *state;
	const struct timeline_level *l = &t->in_use;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		timeline_in_use(t, BEGIN + (uint64_t)values[i][0] * TIMELINE_FIRST_BIN_NS + i, values[i][1]);
	assert_true(l->any[0] && l->any[1] && !l->any[2] && l->any[3] && l->any[4]);
	assert_int_equal(l->max[0], 40);
	assert_int_equal(l->last[0], 30);
	timeline_fold(t);
	assert_true(l->any[0] && l->any[1] && l->any[2] && !l->any[3]);
	assert_int_equal(l->max[0], 40);
	assert_int_equal(l->last[0], -5);
	assert_int_equal(l->max[1], 7);
	assert_int_equal(l->last[1], 7);
	assert_int_equal(l->last[2], 9);
	assert_false(l->any[TIMELINE_BINS - 1]);
}

/* With the time of each, whatever happens to bins. */
static void the_longest_calls_of_a_process_are_kept(void **state)
{
	struct timeline *t = *state;
	const struct timeline_lane *l;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 10 * TIMELINE_LONGEST; i++) {
		uint64_t ns = 1000 + i * 7919 % (10 * TIMELINE_LONGEST);

		timeline_busy(t, 7, TIMELINE_B_READ, BEGIN + (i + 1) * 1000000, ns, ns);
	}
	timeline_busy(t, 7, TIMELINE_B_CPU, BEGIN + NSEC_PER_SEC, NSEC_PER_SEC, NSEC_PER_SEC);
	timeline_fold(t);
	l = timeline_lane(t, 7);
	assert_int_equal(l->n_longest, TIMELINE_LONGEST);
	for (unsigned int i = 0; i < l->n_longest; i++) {
		const struct timeline_span *s = &l->longest[i];

		/* 7919 is a prime: each length has come once */
		assert_in_range(s->ns, 1000 + 9 * TIMELINE_LONGEST, 1000 + 10 * TIMELINE_LONGEST - 1);
		assert_int_equal((s->from_ns + s->ns) % 1000000, 0);
		assert_int_equal(s->what, TIMELINE_B_READ);
		sum += s->ns - 1000 - 9 * TIMELINE_LONGEST;
	}
	assert_int_equal(sum, TIMELINE_LONGEST * (TIMELINE_LONGEST - 1) / 2);
}

/* Of each kind in each bin, also when two bins become one. */
static void the_longest_calls_of_a_bin_are_kept(void **state)
{
	struct timeline *t = *state;
	const struct timeline_events *events = t->events[TIMELINE_H_READ];

	for (uint64_t i = 0; i < 2 * TIMELINE_EVENTS; i++)
		for (unsigned int bin = 0; bin < 4; bin++) {
			const uint64_t at_ns = BEGIN + bin * TIMELINE_FIRST_BIN_NS + 500000 + i,
				       ns = 1000 + 100 * bin + i * 7 % (2 * TIMELINE_EVENTS);

			timeline_latency(t, TIMELINE_H_READ, bin, ns);
			timeline_event(t, TIMELINE_H_READ, timeline_bin(t, at_ns), at_ns, ns, 7 + bin);
		}
	for (unsigned int bin = 0; bin < 4; bin++) {
		assert_int_equal(events[bin].n, TIMELINE_EVENTS);
		for (uint32_t i = 0; i < TIMELINE_EVENTS; i++) {
			/* 7 and 32 have no common divisor: each length has come once */
			assert_int_equal(events[bin].v[i].ns, 1000 + 100 * bin + 2 * TIMELINE_EVENTS - 1 - i);
			assert_int_equal(events[bin].v[i].pid, 7 + bin);
			assert_int_equal((events[bin].v[i].from_ns + events[bin].v[i].ns) / TIMELINE_FIRST_BIN_NS, bin);
		}
	}
	/* one that began before the timeline is no bar of it */
	timeline_event(t, TIMELINE_H_READ, 0, BEGIN + 10, 5000, 7);
	assert_int_equal(events[0].v[0].ns, 1000 + 2 * TIMELINE_EVENTS - 1);
	assert_int_equal(t->events[TIMELINE_H_WRITE][0].n, 0);
	timeline_fold(t);
	for (unsigned int bin = 0; bin < 2; bin++) {
		assert_int_equal(events[bin].n, TIMELINE_EVENTS);
		for (uint32_t i = 0; i < TIMELINE_EVENTS; i++)
			assert_int_equal(events[bin].v[i].pid, 7 + 2 * bin + 1); /* all of the second are longer */
	}
	assert_int_equal(events[2].n, 0);
}

static void what_finds_no_room_is_counted(void **state)
{
	struct timeline *t = *state;

	for (uint64_t pid = 1; pid <= TIMELINE_LANES_MAX + 5; pid++)
		timeline_busy(t, pid, TIMELINE_B_OPEN, BEGIN + 1000, 10, 10);
	assert_int_equal(t->lanes_left_out, 5);
	for (unsigned int i = 0; i < TIMELINE_DISKS_MAX; i++) {
		char name[16];

		assert_non_null(timeline_disk(t, name, (size_t)snprintf(name, sizeof(name), "loop%u", i)));
	}
	assert_null(timeline_disk(t, "one", 3));
}

static void without_a_begin_it_is_the_first_thing_added(void **state)
{
	struct timeline *t = timeline_new(0);

	assert_non_null(t);
	timeline_add(t, TIMELINE_OPENS, BEGIN, 1);
	assert_int_equal(t->begin_ns, BEGIN);
	assert_int_equal(timeline_bins(t), 1);
	timeline_free(t);
}

/* A bin of which the trace covers little has no larger rate than its neighbor: one read in its last moment is no spike.
 */
static void rates_are_of_what_the_trace_covers(void **state)
{
	const uint64_t bin = TIMELINE_FIRST_BIN_NS;
	struct timeline *t = *state;
	const uint64_t *reads = t->sum[TIMELINE_READS];

	for (unsigned int i = 0; i < 100; i++)
		timeline_add(t, TIMELINE_READS, BEGIN + i * bin / 10, 1);
	timeline_add(t, TIMELINE_READS, BEGIN + 10 * bin + bin / 100, 1);
	assert_int_equal(timeline_bins(t), 11);
	assert_float_equal(timeline_rate(t, reads, 8), 10000, 0.001);
	/* 11 in 1.01 ms */
	assert_float_equal(timeline_rate(t, reads, 9), 11 / 1.01e-3, 0.001);
	assert_float_equal(timeline_rate(t, reads, 10), 11 / 1.01e-3, 0.001);
	/* half of a bin is enough for its own rate: 6 in 0.6 ms */
	for (unsigned int i = 1; i < 6; i++)
		timeline_add(t, TIMELINE_READS, BEGIN + 10 * bin + (i + 1) * bin / 10, 1);
	assert_float_equal(timeline_rate(t, reads, 9), 10000, 0.001);
	assert_float_equal(timeline_rate(t, reads, 10), 10000, 0.001);
	/* on one of several hosts, which began and ended within bins */
	t->host = "node2";
	t->host_begin_ns = BEGIN + 2 * bin - bin / 5;
	t->host_end_ns = BEGIN + 8 * bin + bin / 2;
	assert_true(isnan(timeline_rate(t, reads, 0)));
	assert_float_equal(timeline_rate(t, reads, 1), 20 / 1.2e-3, 0.001);
	assert_float_equal(timeline_rate(t, reads, 2), 20 / 1.2e-3, 0.001);
	assert_float_equal(timeline_rate(t, reads, 3), 10000, 0.001);
	assert_float_equal(timeline_rate(t, reads, 8), 20000, 0.001);
	assert_true(isnan(timeline_rate(t, reads, 9)));
}

/* 10 s and 3 s: bins of the longer one's length, the shorter has some that are empty; no sum changes. */
static void timelines_on_one_axis_have_equal_bins(void **state)
{
	struct timeline *all[] = { timeline_new(BEGIN), timeline_new(7) };

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		timeline_add(all[0], TIMELINE_READS, BEGIN + i * NSEC_PER_SEC / 100, 1);
		timeline_add(all[1], TIMELINE_READS, 7 + i * 3 * NSEC_PER_MSEC, 1);
	}
	assert_int_not_equal(all[0]->bin_ns, all[1]->bin_ns);
	timeline_align(all, 2);
	assert_int_equal(all[0]->bin_ns, all[1]->bin_ns);
	assert_int_equal(timeline_bins(all[0]), timeline_bins(all[1]));
	assert_int_equal(all[1]->end_ns, 7 + 999 * NSEC_PER_SEC / 100);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(sum_of(all[i]->sum[TIMELINE_READS], TIMELINE_BINS), 1000);
		timeline_free(all[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_happens_is_in_the_bin_of_its_time, begin, end),
		cmocka_unit_test_setup_teardown(before_the_begin_is_the_first_bin, begin, end),
		cmocka_unit_test_setup_teardown(folding_keeps_sums_and_order, begin, end),
		cmocka_unit_test_setup_teardown(memory_in_use_stays_until_it_changes, begin, end),
		cmocka_unit_test_setup_teardown(a_span_is_spread_over_its_bins, begin, end),
		cmocka_unit_test_setup_teardown(latencies_are_in_rows_of_powers_of_two, begin, end),
		cmocka_unit_test_setup_teardown(the_longest_calls_of_a_process_are_kept, begin, end),
		cmocka_unit_test_setup_teardown(the_longest_calls_of_a_bin_are_kept, begin, end),
		cmocka_unit_test_setup_teardown(what_finds_no_room_is_counted, begin, end),
		cmocka_unit_test_setup_teardown(rates_are_of_what_the_trace_covers, begin, end),
		cmocka_unit_test(without_a_begin_it_is_the_first_thing_added),
		cmocka_unit_test(timelines_on_one_axis_have_equal_bins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
