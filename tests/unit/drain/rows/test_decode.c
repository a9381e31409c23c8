/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/decode.h"

#include <errno.h>

#include "dlt/bio.h"
#include "dlt/close.h"
#include "dlt/create_del.h"
#include "dlt/open.h"
#include "dlt/sync.h"
#include "dlt/vfs_rw.h"
#include "records.h"

/* Returns the columns from FIRST (from 0) on, of all rows of PROBE. */
static char *columns_from(unsigned int probe, unsigned int first)
{
	autofree char *rows = rows_of(probe);
	char *cut = malloc(strlen(rows) + 1), *end = cut;

	for (const char *s = rows; *s; s = strchr(s, '\n') + 1) {
		const char *from = s;

		for (unsigned int i = 0; i < first; i++)
			from = strchr(from, '\t') + 1;
		end = mempcpy(end, from, strcspn(from, "\n") + 1);
	}
	*end = '\0';
	return cut;
}

static void expect_columns(unsigned int probe, unsigned int first, const char *want)
{
	autofree char *got = columns_from(probe, first);

	expect_lines(got, want);
}

/* FID DEV INO TYPE FSTYPE SIZE STATE REALPATH, without REALDEV REALINO after them */
static void expect_files(const char *want)
{
	static const char none[] = "\t-\t-\n";
	autofree char *rows = columns_from(DLT_files, 2);
	char *out = rows;

	for (const char *row = rows; *row;) {
		const char *end = strchr(row, '\n') + 1;

		assert_memory_equal(end - strlen(none), none, strlen(none));
		memmove(out, row, (size_t)(end - row));
		out += end - row - (ptrdiff_t)strlen(none);
		*out++ = '\n';
		row = end;
	}
	*out = '\0';
	expect_lines(rows, want);
}

static struct dlt_open *open_of(struct dlt_file file, const char *path, const char *realpath)
{
	struct dlt_open *rec = rec_begin(DLT_open);

	rec->file = file;
	rec->ret = 3;
	rec_str(&rec->segs, 0, path);
	rec_path(&rec->segs, 1, realpath);
	return rec;
}

static void close_of(struct dlt_file_id id)
{
	struct dlt_close *rec = rec_begin(DLT_close);

	rec->id = id;
	rec->last = DLT_NONE;
	rec_emit();
}

static void rename_of(const char *path, const char *path2)
{
	struct dlt_create_del *rec = rec_begin(DLT_create_del);

	record.hdr.func = 7;
	assert_string_equal(probes[DLT_create_del]->calls[7].name, "rename");
	rec->mode = rec->flags = DLT_NONE;
	rec_str(&rec->segs, 0, path);
	rec_str(&rec->segs, 1, path2);
	rec_emit();
}

/* --- records from a ring ---------------------------------------------------------------------- */

static uint64_t all_bad(void)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < DLT_PROBES; i++)
		n += decode.counts[i].bad;
	return n;
}

static void records_of_no_probe_are_counted(void **state)
{
	static const uint16_t numbers[] = { DLT_NO_PROBE, DLT_PROBES, DLT_PROBES + 1, UINT16_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		rec_begin(DLT_close);
		record.hdr.probe = numbers[i];
		rec_emit();
		assert_int_equal(decode.counts[DLT_NO_PROBE].bad, i + 1);
	}
	assert_int_equal(all_bad(), ARRAY_SIZE(numbers));
	expect_rows(DLT_close, "");
}

/* Of exactly LEN bytes, so that ASan notices a read beyond them. */
static void decode_exactly(uint32_t len)
{
	char *copy = malloc(len ? len : 1);

	memcpy(copy, &record, len);
	decode_record(&decode, copy, len);
	free(copy);
}

static void records_that_are_too_short_are_counted(void **state)
{
	for (uint32_t len = 0; len < sizeof(struct dlt_hdr); len++) {
		rec_begin(DLT_close);
		decode_exactly(len);
		assert_int_equal(decode.counts[DLT_NO_PROBE].bad, len + 1);
	}
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		rec_begin(i);
		record.hdr.size--;
		decode_exactly(record.hdr.size);
		assert_int_equal(decode.counts[i].bad, 1);
		rec_begin(i);
		record.hdr.size = 0;
		decode_exactly((uint32_t)probes[i]->rec_size);
		assert_int_equal(decode.counts[i].bad, 2);
		assert_int_equal(decode.counts[i].records, 0);
		expect_rows(i, "");
	}
}

static void records_that_say_they_are_longer_than_they_are_counted(void **state)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		rec_begin(i);
		record.hdr.size++;
		decode_exactly(record.hdr.size - 1);
		record.hdr.size = UINT32_MAX;
		decode_exactly((uint32_t)probes[i]->rec_size);
		assert_int_equal(decode.counts[i].bad, 2);
		assert_int_equal(decode.counts[i].records, 0);
		expect_rows(i, "");
	}
}

/* The kernel side reserves constant sizes: bytes after the record are not part of it. */
static void a_reserve_may_be_larger_than_its_record(void **state)
{
	struct dlt_close *rec = rec_begin(DLT_close);

	rec->last = DLT_NONE;
	decode_exactly(384);
	assert_int_equal(all_bad(), 0);
	assert_int_equal(decode.counts[DLT_close].records, 1);
	expect_columns(DLT_close, 5, "close\t1500\t0\t0\t-\t-\t-\n");
}

