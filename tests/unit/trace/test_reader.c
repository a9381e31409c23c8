/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "trace/pack.h"
#include "trace/probe.h"
#include "trace/window.h"
#include "temp.h"

#define FILE_NAME "x.out"
#define HEADER "# dltraced x 1\nTIMESTAMP\tA\tB\n"

static char dir[TEMP_MAX];
static int dirfd;
static struct reader r;
static struct reader_row row;

static int make_dir(void **state)
{
	temp_template(dir, "test_reader");
	if (!mkdtemp(dir))
		return -1;
	dirfd = open(dir, O_DIRECTORY | O_CLOEXEC);
	return dirfd < 0 ? -1 : 0;
}

static int remove_one(void *ctx, const char *name)
{
	if (name[0] != '.')
		unlinkat(dirfd, name, 0);
	return 0;
}

static int remove_dir(void **state)
{
	reader_close(&r);
	segment_each_entry(dirfd, remove_one, NULL);
	close(dirfd);
	return rmdir(dir);
}

static void append_to(const char *file, const char *text, size_t len)
{
	autoclose int fd = openat(dirfd, file, O_WRONLY | O_CREAT | O_APPEND, 0600);

	assert_true(fd >= 0);
	assert_int_equal(util_write_all(fd, text, len), 0);
}

static void append(const char *text, size_t len)
{
	append_to(FILE_NAME, text, len);
}

static int open_text(const char *text)
{
	append(text, strlen(text));
	return reader_open(&r, dirfd, FILE_NAME);
}

static void assert_field(const char *column, const char *want)
{
	struct reader_field f = reader_field(&row, reader_column(&r, column));

	assert_int_equal(f.len, strlen(want));
	assert_memory_equal(f.p, want, f.len);
}

static void columns_are_found_by_name(void **state)
{
	assert_int_equal(open_text("# dltraced x 7 some=more words\nTIMESTAMP\tNEW\tB\tA\n"
				   "1\tn\tbee\t\\040\n"),
			 0);
	assert_string_equal(r.name, "x");
	assert_int_equal(r.schema, 7);
	assert_int_equal(reader_next(&r, &row), 1);
	assert_field("TIMESTAMP", "1");
	assert_field("A", "\\040");
	assert_field("B", "bee");
	assert_field("NOT_THERE", "-");
	assert_int_equal(reader_next(&r, &row), 0);
	assert_int_equal(r.rows, 1);
	assert_false(r.cut);
}

static void comments_and_further_fields_are_no_trouble(void **state)
{
	assert_int_equal(open_text(HEADER "# comment\n1\ta\tb\tc\td\n# end\n2\t-\t?\n"), 0);
	assert_int_equal(reader_next(&r, &row), 1);
	assert_field("B", "b");
	assert_int_equal(reader_next(&r, &row), 1);
	assert_field("A", "-");
	assert_field("B", "?");
	assert_int_equal(reader_next(&r, &row), 0);
	assert_int_equal(r.bad_rows, 0);
}

/* All rows are read before any is compared. */
static void rows_in_the_buffer_stay_valid(void **state)
{
	struct reader_row rows[4];

	assert_int_equal(open_text("# dltraced x 1\nA\tB\n1\t2\n3\nlonely\n4\t5\n6\t7\n# c\n8\t9\n1"), 0);
	assert_int_equal(reader_next_rows(&r, rows, 3), 3);
	assert_int_equal(r.bad_rows, 2);
	assert_true(reader_is(reader_field(&rows[0], 1), "1") && reader_is(reader_field(&rows[0], 2), "2"));
	assert_true(reader_is(reader_field(&rows[1], 1), "4") && reader_is(reader_field(&rows[1], 2), "5"));
	assert_true(reader_is(reader_field(&rows[2], 1), "6") && reader_is(reader_field(&rows[2], 2), "7"));
	assert_int_equal(reader_next_rows(&r, rows, 4), 1); /* without its end it is not a row */
	assert_true(reader_is(reader_field(&rows[0], 2), "9"));
	assert_int_equal(reader_next_rows(&r, rows, 4), 0);
	assert_int_equal(reader_next(&r, &row), 0);
	assert_true(r.cut);
	assert_int_equal(r.rows, 4);
	reader_close(&r);
}

static void short_rows_are_counted_and_passed_over(void **state)
{
	assert_int_equal(open_text(HEADER "1\ta\n\n2\ta\tb\n"), 0);
	assert_int_equal(reader_next(&r, &row), 1);
	assert_field("TIMESTAMP", "2");
	assert_int_equal(reader_next(&r, &row), 0);
	assert_int_equal(r.bad_rows, 2);
}

