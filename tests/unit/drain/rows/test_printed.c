/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines out of what several processes write, piece by piece: which become rows, with what time, and in what order. */
#include "drain/rows/printed.h"

#include <inttypes.h>
#include <stdio.h>

#include "drain/rows/stage.h"
#include "records.h"

#define PIPE 5
#define TERMINAL 6
#define MS NSEC_PER_MSEC

/* PID writes to FD, the file INO, at AT_MS; LEN of BYTES bytes arrive by the ring. */
static void writes_part(uint32_t pid, uint32_t fd, uint64_t ino, uint32_t at_ms, const char *text, size_t len,
			size_t bytes)
{
	struct dlt_printed *rec = rec_begin(DLT_printed);

	rec->hdr.ts_ns = START_NS + at_ms * MS;
	rec->hdr.tgid = pid;
	rec->hdr.tid = pid;
	rec->fd = fd;
	rec->id = id_of(ino);
	rec->mode = ino == PIPE ? S_IFIFO : S_IFREG;
	rec->bytes = (uint32_t)bytes;
	memcpy(rec + 1, text, len);
	record.hdr.size += (uint32_t)len;
	rec_emit();
}

static void writes(uint32_t pid, uint32_t fd, uint32_t at_ms, const char *text)
{
	writes_part(pid, fd, TERMINAL, at_ms, text, strlen(text), strlen(text));
}

/* Expects the rows, each as "MS PID FD TEXT". */
static void expect_printed(const char *want)
{
	autofree char *got = NULL, *rows = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);
	char *line, *rest;

	printed_stage.step(&decode);
	rows = rows_of(DLT_printed);
	for (line = strtok_r(rows, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char text[8192];
		uint64_t ns;
		unsigned int pid, fd;

		assert_int_equal(sscanf(line, "%" SCNu64 "\t%*s\t%u\t%*s\t%*s\t%u\t%8191s", &ns, &pid, &fd, text), 4);
		fprintf(out, "%" PRIu64 " %u %u %s\n", (uint64_t)((ns - START_NS) / MS), pid, fd, text);
	}
	fclose(out);
	assert_string_equal(got, want);
	assert_int_equal(decode.sinks[DLT_printed].late, 0);
}

static uint64_t filtered(void)
{
	return decode.counts[DLT_printed].filtered;
}

static uint64_t unread(void)
{
	return decode.counts[DLT_printed].unread;
}

static int make(void **state)
{
	return decoder_make(state) < 0 || printed_stage.open(&decode) < 0;
}

static int make_with_a_rule(void **state)
{
	int r = decoder_make(state);

	config.phases = (struct config_list){ .items = { "iteration ([0-9]+)=step \\1" }, .n = 1 };
	return r || printed_stage.open(&decode) < 0;
}

static void lines_of_phases_are_rows(void **state)
{
	writes(7, 1, 1, "loading\nepoch 0: loss 1.5\nEpoch 1 finished\nnothing\n");
	writes(7, 2, 2,
	       ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1, \"event_type\": \"INTERVAL_START\", \"key\": \"init_start\"}\n");
	writes(7, 1, 3, "the end\n");
	expect_printed(
		"1 7 1 epoch\\0400:\\040loss\\0401.5\n"
		"1 7 1 Epoch\\0401\\040finished\n"
		"2 7 2 :::MLLOG\\040{\\042namespace\\042:\\040\\042\\042,\\040\\042time_ms\\042:\\0401,\\040"
		"\\042event_type\\042:\\040\\042INTERVAL_START\\042,\\040\\042key\\042:\\040\\042init_start\\042}\n");
	assert_int_equal(filtered() + unread(), 0);
	assert_int_equal(decode.counts[DLT_printed].lines, 6);
}

/* Python's unbuffered print() writes the newline separately; the line was there before. */
static void a_line_has_the_time_of_its_last_byte(void **state)
{
	writes(7, 1, 10, "ep");
	writes(7, 1, 20, "och 3");
	writes(7, 1, 30, ": loss");
	writes(7, 1, 40, " 0.5");
	writes(7, 1, 90, "\n");
	expect_printed("40 7 1 epoch\\0403:\\040loss\\0400.5\n");
}

static void lines_of_two_processes_and_descriptors_do_not_mix(void **state)
{
	writes(7, 1, 1, "epoch 1");
	writes(8, 1, 2, "epoch 2");
	writes(7, 2, 3, "epoch 3");
	writes(8, 1, 4, ": loss 2\n");
	writes(7, 2, 5, ": loss 3\n");
	writes(7, 1, 6, ": loss 1\n");
	expect_printed("4 8 1 epoch\\0402:\\040loss\\0402\n"
		       "5 7 2 epoch\\0403:\\040loss\\0403\n"
		       "6 7 1 epoch\\0401:\\040loss\\0401\n");
}