/* Every probe's decode gets arbitrary bytes: rows may be nonsense, but reads may not leave the record. */
static void any_bytes_at_all_are_survived(void **state)
{
	uint64_t x = 88172645463325252ULL;

	for (unsigned int round = 0; round < 3000; round++) {
		unsigned int probe = 1 + round % (DLT_PROBES - 1);
		uint32_t len;

		rec_begin(probe);
		len = (uint32_t)(probes[probe]->rec_size + round * 7 % 16000);
		for (uint32_t i = sizeof(struct dlt_hdr); i < len; i += 8) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			memcpy(record.bytes + i, &x, MIN(8, len - i));
		}
		record.hdr.func = (uint16_t)(x % 32);
		record.hdr.size = len;
		if (probe == DLT_vfs_rw && len >= sizeof(struct dlt_vfs_rw_pair))
			((struct dlt_vfs_rw_pair *)&record)->to.hdr =
				record.hdr; /* for any other probe it is not a row */
		decode_exactly(len);
	}
	assert_int_equal(all_bad(), 0);
}

static void files_without_a_probe_get_no_rows(void **state)
{
	struct dlt_open *rec;

	sink_close(&decode.sinks[DLT_open]);
	rec = open_of(file_of(11), "x", "/x");
	rec->created = 1;
	rec->mode = rec->flags = DLT_NONE;
	rec_emit();
	assert_int_equal(decode.sinks[DLT_open].rows, 0);
	expect_columns(DLT_create_del, 5, "create\t1500\t0\t-\t-\t1\tx\t-\tkernel\n");
}

/* --- --comm GLOB and !GLOB ---------------------------------------------------------------- */

static void thread(const char *comm)
{
	struct dlt_close *rec = rec_begin(DLT_close);

	rec->last = DLT_NONE;
	memset(rec->hdr.comm, 0, sizeof(rec->hdr.comm));
	memcpy(rec->hdr.comm, comm, strnlen(comm, DLT_COMM_LEN));
	rec_emit();
}

static void expect_kept(uint64_t records, uint64_t filtered)
{
	assert_int_equal(decode.counts[DLT_close].records, records);
	assert_int_equal(decode.counts[DLT_close].filtered, filtered);
	sink_flush(&decode.sinks[DLT_close]);
	assert_int_equal(decode.sinks[DLT_close].rows, records - filtered);
}

static void without_globs_all_threads_are_kept(void **state)
{
	thread("python");
	thread("");
	expect_kept(2, 0);
}

static void threads_are_narrowed_by_name(void **state)
{
	config.comm = (struct config_list){ .items = { "pt_*", "python" }, .n = 2 };
	thread("python");
	thread("pt_data_worker");
	thread("python3");
	thread("");
	thread("Python");
	expect_kept(5, 3);
}

static void threads_are_narrowed_by_what_is_not(void **state)
{
	config.exclude_comm = (struct config_list){ .items = { "bash", "[a-c]at" }, .n = 2 };
	thread("bash");
	thread("cat");
	thread("dat");
	thread("");
	expect_kept(4, 2);
}

static void an_excluded_name_wins(void **state)
{
	config.comm = (struct config_list){ .items = { "*" }, .n = 1 };
	config.exclude_comm = (struct config_list){ .items = { "python" }, .n = 1 };
	thread("python");
	thread("python3");
	expect_kept(2, 1);
}

/* Sixteen bytes need no NUL. */
/* PID, TID and COMM are put together once per thread: again for another thread, and when it has a new name. */
static void every_row_has_its_thread(void **state)
{
	static const struct {
		uint32_t tgid, tid;
		const char *comm;
	} of[] = {
		{ 7, 7, "a" },
		{ 7, 7, "a" },
		{ 7, 7, "b" },
		{ 8, 7, "b" },
		{ 7, 7 + RECORD_THREAD_SLOTS, "b" },
		{ 7, 7, "b" },
		{ UINT32_MAX, UINT32_MAX, "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1" },
		{ 0, 0, "" },
	};
	autofree char *rows = NULL;
	const char *at;

	for (unsigned int i = 0; i < ARRAY_SIZE(of); i++) {
		struct dlt_close *rec = rec_begin(DLT_close);

		rec->hdr.tgid = of[i].tgid;
		rec->hdr.tid = of[i].tid;
		memcpy(rec->hdr.comm, of[i].comm, strnlen(of[i].comm, DLT_COMM_LEN - 1) + 1);
		rec->last = DLT_NONE;
		rec_emit();
	}
	at = rows = columns_from(DLT_close, 2);
	for (unsigned int i = 0; i < ARRAY_SIZE(of); i++, at = strchr(at, '\n') + 1) {
		char comm[TEXT_ESCAPED_MAX(DLT_COMM_LEN)], want[128];

		*text_put_str(comm, of[i].comm, strnlen(of[i].comm, DLT_COMM_LEN)) = '\0';
		snprintf(want, sizeof(want), "%u\t%u\t%s\tclose\t", of[i].tgid, of[i].tid, comm);
		assert_memory_equal(at, want, strlen(want));
	}
	assert_string_equal(at, "");
}