/* A hole may begin and end in the same column: two rows then look like one complete row. */
static void rows_around_lost_blocks_are_no_rows(void **state)
{
	static const char text[] = HEADER "1\ta\tb\n2\ta\0\0\0\0z\tb\n3\ta\tb\n";

	append(text, sizeof(text) - 1);
	assert_int_equal(reader_open(&r, dirfd, FILE_NAME), 0);
	assert_int_equal(reader_next(&r, &row), 1);
	assert_field("TIMESTAMP", "1");
	assert_int_equal(reader_next(&r, &row), 1);
	assert_field("TIMESTAMP", "3");
	assert_int_equal(reader_next(&r, &row), 0);
	assert_int_equal(r.bad_rows, 1);
}

static void cut_last_row_is_left_out_and_noted(void **state)
{
	assert_int_equal(open_text(HEADER "1\ta\tb\n2\ta\tb"), 0);
	assert_int_equal(reader_next(&r, &row), 1);
	assert_int_equal(reader_next(&r, &row), 0);
	assert_int_equal(reader_next(&r, &row), 0);
	assert_int_equal(r.rows, 1);
	assert_true(r.cut);
}

/* As after a crash, where blocks were allocated and not written. */
static void zeroes_at_the_end_are_a_cut_row(void **state)
{
	char zeroes[5000] = { 0 };

	append(HEADER "1\ta\tb\n", strlen(HEADER "1\ta\tb\n"));
	append(zeroes, sizeof(zeroes));
	assert_int_equal(reader_open(&r, dirfd, FILE_NAME), 0);
	assert_int_equal(reader_next(&r, &row), 1);
	assert_int_equal(reader_next(&r, &row), 0);
	assert_true(r.cut);
}

static void growing_file_ends_where_it_ended_when_opened(void **state)
{
	assert_int_equal(open_text(HEADER "1\ta\tb\n"), 0);
	append("2\ta\tb\n", 6);
	assert_int_equal(reader_next(&r, &row), 1);
	assert_int_equal(reader_next(&r, &row), 0);
	assert_false(r.cut);
}

static void header_that_is_not_there_yet(void **state)
{
	static const char *const texts[] = {
		"",
		"# dltr",
		"# dltraced x 1\n",
		"# dltraced x 1\nTIM",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(open_text(texts[i]), -ENODATA);
		unlinkat(dirfd, FILE_NAME, 0);
	}
}

static void what_is_no_trace_file_is_refused(void **state)
{
	assert_int_equal(reader_open(&r, dirfd, FILE_NAME), -ENOENT);
	assert_int_equal(open_text("hello\nworld\n"), -EBADMSG);
	unlinkat(dirfd, FILE_NAME, 0);
	/* nor does it wait for a FIFO */
	assert_int_equal(mkfifoat(dirfd, FILE_NAME, 0600), 0);
	assert_int_equal(reader_open(&r, dirfd, FILE_NAME), -EBADMSG);
}

static struct reader_field field_end(struct reader_field f, size_t len)
{
	len = MIN(len, f.len);
	return (struct reader_field){ f.p + f.len - len, len };
}

/* Rows of odd lengths, so that they meet the end of the buffer at every place. */
static void rows_across_the_buffers_end_are_whole(void **state)
{
	static char text[3 * READER_BUFFER_BYTES];
	uint64_t n = 0, number;
	size_t len;

	len = (size_t)snprintf(text, sizeof(text), HEADER);
	while (len + 300 < sizeof(text)) {
		len += (size_t)sprintf(text + len, "%u\t%0*u\tb\n", (unsigned int)n, (int)(1 + n % 251),
				       (unsigned int)n);
		n++;
	}
	append(text, len);
	assert_int_equal(reader_open(&r, dirfd, FILE_NAME), 0);
	for (uint64_t i = 0; i < n; i++) {
		assert_int_equal(reader_next(&r, &row), 1);
		assert_true(reader_u64(reader_field(&row, 1), &number));
		assert_int_equal(number, i);
		assert_true(reader_field(&row, 2).len >= 1 + i % 251);
		assert_true(reader_u64(field_end(reader_field(&row, 2), 20), &number));
		assert_int_equal(number, i);
		assert_field("B", "b");
	}
	assert_int_equal(reader_next(&r, &row), 0);
	assert_int_equal(r.bad_rows, 0);
}

