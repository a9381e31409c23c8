/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/record.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/text.h"
#include "base/util.h"
#include "trace/clock.h"
#include "trace/files.h"
#include "trace/probe.h"
#include "trace/sink.h"

/* --- a probe of the test's own: one field of each kind ---------------------------------------- */

struct rec {
	struct dlt_hdr hdr;
	struct dlt_file file;
	struct dlt_segs segs; /* directly after FILE: FIELD_REALPATH */
	int64_t s64;
	uint64_t u64;
	uint32_t u32;
	int32_t s32;
	uint16_t u16;
	char str[6];
};

static const struct field_name names[] = {
	{ 0, "NONE", 3 }, { 1, "ONE", 3 }, { 12, "BOTH", 12 }, { 4, "FOUR" }, { 8, "EIGHT" }, { 0, NULL },
};
static const struct field_name kinds[] = { { 0, "zero" }, { 7, "seven" }, { 0, NULL } };

static const struct probe_call calls[] = { { "first", 1 }, { "second", -1 } };

static char row[SINK_ROW_MAX];
static const struct clock_map utc = {}; /* both clocks are equal */

static struct files *files;

static int with_files(void **state)
{
	files = files_new();
	return files ? 0 : -1;
}

static int without_files(void **state)
{
	files_free(files);
	return 0;
}

/* Expects WANT as the row with this one field. */
static void expect(const struct field *f, const void *rec, const char *want)
{
	const struct probe p = {
		.name = "test",
		.fields = f,
		.n_fields = 1,
		.rec_size = sizeof(struct rec),
		.calls = calls,
		.n_calls = ARRAY_SIZE(calls),
	};
	struct text_utc_cache cache = {};
	struct record_ctx ctx = { .clock = &utc, .utc = &cache, .files = files };

	*record_put_row(row, &p, rec, &ctx) = '\0';
	assert_int_equal(row[strlen(row) - 1], '\n');
	row[strlen(row) - 1] = '\0';
	assert_string_equal(row, want);
}

#define FIELD(kind_, member, ...) \
	(&(struct field){ .name = "X", .kind = kind_, .offset = offsetof(struct rec, member), __VA_ARGS__ })

static void expect_s64(enum field_kind kind, int64_t v, const char *want)
{
	const struct rec rec = { .s64 = v };

	expect(FIELD(kind, s64, .names = names), &rec, want);
}

static void expect_u64(enum field_kind kind, uint64_t v, const char *want)
{
	const struct rec rec = { .u64 = v };

	expect(FIELD(kind, u64), &rec, want);
}

static void expect_u32(enum field_kind kind, const struct field_name *n, uint32_t v, const char *want)
{
	const struct rec rec = { .u32 = v };

	expect(FIELD(kind, u32, .names = n), &rec, want);
}

/* --- kinds ------------------------------------------------------------------------------------ */

static void unsigned_numbers(void **state)
{
	const struct rec most = { .u16 = UINT16_MAX };

	expect_u64(FIELD_TS, UINT64_MAX, "18446744073709551615");
	expect_u64(FIELD_U64, 0, "0");
	expect_u64(FIELD_U64, 1ULL << 63, "9223372036854775808"); /* has no "-" */
	expect_u64(FIELD_HEX, 0, "0x0");
	expect_u64(FIELD_HEX, UINT64_MAX, "0xffffffffffffffff");
	expect_u64(FIELD_UTC, 1, "1970-01-01T00:00:00.000000001Z");
	expect_u32(FIELD_U32, NULL, UINT32_MAX, "4294967295");
	expect(FIELD(FIELD_U16, u16), &most, "65535");
}

static void signed_numbers(void **state)
{
	const struct rec least = { .s32 = INT32_MIN + 1 };

	expect(FIELD(FIELD_S32, s32), &least, "-2147483647");
	expect_s64(FIELD_S64, -512, "-512");
	expect_s64(FIELD_S64, INT64_MAX, "9223372036854775807");
	expect_s64(FIELD_S64, DLT_UNKNOWN + 1, "-9223372036854775806");
}