static void the_longest_name_is_matched_whole(void **state)
{
	config.comm = (struct config_list){ .items = { "0123456789abcdef" }, .n = 1 };
	thread("0123456789abcdef");
	thread("0123456789abcdeX");
	thread("0123456789abcde");
	expect_kept(3, 2);
}

/* The results are kept in a small table: more names than it has places, in turn. */
static void names_do_not_take_each_others_verdict(void **state)
{
	char comm[DLT_COMM_LEN];

	config.comm = (struct config_list){ .items = { "*[02468]" }, .n = 1 };
	for (unsigned int i = 0; i < 4000; i++) {
		snprintf(comm, sizeof(comm), "worker-%u", i % 2000);
		thread(comm);
		assert_int_equal(decode.counts[DLT_close].filtered, (i + 1) / 2);
	}
}

static void what_is_of_the_machine_is_not_narrowed(void **state)
{
	config.comm = (struct config_list){ .items = { "nothing" }, .n = 1 };
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		if (i == DLT_alloc) /* whose records are pages of many rows, or of none */
			continue;
		rec_begin(i);
		rec_emit();
		assert_int_equal(decode.counts[i].records, 1);
		assert_int_equal(decode.counts[i].filtered != 0, (probes[i]->flags & PROBE_OF_TARGET) != 0);
	}
}

/* A shell opens files that it passes on; the kernel sends a name once. */
static void a_file_is_known_whoever_opened_it(void **state)
{
	config.exclude_comm = (struct config_list){ .items = { "sh" }, .n = 1 };
	strcpy(open_of(file_of(11), "x", "/data/x")->hdr.comm, "sh");
	rec_emit();
	close_of(id_of(11));
	assert_int_equal(decode.counts[DLT_open].filtered, 1);
	expect_files("1\t259:2\t11\treg\text4\t4096\tok\t/data/x\n");
	expect_columns(DLT_close, 10, "1\tx\n");
}

/* --- files.out -------------------------------------------------------------------------------- */

static void a_file_is_a_row_once(void **state)
{
	open_of(file_of(11), "x", "/data/x");
	rec_emit();
	open_of(file_of(11), "./x", "/data/x");
	rec_emit();
	close_of(id_of(11));
	expect_files("1\t259:2\t11\treg\text4\t4096\tok\t/data/x\n");
	expect_columns(DLT_close, 10, "1\tx\n");
}

static void an_inode_used_again_is_another_file(void **state)
{
	struct dlt_file file = file_of(11);

	learn(file, "/tmp/x");
	file.id.gen++;
	learn(file, "/tmp/x");
	close_of(file.id);
	close_of(id_of(11));
	expect_files("1\t259:2\t11\treg\text4\t4096\tok\t/tmp/x\n"
		     "2\t259:2\t11\treg\text4\t4096\tok\t/tmp/x\n");
	expect_columns(DLT_close, 10, "2\tx\n1\tx\n");
}

/* A link that was never opened by its name is renamed over a file, which loses that name. */
static void a_name_that_an_unknown_file_took_is_not_the_old_ones(void **state)
{
	learn(file_of(11), "/a");
	rename_of("/link", "/a");
	rename_of("/a", "/b");
	close_of(id_of(11));
	expect_files("1\t259:2\t11\treg\text4\t4096\tok\t/a\n");
	expect_columns(DLT_create_del, 10, "-\t/link\t/a\t-\n-\t/a\t/b\t-\n");
}

/* In between its name was another file's, which was not opened then. */
static void a_file_found_at_its_old_path_moves_on_from_there(void **state)
{
	learn(file_of(11), "/a");
	learn(file_of(12), "/a");
	learn(file_of(11), "/a");
	rename_of("/a", "/b");
	expect_columns(DLT_create_del, 10, "1\t/a\t/b\tpath\n");
}

static struct dlt_file stacked(uint64_t real_ino)
{
	struct dlt_file file = file_of(11);

	file.at = (struct dlt_file_at){ .real_ino = real_ino, .real_dev = 8 << 20 | 1 };
	return file;
}

static void a_copy_up_is_a_row_of_the_same_file(void **state)
{
	learn(stacked(5), "/data/x");
	learn(stacked(5), "/data/x");
	learn(stacked(6), "/data/x");
	close_of(id_of(11));
	rename_of("/data/x", "/data/y");
	expect_columns(DLT_files, 2,
		       "1\t259:2\t11\treg\text4\t4096\tok\t/data/x\t8:1\t5\n"
		       "1\t259:2\t11\treg\text4\t4096\tok\t/data/x\t8:1\t6\n"
		       "1\t259:2\t11\treg\text4\t4096\tok\t/data/y\t8:1\t6\n");
}

/* Its first row had no name, and the lower file was not known then. */
static void a_stacked_file_that_gets_its_name_is_no_copy_up(void **state)
{
	close_of(id_of(11));
	learn(stacked(5), "/data/x");
	learn(stacked(5), "/data/x");
	expect_columns(DLT_files, 2,
		       "1\t259:2\t11\t-\t-\t0\tunreachable\t-\t-\t-\n"
		       "1\t259:2\t11\treg\text4\t4096\tok\t/data/x\t8:1\t5\n");
}