static void line_longer_than_the_buffer_is_one_bad_row(void **state)
{
	static char text[2 * READER_BUFFER_BYTES + 77];

	memset(text, 'x', sizeof(text));
	append(HEADER "1\ta\tb\n", strlen(HEADER "1\ta\tb\n"));
	append(text, sizeof(text));
	append("\n2\ta\tb\n", 7);
	append(text, sizeof(text));
	assert_int_equal(reader_open(&r, dirfd, FILE_NAME), 0);
	assert_int_equal(reader_next(&r, &row), 1);
	assert_int_equal(reader_next(&r, &row), 1);
	assert_field("TIMESTAMP", "2");
	assert_int_equal(r.bad_rows, 1);
	assert_int_equal(reader_next(&r, &row), 0);
	assert_true(r.cut);
}

static void goes_back_to_a_row(void **state)
{
	uint64_t second;

	assert_int_equal(open_text(HEADER "1\ta\tb\n2\ta\tb\n3\ta\tb\n"), 0);
	reader_next(&r, &row);
	reader_next(&r, &row);
	second = row.offset;
	reader_next(&r, &row);
	assert_int_equal(reader_next(&r, &row), 0);
	assert_int_equal(reader_seek(&r, second), 0);
	assert_int_equal(reader_next(&r, &row), 1);
	assert_field("TIMESTAMP", "2");
	assert_int_equal(reader_seek(&r, 1 << 20), -EINVAL);
	assert_int_equal(reader_next(&r, &row), 1);
	assert_field("TIMESTAMP", "3");
}

/* --- segments ---------------------------------------------------------------------------------- */

#define HEADER_OF(nr) "# dltraced x 1 segment=" #nr "\nTIMESTAMP\tA\tB\n"

static void put(const char *file, const char *text)
{
	append_to(file, text, strlen(text));
}

/* Replaces FROM by FILE, packed. */
static void pack(const char *from, const char *file, enum pack how)
{
	autoclose int in = openat(dirfd, from, O_RDONLY), out = openat(dirfd, file, O_WRONLY | O_CREAT, 0600);
	struct packer p;
	struct stat st;
	uint64_t bytes;

	assert_int_equal(packer_init(&p, how), 0);
	assert_int_equal(fstat(in, &st), 0);
	assert_int_equal(packer_file(&p, in, (uint64_t)st.st_size, out, false, NULL, &bytes), 0);
	packer_free(&p);
	assert_int_equal(unlinkat(dirfd, from, 0), 0);
}

/* Expects the TIMESTAMPs of all remaining rows, as "1 2 3". */
static void expect_times(const char *want)
{
	char got[256] = "";

	while (reader_next(&r, &row) > 0)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%.*s", got[0] ? " " : "",
			 (int)reader_field(&row, 1).len, reader_field(&row, 1).p);
	assert_string_equal(got, want);
}

static void segments_are_one_file(void **state)
{
	put("x.000001.out", HEADER_OF(1) "1\ta\tb\n2\ta\tb\n");
	put("x.000002.out", HEADER_OF(2) "3\ta\tb\n");
	put("x.out", HEADER_OF(3) "4\ta\tb\n");
	put("x.000003.out", HEADER_OF(3) "not ours: split off after x.out was opened\n");
	put("xy.000001.out", HEADER_OF(1) "5\ta\tb\n");
	pack("x.000001.out", "x.000001.out.gz", PACK_GZIP);
	if (unpack_knows(PACK_ZSTD))
		pack("x.000002.out", "x.000002.out.zst", PACK_ZSTD);
	assert_int_equal(reader_open(&r, dirfd, "x.out"), 0);
	expect_times("1 2 3 4");
	assert_int_equal(r.rows, 4);
	assert_int_equal(r.bad_rows + r.missing + r.gone + r.bad + r.damaged, 0);
	assert_false(r.cut);
}

/* Also where no row of the buffer, or of a segment, is wanted; of files that others refer to, all are. */
static void rows_of_a_window_alone(void **state)
{
	const struct window w = { 3, 5 };

	put("x.000001.out", HEADER_OF(1) "1\ta\tb\n2\ta\tb\n");
	put("x.out", HEADER_OF(2) "3\ta\tb\n-\ta\tb\n4\ta\tb\n5\ta\tb\n4\tlate\tb\n");
	put("pids.out", "# dltraced pids 1\nTIMESTAMP\tA\n1\ta\n9\ta\n");
	assert_int_equal(reader_open(&r, dirfd, "x.out"), 0);
	window_read(&w, &r);
	expect_times("3 4 4");
	assert_int_equal(r.rows, 7);
	assert_int_equal(r.outside, 4);
	reader_close(&r);
	assert_int_equal(reader_open(&r, dirfd, "x.out"), 0);
	window_read(&(struct window){ 0 }, &r);
	expect_times("1 2 3 - 4 5 4");
	reader_close(&r);
	assert_int_equal(reader_open(&r, dirfd, "pids.out"), 0);
	window_read(&w, &r);
	expect_times("1 9");
}