/* 101 states of a bar, 10 ms apart; nothing ends the last one. */
static void of_a_bar_the_first_the_last_and_some_between_are_kept(void **state)
{
	for (uint32_t i = 0; i <= 100; i++) {
		char text[64];

		snprintf(text, sizeof(text), "\rEpoch 4: %3u%%|#| %u/100 [00:00<00:01,  9.00it/s]", i, i);
		writes(7, 2, 10 * i, text);
	}
	expect_printed("0 7 2 Epoch\\0404:\\040\\040\\0400%|\\043|\\0400/100\\040[00:00<00:01,\\040\\0409.00it/s]\n"
		       "250 7 2 Epoch\\0404:\\040\\04025%|\\043|\\04025/100\\040[00:00<00:01,\\040\\0409.00it/s]\n"
		       "500 7 2 Epoch\\0404:\\040\\04050%|\\043|\\04050/100\\040[00:00<00:01,\\040\\0409.00it/s]\n"
		       "750 7 2 Epoch\\0404:\\040\\04075%|\\043|\\04075/100\\040[00:00<00:01,\\040\\0409.00it/s]\n"
		       "1000 7 2 Epoch\\0404:\\040100%|\\043|\\040100/100\\040[00:00<00:01,\\040\\0409.00it/s]\n");
	assert_int_equal(filtered(), 101 - 5);
}

/* The end of the first bar is kept, too, however soon the next begins. */
static void a_bar_that_begins_anew_is_another(void **state)
{
	writes(7, 2, 0, "\r 1/2 [==>...] - 0s 60ms/step");
	writes(7, 2, 10, "\r2/2 [======] - 0s 60ms/step\n");
	writes(7, 2, 20, "\r 1/2 [==>...] - 0s 60ms/step");
	writes(7, 2, 30, "\r2/2 [======] - 0s 60ms/step\n");
	expect_printed("0 7 2 \\0401/2\\040[==>...]\\040-\\0400s\\04060ms/step\n"
		       "10 7 2 2/2\\040[======]\\040-\\0400s\\04060ms/step\n"
		       "20 7 2 \\0401/2\\040[==>...]\\040-\\0400s\\04060ms/step\n"
		       "30 7 2 2/2\\040[======]\\040-\\0400s\\04060ms/step\n");
	assert_int_equal(filtered(), 0);
}

static void a_line_without_an_end_is_a_row_once_it_stands_still(void **state)
{
	autofree char *none = NULL, *rows = NULL;

	writes(7, 1, 0, "Epoch 1/3");
	printed_stage.turn(&decode, START_NS + 400 * MS);
	printed_stage.turn(&decode, START_NS + 600 * MS);
	none = rows_of(DLT_printed);
	assert_string_equal(none, ""); /* it waits */
	printed_stage.turn(&decode, START_NS + 1100 * MS);
	rows = rows_of(DLT_printed);
	assert_non_null(strstr(rows, "Epoch\\0401/3\n"));
	writes(7, 1, 5000, "\n"); /* nothing more */
	writes(7, 1, 6000, "Epoch 2/3\n");
	expect_printed("0 7 1 Epoch\\0401/3\n6000 7 1 Epoch\\0402/3\n");
}

/* The line of 7 is examined when it ends, or has stood still; those of 8 come in the meantime. */
static void rows_are_in_order_of_time(void **state)
{
	writes(7, 1, 0, "Epoch 1/3");
	for (uint32_t i = 0; i < 40; i++) {
		char text[32];

		snprintf(text, sizeof(text), "Epoch %u finished\n", i);
		writes(8, 1, 1 + 100 * i, text);
		printed_stage.turn(&decode, START_NS + (1 + 100ULL * i) * MS);
	}
	printed_stage.step(&decode);
	assert_int_equal(decode.sinks[DLT_printed].rows + decode.sinks[DLT_printed].rows_buffered, 41);
	assert_int_equal(decode.sinks[DLT_printed].late, 0);
}

static void skipped_text_joins_nothing(void **state)
{
	struct dlt_printed *rec;

	writes(7, 1, 0, "epoch 1: lo");
	rec = rec_begin(DLT_printed);
	rec->hdr.ts_ns = START_NS + MS;
	rec->hdr.tgid = rec->hdr.tid = 7;
	rec->fd = 1;
	rec->id = id_of(TERMINAL);
	rec->gaps = 1;
	rec->bytes = 18;
	memcpy(rec + 1, "ss\nepoch 2: loss\n\n", 18);
	record.hdr.size += 18;
	rec_emit();
	expect_printed("1 7 1 epoch\\0402:\\040loss\n");
}

static void a_write_that_is_cut_is_counted_and_joins_nothing(void **state)
{
	writes_part(7, 1, TERMINAL, 0, "epoch 1: loss\nepoch 2: lo", 25, 9000);
	writes(7, 1, 1, "epoch 3: loss\n");
	expect_printed("0 7 1 epoch\\0401:\\040loss\n1 7 1 epoch\\0403:\\040loss\n");
	assert_int_equal(unread(), 1);
}