static void a_rename_is_a_row_of_the_same_file(void **state)
{
	learn(file_of(11), "/out/ckpt.tmp");
	rename_of("/out/ckpt.tmp", "/out/ckpt.pt");
	close_of(id_of(11));
	expect_files("1\t259:2\t11\treg\text4\t4096\tok\t/out/ckpt.tmp\n"
		     "1\t259:2\t11\treg\text4\t4096\tok\t/out/ckpt.pt\n");
	expect_columns(DLT_create_del, 10, "1\t/out/ckpt.tmp\t/out/ckpt.pt\tpath\n");
	expect_columns(DLT_close, 10, "1\tckpt.pt\n");
}

static void a_file_found_under_another_name_has_moved(void **state)
{
	learn(file_of(11), "/a");
	learn(file_of(11), "/b");
	expect_files("1\t259:2\t11\treg\text4\t4096\tok\t/a\n"
		     "1\t259:2\t11\treg\text4\t4096\tok\t/b\n");
}

static void a_path_that_grew_too_long_is_cut_at_its_beginning(void **state)
{
	static char path[3000], want[sizeof(path) + 100];
	struct dlt_create_del *rec;

	memset(path, 'd', sizeof(path) - 1);
	path[0] = path[1000] = '/';
	learn(file_of(11), "/a");
	rec = rec_begin(DLT_create_del);
	record.hdr.func = 7;
	rec_str(&rec->segs, 0, "/a");
	rec_str(&rec->segs, 1, path + 1);
	rec_path(&rec->segs, 3, path);
	rec_emit();
	/* of twice that path everything fits but the components at its beginning */
	sprintf(want,
		"1\t259:2\t11\treg\text4\t4096\tok\t/a\n"
		"1\t259:2\t11\treg\text4\t4096\ttruncated\t%s\n",
		path);
	expect_files(want);
	close_of(id_of(11));
	sprintf(want, "1\t%s\n", path + 1001);
	expect_columns(DLT_close, 10, want);
}

static void a_failed_unlink_forgets_nothing(void **state)
{
	struct dlt_create_del *rec;

	learn(file_of(11), "/a");
	for (int turn = 0; turn < 2; turn++) {
		rec = rec_begin(DLT_create_del);
		record.hdr.func = 13;
		rec->ret = -EBUSY;
		rec_str(&rec->segs, 0, "/a");
		rec_emit();
	}
	expect_columns(DLT_create_del, 10, "1\t/a\t-\tpath\n1\t/a\t-\tpath\n");
}

static void a_failed_rename_moves_nothing(void **state)
{
	struct dlt_create_del *rec;

	learn(file_of(11), "/a");
	rec = rec_begin(DLT_create_del);
	record.hdr.func = 7;
	rec->ret = -EXDEV;
	rec_str(&rec->segs, 0, "/a");
	rec_str(&rec->segs, 1, "/b");
	rec_emit();
	expect_files("1\t259:2\t11\treg\text4\t4096\tok\t/a\n");
	expect_columns(DLT_create_del, 10, "1\t/a\t/b\tpath\n"); /* the file is known */
}

static void two_files_may_change_places(void **state)
{
	struct dlt_create_del *rec;

	learn(file_of(11), "/a");
	learn(file_of(12), "/b");
	rec = rec_begin(DLT_create_del);
	record.hdr.func = 9;
	assert_string_equal(probes[DLT_create_del]->calls[9].name, "renameat2");
	rec->flags = 2 /* RENAME_EXCHANGE */;
	rec_str(&rec->segs, 0, "/a");
	rec_str(&rec->segs, 1, "/b");
	rec_emit();
	rename_of("/a", "/c");
	expect_files("1\t259:2\t11\treg\text4\t4096\tok\t/a\n"
		     "2\t259:2\t12\treg\text4\t4096\tok\t/b\n"
		     "1\t259:2\t11\treg\text4\t4096\tok\t/b\n"
		     "2\t259:2\t12\treg\text4\t4096\tok\t/a\n"
		     "2\t259:2\t12\treg\text4\t4096\tok\t/c\n");
	expect_columns(DLT_create_del, 10, "1\t/a\t/b\tpath\n2\t/a\t/c\tpath\n");
}

#define FILES_ROW(fid, ino, path) #fid "\t259:2\t" #ino "\treg\text4\t4096\tok\t" path "\n"

/* The folder itself has not been opened: the renamed file may be a folder. */
static void files_below_a_renamed_folder_get_a_row_at_their_next_use(void **state)
{
	struct dlt_create_del *rec;

	learn(file_of(11), "/d/a");
	learn(file_of(12), "/d/sub/b");
	learn(file_of(13), "/dx/c");
	learn(file_of(14), "/d/gone");
	rec = rec_begin(DLT_create_del);
	record.hdr.func = 13; /* unlink */
	rec_str(&rec->segs, 0, "/d/gone");
	rec_emit();
	rename_of("/d", "/e/f");
	close_of(id_of(11));
	close_of(id_of(11));
	close_of(id_of(13));
	close_of(id_of(14));
	rename_of("/e/f/sub/b", "/b");
	learn(file_of(15), "/d/a"); /* the name is free again */
	rename_of("/e/f/a", "/e/f/z");
	decode_files_again(&decode, record.hdr.ts_ns);
	expect_files(FILES_ROW(1, 11, "/d/a") FILES_ROW(2, 12, "/d/sub/b") FILES_ROW(3, 13, "/dx/c")
			     FILES_ROW(4, 14, "/d/gone") FILES_ROW(1, 11, "/e/f/a") FILES_ROW(2, 12, "/b")
				     FILES_ROW(5, 15, "/d/a") FILES_ROW(1, 11, "/e/f/z"));
	expect_columns(DLT_create_del, 10,
		       "4\t/d/gone\t-\tpath\n-\t/d\t/e/f\t-\n"
		       "2\t/e/f/sub/b\t/b\tpath\n1\t/e/f/a\t/e/f/z\tpath\n");
}