static void probes_have_the_same_files_whole(void **state)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		assert_int_equal(window_keeps_whole(probes[i]->name), !!(probes[i]->flags & PROBE_WHOLE));
}

static void goes_back_into_other_segments(void **state)
{
	uint64_t at[4];

	put("x.000001.out", HEADER_OF(1) "1\ta\tb\n2\ta\tb\n");
	put("x.000002.out", HEADER_OF(2) "3\ta\tb\n");
	put("x.out", HEADER_OF(3) "4\ta\tb\n");
	pack("x.000001.out", "x.000001.out.gz", PACK_GZIP);
	assert_int_equal(reader_open(&r, dirfd, "x.out"), 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(reader_next(&r, &row), 1);
		at[i] = row.offset;
	}
	assert_int_equal(reader_next(&r, &row), 0);
	/* packed in the meantime */
	pack("x.000002.out", "x.000002.out.gz", PACK_GZIP);
	for (int i = 3; i >= 0; i--) {
		uint64_t time;

		assert_int_equal(reader_seek(&r, at[i]), 0);
		assert_int_equal(reader_next(&r, &row), 1);
		assert_true(reader_u64(reader_field(&row, 1), &time));
		assert_int_equal(time, i + 1);
		assert_int_equal(row.offset, at[i]);
	}
	expect_times("2 3 4");
	assert_int_equal(reader_seek(&r, at[3] + 1000), -EINVAL);
}

static void dropped_segments_are_not_missed_but_a_gap_is(void **state)
{
	put("x.000003.out", HEADER_OF(3) "3\ta\tb\n");
	put("x.000006.out", HEADER_OF(6) "6\ta\tb\n");
	put("x.out", HEADER_OF(7) "7\ta\tb\n");
	assert_int_equal(reader_open(&r, dirfd, "x.out"), 0);
	expect_times("3 6 7");
	assert_int_equal(r.missing, 2);
}

static void dropped_before_its_turn_is_counted(void **state)
{
	put("x.000001.out", HEADER_OF(1) "1\ta\tb\n");
	put("x.000002.out", HEADER_OF(2) "2\ta\tb\n");
	put("x.out", HEADER_OF(3) "3\ta\tb\n");
	assert_int_equal(reader_open(&r, dirfd, "x.out"), 0);
	assert_int_equal(unlinkat(dirfd, "x.000002.out", 0), 0);
	expect_times("1 3");
	assert_int_equal(r.gone, 1);
}

/* A trace that was killed during the renames of a segment, or has no growing file yet. */
static void plain_and_packed_count_once(void **state)
{
	put("x.000001.out", HEADER_OF(1) "1\ta\tb\n");
	pack("x.000001.out", "x.000001.out.gz", PACK_GZIP);
	put("x.000001.out", HEADER_OF(1) "1\ta\tb\n");
	put("x.000001.out.gz.tmp", "half of it");
	put("x.out.new", "");
	assert_int_equal(reader_open(&r, dirfd, "x.out"), 0);
	expect_times("1");
	reader_close(&r);
	put("x.out", "");
	assert_int_equal(reader_open(&r, dirfd, "x.out"), 0);
	expect_times("1");
	assert_int_equal(r.bad, 0);
}

static void the_last_one_may_be_packed(void **state)
{
	put("x.000001.out", HEADER_OF(1) "1\ta\tb\n");
	put("x.out", HEADER_OF(2) "2\ta\tb\n");
	pack("x.out", "x.out.gz", PACK_GZIP);
	assert_int_equal(reader_open(&r, dirfd, "x.out"), 0);
	expect_times("1 2");
}

static void segments_that_cannot_be_read_are_left_out(void **state)
{
	put("x.000001.out", "garbage\n");
	put("x.000002.out", HEADER_OF(2) "2\ta\tb\n");
	put("x.000003.out", "# dltraced x 1\nOTHER\tCOLUMNS\n3\ta\n");
	put("x.000004.out.gz", "no gzip\n");
	put("x.000005.out", HEADER_OF(5) "5\ta\tb\n6\ta");
	put("x.out", HEADER_OF(6) "7\ta\tb\n");
	assert_int_equal(reader_open(&r, dirfd, "x.out"), 0);
	expect_times("2 5 7");
	assert_int_equal(r.bad, 3);
	assert_true(r.cut);
}

