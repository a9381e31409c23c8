/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "dlt/create_del.h"
#include "records.h"

#define EXCHANGE 2 /* RENAME_EXCHANGE, linux/fs.h */
#define VIEW 5
#define OTHER_VIEW 7

static uint64_t start_ns;

/* What the kernel found: PATH as the I-th name, of the file INO (0: none) with LINKS links. */
struct finding {
	uint64_t ino;
	uint32_t links, mode;
	const char *path;
};
#define FILE_AT(ino, path)                   \
	{                                    \
		ino, 1, S_IFREG | 0644, path \
	}
#define LINK_AT(ino, path)                   \
	{                                    \
		ino, 2, S_IFREG | 0644, path \
	}
#define FOLDER_AT(ino, path)                 \
	{                                    \
		ino, 3, S_IFDIR | 0755, path \
	}
#define NOTHING_AT(path)      \
	{                     \
		0, 0, 0, path \
	}

static void found(struct finding first, struct finding second)
{
	const struct finding both[] = { first, second };
	struct dlt_cd_names *rec = rec_begin(DLT_create_del);

	record.hdr.func = DLT_CD_FUNC_NAMED;
	record.hdr.size = sizeof(*rec);
	start_ns = record.hdr.ts_ns - record.hdr.lat_ns;
	for (unsigned int i = 0; i < 2; i++) {
		if (both[i].ino)
			rec->file[i].id = id_of(both[i].ino);
		rec->file[i].links = both[i].links;
		rec->file[i].mode = both[i].mode;
		if (both[i].path)
			rec_path(&rec->segs, i, both[i].path);
	}
	rec_emit();
}

/* The end of the call, with paths that lead nowhere by themselves. */
static void call_ends(const char *func, int64_t ret, int64_t flags, uint32_t named)
{
	struct dlt_create_del *rec = rec_begin(DLT_create_del);
	uint16_t i = 0;

	while (strcmp(probes[DLT_create_del]->calls[i].name, func))
		i++;
	record.hdr.func = i;
	record.hdr.lat_ns = record.hdr.ts_ns - start_ns;
	rec->view = VIEW;
	rec->named = named;
	rec->ret = ret;
	rec->mode = DLT_NONE;
	rec->flags = flags;
	rec_str(&rec->segs, 0, "/link/from");
	rec_str(&rec->segs, 1, "/link/to");
	rec_emit();
}

static void call(const char *func)
{
	call_ends(func, 0, DLT_NONE, DLT_CD_NAMED_SENT);
}

static void learn_in(uint32_t view, uint64_t ino, const char *path)
{
	struct dlt_file file = file_of(ino);

	file.view = view;
	learn(file, path);
}

/* Returns the FID of the last row of create_del, and where the file FID is now. */
static const char *fid_of_row(void)
{
	static char fid[16];
	autofree char *rows = rows_of(DLT_create_del);
	const char *row = rows + strlen(rows) - 1;

	while (row > rows && row[-1] != '\n')
		row--;
	for (unsigned int tab = 0; tab < 10; row++)
		tab += *row == '\t';
	snprintf(fid, sizeof(fid), "%.*s", (int)strcspn(row, "\t"), row);
	return fid;
}

static void expect_path(uint32_t fid, const char *path)
{
	const struct file_entry *e = files_at(decode.ctx.files, fid);

	assert_int_equal(e->path_len, strlen(path));
	assert_memory_equal(e->path, path, e->path_len);
}

static bool leads_somewhere(const char *path)
{
	return files_by_path(decode.ctx.files, VIEW, path, strlen(path));
}

static void a_rename_has_the_file_that_the_kernel_found(void **state)
{
	learn_in(VIEW, 11, "/real/from");
	found((struct finding)FILE_AT(11, "/real/from"), (struct finding)NOTHING_AT("/real/to"));
	call("rename");
	assert_string_equal(fid_of_row(), "1");
	expect_path(1, "/real/to");
	assert_true(leads_somewhere("/real/to"));
	assert_false(leads_somewhere("/real/from"));
	assert_int_equal(decode.counts[DLT_create_del].records, 1);
}

