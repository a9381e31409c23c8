/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/phases/saves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/util.h"

#define MS NSEC_PER_MSEC
#define BEGIN (1000 * NSEC_PER_SEC)

/* Writes a file of MIB MiB, MS_EACH for each, from its open at MS on. Returns when the last one was written. */
static uint64_t write_file(struct phase_saves *s, uint64_t fid, uint64_t ms, unsigned int mib, uint64_t ms_each)
{
	for (unsigned int i = 0; i < mib; i++) {
		ms += ms_each;
		phase_saves_write(s, fid, BEGIN + ms * MS, ms_each * MS, 1 << 20);
	}
	return ms;
}

static void mark(struct phase_saves *s, uint64_t fid, enum phase_save_mark what, uint64_t from_ms, uint64_t to_ms)
{
	phase_saves_mark(s, fid, what, BEGIN + to_ms * MS, (to_ms - from_ms) * MS);
}

/* Expects "BEGIN-END" in ms, in a trace of so many SECONDS. */
static void expect(struct phase_saves *s, uint64_t seconds, const char *want)
{
	char text[1024] = "";
	size_t len = 0;
	uint32_t n;
	struct phase_save *v = phase_saves_find(s, BEGIN, BEGIN + seconds * NSEC_PER_SEC, &n);

	for (uint32_t i = 0; i < n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.10g-%.10g", i ? " " : "",
					(double)(v[i].begin_ns - BEGIN) / MS, (double)(v[i].end_ns - BEGIN) / MS);
	assert_string_equal(text, want);
	free(v);
	phase_saves_free(s);
}

/* Opened, written, synced, renamed: the rows come file by file of the trace, closes first. */
static void a_checkpoint_is_from_the_open_to_the_rename(void **state)
{
	struct phase_saves *s = phase_saves_new();

	mark(s, 7, PHASE_FLUSHED, 2610, 2611); /* rename */
	mark(s, 7, PHASE_OPENED, 1990, 2000);
	mark(s, 7, PHASE_FLUSHED, 2320, 2600); /* fsync */
	write_file(s, 7, 2005, 30, 10);
	expect(s, 20, "1990-2611");
}

/* Five checkpoints of two files each, 2 s apart. */
static void checkpoints_are_kept_apart(void **state)
{
	struct phase_saves *s = phase_saves_new();

	for (uint64_t i = 0; i < 5; i++) {
		mark(s, 10 + 2 * i, PHASE_OPENED, 2000 * i, 2000 * i + 1);
		mark(s, 11 + 2 * i, PHASE_OPENED, 2000 * i + 175, 2000 * i + 176);
	}
	for (uint64_t i = 0; i < 5; i++) {
		write_file(s, 10 + 2 * i, 2000 * i + 1, 17, 10);
		write_file(s, 11 + 2 * i, 2000 * i + 176, 17, 10);
	}
	expect(s, 10, "0-346 2000-2346 4000-4346 6000-6346 8000-8346");
}

/* Each rank writes its own, at the same time. */
static void files_that_are_written_together_are_one(void **state)
{
	struct phase_saves *s = phase_saves_new();

	for (uint64_t fid = 1; fid <= 8; fid++)
		mark(s, fid, PHASE_OPENED, 3000, 3001);
	for (uint64_t fid = 1; fid <= 8; fid++)
		write_file(s, fid, 3001 + 10 * fid, 4, 100);
	expect(s, 20, "3000-3481");
}

/* Tensors come from a GPU: the pause is within one open file; the file may also be another one. */
static void a_pause_within_a_file_is_of_it(void **state)
{
	struct phase_saves *s = phase_saves_new();

	mark(s, 1, PHASE_OPENED, 2000, 2001);
	write_file(s, 1, 2001, 20, 10);
	write_file(s, 1, 3200, 20, 10);
	expect(s, 60, "2000-3400");
	s = phase_saves_new();
	mark(s, 1, PHASE_OPENED, 2000, 2001);
	mark(s, 1, PHASE_FLUSHED, 2201, 2210);
	mark(s, 1, PHASE_OPENED, 3190, 3200); /* written over */
	write_file(s, 1, 2001, 20, 10);
	write_file(s, 1, 3200, 20, 10);
	expect(s, 60, "2000-2210 3190-3400");
}

static void a_sync_of_another_time_is_none_of_it(void **state)
{
	struct phase_saves *s = phase_saves_new();

	mark(s, 1, PHASE_OPENED, 2000, 2001);
	mark(s, 1, PHASE_FLUSHED, 2900, 3000);
	mark(s, 2, PHASE_FLUSHED, 2210, 2400); /* another file's */
	write_file(s, 1, 2001, 20, 10);
	expect(s, 60, "2000-2201");
}

/* Not checkpoints: small files, a log that is open from begin to end, files that are written all the time. */
static void what_is_no_checkpoint_is_none(void **state)
{
	struct phase_saves *s = phase_saves_new();

	mark(s, 1, PHASE_OPENED, 2000, 2001);
	write_file(s, 1, 2001, 15, 1);
	mark(s, 2, PHASE_OPENED, 0, 1);
	write_file(s, 2, 1, 199, 100); /* 200 MiB in 20 s */
	write_file(s, 3, 1, 40, 100); /* opened before the trace: writes like any other */
	expect(s, 20, "");
}

/* Opened before the trace, but the writes stand out. */
static void what_stands_out_is_one_without_an_open(void **state)
{
	struct phase_saves *s = phase_saves_new();

	write_file(s, 1, 5000, 100, 5);
	expect(s, 20, "5000-5500");
}

/* Lines for a day, and a checkpoint at the end. */
static void logs_take_no_room(void **state)
{
	struct phase_saves *s = phase_saves_new();

	mark(s, 1, PHASE_OPENED, 86400000, 86400001);
	for (uint64_t i = 0; i < 4 * PHASE_SAVES_MAX; i++)
		phase_saves_write(s, 2 + i % 4, BEGIN + i * 600 * MS, 1000, 100);
	write_file(s, 1, 86400001, 20, 10);
	expect(s, 90000, "86400000-86400201");
}

static void too_many_are_left_out(void **state)
{
	struct phase_saves *s = phase_saves_new();
	uint32_t n;

	for (uint64_t i = 0; i < PHASE_SAVES_MAX + 100; i++) {
		phase_saves_mark(s, i + 1, PHASE_OPENED, BEGIN + i, 0);
		phase_saves_write(s, i + 1, BEGIN + i, UINT64_MAX, UINT64_MAX);
	}
	free(phase_saves_find(s, BEGIN, BEGIN, &n));
	phase_saves_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_checkpoint_is_from_the_open_to_the_rename),
		cmocka_unit_test(checkpoints_are_kept_apart),
		cmocka_unit_test(files_that_are_written_together_are_one),
		cmocka_unit_test(a_pause_within_a_file_is_of_it),
		cmocka_unit_test(a_sync_of_another_time_is_none_of_it),
		cmocka_unit_test(what_is_no_checkpoint_is_none),
		cmocka_unit_test(what_stands_out_is_one_without_an_open),
		cmocka_unit_test(logs_take_no_room),
		cmocka_unit_test(too_many_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