static void one_file_by_its_descriptor(void **state)
{
	put("x.000001.out", HEADER_OF(1) "1\ta\tb\n2\ta\tb\n");
	pack("x.000001.out", "x.000001.out.gz", PACK_GZIP);
	put("x.out", HEADER_OF(2) "3\ta\tb\n");
	assert_int_equal(reader_open_fd(&r, openat(dirfd, "x.000001.out.gz", O_RDONLY), PACK_GZIP, 1 << 20), 0);
	expect_times("1 2");
}

/* --- fields ------------------------------------------------------------------------------------ */

/* As in a row: with bytes before it. */
static struct reader_field field(const char *s)
{
	static char row[64];

	snprintf(row, sizeof(row), "0123456789\t:/9\t\t%s", s);
	return (struct reader_field){ row + 16, strlen(s) };
}

static void numbers_are_whole_and_in_range(void **state)
{
	static const char *const bad[] = {
		"", "-", "?", "+1", " 1", "1 ", "1x", "0x10", "--1", "99999999999999999999999",
	};
	uint64_t u = 77;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(reader_u64(field(bad[i]), &u));
	assert_false(reader_u64(field("18446744073709551616"), &u));
	assert_false(reader_u64(field("-1"), &u));
	assert_int_equal(u, 77);

	assert_true(reader_u64(field("18446744073709551615"), &u));
	assert_true(u == UINT64_MAX);
	assert_true(reader_u64(field("0"), &u));
	assert_int_equal(u, 0);
}

/* All lengths, with a byte that is not a digit in each place. */
static void numbers_of_all_lengths(void **state)
{
	static const char digits[] = "12345678901234567890";
	static const char strange[] = { '/', ':', '-', ' ', '\0', 0x7f, (char)0xb0, (char)0xfa, (char)0xff };
	char row[16 + sizeof(digits)];
	uint64_t v, want = 0;

	for (size_t len = 1; len < sizeof(digits); len++) {
		want = want * 10 + (uint64_t)(digits[len - 1] - '0');
		memcpy(row, "0123456789\t:/9\t\t", 16); /* any bytes before it */
		memcpy(row + 16, digits, len);
		assert_true(reader_u64((struct reader_field){ row + 16, len }, &v));
		assert_true(v == want);
		for (size_t at = 0; at < len; at++)
			for (size_t i = 0; i < sizeof(strange); i++) {
				memcpy(row + 16, digits, len);
				row[16 + at] = strange[i];
				assert_false(reader_u64((struct reader_field){ row + 16, len }, &v));
			}
	}
	assert_true(reader_u64(field("00000000000000000007"), &v));
	assert_true(v == 7);
	assert_false(reader_u64((struct reader_field){ row + 16, 0 }, &v));
}

static void flags_are_whole_words(void **state)
{
	assert_true(reader_flag(field("DIRECT"), "DIRECT"));
	assert_true(reader_flag(field("APPEND|DIRECT|SYNC"), "DIRECT"));
	assert_true(reader_flag(field("APPEND|SYNC"), "SYNC"));
	assert_false(reader_flag(field("INDIRECT|DIRECTORY"), "DIRECT"));
	assert_false(reader_flag(field("-"), "DIRECT"));
	assert_false(reader_flag(field(""), "DIRECT"));
}

#define in_dir(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_dir(columns_are_found_by_name),
		in_dir(comments_and_further_fields_are_no_trouble),
		in_dir(cut_last_row_is_left_out_and_noted),
		cmocka_unit_test(flags_are_whole_words),
		in_dir(goes_back_to_a_row),
		in_dir(growing_file_ends_where_it_ended_when_opened),
		in_dir(header_that_is_not_there_yet),
		in_dir(line_longer_than_the_buffer_is_one_bad_row),
		cmocka_unit_test(numbers_are_whole_and_in_range),
		cmocka_unit_test(numbers_of_all_lengths),
		in_dir(rows_across_the_buffers_end_are_whole),
		in_dir(rows_in_the_buffer_stay_valid),
		in_dir(short_rows_are_counted_and_passed_over),
		in_dir(rows_around_lost_blocks_are_no_rows),
		in_dir(what_is_no_trace_file_is_refused),
		in_dir(dropped_before_its_turn_is_counted),
		in_dir(goes_back_into_other_segments),
		in_dir(one_file_by_its_descriptor),
		in_dir(plain_and_packed_count_once),
		cmocka_unit_test(probes_have_the_same_files_whole),
		in_dir(rows_of_a_window_alone),
		in_dir(segments_are_one_file),
		in_dir(segments_that_cannot_be_read_are_left_out),
		in_dir(the_last_one_may_be_packed),
		in_dir(dropped_segments_are_not_missed_but_a_gap_is),
		in_dir(zeroes_at_the_end_are_a_cut_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