static void at_the_end_all_below_a_renamed_folder_get_a_row(void **state)
{
	learn(file_of(11), "/d/a");
	rename_of("/d", "/e");
	rename_of("/e", "/f");
	decode_files_again(&decode, record.hdr.ts_ns);
	expect_files(FILES_ROW(1, 11, "/d/a") FILES_ROW(1, 11, "/f/a"));
}

static void two_folders_may_change_places(void **state)
{
	struct dlt_create_del *rec;

	learn(file_of(11), "/a/x");
	learn(file_of(12), "/b/x");
	learn(file_of(13), "/b/y");
	rec = rec_begin(DLT_create_del);
	record.hdr.func = 9; /* renameat2 */
	rec->flags = 2 /* RENAME_EXCHANGE */;
	rec_str(&rec->segs, 0, "/a");
	rec_str(&rec->segs, 1, "/b");
	rec_emit();
	close_of(id_of(13));
	rename_of("/a/x", "/c");
	rename_of("/b/x", "/d");
	expect_files(FILES_ROW(1, 11, "/a/x") FILES_ROW(2, 12, "/b/x") FILES_ROW(3, 13, "/b/y") FILES_ROW(3, 13, "/a/y")
			     FILES_ROW(2, 12, "/c") FILES_ROW(1, 11, "/d"));
}

static void unlink_of(const char *path, int64_t ret)
{
	struct dlt_create_del *rec = rec_begin(DLT_create_del);

	record.hdr.func = 13;
	assert_string_equal(probes[DLT_create_del]->calls[13].name, "unlink");
	rec->mode = rec->flags = DLT_NONE;
	rec->ret = ret;
	rec_str(&rec->segs, 0, path);
	rec_emit();
}

/* k may be a link: /w/k/.. is any folder, so the a in it is any file. */
static void after_a_rename_through_a_parent_no_file_of_that_name_is_known(void **state)
{
	learn(file_of(11), "/w/a/x");
	learn(file_of(12), "/v/a");
	learn(file_of(13), "/w/ab/x");
	learn(file_of(14), "/w/ba/x");
	rename_of("/w/k/../a", "/w/b");
	rename_of("/w/a/x", "/w/a/y");
	rename_of("/v/a", "/v/c");
	rename_of("/w/ab/x", "/w/ab/y");
	rename_of("/w/ba/x", "/w/ba/y");
	learn(file_of(11), "/w/b/x"); /* opened at its real place */
	rename_of("/w/b/x", "/w/b/y");
	decode_files_again(&decode, record.hdr.ts_ns);
	expect_columns(DLT_create_del, 10,
		       "-\t/w/k/../a\t/w/b\t-\n-\t/w/a/x\t/w/a/y\t-\n-\t/v/a\t/v/c\t-\n3\t/w/ab/x\t/w/ab/y\tpath\n"
		       "4\t/w/ba/x\t/w/ba/y\tpath\n1\t/w/b/x\t/w/b/y\tpath\n");
	expect_files(FILES_ROW(1, 11, "/w/a/x") FILES_ROW(2, 12, "/v/a") FILES_ROW(3, 13, "/w/ab/x")
			     FILES_ROW(4, 14, "/w/ba/x") FILES_ROW(3, 13, "/w/ab/y") FILES_ROW(4, 14, "/w/ba/y")
				     FILES_ROW(1, 11, "/w/b/x") FILES_ROW(1, 11, "/w/b/y"));
}

/* The moved file is known, and its row has the name as passed; the replaced one may be any. */
static void after_a_rename_to_a_parent_no_file_of_that_name_is_known(void **state)
{
	struct dlt_create_del *rec;

	learn(file_of(11), "/w/o");
	learn(file_of(12), "/w/p");
	learn(file_of(13), "/x/p/f");
	rename_of("/w/o", "/w/k/../p");
	rename_of("/w/p", "/w/q");
	rename_of("/x/p/f", "/x/p/g");
	rename_of("/w/k/../p", "/w/r"); /* k may be another link by now */
	learn(file_of(12), "/w/p");
	rec = rec_begin(DLT_create_del);
	record.hdr.func = 7; /* rename */
	rec_str(&rec->segs, 0, "s");
	rec_str(&rec->segs, 1, "p"); /* relative, to a folder that never arrived */
	rec_emit();
	rename_of("/w/p", "/w/q");
	expect_files(FILES_ROW(1, 11, "/w/o") FILES_ROW(2, 12, "/w/p") FILES_ROW(3, 13, "/x/p/f")
			     FILES_ROW(1, 11, "/w/k/../p"));
	expect_columns(DLT_create_del, 10,
		       "1\t/w/o\t/w/k/../p\tpath\n-\t/w/p\t/w/q\t-\n-\t/x/p/f\t/x/p/g\t-\n-\t/w/k/../p\t/w/r\t-\n"
		       "-\ts\tp\t-\n-\t/w/p\t/w/q\t-\n");
}

