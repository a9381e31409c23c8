/* SPDX-License-Identifier: BSD-2-Clause */
/* pack.c and unpack.c: one reads what the other writes, complete, cut off and damaged. */
#include "trace/pack.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "trace/unpack.h"

#define LINES 60000 /* of 60 bytes and more: four members */

static char *text;
static size_t text_len;

static int make_text(void **state)
{
	char *p = text = malloc(LINES * 100);

	for (unsigned int i = 0; p && i < LINES; i++)
		p += sprintf(p, "%u\t%.*s%u\n", i, (int)(40 + i % 40),
			     "................................................................................",
			     i * 7919);
	text_len = (size_t)(p - text);
	return text ? 0 : -1;
}

static int free_text(void **state)
{
	free(text);
	return 0;
}

static int file_of(const void *bytes, size_t len)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(util_write_all(fd, bytes, len), 0);
	return fd;
}

static uint64_t size_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_size;
}

/* Returns a file with the packed text; skips where this was built without the library. */
static int packed_text(enum pack pack, bool behind)
{
	int from = file_of(text, text_len), to = file_of("", 0);
	struct packer p;
	uint64_t bytes;
	int r = packer_init(&p, pack);

	if (r == -ENOTSUP) {
		print_message("needs libzstd\n");
		skip();
	}
	assert_int_equal(r, 0);
	assert_int_equal(packer_file(&p, from, text_len, to, behind, NULL, &bytes), 0);
	assert_int_equal(bytes, size_of(to));
	assert_true(bytes < text_len / 4);
	packer_free(&p);
	close(from);
	return to;
}

/* Compares all that FD gives with the text's beginning. Returns its length. */
static size_t expect_text(struct unpack *u)
{
	static char buf[10007];
	size_t at = 0;
	ssize_t n;

	while ((n = unpack_read(u, buf, sizeof(buf))) > 0) {
		assert_true(at + (size_t)n <= text_len);
		assert_memory_equal(buf, text + at, n);
		at += (size_t)n;
	}
	assert_int_equal(n, 0);
	return at;
}

static void text_comes_back(enum pack pack)
{
	for (int behind = 0; behind < 2; behind++) {
		struct unpack_marks marks = { 0 };
		int fd = packed_text(pack, behind);
		struct unpack u;

		assert_int_equal(unpack_open(&u, fd, pack, size_of(fd), &marks), 0);
		assert_int_equal(expect_text(&u), text_len);
		assert_false(u.cut || u.damaged);
		/* every member begins with a line, and none is much larger than the others */
		assert_true(marks.n >= text_len / PACK_MEMBER_BYTES);
		for (size_t i = 1; i < marks.n; i++)
			assert_int_equal(text[marks.v[i].plain - 1], '\n');
		for (size_t at = 0; at < text_len; at += 777777) {
			char c;

			assert_int_equal(unpack_seek(&u, at), 0);
			assert_int_equal(unpack_read(&u, &c, 1), 1);
			assert_int_equal(c, text[at]);
		}
		unpack_close(&u);
		unpack_marks_free(&marks);
	}
}

static void gzip_comes_back(void **state)
{
	text_comes_back(PACK_GZIP);
}
static void zstd_comes_back(void **state)
{
	text_comes_back(PACK_ZSTD);
}

static void cut_off_anywhere(enum pack pack)
{
	int fd = packed_text(pack, true);
	uint64_t bytes = size_of(fd);

	for (uint64_t limit = 0; limit < bytes; limit += bytes / 37) {
		struct unpack_marks marks = { 0 };
		struct unpack u;
		size_t got;

		assert_int_equal(unpack_open(&u, dup(fd), pack, limit, &marks), 0);
		got = expect_text(&u);
		/* the last bytes may be only a checksum */
		assert_true(got <= text_len);
		assert_false(u.damaged);
		/* at least the complete members */
		assert_true(!marks.n || got >= marks.v[marks.n - 1].plain);
		assert_int_equal(u.cut, limit > 0 && !u.between);
		unpack_close(&u);
		unpack_marks_free(&marks);
	}
	close(fd);
}

static void cut_gzip_gives_what_is_there(void **state)
{
	cut_off_anywhere(PACK_GZIP);
}
static void cut_zstd_gives_what_is_there(void **state)
{
	cut_off_anywhere(PACK_ZSTD);
}

static void damaged(enum pack pack)
{
	int fd = packed_text(pack, true);
	uint64_t bytes = size_of(fd);
	struct unpack_marks marks = { 0 };
	char garbage[64], buf[4096];
	size_t got = 0;
	struct unpack u;
	ssize_t n;

	memset(garbage, 0xa5, sizeof(garbage));
	assert_int_equal(pwrite(fd, garbage, sizeof(garbage), (off_t)(bytes / 2)), sizeof(garbage));
	assert_int_equal(unpack_open(&u, fd, pack, bytes, &marks), 0);
	while ((n = unpack_read(&u, buf, sizeof(buf))) > 0)
		got += (size_t)n;
	assert_int_equal(n, 0);
	assert_true(u.damaged);
	/* everything before it is good */
	assert_true(got >= marks.v[marks.n - 1].plain && got < text_len);
	unpack_close(&u);
	unpack_marks_free(&marks);
}

static void damaged_gzip_ends_there(void **state)
{
	damaged(PACK_GZIP);
}

static void damaged_zstd_ends_there(void **state)
{
	damaged(PACK_ZSTD);
}

static void plain_text_is_taken_as_it_is(void **state)
{
	struct unpack_marks marks = { 0 };
	struct unpack u;

	assert_int_equal(unpack_open(&u, file_of(text, text_len), PACK_NONE, text_len - 5, &marks), 0);
	assert_int_equal(expect_text(&u), text_len - 5);
	unpack_close(&u);
}

static void packing_stops_when_requested_and_where_the_file_is_short(void **state)
{
	autoclose int from = file_of(text, text_len), to = file_of("", 0);
	const bool stop = true;
	struct packer p;
	uint64_t bytes;

	assert_int_equal(packer_init(&p, PACK_GZIP), 0);
	assert_int_equal(packer_file(&p, from, text_len, to, true, &stop, &bytes), -ECANCELED);
	assert_int_equal(packer_file(&p, from, text_len + 1, to, true, NULL, &bytes), -EBADMSG);
	packer_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_gzip_gives_what_is_there),
		cmocka_unit_test(cut_zstd_gives_what_is_there),
		cmocka_unit_test(damaged_gzip_ends_there),
		cmocka_unit_test(damaged_zstd_ends_there),
		cmocka_unit_test(gzip_comes_back),
		cmocka_unit_test(packing_stops_when_requested_and_where_the_file_is_short),
		cmocka_unit_test(plain_text_is_taken_as_it_is),
		cmocka_unit_test(zstd_comes_back),
	};

	return cmocka_run_group_tests(tests, make_text, free_text);
}