static void none_is_a_dash_and_unknown_a_question_mark(void **state)
{
	static const enum field_kind nullable[] = {
		FIELD_S64,
		FIELD_ADDR,
		FIELD_MODE,
		FIELD_FLAGS,
	};

	const struct rec none = { .s32 = DLT_NONE32 };

	expect(FIELD(FIELD_S32, s32), &none, "-");
	for (size_t i = 0; i < ARRAY_SIZE(nullable); i++) {
		expect_s64(nullable[i], DLT_NONE, "-");
		expect_s64(nullable[i], DLT_UNKNOWN, "?");
	}
}

static void addresses_in_hex_and_errors_in_decimal(void **state)
{
	expect_s64(FIELD_ADDR, 0x7f0000000000, "0x7f0000000000");
	expect_s64(FIELD_ADDR, 1, "0x1");
	expect_s64(FIELD_ADDR, 0, "0");
	expect_s64(FIELD_ADDR, -ENOMEM, "-12");
	expect_s64(FIELD_ADDR, -4095, "-4095");
	expect_s64(FIELD_ADDR, -4096, "0xfffffffffffff000"); /* next to vsyscall, and not -errno */
}

static void modes_in_octal(void **state)
{
	expect_s64(FIELD_MODE, 0, "0");
	expect_s64(FIELD_MODE, 0644, "0644");
	expect_s64(FIELD_MODE, S_IFCHR | 07777, "027777");
}

static void flags_by_name_and_the_rest_in_hex(void **state)
{
	expect_s64(FIELD_FLAGS, 0, "NONE"); /* as O_RDONLY */
	expect_s64(FIELD_FLAGS, 1, "ONE");
	expect_s64(FIELD_FLAGS, 2, "0x2"); /* the field of two bits has no name for this value */
	expect_s64(FIELD_FLAGS, 1 | 4, "ONE|FOUR");
	expect_s64(FIELD_FLAGS, 1 | 12, "ONE|BOTH"); /* not again as FOUR and EIGHT */
	expect_s64(FIELD_FLAGS, 0x1000 | 8, "NONE|EIGHT|0x1000");
	expect_s64(FIELD_FLAGS, -1, "BOTH|0xfffffffffffffff3");
}

static void flags_without_any_are_0(void **state)
{
	static const struct field_name bits[] = { { 1, "A" }, { 2, "B" }, { 0, NULL } };
	const struct rec none = {}, other = { .s64 = 4 };

	expect(FIELD(FIELD_FLAGS, s64, .names = bits), &none, "0");
	expect(FIELD(FIELD_FLAGS, s64, .names = bits), &other, "0x4");
}

static void bits_are_those_that_have_names(void **state)
{
	static const struct field_name bits[] = {
		{ 3, "AB", 3 },
		{ 1, "A" },
		{ 0x80000000, "TOP" },
		{ 0, NULL },
	};

	expect_u32(FIELD_BITS, bits, 0, "-");
	expect_u32(FIELD_BITS, bits, 0x10, "-");
	expect_u32(FIELD_BITS, bits, 1 | 0x10, "A");
	expect_u32(FIELD_BITS, bits, 3, "AB");
	expect_u32(FIELD_BITS, bits, UINT32_MAX, "AB|TOP");
}

static void names_and_the_number_where_there_is_none(void **state)
{
	expect_u32(FIELD_NAME, kinds, 0, "zero");
	expect_u32(FIELD_NAME, kinds, 7, "seven");
	expect_u32(FIELD_NAME, kinds, 8, "8");
	expect_u32(FIELD_NAME, kinds, UINT32_MAX, "4294967295");
}

static void calls_by_name_and_a_question_mark_beyond(void **state)
{
	struct rec rec = { .hdr.func = 1 };

	expect(FIELD(FIELD_FUNC, hdr.func), &rec, "second");
	rec.hdr.func = 2;
	expect(FIELD(FIELD_FUNC, hdr.func), &rec, "?");
	rec.hdr.func = UINT16_MAX;
	expect(FIELD(FIELD_FUNC, hdr.func), &rec, "?");
}

static void calls_of_another_probe_by_its_names(void **state)
{
	const struct rec rec = { .hdr.func = 0 };

	expect(FIELD(FIELD_FUNC, hdr.func, .arg = DLT_vfs_rw), &rec, vfs_rw_probe.calls[0].name);
}