static void after_an_unlink_through_a_parent_no_file_of_that_name_is_known(void **state)
{
	learn(file_of(11), "/w/f");
	unlink_of("/w/k/../f", -2); /* there was no such file */
	rename_of("/w/f", "/w/g");
	unlink_of("/w/k/../g", 0);
	rename_of("/w/g", "/w/h"); /* a file made by mknod(2) */
	close_of(id_of(11));
	expect_files(FILES_ROW(1, 11, "/w/f") FILES_ROW(1, 11, "/w/g"));
	expect_columns(DLT_create_del, 10,
		       "-\t/w/k/../f\t-\t-\n1\t/w/f\t/w/g\tpath\n-\t/w/k/../g\t-\t-\n-\t/w/g\t/w/h\t-\n");
	expect_columns(DLT_close, 10, "1\tg\n");
}

static void a_name_that_never_came_is_a_row_without_one(void **state)
{
	close_of(id_of(11));
	close_of(id_of(11));
	learn(file_of(11), "/late");
	close_of(id_of(11));
	expect_files("1\t259:2\t11\t-\t-\t0\tunreachable\t-\n"
		     "1\t259:2\t11\treg\text4\t4096\tok\t/late\n");
	expect_columns(DLT_close, 10, "1\t?\n1\t?\n1\tlate\n");
}

/* No FID used in another file is missing in files.out, whichever probe meets the file first. */
static void every_file_of_every_probe_has_a_row(void **state)
{
	uint64_t ino = 0;

	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		for (unsigned int j = 0; j < probes[i]->n_fields; j++) {
			struct dlt_file_id id = id_of(ino + 1);

			if (probes[i]->fields[j].kind != FIELD_FID || i == DLT_access || i == DLT_create_del)
				continue; /* access joins several records, create_del has files known by their path */
			rec_begin(i);
			memcpy(record.bytes + probes[i]->fields[j].offset, &id, sizeof(id));
			rec_emit();
			assert_int_equal(decode.sinks[DLT_files].rows_buffered, ++ino);
		}
	}
	assert_true(ino >= 6); /* close, files, mmap, open, sync, vfs_rw */
}

static void no_file_is_no_row(void **state)
{
	close_of((struct dlt_file_id){ .ino = 0, .dev = 7, .gen = 7 });
	expect_files("");
	expect_columns(DLT_close, 10, "-\t-\n");
}

/* A reader that joins the tables finds the file: its row is not later than the row that has its FID. */
static void a_file_comes_before_the_row_that_names_it(void **state)
{
	struct dlt_vfs_rw_pair *pair = rec_begin(DLT_vfs_rw);
	uint64_t ts_ns;

	pair->from.id = id_of(11);
	pair->from.dir = DLT_RW_R;
	pair->to = pair->from;
	pair->to.id = id_of(12);
	pair->from.hdr.size = sizeof(*pair);
	ts_ns = record.hdr.ts_ns;
	rec_emit();
	assert_int_equal(decode.sinks[DLT_files].rows_buffered, 2);
	assert_int_equal(decode.sinks[DLT_files].last_ts_ns, ts_ns);
	assert_int_equal(decode.sinks[DLT_vfs_rw].last_ts_ns, ts_ns);
	expect_columns(DLT_vfs_rw, 14, "1\t?\n2\t?\n");
}

static void a_hundred_thousand_files(void **state)
{
	enum { N = 100000 };
	autofree char *rows = NULL;
	char path[64];

	for (uint64_t i = 1; i <= N; i++) {
		snprintf(path, sizeof(path), "/data/%lu/img%lu.jpg", i % 1000, i);
		open_of(file_of(i), path, path);
		rec_emit();
	}
	for (uint64_t i = N; i > 999; i -= 999)
		close_of(id_of(i));
	sink_flush(&decode.sinks[DLT_files]);
	assert_int_equal(decode.sinks[DLT_files].rows, N);
	assert_int_equal(decode.sinks[DLT_open].late, 0);
	rows = columns_from(DLT_close, 10);
	assert_int_equal(strncmp(rows, "100000\timg100000.jpg\n99001\timg99001.jpg\n", 40), 0);
}

/* --- names that arrive by another record ------------------------------------------------------ */

static void truncate_finds_its_file_by_path(void **state)
{
	struct dlt_sync *rec;

	learn(file_of(11), "/out/log");
	rec = rec_begin(DLT_sync);
	rec_str(&rec->segs, 0, "log");
	rec_path(&rec->segs, 2, "/out");
	rec_emit();
	expect_columns(DLT_sync, 11, "1\tlog\n");
}

static void a_deleted_file_is_not_found_by_its_path(void **state)
{
	struct dlt_create_del *rec;
	struct dlt_sync *sync;

	learn(file_of(11), "/out/log");
	rec = rec_begin(DLT_create_del);
	record.hdr.func = 13;
	assert_string_equal(probes[DLT_create_del]->calls[13].name, "unlink");
	rec_str(&rec->segs, 0, "/out/log");
	rec_emit();
	expect_columns(DLT_create_del, 10, "1\t/out/log\t-\tpath\n");
	sync = rec_begin(DLT_sync);
	rec_str(&sync->segs, 0, "/out/log");
	rec_emit();
	expect_columns(DLT_sync, 11, "-\t-\n");
	close_of(id_of(11)); /* but its descriptors still know it */
	expect_columns(DLT_close, 10, "1\tlog\n");
}

