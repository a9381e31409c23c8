/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static struct files *files;

static int make(void **state)
{
	files = files_new();
	return files ? 0 : -1;
}

static int unmake(void **state)
{
	files_free(files);
	return 0;
}

static struct file_entry *get(uint64_t ino, uint32_t dev, uint32_t gen)
{
	const struct dlt_file_id id = { .ino = ino, .dev = dev, .gen = gen };

	return files_get(files, &id);
}

/* Buffers end where the promise ends, so that ASan notices a byte too many. */
static bool name(struct file_entry *e, const char *path)
{
	size_t len = strlen(path);
	autofree char *copy = malloc(len + 1);

	memcpy(copy, path, len);
	return files_name(files, e, copy, len);
}

static struct file_entry *by_path(const char *path)
{
	return files_by_path(files, 0, path, strlen(path));
}

static void expect_text(const struct file_entry *e, const char *want)
{
	assert_int_equal(e->text_len, strlen(want));
	assert_memory_equal(e->text, want, e->text_len);
}

/* --- identities ------------------------------------------------------------------------------- */

static void the_same_file_has_the_same_number(void **state)
{
	struct file_entry *e = get(11, 2, 3), *other = get(12, 2, 3);

	assert_int_equal(e->fid, 1);
	assert_int_equal(other->fid, 2);
	assert_ptr_equal(get(11, 2, 3), e);
	assert_ptr_equal(get(12, 2, 3), other);
	assert_ptr_equal(get(12, 2, 3), other);
	assert_int_equal(files_count(files), 2);
}

static void every_part_of_an_identity_counts(void **state)
{
	/* each one right after one that differs in only this part */
	assert_int_equal(get(11, 2, 3)->fid, 1);
	assert_int_equal(get(11, 2, 4)->fid, 2); /* the inode's number was reused */
	assert_int_equal(get(11, 3, 4)->fid, 3);
	assert_int_equal(get(11ULL << 32, 3, 4)->fid, 4);
	assert_int_equal(get(11, 2, 3)->fid, 1);
}

static void a_new_process_knows_its_number_and_nothing_else(void **state)
{
	struct file_entry *e = get(11, 2, 3);

	assert_int_equal(e->file.id.ino, 11);
	assert_int_equal(e->file.id.dev, 2);
	assert_int_equal(e->file.id.gen, 3);
	assert_int_equal(e->path_len, 0);
	assert_true(e->lost_then == FILES_NEVER);
}

static void a_hundred_thousand_files_keep_their_numbers_and_names(void **state)
{
	enum { N = 100000 };
	struct file_entry **entries = malloc(N * sizeof(*entries));
	char path[64];

	for (uint32_t i = 0; i < N; i++) {
		/* inodes of one folder have close numbers, those of two disks equal ones */
		entries[i] = get(1000 + i / 2, i % 2, i % 7);
		assert_int_equal(entries[i]->fid, i + 1);
		snprintf(path, sizeof(path), "/data/%u/img%u.jpg", i % 100, i);
		assert_true(name(entries[i], path));
	}
	assert_int_equal(files_count(files), N);
	for (uint32_t i = 0; i < N; i++) {
		assert_ptr_equal(get(1000 + i / 2, i % 2, i % 7), entries[i]);
		snprintf(path, sizeof(path), "/data/%u/img%u.jpg", i % 100, i);
		assert_ptr_equal(by_path(path), entries[i]);
		snprintf(path, sizeof(path), "img%u.jpg", i);
		expect_text(entries[i], path);
	}
	assert_int_equal(files_count(files), N);
	free(entries);
}

/* --- names ------------------------------------------------------------------------------------ */

static void a_name_is_kept_apart_from_the_one_before(void **state)
{
	struct file_entry *e = get(1, 1, 1);

	assert_true(name(e, "/a/b"));
	assert_false(name(e, "/a/b"));
	assert_true(name(e, "/a/bc"));
	assert_true(name(e, "/a/b"));
	assert_false(name(e, "")); /* none at all changes nothing */
	assert_int_equal(e->path_len, 4);
	assert_memory_equal(e->path, "/a/b", 4);
}

static void the_last_component_is_kept_as_it_is_written(void **state)
{
	struct file_entry *e = get(1, 1, 1);

	name(e, "/data/img 1.jpg");
	expect_text(e, "img\\0401.jpg");
	name(e, "/");
	expect_text(e, "/");
	name(e, "/data/");
	expect_text(e, "/data/");
	name(e, "/-");
	expect_text(e, "\\055");
	name(e, "/a/?");
	expect_text(e, "\\077");
	name(e, "pipe:[4711]");
	expect_text(e, "pipe:[4711]");
	name(e, "/memfd:a\tb");
	expect_text(e, "memfd:a\\011b");
}