static void a_line_that_never_ends_takes_no_memory(void **state)
{
	char junk[8192];

	memset(junk, 'x', sizeof(junk));
	for (uint32_t i = 0; i < 400; i++)
		writes_part(7, 1, TERMINAL, i, junk, sizeof(junk), sizeof(junk));
	writes(7, 1, 5000, " epoch 1: loss 1\nepoch 2: loss 1\n");
	expect_printed("5000 7 1 epoch\\0402:\\040loss\\0401\n");
}

static void a_long_line_is_known_by_its_begin(void **state)
{
	char line[5000];

	memset(line, '.', sizeof(line));
	line[snprintf(line, sizeof(line), "Epoch 1 finished")] = '.';
	writes_part(7, 1, TERMINAL, 1, line, sizeof(line), sizeof(line));
	writes(7, 1, 2, "\n");
	printed_stage.step(&decode);
	assert_int_equal(decode.sinks[DLT_printed].rows_buffered, 1);
}

/* tee writes what it has read from a pipe; ranks of a job write equal lines to one file. */
static void what_another_process_passes_on_is_no_line_of_its_own(void **state)
{
	static const char line[] = "Starting epoch 1\n";

	writes_part(7, 1, PIPE, 0, line, strlen(line), strlen(line));
	writes_part(8, 1, TERMINAL, 1, line, strlen(line), strlen(line));
	writes_part(9, 1, PIPE, 2, line, strlen(line), strlen(line));
	writes_part(7, 1, PIPE, 11000, line, strlen(line), strlen(line));
	expect_printed(
		"0 7 1 Starting\\040epoch\\0401\n2 9 1 Starting\\040epoch\\0401\n11000 7 1 Starting\\040epoch\\0401\n");
	assert_int_equal(filtered(), 1);
}

static void lines_that_the_users_rule_matches_are_rows(void **state)
{
	writes(7, 1, 1, "iteration 5 of no phase otherwise\niteration none\nepoch 1: loss\n");
	expect_printed("1 7 1 iteration\\0405\\040of\\040no\\040phase\\040otherwise\n1 7 1 epoch\\0401:\\040loss\n");
}

static void each_of_many_processes_has_its_line(void **state)
{
	const uint32_t n = 2000;

	for (uint32_t i = 0; i < n; i++) {
		char text[32];

		snprintf(text, sizeof(text), "Epoch %u finished", i);
		writes(1000 + i, 1, 3 * i, text);
		printed_stage.turn(&decode, START_NS + 3ULL * i * MS);
	}
	printed_stage.step(&decode);
	assert_int_equal(decode.sinks[DLT_printed].rows + decode.sinks[DLT_printed].rows_buffered, n);
	assert_int_equal(decode.sinks[DLT_printed].late, 0);
}

static void more_than_can_be_looked_at_is_counted(void **state)
{
	char junk[8192];

	memset(junk, '\n', sizeof(junk));
	for (uint32_t i = 0; i < 1000; i++) /* 8 MB at a time */
		writes_part(7, 1, TERMINAL, 1, junk, sizeof(junk), sizeof(junk));
	assert_in_range(unread(), 400, 600);
	writes(7, 1, 2000, "epoch 1: loss\n");
	expect_printed("2000 7 1 epoch\\0401:\\040loss\n");
}

static void rows_are_no_more_than_can_be_read(void **state)
{
	for (uint32_t i = 0; i < 5000; i++) {
		char text[32];

		snprintf(text, sizeof(text), "Epoch %u finished\n", i);
		writes(7, 1, i / 100, text);
	}
	printed_stage.step(&decode);
	assert_int_equal(decode.sinks[DLT_printed].rows + decode.sinks[DLT_printed].rows_buffered + unread(), 5000);
	assert_int_equal(unread(), 4000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, make, decoder_remove)
		TEST(lines_of_phases_are_rows),
		TEST(a_line_has_the_time_of_its_last_byte),
		TEST(lines_of_two_processes_and_descriptors_do_not_mix),
		TEST(of_a_bar_the_first_the_last_and_some_between_are_kept),
		TEST(a_bar_that_begins_anew_is_another),
		TEST(a_line_without_an_end_is_a_row_once_it_stands_still),
		TEST(rows_are_in_order_of_time),
		TEST(skipped_text_joins_nothing),
		TEST(a_write_that_is_cut_is_counted_and_joins_nothing),
		TEST(a_line_that_never_ends_takes_no_memory),
		TEST(a_long_line_is_known_by_its_begin),
		TEST(what_another_process_passes_on_is_no_line_of_its_own),
		TEST(each_of_many_processes_has_its_line),
		cmocka_unit_test_setup_teardown(lines_that_the_users_rule_matches_are_rows, make_with_a_rule,
						decoder_remove),
		TEST(more_than_can_be_looked_at_is_counted),
		TEST(rows_are_no_more_than_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