static void an_open_that_made_its_file_is_two_rows(void **state)
{
	struct dlt_open *rec = open_of(file_of(11), "ckpt", "/out/ckpt");

	rec->flags = 0101;
	rec->mode = 0600;
	rec->created = 1;
	rec_path(&rec->segs, 2, "/out");
	rec_emit();
	assert_int_equal(decode.counts[DLT_open].records, 1);
	assert_int_equal(decode.counts[DLT_create_del].records, 1);
	expect_columns(DLT_open, 8, "3\tWRONLY|CREAT\t0600\t1\tckpt\tckpt\t/out/ckpt\n");
	expect_columns(DLT_create_del, 5, "create\t1500\t0\t0600\t0x41\t1\t/out/ckpt\t-\tkernel\n");
}

/* --- lost rows of files.out ------------------------------------------------------------------- */

/* As if a write of files.out had failed: its rows so far may be lost. */
static void lose_rows_of_files(void)
{
	decode.sinks[DLT_files].len = 0;
	decode.sinks[DLT_files].rows_buffered = 0;
	decode.sinks[DLT_files].lost++;
}

static void rows_that_were_lost_come_again_with_the_next_use(void **state)
{
	learn(file_of(11), "/a/b");
	learn(file_of(12), "/c");
	lose_rows_of_files();
	close_of(id_of(11));
	close_of(id_of(11));
	open_of(file_of(12), "c", "/c");
	rec_emit();
	expect_files("1\t259:2\t11\treg\text4\t4096\tok\t/a/b\n"
		     "2\t259:2\t12\treg\text4\t4096\tok\t/c\n");
}

static void rows_of_paths_come_again_too(void **state)
{
	struct dlt_create_del *rec;

	learn(file_of(11), "/a");
	lose_rows_of_files();
	rec = rec_begin(DLT_create_del);
	record.hdr.func = 13;
	rec->ret = -EBUSY;
	rec_str(&rec->segs, 0, "/a");
	rec_emit();
	expect_columns(DLT_create_del, 10, "1\t/a\t-\tpath\n");
	expect_files("1\t259:2\t11\treg\text4\t4096\tok\t/a\n");
}

/* A lost row is written again unchanged, for any kind of file. */
static void rows_that_come_again_are_the_same(void **state)
{
	const uint32_t floating = DLT_PATH_FLOATING | DLT_PATH_UNREACHABLE;
	static const struct {
		uint32_t mode, flags;
		uint64_t magic;
		const char *fstype, *path;
	} all[] = {
		{ S_IFREG, 0, 0xef53, "ext4", "/a/b/c" },
		{ S_IFDIR, 0, 0xef53, "ext4", "" },
		{ S_IFREG, DLT_PATH_UNREACHABLE, 0xef53, "ext4", "/a/b" },
		{ S_IFREG, DLT_PATH_DELETED, 0xef53, "ext4", "/a/b" },
		{ S_IFIFO, floating, 0x50495045, "pipefs", "/" },
		{ S_IFSOCK, floating, 0x534f434b, "sockfs", "/TCP" },
		{ 0600, floating, 0x09041934, "anon_inodefs", "/[eventfd]" },
		{ 0600, floating, 0x09041934, "anon_inodefs", "" },
		{ S_IFREG, floating, 0x01021994, "tmpfs", "/SYSV00000000" },
		{ S_IFREG, floating, 0x01021994, "tmpfs", "/memfd:a" },
	};
	autofree char *first = NULL;

	for (unsigned int turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
			struct dlt_file file = file_of(100 + i);

			file.mode = all[i].mode;
			file.flags = all[i].flags;
			file.magic = all[i].magic;
			memset(file.fstype, 0, sizeof(file.fstype));
			memcpy(file.fstype, all[i].fstype, strlen(all[i].fstype));
			if (turn)
				close_of(file.id);
			else
				learn(file, all[i].path);
		}
		if (!turn) {
			first = columns_from(DLT_files, 2);
			decode.sinks[DLT_files].lost++;
			assert_int_equal(ftruncate(decode.sinks[DLT_files].fd, 0), 0);
			decode.sinks[DLT_files].file_bytes = 0;
		}
	}
	assert_non_null(strstr(first, "\tmemfd\t"));
	assert_non_null(strstr(first, "\tpipe:[104]\t-\t-\n"));
	expect_columns(DLT_files, 2, first);
}

/* The name of a memfd may have any bytes, also slashes. */
static void the_name_of_a_memfd_is_no_path(void **state)
{
	static const char name[] = "memfd:a/b//c";

	for (unsigned int turn = 0; turn < 2; turn++) {
		struct dlt_files *rec = rec_begin(DLT_files);

		rec->file = file_of(11);
		rec->file.magic = 0x01021994;
		rec->file.flags = DLT_PATH_FLOATING | DLT_PATH_UNREACHABLE;
		memcpy(rec->file.fstype, "tmpfs", 6);
		rec_bytes(&rec->segs, 0, name, sizeof(name));
		rec_emit();
		if (turn == 0)
			lose_rows_of_files();
	}
	close_of(id_of(11));
	expect_files("1\t259:2\t11\tmemfd\ttmpfs\t4096\tok\t/memfd:a/b//c\n");
}