static void the_longest_name_of_the_worst_bytes(void **state)
{
	char path[8192];

	memset(path, 0xff, sizeof(path));
	path[sizeof(path) - 1] = '\0';
	name(get(1, 1, 1), path);
	assert_int_equal(get(1, 1, 1)->text_len, 4 * (sizeof(path) - 1));
}

/* --- paths ------------------------------------------------------------------------------------ */

static void a_path_leads_to_its_file(void **state)
{
	struct file_entry *e = get(1, 1, 1);

	name(e, "/a/b");
	assert_ptr_equal(by_path("/a/b"), e);
	assert_null(by_path("/a"));
	assert_null(by_path("/a/b/"));
	assert_null(by_path("/a/bc"));
	assert_null(by_path(""));
}

static void after_a_rename_only_the_new_path_leads_there(void **state)
{
	struct file_entry *e = get(1, 1, 1);

	name(e, "/ckpt.tmp");
	name(e, "/ckpt.pt");
	assert_null(by_path("/ckpt.tmp"));
	assert_ptr_equal(by_path("/ckpt.pt"), e);
}

static void a_file_renamed_over_another_takes_its_path(void **state)
{
	struct file_entry *old = get(1, 1, 1), *new = get(2, 1, 1);

	name(old, "/ckpt.pt");
	name(new, "/ckpt.tmp");
	name(new, "/ckpt.pt");
	assert_ptr_equal(by_path("/ckpt.pt"), new);
	/* later changes of the old one take nothing away */
	name(old, "/elsewhere");
	assert_ptr_equal(by_path("/ckpt.pt"), new);
	assert_ptr_equal(by_path("/elsewhere"), old);
}

/* For processes with another root, or other mounts, an equal path means another file: it takes the path away from none.
 */
static void a_path_belongs_to_its_mount_namespace(void **state)
{
	struct file_entry *ours = get(1, 1, 1), *theirs = get(2, 1, 1), *below = get(3, 1, 1);

	ours->file.view = 1;
	theirs->file.view = below->file.view = 2;
	name(ours, "/etc/passwd");
	name(theirs, "/etc/passwd");
	name(below, "/etc/ssh/key");
	assert_ptr_equal(files_by_path(files, 1, "/etc/passwd", 11), ours);
	assert_ptr_equal(files_by_path(files, 2, "/etc/passwd", 11), theirs);
	assert_null(by_path("/etc/passwd"));
	assert_ptr_equal(files_by_inode(files, "/etc/passwd", 11, 1, 2), theirs);
	assert_ptr_equal(files_by_inode(files, "/etc/passwd", 11, 1, 1), ours);
	assert_null(files_by_inode(files, "/etc/passwd", 11, 1, 3));
	assert_null(files_by_inode(files, "/etc/passwd", 11, 2, 1));

	files_move_below(files, 1, "/etc", 4, "/moved", 6, false);
	assert_null(files_by_path(files, 1, "/etc/passwd", 11));
	assert_ptr_equal(files_by_path(files, 1, "/moved/passwd", 13), ours);
	assert_ptr_equal(files_by_path(files, 2, "/etc/passwd", 11), theirs);
	assert_ptr_equal(files_by_path(files, 2, "/etc/ssh/key", 12), below);
	files_forget_path(files, 1, "/etc/passwd", 11);
	assert_ptr_equal(files_by_path(files, 2, "/etc/passwd", 11), theirs);

	/* the same file, then seen from there: its name here is not known */
	ours->file.view = 2;
	name(ours, "/moved/passwd");
	assert_null(files_by_path(files, 1, "/moved/passwd", 13));
	assert_ptr_equal(files_by_path(files, 2, "/moved/passwd", 13), ours);
}

static void a_path_that_is_gone_leads_nowhere(void **state)
{
	struct file_entry *e = get(1, 1, 1);

	name(e, "/a");
	files_forget_path(files, 0, "/a", 2);
	assert_null(by_path("/a"));
	files_forget_path(files, 0, "/a", 2);
	files_forget_path(files, 0, "/b", 2);
	files_forget_path(files, 0, "", 0);
	assert_int_equal(e->path_len, 2); /* it keeps its own name */
	name(get(2, 1, 1), "/a");
	assert_ptr_equal(by_path("/a"), get(2, 1, 1));
}

