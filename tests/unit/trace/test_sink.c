/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "temp.h"

#define NAME "x.out"

static char dir[TEMP_MAX];
static int dirfd;

static int make_dir(void **state)
{
	temp_template(dir, "test_sink");
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
	segment_each_entry(dirfd, remove_one, NULL);
	close(dirfd);
	return rmdir(dir);
}

static void row(struct sink *s, const char *text, uint64_t ts_ns)
{
	char *p = sink_begin(s);

	sink_commit(s, stpcpy(p, text), ts_ns);
}

/* A row of LEN bytes: all C, then the newline. */
static void long_row(struct sink *s, size_t len, char c)
{
	char *p = sink_begin(s);

	memset(p, c, len - 1);
	p[len - 1] = '\n';
	sink_commit(s, p + len, 1);
}

static size_t room(struct sink *s)
{
	return SINK_BUFFER_BYTES - (size_t)(sink_begin(s) - s->buf);
}

static size_t content(char **ret)
{
	autofree char *path = util_fmt("%s/%s", dir, NAME);
	size_t len;

	assert_int_equal(util_read_file(path, 64 << 20, ret, &len), 0);
	return len;
}

static void expect_content(const char *want)
{
	autofree char *got = NULL;

	content(&got);
	assert_string_equal(got, want);
}

static void set_limit(rlim_t bytes)
{
	struct rlimit lim;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &lim), 0);
	lim.rlim_cur = MIN(bytes, lim.rlim_max);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &lim), 0);
}