static void counts_by_power_of_two_without_those_of_none(void **state)
{
	struct {
		struct rec rec;
		uint32_t count[32];
	} of = { .count = { 0 } };
	const struct field field = {
		.name = "X", .kind = FIELD_LOG2, .offset = sizeof(of.rec), .arg = ARRAY_SIZE(of.count)
	};

	expect(&field, &of, "-");
	of.count[0] = 1;
	expect(&field, &of, "1=1");
	of.count[10] = 7;
	of.count[31] = UINT32_MAX;
	expect(&field, &of, "1=1,1024=7,2147483648=4294967295");
}

static void fixed_strings_may_fill_their_room(void **state)
{
	struct rec rec = { .hdr.comm = "sixteen bytes...", .str = "sixsix" };

	expect(FIELD(FIELD_COMM, hdr.comm), &rec, "sixteen\\040bytes...");
	expect(FIELD(FIELD_STR, str, .arg = sizeof(rec.str)), &rec, "sixsix");
	memcpy(rec.str, "ab\0cd", 6);
	expect(FIELD(FIELD_STR, str, .arg = sizeof(rec.str)), &rec, "ab");
	memset(&rec, 0, sizeof(rec));
	expect(FIELD(FIELD_COMM, hdr.comm), &rec, "-");
	expect(FIELD(FIELD_STR, str, .arg = sizeof(rec.str)), &rec, "-");
}

static void hostile_names_of_threads_forge_nothing(void **state)
{
	struct rec rec = { .hdr.comm = "a\n1\t2\r#\"\\\177\xff\xc3\xa4 zz" };

	expect(FIELD(FIELD_COMM, hdr.comm), &rec, "a\\0121\\0112\\015\\043\\042\\134\\177\\377ä\\040zz");
	memcpy(rec.hdr.comm, "-", 2);
	expect(FIELD(FIELD_COMM, hdr.comm), &rec, "\\055");
	memcpy(rec.hdr.comm, "?", 2);
	expect(FIELD(FIELD_COMM, hdr.comm), &rec, "\\077");
}

/* --- files ------------------------------------------------------------------------------------ */

static void files_by_number_and_last_component(void **state)
{
	struct rec rec = { .file.id = { .ino = 12, .dev = 1 } };
	struct file_entry *e = files_get(files, &rec.file.id);

	expect(FIELD(FIELD_FID, file), &rec, "1");
	expect(FIELD(FIELD_FILE, file), &rec, "?"); /* its name never came */
	files_name(files, e, "/data/a b", 9);
	expect(FIELD(FIELD_FILE, file), &rec, "a\\040b");
	rec.file.id.gen = 1;
	expect(FIELD(FIELD_FID, file), &rec, "2");
	rec.file.id.ino = 0;
	expect(FIELD(FIELD_FID, file), &rec, "-");
	expect(FIELD(FIELD_FILE, file), &rec, "-");
}

static void devices_as_major_and_minor(void **state)
{
	struct rec rec = { .file.id.dev = 259 << 20 | 2 };

	expect(FIELD(FIELD_FILEDEV, file), &rec, "259:2");
	rec.file.id.dev = UINT32_MAX;
	expect(FIELD(FIELD_FILEDEV, file), &rec, "4095:1048575");
	rec.file.at.dev = 43;
	expect(FIELD(FIELD_FILEDEV, file), &rec, "0:43");
	expect(FIELD(FIELD_REALDEV, file.at), &rec, "-");
	expect(FIELD(FIELD_REALINO, file.at), &rec, "-");
	rec.file.at = (struct dlt_file_at){ .real_ino = UINT64_MAX, .real_dev = 8 << 20 | 1 };
	expect(FIELD(FIELD_REALDEV, file.at), &rec, "8:1");
	expect(FIELD(FIELD_REALINO, file.at), &rec, "18446744073709551615");
}

static void expect_type(uint32_t mode, uint64_t magic, uint32_t flags, const char *fstype, const char *seg, size_t len,
			const char *want)
{
	struct {
		struct rec rec;
		char seg[64];
	} r = { .rec = { .hdr.size = (uint32_t)(sizeof(r.rec) + len),
			 .file = { .mode = mode, .magic = magic, .flags = flags },
			 .segs.len = { (uint16_t)len } } };

	assert_true(len <= sizeof(r.seg));
	memcpy(r.seg, seg, len);
	strcpy(r.rec.file.fstype, fstype);
	expect(FIELD(FIELD_FILETYPE, file), &r, want);
}