/* A path that is no live file's must not be taken from a live file. */
static void only_files_that_are_there_are_found_by_path(void **state)
{
	static const uint32_t flags[] = { DLT_PATH_DELETED, DLT_PATH_FLOATING, DLT_PATH_TRUNCATED,
					  DLT_PATH_UNREACHABLE };
	struct file_entry *e = get(1, 1, 1);

	name(e, "/var/log/x");
	for (uint32_t i = 0; i < ARRAY_SIZE(flags); i++) {
		struct file_entry *other = get(2 + i, 1, 1);

		other->file.flags = flags[i];
		assert_true(name(other, "/var/log/x"));
		assert_ptr_equal(by_path("/var/log/x"), e);
	}
}

/* Tables of paths that come and go: forgotten paths must neither fill them nor break a chain. */
static void paths_that_come_and_go(void **state)
{
	struct file_entry *kept[100];
	char path[64];

	for (uint32_t i = 0; i < ARRAY_SIZE(kept); i++) {
		kept[i] = get(1 + i, 1, 1);
		snprintf(path, sizeof(path), "/kept/%u", i);
		name(kept[i], path);
	}
	for (uint32_t i = 0; i < 50000; i++) {
		struct file_entry *e = get(1000 + i % 50, 2, 2);

		snprintf(path, sizeof(path), "/tmp/%u", i);
		assert_true(name(e, path));
		assert_ptr_equal(by_path(path), e);
		if (i % 3 == 0)
			files_forget_path(files, 0, path, strlen(path));
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(kept); i++) {
		snprintf(path, sizeof(path), "/kept/%u", i);
		assert_ptr_equal(by_path(path), kept[i]);
	}
	assert_null(by_path("/tmp/1"));
	assert_int_equal(files_count(files), 150);
}

/* In a table that is half full most paths lie after others: those are removed, and these must be found. */
static void paths_behind_those_that_went(void **state)
{
	enum { N = 250 };
	char path[64];

	for (uint32_t i = 0; i < 2 * N; i++) {
		snprintf(path, sizeof(path), i < N ? "/tmp/%u" : "/kept/%u", i);
		name(get(1 + i, 1, 1), path);
	}
	for (uint32_t i = 0; i < N; i++) {
		snprintf(path, sizeof(path), "/tmp/%u", i);
		files_forget_path(files, 0, path, strlen(path));
	}
	for (uint32_t i = N; i < 2 * N; i++) {
		snprintf(path, sizeof(path), "/kept/%u", i);
		assert_ptr_equal(by_path(path), get(1 + i, 1, 1));
	}
}

static void freeing_nothing_is_fine(void **state)
{
	files_free(NULL);
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, make, unmake)

/* A lock file, taken and removed all day. If each needed a place in the table, this test would take all day. */
static void one_name_that_comes_and_goes(void **state)
{
	static const char lock[] = "/tmp/lock";

	for (uint64_t ino = 1; ino <= 400000; ino++) {
		struct file_entry *e = get(ino, 1, 0);

		name(e, lock);
		assert_ptr_equal(by_path(lock), e);
		files_forget_path(files, 0, lock, strlen(lock));
		assert_null(by_path(lock));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILES(a_file_renamed_over_another_takes_its_path),
		WITH_FILES(a_hundred_thousand_files_keep_their_numbers_and_names),
		WITH_FILES(a_name_is_kept_apart_from_the_one_before),
		WITH_FILES(a_new_process_knows_its_number_and_nothing_else),
		WITH_FILES(a_path_leads_to_its_file),
		WITH_FILES(a_path_belongs_to_its_mount_namespace),
		WITH_FILES(a_path_that_is_gone_leads_nowhere),
		WITH_FILES(after_a_rename_only_the_new_path_leads_there),
		WITH_FILES(every_part_of_an_identity_counts),
		cmocka_unit_test(freeing_nothing_is_fine),
		WITH_FILES(one_name_that_comes_and_goes),
		WITH_FILES(only_files_that_are_there_are_found_by_path),
		WITH_FILES(paths_behind_those_that_went),
		WITH_FILES(paths_that_come_and_go),
		WITH_FILES(the_last_component_is_kept_as_it_is_written),
		WITH_FILES(the_longest_name_of_the_worst_bytes),
		WITH_FILES(the_same_file_has_the_same_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