static void at_the_end_all_that_were_lost_come_again(void **state)
{
	learn(file_of(11), "/a");
	learn(file_of(12), "/b");
	lose_rows_of_files();
	close_of(id_of(12));
	decode_files_again(&decode, record.hdr.ts_ns + 1);
	decode_files_again(&decode, record.hdr.ts_ns + 1);
	expect_files("2\t259:2\t12\treg\text4\t4096\tok\t/b\n"
		     "1\t259:2\t11\treg\text4\t4096\tok\t/a\n");
}

/* --- own files on a disk of the target -------------------------------------------------------- */

static void open_at(struct dlt_file file, const char *path)
{
	struct dlt_open *rec = rec_begin(DLT_open);

	rec->file = file;
	rec_bytes(&rec->segs, 0, path, strlen(path) + 1);
	rec_path(&rec->segs, 1, path);
	rec_emit();
}

static void the_target_is_seen_on_the_disk_of_the_trace(void **state)
{
	struct dlt_file other = file_of(14), folder = file_of(13);

	decode.own_dev = id_of(0).dev;
	other.id.dev++;
	open_at(other, "/data/x");
	folder.mode = S_IFDIR;
	open_at(folder, "/data");
	open_at(file_of(11), "/usr/lib/libc.so.6"); /* read once, and then in the page cache */
	open_at(file_of(12), "/lib64/ld.so");
	learn(file_of(16), "/home/job.log"); /* its output, opened by the shell */
	assert_false(decode.same_dev);
	open_at(file_of(15), "/usr2/x");
	assert_true(decode.same_dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DECODER(a_failed_rename_moves_nothing),
		WITH_DECODER(a_failed_unlink_forgets_nothing),
		WITH_DECODER(a_file_comes_before_the_row_that_names_it),
		WITH_DECODER(files_below_a_renamed_folder_get_a_row_at_their_next_use),
		WITH_DECODER(at_the_end_all_below_a_renamed_folder_get_a_row),
		WITH_DECODER(two_folders_may_change_places),
		WITH_DECODER(a_file_found_under_another_name_has_moved),
		WITH_DECODER(a_file_is_a_row_once),
		WITH_DECODER(a_file_is_known_whoever_opened_it),
		WITH_DECODER(a_hundred_thousand_files),
		WITH_DECODER(a_name_that_never_came_is_a_row_without_one),
		WITH_DECODER(a_path_that_grew_too_long_is_cut_at_its_beginning),
		WITH_DECODER(a_name_that_an_unknown_file_took_is_not_the_old_ones),
		WITH_DECODER(a_file_found_at_its_old_path_moves_on_from_there),
		WITH_DECODER(a_copy_up_is_a_row_of_the_same_file),
		WITH_DECODER(a_stacked_file_that_gets_its_name_is_no_copy_up),
		WITH_DECODER(a_rename_is_a_row_of_the_same_file),
		WITH_DECODER(a_reserve_may_be_larger_than_its_record),
		WITH_DECODER(after_a_rename_through_a_parent_no_file_of_that_name_is_known),
		WITH_DECODER(after_a_rename_to_a_parent_no_file_of_that_name_is_known),
		WITH_DECODER(after_an_unlink_through_a_parent_no_file_of_that_name_is_known),
		WITH_DECODER(an_inode_used_again_is_another_file),
		WITH_DECODER(an_open_that_made_its_file_is_two_rows),
		WITH_DECODER(any_bytes_at_all_are_survived),
		WITH_DECODER(at_the_end_all_that_were_lost_come_again),
		WITH_DECODER(every_row_has_its_thread),
		WITH_DECODER(every_file_of_every_probe_has_a_row),
		WITH_DECODER(files_without_a_probe_get_no_rows),
		WITH_DECODER(names_do_not_take_each_others_verdict),
		WITH_DECODER(no_file_is_no_row),
		WITH_DECODER(records_of_no_probe_are_counted),
		WITH_DECODER(records_that_are_too_short_are_counted),
		WITH_DECODER(records_that_say_they_are_longer_than_they_are_counted),
		WITH_DECODER(rows_of_paths_come_again_too),
		WITH_DECODER(rows_that_come_again_are_the_same),
		WITH_DECODER(rows_that_were_lost_come_again_with_the_next_use),
		WITH_DECODER(the_longest_name_is_matched_whole),
		WITH_DECODER(the_name_of_a_memfd_is_no_path),
		WITH_DECODER(the_target_is_seen_on_the_disk_of_the_trace),
		WITH_DECODER(threads_are_narrowed_by_name),
		WITH_DECODER(threads_are_narrowed_by_what_is_not),
		WITH_DECODER(truncate_finds_its_file_by_path),
		WITH_DECODER(two_files_may_change_places),
		WITH_DECODER(an_excluded_name_wins),
		WITH_DECODER(what_is_of_the_machine_is_not_narrowed),
		WITH_DECODER(a_deleted_file_is_not_found_by_its_path),
		WITH_DECODER(without_globs_all_threads_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