static void types_of_files(void **state)
{
	static const char in_shm[] = "sem.x\0shm\0dev\0", in_shmx[] = "x\0shmx\0dev\0";
	static const char in_a_shm[] = "x\0shm\0dev\0a\0", memfd[] = "memfd:x", sysv[] = "SYSV0";
	const uint32_t floating = DLT_PATH_FLOATING;

	expect_type(S_IFREG | 0644, 0xef53, 0, "ext4", "a", 2, "reg");
	expect_type(S_IFDIR | 0755, 0xef53, 0, "ext4", "a", 2, "dir");
	expect_type(S_IFCHR, 0, 0, "devtmpfs", "a", 2, "chr");
	expect_type(S_IFBLK, 0, 0, "devtmpfs", "a", 2, "blk");
	expect_type(S_IFLNK | 0777, 0xef53, 0, "ext4", "a", 2, "lnk"); /* O_PATH|O_NOFOLLOW */
	expect_type(S_IFIFO, 0xef53, 0, "ext4", "a", 2, "fifo");
	expect_type(S_IFIFO, 0x50495045, floating, "pipefs", "", 1, "fifo");
	expect_type(S_IFSOCK, 0x534f434b, floating, "sockfs", "", 1, "sock");
	expect_type(0600, 0x09041934, floating, "anon_inodefs", "[eventpoll]", 12, "anon");
	expect_type(S_IFREG, 0x09041934, floating, "anon_inodefs", "[secretmem]", 12, "anon");
	expect_type(0600, 1, 0, "nsfs", "a", 2, "anon"); /* no type bits either */
	expect_type(S_IFREG | 0777, 0x01021994, floating, "tmpfs", memfd, sizeof(memfd), "memfd");
	expect_type(S_IFREG | 0777, 0x01021994, floating, "tmpfs", sysv, sizeof(sysv), "shm");
	expect_type(S_IFREG, 0x01021994, 0, "tmpfs", in_shm, sizeof(in_shm) - 1, "shm");
	expect_type(S_IFREG, 0x01021994, 0, "tmpfs", in_shmx, sizeof(in_shmx) - 1, "reg");
	expect_type(S_IFREG, 0x01021994, 0, "tmpfs", in_a_shm, sizeof(in_a_shm) - 1, "reg");
	expect_type(S_IFREG, 0xef53, 0, "ext4", in_shm, sizeof(in_shm) - 1, "reg"); /* no tmpfs */
	expect_type(0, 0, DLT_PATH_UNREACHABLE, "", "", 0, "-"); /* never described */
}

static void expect_state(uint32_t flags, const char *want)
{
	const struct rec rec = { .file.flags = flags };

	expect(FIELD(FIELD_FILESTATE, file), &rec, want);
}

static void states_of_files(void **state)
{
	expect_state(0, "ok");
	expect_state(DLT_PATH_DELETED, "deleted");
	expect_state(DLT_PATH_UNREACHABLE, "unreachable");
	expect_state(DLT_PATH_TRUNCATED, "truncated");
	expect_state(DLT_PATH_DELETED | DLT_PATH_UNREACHABLE | DLT_PATH_TRUNCATED, "deleted");
	/* pipes and memfds have no entry in a folder to lose */
	expect_state(DLT_PATH_FLOATING | DLT_PATH_UNREACHABLE | DLT_PATH_DELETED, "ok");
}

/* --- segments --------------------------------------------------------------------------------- */

static void segments_lie_one_behind_the_other(void **state)
{
	static const struct probe p = { .rec_size = sizeof(struct rec) };
	struct {
		struct rec rec;
		char seg[8];
	} r = { { .hdr.size = sizeof(r.rec) + 6, .segs.len = { 1, 0, 2, 3 } }, "abbccc" };
	size_t len;

	assert_ptr_equal(record_seg(&p, &r, offsetof(struct rec, segs), 0, &len), r.seg);
	assert_int_equal(len, 1);
	assert_null(record_seg(&p, &r, offsetof(struct rec, segs), 1, &len));
	assert_int_equal(len, 0);
	assert_ptr_equal(record_seg(&p, &r, offsetof(struct rec, segs), 2, &len), r.seg + 1);
	assert_int_equal(len, 2);
	assert_ptr_equal(record_seg(&p, &r, offsetof(struct rec, segs), 3, &len), r.seg + 3);
	assert_int_equal(len, 3);
}