static void creates_only_a_new_private_file(void **state)
{
	struct sink s, again;
	struct stat st;

	assert_int_equal(sink_open(&s, dirfd, NAME), 0);
	assert_int_equal(fstat(s.fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(fcntl(s.fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(sink_open(&again, dirfd, NAME), -EEXIST);
	row(&again, "into the void\n", 1);
	sink_close(&again);
	sink_close(&s);

	assert_int_equal(unlinkat(dirfd, NAME, 0), 0);
	assert_int_equal(symlinkat("elsewhere", dirfd, NAME), 0);
	assert_int_equal(sink_open(&s, dirfd, NAME), -EEXIST);
	assert_int_equal(sink_open(&s, dirfd, "no/such"), -ENOENT);
}

static void writes_text_and_rows_in_order(void **state)
{
	struct sink s;

	assert_int_equal(sink_open(&s, dirfd, NAME), 0);
	sink_text(&s, "# head\n", 7);
	row(&s, "1\ta\n", 1);
	sink_text(&s, "# note\n", 7);
	row(&s, "2\tb\n", 2);
	expect_content("");
	assert_int_equal(sink_flush(&s), 0);
	expect_content("# head\n1\ta\n# note\n2\tb\n");
	row(&s, "3\tc\n", 3);
	sink_close(&s);
	expect_content("# head\n1\ta\n# note\n2\tb\n3\tc\n");
	assert_int_equal(s.rows, 3);
	assert_int_equal(s.bytes, 26);
	assert_int_equal(s.lost, 0);
	assert_int_equal(s.last_ts_ns, 3);
	sink_close(&s);
}

static void always_has_room_for_the_longest_row(void **state)
{
	struct sink s;
	autofree char *got = NULL;
	size_t want = 0;

	assert_int_equal(sink_open(&s, dirfd, NAME), 0);
	for (unsigned int i = 0; i < 200; i++) {
		size_t len = i % 3 ? SINK_ROW_MAX : 1 + i;

		assert_true(room(&s) >= SINK_ROW_MAX);
		long_row(&s, len, (char)('a' + i % 26));
		want += len;
	}
	sink_close(&s);
	assert_int_equal(s.rows, 200);
	assert_int_equal(s.bytes, want);
	assert_int_equal(content(&got), want);
	for (unsigned int i = 0, at = 0; i < 200; i++) {
		at += i % 3 ? SINK_ROW_MAX : 1 + i;
		assert_int_equal(got[at - 1], '\n');
		assert_true(at < 2 || i % 3 == 0 || got[at - 2] == (char)('a' + i % 26));
	}
}

static void counts_rows_that_come_late(void **state)
{
	static const uint64_t ts[] = { 5, 5, 4, 6, 1, 6 };
	struct sink s;

	assert_int_equal(sink_open(&s, dirfd, NAME), 0);
	for (size_t i = 0; i < ARRAY_SIZE(ts); i++)
		row(&s, "r\n", ts[i]);
	sink_close(&s);
	assert_int_equal(s.late, 2);
	assert_int_equal(s.rows, ARRAY_SIZE(ts));
	assert_int_equal(s.last_ts_ns, 6);
}

static void paused_rows_are_lost_and_later_ones_are_not(void **state)
{
	struct sink s;

	assert_int_equal(sink_open(&s, dirfd, NAME), 0);
	row(&s, "a\n", 1);
	s.paused = true;
	row(&s, "b\n", 2);
	row(&s, "c\n", 3);
	s.paused = false;
	row(&s, "d\n", 4);
	sink_close(&s);
	expect_content("a\nd\n");
	assert_int_equal(s.rows, 2);
	assert_int_equal(s.lost, 2);
	assert_int_equal(s.late, 0);
}

static void swallows_rows_when_not_open(void **state)
{
	struct sink zeroed = { 0 }, closed = { .fd = -1 };
	int stdin_flags = fcntl(STDIN_FILENO, F_GETFD);

	long_row(&zeroed, SINK_ROW_MAX, 'z');
	long_row(&closed, SINK_ROW_MAX, 'z');
	sink_text(&closed, "# head\n", 7);
	assert_int_equal(sink_flush(&closed), 0);
	sink_close(&closed);
	sink_close(&zeroed);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), stdin_flags); /* fd 0 is not the sink's */
	assert_int_equal(closed.rows + closed.lost, 0);
}

/* A limit of the file size within a row: the kernel writes up to it, then fails. */
static void cuts_back_to_whole_rows_and_counts_the_rest(void **state)
{
	struct sink s;

	assert_int_equal(sink_open(&s, dirfd, NAME), 0);
	row(&s, "first\n", 1);
	assert_int_equal(sink_flush(&s), 0);

	set_limit(10);
	row(&s, "second\n", 2);
	row(&s, "third\n", 3);
	assert_int_equal(sink_flush(&s), -EFBIG);
	assert_int_equal(s.error, -EFBIG);
	assert_int_equal(s.lost, 2);
	expect_content("first\n");
	assert_int_equal(sink_flush(&s), 0); /* nothing to write */
	assert_int_equal(s.error, -EFBIG);

	set_limit(RLIM_INFINITY);
	row(&s, "4\n", 4);
	assert_int_equal(sink_flush(&s), 0);
	assert_int_equal(s.error, 0);
	sink_close(&s);
	expect_content("first\n4\n");
	assert_int_equal(s.rows, 2);
	assert_int_equal(s.lost, 2);
	assert_int_equal(s.bytes, 8);
}

/* A file that cannot be cut back, by a seal: as on a copy-on-write file system without space. */
static void what_cannot_be_cut_back_is_never_between_rows(void **state)
{
	struct sink s;
	char got[64] = "";
	int file = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(file >= 0);
	assert_int_equal(sink_open(&s, dirfd, NAME), 0);
	assert_true(dup2(file, s.fd) == s.fd);
	row(&s, "first\n", 1);
	assert_int_equal(sink_flush(&s), 0);
	assert_int_equal(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);

	set_limit(10);
	row(&s, "second\n", 2);
	assert_int_equal(sink_flush(&s), -EFBIG); /* "seco" stays */
	set_limit(RLIM_INFINITY);
	assert_int_equal(sink_flush(&s), -EPERM);
	row(&s, "3\n", 3);
	assert_int_equal(sink_flush(&s), -EPERM); /* would leave "co" */
	assert_int_equal(pread(file, got, sizeof(got), 0), 10);
	assert_string_equal(got, "first\nseco");

	row(&s, "4 covers it\n", 4);
	assert_int_equal(sink_flush(&s), 0);
	assert_int_equal(sink_flush(&s), 0);
	sink_close(&s);
	assert_true(pread(file, got, sizeof(got), 0) > 0);
	assert_string_equal(got, "first\n4 covers it\n");
	assert_int_equal(s.rows, 2);
	assert_int_equal(s.lost, 2);
	close(file);
}

static void rows_that_others_depend_on_wait_for_space(void **state)
{
	struct sink s;

	assert_int_equal(sink_open(&s, dirfd, NAME), 0);
	sink_hold_rows(&s);
	set_limit(3);
	row(&s, "first\n", 1);
	assert_int_equal(sink_flush(&s), -EFBIG);
	row(&s, "second\n", 2);
	assert_int_equal(sink_flush(&s), -EFBIG);
	assert_int_equal(s.lost, 0);
	expect_content("");
	set_limit(RLIM_INFINITY);
	assert_int_equal(sink_flush(&s), 0);
	expect_content("first\nsecond\n");

	set_limit(15);
	for (unsigned int i = 0; i < 2 * SINK_BUFFER_BYTES / 1000; i++)
		long_row(&s, 1000, 'r'); /* more than there is room for */
	assert_true(s.lost > 0 && s.rows_buffered > 0);
	sink_close(&s);
	set_limit(RLIM_INFINITY);
	expect_content("first\nsecond\n");
	assert_int_equal(s.rows, 2);
	assert_int_equal(s.lost, 2 * SINK_BUFFER_BYTES / 1000);
}

static void dropped_rows_are_lost_but_not_the_header(void **state)
{
	struct sink s;

	assert_int_equal(sink_open(&s, dirfd, NAME), 0);
	sink_hold_rows(&s);
	set_limit(3);
	sink_text(&s, "# head\n", 7);
	row(&s, "1\n", 1);
	assert_int_equal(sink_flush(&s), -EFBIG);
	sink_drop_rows(&s);
	set_limit(RLIM_INFINITY);
	row(&s, "2\n", 2);
	sink_close(&s);
	expect_content("# head\n");
	assert_int_equal(s.lost, 2);
	sink_drop_rows(&s); /* nothing on a closed sink */
}

static void keeps_the_header_until_it_can_be_written(void **state)
{
	struct sink s;

	assert_int_equal(sink_open(&s, dirfd, NAME), 0);
	set_limit(3);
	sink_text(&s, "# head\n", 7);
	row(&s, "1\n", 1);
	assert_int_equal(sink_flush(&s), -EFBIG);
	sink_text(&s, "COLUMN\n", 7);
	row(&s, "2\n", 2);
	assert_int_equal(sink_flush(&s), -EFBIG);
	expect_content("");

	set_limit(RLIM_INFINITY);
	row(&s, "3\n", 3);
	sink_close(&s);
	expect_content("# head\nCOLUMN\n3\n");
	assert_int_equal(s.lost, 2);
	assert_int_equal(s.rows, 1);
}

static void text_never_takes_the_room_of_a_row(void **state)
{
	struct sink s;
	char text[1000];

	memset(text, '#', sizeof(text));
	text[sizeof(text) - 1] = '\n';
	assert_int_equal(sink_open(&s, dirfd, NAME), 0);
	set_limit(0);
	for (unsigned int i = 0; i < 2 * SINK_BUFFER_BYTES / sizeof(text); i++) {
		sink_text(&s, text, sizeof(text));
		assert_true(room(&s) >= SINK_ROW_MAX);
	}
	row(&s, "r\n", 1);
	assert_true(room(&s) >= SINK_ROW_MAX);
	sink_close(&s);
	set_limit(RLIM_INFINITY);
	expect_content("");
	assert_int_equal(s.lost, 1);
	assert_int_equal(s.error, -EFBIG);
}

static void survives_a_full_file_system(void **state)
{
	autofree char *got = NULL;
	autoclose int full = -1;
	struct sink s;
	size_t len;

	/* A mount namespace for this process: its mounts end with it. */
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", dir, "tmpfs", 0, "size=1m") < 0) {
		print_message("CAP_SYS_ADMIN is missing: cannot mount a small file system\n");
		skip();
	}
	full = open(dir, O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(sink_open(&s, full, NAME), 0);
	sink_text(&s, "# head\n", 7);
	for (unsigned int i = 0; i < 300; i++)
		long_row(&s, 10000, 'r');
	assert_int_equal(sink_flush(&s), -ENOSPC);
	sink_close(&s);
	assert_true(s.rows > 0);
	assert_int_equal(s.rows + s.lost, 300);
	len = content(&got);
	assert_int_equal(len, s.bytes);
	assert_int_equal(len, 7 + s.rows * 10000);
	assert_int_equal(got[len - 1], '\n');
	assert_int_equal(umount2(dir, MNT_DETACH), 0);
}

/* --- segments ---------------------------------------------------------------------------------- */

static struct sink_segment closed[8];
static unsigned int n_closed;

static void note_closed(void *ctx, const struct sink_segment *seg)
{
	assert_true(n_closed < ARRAY_SIZE(closed));
	closed[n_closed++] = *seg;
}

static int make_split(void **state)
{
	n_closed = 0;
	return make_dir(state);
}

static void expect_file(const char *name, const char *want)
{
	autofree char *path = util_fmt("%s/%s", dir, name), *got = NULL;

	assert_int_equal(util_read_file(path, 1 << 20, &got, NULL), 0);
	assert_string_equal(got, want);
}

static bool is_there(const char *name)
{
	return faccessat(dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static const struct sink_split by_size = { .bytes = 64, .closed = note_closed };
static const struct sink_split by_time = { .closed = note_closed };

static void open_split(struct sink *s, const struct sink_split *split)
{
	assert_int_equal(sink_open(s, dirfd, NAME), 0);
	sink_split_by(s, split);
	sink_header(s, "# dltraced x 1\n", 15);
	sink_header(s, "T\tA\n", 4);
}

static void splits_at_the_size_with_the_header_in_each(void **state)
{
	struct sink s;

	open_split(&s, &by_size);
	row(&s, "1\tabcdefghijklmnop\n", 1);
	assert_int_equal(n_closed, 0);
	row(&s, "2\tabcdefghijklmnop\n", 2); /* 68 bytes with the header: at once, not at the next flush */
	assert_int_equal(n_closed, 1);
	row(&s, "3\ta\n", 3);
	sink_end(&s);
	sink_close(&s);
	expect_file("x.000001.out", "# dltraced x 1 segment=1\nT\tA\n1\tabcdefghijklmnop\n2\tabcdefghijklmnop\n");
	expect_file("x.out", "# dltraced x 1 segment=2\nT\tA\n3\ta\n");
	assert_int_equal(n_closed, 2);
	assert_int_equal(closed[0].nr, 1);
	assert_int_equal(closed[0].rows, 2);
	assert_int_equal(closed[0].first_ns, 1);
	assert_int_equal(closed[0].last_ns, 2);
	assert_int_equal(closed[1].nr, SEGMENT_LAST);
	assert_int_equal(closed[1].rows, 1);
	assert_int_equal(closed[1].first_ns, 3);
	assert_int_equal(closed[0].bytes + closed[1].bytes, s.bytes);
	assert_int_equal(s.rows, 3);
	assert_int_equal(s.lost, 0);
	assert_false(is_there("x.out.new"));
}

static void splits_when_requested_but_not_without_rows(void **state)
{
	struct sink s;

	open_split(&s, &by_time);
	sink_split_now(&s);
	assert_int_equal(n_closed, 0);
	row(&s, "1\ta\n", 1);
	sink_split_now(&s);
	sink_split_now(&s);
	assert_int_equal(n_closed, 1);
	row(&s, "2\ta\n", 2);
	sink_split_now(&s);
	assert_int_equal(n_closed, 2);
	expect_file("x.000002.out", "# dltraced x 1 segment=2\nT\tA\n2\ta\n");
	sink_close(&s);
	expect_file("x.out", "# dltraced x 1 segment=3\nT\tA\n");
}

/* Another file has the name: nothing is overwritten, and nothing is lost. */
static void goes_on_in_the_old_file_where_no_new_one_can_be_had(void **state)
{
	struct sink s;

	assert_int_equal(symlinkat("elsewhere", dirfd, "x.000001.out"), 0);
	open_split(&s, &by_time);
	row(&s, "1\ta\n", 1);
	sink_split_now(&s);
	assert_int_equal(n_closed, 0);
	assert_int_equal(s.failed_with, -EEXIST);
	assert_int_equal(s.failures, 1);
	assert_false(is_there("x.out.new"));
	row(&s, "2\ta\n", 2);
	assert_int_equal(unlinkat(dirfd, "x.000001.out", 0), 0);
	sink_split_now(&s);
	assert_int_equal(n_closed, 1);
	assert_int_equal(s.lost, 0);
	expect_file("x.000001.out", "# dltraced x 1 segment=1\nT\tA\n1\ta\n2\ta\n");
	sink_close(&s);
}

static void rows_that_cannot_be_written_close_no_segment(void **state)
{
	struct sink s;

	open_split(&s, &by_time);
	assert_int_equal(sink_flush(&s), 0);
	set_limit(60);
	long_row(&s, 100, 'r');
	sink_split_now(&s);
	set_limit(RLIM_INFINITY);
	assert_int_equal(n_closed, 0);
	assert_int_equal(s.lost, 1);
	row(&s, "2\ta\n", 2);
	sink_end(&s);
	sink_close(&s);
	assert_int_equal(closed[0].rows, 1);
	assert_int_equal(closed[0].first_ns, 2);
	expect_content("# dltraced x 1 segment=1\nT\tA\n2\ta\n");
}

#define sink_test(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)
#define split_test(f) cmocka_unit_test_setup_teardown(f, make_split, remove_dir)

static void knows_the_bytes_that_are_not_on_the_disk(void **state)
{
	struct sink s;

	assert_int_equal(sink_open(&s, dirfd, NAME), 0);
	for (uint64_t ts_ns = 1; ts_ns <= 3; ts_ns++)
		row(&s, "row\n", ts_ns);
	sink_flush(&s);
	sink_check_disk(&s);
	assert_int_equal(sink_to_disk(&s, 0), 3 * strlen("row\n")); /* not enough time */
	assert_int_equal(sink_to_disk(&s, UINT64_MAX), 0);
	assert_int_equal(s.unsure, 0);
	sink_close(&s);
	sink_check_disk(&s); /* no error, and no work, on a closed sink */
	assert_int_equal(sink_to_disk(&s, UINT64_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		sink_test(creates_only_a_new_private_file),
		sink_test(writes_text_and_rows_in_order),
		sink_test(always_has_room_for_the_longest_row),
		sink_test(counts_rows_that_come_late),
		sink_test(paused_rows_are_lost_and_later_ones_are_not),
		cmocka_unit_test(swallows_rows_when_not_open),
		sink_test(knows_the_bytes_that_are_not_on_the_disk),
		sink_test(cuts_back_to_whole_rows_and_counts_the_rest),
		sink_test(what_cannot_be_cut_back_is_never_between_rows),
		sink_test(rows_that_others_depend_on_wait_for_space),
		sink_test(dropped_rows_are_lost_but_not_the_header),
		sink_test(keeps_the_header_until_it_can_be_written),
		sink_test(text_never_takes_the_room_of_a_row),
		split_test(goes_on_in_the_old_file_where_no_new_one_can_be_had),
		split_test(rows_that_cannot_be_written_close_no_segment),
		split_test(splits_at_the_size_with_the_header_in_each),
		split_test(splits_when_requested_but_not_without_rows),
		sink_test(survives_a_full_file_system),
	};

	signal(SIGXFSZ, SIG_IGN); /* a write past RLIMIT_FSIZE fails with EFBIG instead */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