/* The path as passed was another file's, which the trace has not seen. */
static void an_old_path_is_no_file_of_a_row(void **state)
{
	learn_in(VIEW, 11, "/link/from");
	found((struct finding)FILE_AT(12, "/real/from"), (struct finding)NOTHING_AT("/real/to"));
	call("rename");
	assert_string_equal(fid_of_row(), "-");
	learn_in(VIEW, 13, "/link/x");
	found((struct finding)FILE_AT(12, "/link/x"), (struct finding)NOTHING_AT(NULL));
	call("unlink");
	assert_string_equal(fid_of_row(), "-");
	assert_false(leads_somewhere("/link/x"));
}

static void a_replaced_file_is_known_by_no_path(void **state)
{
	learn_in(VIEW, 11, "/real/from");
	learn_in(OTHER_VIEW, 12, "/seen/to");
	found((struct finding)FILE_AT(11, "/real/from"), (struct finding)FILE_AT(12, "/real/to"));
	call("rename");
	expect_path(1, "/real/to");
	assert_null(files_by_path(decode.ctx.files, OTHER_VIEW, "/seen/to", 8));
}

static void an_exchange_names_both(void **state)
{
	learn_in(VIEW, 11, "/real/from");
	learn_in(VIEW, 12, "/real/to");
	found((struct finding)FILE_AT(11, "/real/from"), (struct finding)FILE_AT(12, "/real/to"));
	call_ends("renameat2", 0, EXCHANGE, DLT_CD_NAMED_SENT);
	expect_path(1, "/real/to");
	expect_path(2, "/real/from");
	assert_ptr_equal(files_by_path(decode.ctx.files, VIEW, "/real/to", 8), files_at(decode.ctx.files, 1));
	assert_ptr_equal(files_by_path(decode.ctx.files, VIEW, "/real/from", 10), files_at(decode.ctx.files, 2));
}

/* Of several links, the one that was renamed or removed need not be the one by which the file is known. */
static void another_link_of_a_file_leaves_its_name(void **state)
{
	learn_in(VIEW, 11, "/real/a");
	found((struct finding)LINK_AT(11, "/real/b"), (struct finding)NOTHING_AT("/real/c"));
	call("rename");
	assert_string_equal(fid_of_row(), "1");
	expect_path(1, "/real/a");
	found((struct finding)LINK_AT(11, "/real/c"), (struct finding)NOTHING_AT(NULL));
	call("unlink");
	assert_string_equal(fid_of_row(), "1");
	assert_true(leads_somewhere("/real/a"));
	found((struct finding)LINK_AT(11, "/real/a"), (struct finding)LINK_AT(11, "/real/d"));
	call("rename"); /* rename(2) does nothing to two names of one file */
	expect_path(1, "/real/a");
}

static void a_name_seen_from_another_root_is_renamed(void **state)
{
	learn_in(OTHER_VIEW, 11, "/mnt/from");
	learn_in(OTHER_VIEW, 12, "/mnt/x");
	found((struct finding)FILE_AT(11, "/real/from"), (struct finding)NOTHING_AT("/real/to"));
	call("rename");
	expect_path(1, "/real/to");
	assert_int_equal(files_at(decode.ctx.files, 1)->view, VIEW);
	found((struct finding)LINK_AT(12, "/real/from"), (struct finding)NOTHING_AT("/real/y"));
	call("rename"); /* it is another link, as its name shows */
	expect_path(2, "/mnt/x");
}

static void what_is_below_a_folder_moves_with_it(void **state)
{
	learn_in(VIEW, 11, "/real/d/f");
	found((struct finding)FOLDER_AT(20, "/real/d"), (struct finding)NOTHING_AT("/real/e"));
	call("rename");
	assert_string_equal(fid_of_row(), "-");
	expect_path(1, "/real/e/f");
}

static void a_file_without_a_name_has_that_of_its_first_link(void **state)
{
	struct dlt_file file = file_of(11);

	file.view = VIEW;
	file.flags = DLT_PATH_DELETED;
	learn(file, "/real/#11");
	found((struct finding){ 11, 0, S_IFREG | 0600, "/real/#11" }, (struct finding)NOTHING_AT("/real/named"));
	call("linkat");
	assert_string_equal(fid_of_row(), "1");
	expect_path(1, "/real/named");
	assert_true(leads_somewhere("/real/named"));
}