static void segments_may_begin_elsewhere(void **state)
{
	static const struct probe p = { .rec_size = 8, .seg_at = sizeof(struct rec) };
	struct {
		struct rec rec;
		char seg[8];
	} r = { .rec = { .hdr.size = sizeof(r.rec) + 2, .segs.len = { 2 } } };
	size_t len;

	assert_ptr_equal(record_seg(&p, &r, offsetof(struct rec, segs), 0, &len), r.seg);
}

/* Lengths in a record count only as far as the record goes. */
static void lengths_beyond_the_record_are_no_segments(void **state)
{
	static const struct probe p = { .rec_size = sizeof(struct rec) };
	static const struct {
		uint16_t len[4];
		unsigned int there; /* a bit for each existing segment */
	} lies[] = {
		{ { 8, 0, 0, 0 }, 1 },
		{ { 9, 0, 0, 0 }, 0 },
		{ { UINT16_MAX, UINT16_MAX, UINT16_MAX, UINT16_MAX }, 0 },
		{ { 4, 4, 0, 0 }, 3 },
		{ { 4, 5, 0, 0 }, 1 },
		{ { 4, 4, 1, 0 }, 3 },
		{ { UINT16_MAX, 1, 0, 1 }, 0 },
		{ { 0, 0, 0, 8 }, 8 },
	};

	static const char nuls[] = "\\000\\000\\000\\000\\000\\000\\000";

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		struct rec *rec = calloc(1, sizeof(*rec) + 8);

		rec->hdr.size = sizeof(*rec) + 8;
		memcpy(rec->segs.len, lies[i].len, sizeof(rec->segs.len));
		for (unsigned int j = 0; j < 4; j++) {
			size_t len = 99;
			const char *s = record_seg(&p, rec, offsetof(struct rec, segs), j, &len);

			assert_int_equal(s != NULL, lies[i].there >> j & 1);
			assert_int_equal(len, s ? lies[i].len[j] : 0);
			/* a NUL at the end does not belong to it */
			expect(FIELD(FIELD_USTR, segs, .arg = (uint8_t)j), rec, len > 1 ? nuls + 4 * (8 - len) : "-");
		}
		free(rec);
	}
}

/* A segment longer than the longest path is not read: it would not fit where paths are put together. */
static void segments_longer_than_any_path_are_none(void **state)
{
	static const struct probe p = { .rec_size = sizeof(struct rec) };
	struct rec *rec = calloc(1, sizeof(*rec) + 4 * 20000);
	size_t len;

	rec->hdr.size = sizeof(*rec) + 4 * 20000;
	rec->file.id.ino = 1;
	for (unsigned int i = 0; i < 4; i++)
		rec->segs.len[i] = 20000;
	for (unsigned int i = 0; i < 4; i++)
		assert_null(record_seg(&p, rec, offsetof(struct rec, segs), i, &len));
	expect(FIELD(FIELD_ABS, segs, .arg = 0, .arg2 = 2), rec, "-");
	expect(FIELD(FIELD_REALPATH, file, .arg = 1), rec, "/");
	free(rec);
}