static void a_call_that_fails_moves_nothing(void **state)
{
	learn_in(VIEW, 11, "/real/from");
	found((struct finding)FILE_AT(11, "/real/from"), (struct finding)NOTHING_AT("/real/to"));
	call_ends("rename", -13, DLT_NONE, DLT_CD_NAMED_SENT);
	assert_string_equal(fid_of_row(), "1");
	expect_path(1, "/real/from");
}

/* Where the kernel's names are lost, the file is not known, and neither is any file with that name. */
static void lost_names_are_no_fact(void **state)
{
	learn_in(VIEW, 11, "/link/from");
	learn_in(VIEW, 12, "/far/from/x");
	learn_in(VIEW, 13, "/far/other");
	call_ends("rename", 0, DLT_NONE, DLT_CD_NAMED_LOST);
	assert_string_equal(fid_of_row(), "-");
	assert_false(leads_somewhere("/link/from"));
	assert_false(leads_somewhere("/far/from/x"));
	assert_true(leads_somewhere("/far/other"));
}

/* The record of the call that they belong to never came; the next call found nothing. */
static void names_are_of_their_own_call_alone(void **state)
{
	learn_in(VIEW, 11, "/real/from");
	found((struct finding)FILE_AT(11, "/real/from"), (struct finding)NOTHING_AT("/real/to"));
	start_ns++;
	call("rename");
	assert_string_equal(fid_of_row(), "-");
	expect_path(1, "/real/from");
	found((struct finding)FILE_AT(11, "/real/from"), (struct finding)NOTHING_AT("/real/x"));
	found((struct finding)FILE_AT(11, "/real/from"), (struct finding)NOTHING_AT("/real/to")); /* looked up again */
	call("rename");
	expect_path(1, "/real/to");
}

/* A server does not answer: thousands of calls wait there. */
static void many_calls_in_flight_are_held_apart(void **state)
{
	struct dlt_create_del *end;
	struct dlt_cd_names *rec;

	for (unsigned int i = 0; i < 20000; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/f/%u", i);
		rec = rec_begin(DLT_create_del);
		record.hdr.func = DLT_CD_FUNC_NAMED;
		record.hdr.tid = 1000 + i;
		record.hdr.size = sizeof(*rec);
		record.hdr.lat_ns = record.hdr.ts_ns - START_NS;
		rec->file[0].id = id_of(i + 1);
		rec->file[0].links = 1;
		rec_path(&rec->segs, 0, path);
		rec_emit();
	}
	learn_in(VIEW, 19000, "/f/18999");
	start_ns = START_NS;
	end = rec_begin(DLT_create_del);
	record.hdr.func = 13; /* unlink */
	record.hdr.tid = 1000 + 18999;
	record.hdr.lat_ns = record.hdr.ts_ns - START_NS;
	end->named = DLT_CD_NAMED_SENT;
	end->view = VIEW;
	end->mode = end->flags = DLT_NONE;
	rec_str(&end->segs, 0, "/link/x");
	rec_emit();
	assert_string_equal(fid_of_row(), "1");
	assert_false(leads_somewhere("/f/18999"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DECODER(a_rename_has_the_file_that_the_kernel_found),
		WITH_DECODER(an_old_path_is_no_file_of_a_row),
		WITH_DECODER(a_replaced_file_is_known_by_no_path),
		WITH_DECODER(an_exchange_names_both),
		WITH_DECODER(another_link_of_a_file_leaves_its_name),
		WITH_DECODER(a_name_seen_from_another_root_is_renamed),
		WITH_DECODER(what_is_below_a_folder_moves_with_it),
		WITH_DECODER(a_file_without_a_name_has_that_of_its_first_link),
		WITH_DECODER(a_call_that_fails_moves_nothing),
		WITH_DECODER(lost_names_are_no_fact),
		WITH_DECODER(names_are_of_their_own_call_alone),
		WITH_DECODER(many_calls_in_flight_are_held_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