static void strings_as_passed(void **state)
{
	struct {
		struct rec rec;
		char seg[64];
	} r = { .rec.file.id.ino = 1 };
	static const struct {
		const char *bytes;
		size_t len;
		const char *want;
	} cases[] = {
		{ "", 0, "-" }, /* could not be read */
		{ "", 1, "-" }, /* open("") */
		{ "a/../b", 7, "a/../b" },
		{ "-", 2, "\\055" },
		{ "?", 2, "\\077" },
		{ "--", 3, "--" },
		{ "python\0-c\0print(1)\0", 19, "python\\000-c\\000print(1)" },
		{ "a\0\0", 3, "a\\000" }, /* an empty last argument */
		{ "cut", 3, "cut" }, /* no NUL at all */
		{ "\xe2\x82\xac \xe2\x82", 7, "€\\040\\342\\202" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		memcpy(r.seg, cases[i].bytes, cases[i].len);
		r.rec.segs.len[0] = (uint16_t)cases[i].len;
		r.rec.hdr.size = (uint32_t)(sizeof(r.rec) + cases[i].len);
		expect(FIELD(FIELD_USTR, segs, .arg = 0), &r, cases[i].want);
	}
}

/* --- paths ------------------------------------------------------------------------------------ */

/* Buffers end where the promise ends, so that ASan notices a byte too many. */
static void expect_path(const char *seg, size_t len, const char *want)
{
	autofree char *in = malloc(len ? len : 1), *out = malloc(RECORD_PATH_MAX);

	memcpy(in, seg, len);
	len = record_path(out, len ? in : NULL, len);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(out, want, len);
}

static void walked_paths_begin_at_the_root(void **state)
{
	expect_path("", 0, "/");
	expect_path("", 1, "/"); /* the root itself */
	expect_path("a", 2, "/a");
	expect_path("file\0dir\0top", 13, "/top/dir/file");
}

static void walked_paths_are_bytes(void **state)
{
	expect_path("\xff\n\t \0-", 6 + 1, "/-/\xff\n\t ");
}

static void a_path_a_thousand_deep(void **state)
{
	char seg[2000 + 2], want[2000 + 3], *s = seg, *w = want;

	for (int i = 0; i < 1000; i++)
		s = stpcpy(s, "d") + 1;
	for (int i = 0; i < 1000; i++)
		w = stpcpy(w, "/d");
	expect_path(seg, 2000, want);
}

static void a_path_of_4095_bytes(void **state)
{
	char seg[DLT_PATH_MAX], want[DLT_PATH_MAX];

	memset(want, 'x', sizeof(want));
	want[4095] = '\0';
	for (int i = 0; i < 4095; i += 256)
		want[i] = '/';
	for (size_t end = 4095, at = 0; end; end -= end % 256 ? end % 256 : 256) {
		size_t start = (end - 1) / 256 * 256;

		memcpy(seg + at, want + start + 1, end - start - 1);
		at += end - start;
		seg[at - 1] = '\0';
	}
	expect_path(seg, 4095, want);
}

static void expect_abs(const char *s, const char *base, size_t base_len, const char *want)
{
	size_t s_len = strlen(s), len;
	autofree char *in = malloc(s_len + 1), *out = malloc(RECORD_PATH_MAX);

	memcpy(in, s, s_len);
	len = record_abs(out, in, s_len, base, base_len);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(out, want, len);
}

static void absolute_paths_need_no_base(void **state)
{
	expect_abs("/", NULL, 0, "/");
	expect_abs("/a", NULL, 0, "/a");
	expect_abs("/a/b", "x", 2, "/a/b");
}

static void relative_paths_begin_at_their_base(void **state)
{
	expect_abs("a", "work\0home", 10, "/home/work/a");
	expect_abs("a", "", 1, "/a"); /* the root */
	expect_abs("a/b", "home", 5, "/home/a/b");
}

static void without_a_base_they_stay_relative(void **state)
{
	expect_abs("a", NULL, 0, "a");
	expect_abs("../data//x/.", NULL, 0, "../data//x/.");
	expect_abs(".", NULL, 0, ".");
}

static void dots_and_doubled_slashes_go(void **state)
{
	expect_abs("//a///b/", NULL, 0, "/a/b");
	expect_abs("/./a/./b/.", NULL, 0, "/a/b");
	expect_abs("./a", "d", 2, "/d/a");
	expect_abs(".", "d", 2, "/d");
	expect_abs(".", "", 1, "/");
	expect_abs("/.", NULL, 0, "/");
	expect_abs("/..a/.b/...", NULL, 0, "/..a/.b/...");
}

static void dotdot_stays(void **state)
{
	/* there may be links before it: only the kernel knows where it leads */
	expect_abs("/a/../b", NULL, 0, "/a/../b");
	expect_abs("../b", "d", 2, "/d/../b");
	expect_abs("..", "", 1, "/..");
}

static void nothing_stays_nothing(void **state)
{
	expect_abs("", NULL, 0, "");
	expect_abs("", "d", 2, "");
}

static void two_paths_of_4095_bytes_fit(void **state)
{
	char base[DLT_PATH_MAX] = "", s[DLT_PATH_MAX] = "", want[2 * DLT_PATH_MAX] = "/";

	memset(base, 'b', 4094);
	memset(s, 's', 4095);
	strcat(strcat(strcat(want, base), "/"), s);
	expect_abs(s, base, 4095, want);
}

static void expect_realpath(uint32_t flags, uint64_t magic, const char *seg, size_t len, const char *want)
{
	const struct dlt_file file = { .id.ino = 4711, .flags = flags, .magic = magic };
	autofree char *in = malloc(len ? len : 1), *out = malloc(RECORD_PATH_MAX);

	memcpy(in, seg, len);
	len = record_realpath(out, &file, len ? in : NULL, len);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(out, want, len);
}

static void real_paths_of_files_in_folders(void **state)
{
	expect_realpath(0, 0xef53, "b\0a", 4, "/a/b");
	expect_realpath(0, 0xef53, "", 0, "/");
	expect_realpath(DLT_PATH_DELETED, 0xef53, "b\0a", 4, "/a/b"); /* STATE shows it */
	expect_realpath(DLT_PATH_UNREACHABLE, 0xef53, "b\0a", 4, "(unreachable)/a/b");
	expect_realpath(DLT_PATH_UNREACHABLE, 0xef53, "", 0, ""); /* never sent */
}

static void real_paths_of_files_without_a_folder(void **state)
{
	const uint32_t floating = DLT_PATH_FLOATING | DLT_PATH_UNREACHABLE | DLT_PATH_DELETED;

	expect_realpath(floating, 0x50495045, "", 0, "pipe:[4711]");
	expect_realpath(floating, 0x50495045, "", 1, "pipe:[4711]");
	expect_realpath(floating, 0x534f434b, "x", 2, "socket:[4711]");
	expect_realpath(floating, 0x09041934, "[eventfd]", 10, "anon_inode:[eventfd]");
	expect_realpath(floating, 0x09041934, "", 0, "anon_inode:");
	expect_realpath(floating, 0x01021994, "memfd:a/b c", 12, "/memfd:a/b c");
	expect_realpath(floating, 0x01021994, "", 0, "/");
}

static void real_path_of_a_call_without_a_file_is_empty(void **state)
{
	struct rec rec = { .hdr.size = sizeof(rec) };

	expect(FIELD(FIELD_REALPATH, file, .arg = 1), &rec, "-");
	rec.file.id.ino = 1;
	expect(FIELD(FIELD_REALPATH, file, .arg = 1), &rec, "/");
}

static void real_path_of_a_file_with_a_name_is_that(void **state)
{
	struct rec rec = { .hdr.size = sizeof(rec), .file.id.ino = 1 };
	struct file_entry *e = files_get(files, &rec.file.id);

	files_name(files, e, "/data/img_0001.jpg", 18);
	expect(FIELD(FIELD_REALPATH, file, .arg = 1), &rec, "/data/img_0001.jpg");
	expect(FIELD(FIELD_FILE, file), &rec, "img_0001.jpg");
	files_name(files, e,
		   "/my data/\xff"
		   "#1",
		   12);
	expect(FIELD(FIELD_REALPATH, file, .arg = 1), &rec, "/my\\040data/\\377\\0431");
	expect(FIELD(FIELD_FILE, file), &rec, "\\377\\0431");
	files_name(files, e, "/data/-", 7); /* as a field of its own this would be "nothing" */
	expect(FIELD(FIELD_REALPATH, file, .arg = 1), &rec, "/data/-");
	expect(FIELD(FIELD_FILE, file), &rec, "\\055");
	rec.file.flags = DLT_PATH_TRUNCATED; /* this row's path is not the name */
	expect(FIELD(FIELD_REALPATH, file, .arg = 1), &rec, "/");
}

/* --- rows ------------------------------------------------------------------------------------- */

static void fields_are_separated_by_tabs(void **state)
{
	static const struct field fields[] = {
		{ "A", "", FIELD_U32, offsetof(struct rec, u32) },
		{ "B", "", FIELD_COMM, offsetof(struct rec, hdr.comm) },
		{ "C", "", FIELD_S32, offsetof(struct rec, s32) },
	};
	static const struct probe p = { .name = "three", .fields = fields, .n_fields = 3 };
	const struct rec rec = { .u32 = 1, .hdr.comm = "\t", .s32 = -2 };
	struct record_ctx ctx = {};

	*record_put_row(row, &p, &rec, &ctx) = '\0';
	assert_string_equal(row, "1\t\\011\t-2\n");
	*record_put_header(row, &p) = '\0';
	assert_string_equal(row, "# dltraced three 1\nA\tB\tC\n");
}

/*
 * The longest row of a record: both paths of create_del relative, and all four strings of the kernel's largest length,
 * of bytes that are escaped as four each.
 */
static void the_longest_row_fits_in_a_sink(void **state)
{
	const size_t strings = 4 * (size_t)DLT_PATH_MAX;
	const struct probe *p = probes[DLT_create_del];
	size_t segs = 0;
	char *rec = malloc(p->rec_size + strings), *room = malloc(SINK_ROW_MAX);
	struct text_utc_cache cache = {};
	struct record_ctx ctx = { .clock = &utc, .utc = &cache, .files = files };
	struct dlt_hdr *hdr = (struct dlt_hdr *)rec;

	for (unsigned int i = 0; i < p->n_fields; i++)
		if (p->fields[i].kind == FIELD_ABS)
			segs = p->fields[i].offset;
	memset(rec, 0xff, p->rec_size + strings);
	hdr->size = (uint32_t)(p->rec_size + strings);
	hdr->ts_ns = 0;
	for (unsigned int i = 0; i < 4; i++) {
		((struct dlt_segs *)(rec + segs))->len[i] = DLT_PATH_MAX;
		rec[p->rec_size + (i + 1) * DLT_PATH_MAX - 1] = '\0';
	}
	assert_true(record_put_row(room, p, rec, &ctx) - room > 16 * 4095);
	free(room);
	free(rec);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, with_files, without_files)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_a_thousand_deep),
		cmocka_unit_test(a_path_of_4095_bytes),
		cmocka_unit_test(absolute_paths_need_no_base),
		cmocka_unit_test(addresses_in_hex_and_errors_in_decimal),
		cmocka_unit_test(bits_are_those_that_have_names),
		cmocka_unit_test(calls_by_name_and_a_question_mark_beyond),
		cmocka_unit_test(calls_of_another_probe_by_its_names),
		cmocka_unit_test(counts_by_power_of_two_without_those_of_none),
		cmocka_unit_test(devices_as_major_and_minor),
		cmocka_unit_test(dotdot_stays),
		cmocka_unit_test(dots_and_doubled_slashes_go),
		cmocka_unit_test(fields_are_separated_by_tabs),
		WITH_FILES(files_by_number_and_last_component),
		cmocka_unit_test(fixed_strings_may_fill_their_room),
		cmocka_unit_test(flags_by_name_and_the_rest_in_hex),
		cmocka_unit_test(flags_without_any_are_0),
		cmocka_unit_test(hostile_names_of_threads_forge_nothing),
		cmocka_unit_test(lengths_beyond_the_record_are_no_segments),
		cmocka_unit_test(modes_in_octal),
		cmocka_unit_test(names_and_the_number_where_there_is_none),
		cmocka_unit_test(none_is_a_dash_and_unknown_a_question_mark),
		cmocka_unit_test(nothing_stays_nothing),
		WITH_FILES(real_path_of_a_call_without_a_file_is_empty),
		WITH_FILES(real_path_of_a_file_with_a_name_is_that),
		cmocka_unit_test(real_paths_of_files_in_folders),
		cmocka_unit_test(real_paths_of_files_without_a_folder),
		cmocka_unit_test(relative_paths_begin_at_their_base),
		cmocka_unit_test(segments_lie_one_behind_the_other),
		WITH_FILES(segments_longer_than_any_path_are_none),
		cmocka_unit_test(segments_may_begin_elsewhere),
		cmocka_unit_test(signed_numbers),
		cmocka_unit_test(states_of_files),
		cmocka_unit_test(strings_as_passed),
		WITH_FILES(the_longest_row_fits_in_a_sink),
		cmocka_unit_test(two_paths_of_4095_bytes_fit),
		cmocka_unit_test(types_of_files),
		cmocka_unit_test(unsigned_numbers),
		cmocka_unit_test(walked_paths_are_bytes),
		cmocka_unit_test(walked_paths_begin_at_the_root),
		cmocka_unit_test(without_a_base_they_stay_relative),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
