/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls about metadata, and their sums, as rows: tests/golden/meta.txt, meta_sums.txt. */
#include "dlt/meta.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>

#include <cmocka.h>

#include "drain/rows/folders.h"
#include "records.h"
#include "trace/record.h"

/* Returns the number of the call NAME. */
static uint16_t func(const char *name)
{
	for (unsigned int i = 0; i < meta_probe.n_calls; i++)
		if (!strcmp(meta_probe.calls[i].name, name))
			return (uint16_t)i;
	fail_msg("no call %s", name);
	return 0;
}

/* --- calls ---------------------------------------------------------------------------------------- */

static struct dlt_meta *call(const char *name, int64_t fd, int64_t ret)
{
	struct dlt_meta *rec = rec_begin(DLT_meta);

	rec->hdr.func = func(name);
	rec->key.request = DLT_META_NO_REQUEST;
	rec->fd = fd;
	rec->ret = ret;
	return rec;
}

static void rows_have_a_path_or_a_descriptors_file(void **state)
{
	struct dlt_meta *rec;

	learn(file_of(5), "/data/a b");
	rec = call("newfstatat", DLT_NONE, -ENOENT);
	rec_str(&rec->segs, 0, "x/../y\n");
	rec_path(&rec->segs, 2, "/data");
	rec_emit();
	rec = call("stat", DLT_NONE, 0);
	rec_str(&rec->segs, 0, "-");
	rec_emit();
	rec = call("lseek", 3, INT64_MAX);
	rec->id = id_of(5);
	rec_emit();
	rec = call("fcntl", 3, DLT_UNKNOWN); /* in flight at the end */
	rec->key.request = DLT_META_COMMAND(F_SETLKW);
	rec_emit();
	rec = call("fcntl", -1, -EBADF);
	rec->key.request = DLT_META_COMMAND(999);
	rec_emit();
	rec = call("ioctl", 1, -ENOTTY);
	rec->key.request = DLT_META_REQUEST(TCGETS);
	rec_emit();
	rec = call("ioctl", 1, 0);
	rec->key.request = DLT_META_REQUEST(0);
	rec_emit();
	rec = call("fcntl", 1, 5);
	rec->key.request = DLT_META_COMMAND(F_DUPFD);
	rec_emit();
	rec = call("ioctl", 1, 0);
	rec->key.request = DLT_META_REQUEST(0xffffffff);
	rec_emit();
	expect_golden(DLT_meta);
}

/* --- sums ----------------------------------------------------------------------------------------- */

static struct dlt_meta_key key_of(uint64_t folder, const char *name)
{
	return (struct dlt_meta_key){
		.folder = folder, .request = DLT_META_NO_REQUEST, .tgid = 100, .func = func(name)
	};
}

static void name(struct dlt_meta_key key, const char *path, const char *base)
{
	struct dlt_meta *rec = rec_begin(DLT_meta_sums);

	rec->hdr.func = DLT_META_NAME;
	rec->key = key;
	rec_str(&rec->segs, 0, path);
	if (base)
		rec_path(&rec->segs, 2, base);
	rec_emit();
}

static void sums(struct dlt_meta_key key, uint64_t count, int64_t error)
{
	struct dlt_meta_sums *rec = rec_begin(DLT_meta_sums);

	rec->hdr.lat_ns = NSEC_PER_SEC;
	rec->key = key;
	rec->count = count;
	rec->failed = error == DLT_NONE ? 0 : count;
	rec->ns = count;
	rec->max_ns = 1;
	rec->error = error;
	rec_emit();
}

static void forget(struct dlt_meta_key key)
{
	struct dlt_meta_sums *rec = rec_begin(DLT_meta_sums);

	rec->hdr.func = DLT_META_FORGET;
	rec->key = key;
	rec->count = 77;
	rec_emit();
}

static void sums_have_the_name_that_came_before_them(void **state)
{
	struct dlt_meta_key other = key_of(1, "stat");

	assert_int_equal(folders_stage.open(&decode), 0);
	name(key_of(1, "stat"), "/data/train/", NULL);
	name(key_of(2, "stat"), ".", "/data/a b");
	name(key_of(3, "stat"), "sub/x/", "/");
	name(key_of(4, "stat"), "/", NULL);
	for (uint64_t folder = 0; folder < 6; folder++) /* none, and a name that was lost */
		sums(key_of(folder, "stat"), folder + 1, folder ? ENOENT : DLT_NONE);
	sums(key_of(1, "lseek"), UINT64_MAX, DLT_NONE); /* a key of its own */
	other.tgid++;
	sums(other, 1, DLT_NONE);
	forget(key_of(1, "stat"));
	sums(key_of(1, "stat"), 9, DLT_NONE);
	name(key_of(1, "stat"), "/later/", NULL);
	sums(key_of(1, "stat"), 9, DLT_NONE);
	expect_golden(DLT_meta_sums);
	assert_int_equal(decode.counts[DLT_meta_sums].bad, 0);
	assert_int_equal(decode.counts[DLT_meta_sums].records, 10);
}

/* Names beyond the number of the kernel's sums are not kept: the rows are there without them. */
static void names_are_bounded(void **state)
{
	autofree char *rows = NULL;

	assert_int_equal(folders_stage.open(&decode), 0);
	for (uint64_t folder = 1; folder <= DLT_META_CELLS + 1; folder++)
		name(key_of(folder, "stat"), "/data/", NULL);
	sums(key_of(DLT_META_CELLS, "stat"), 1, DLT_NONE);
	sums(key_of(DLT_META_CELLS + 1, "stat"), 2, DLT_NONE);
	rows = rows_of(DLT_meta_sums);
	assert_non_null(strstr(rows, "\t1\t1\t/data\n"));
	assert_non_null(strstr(rows, "\t2\t1\t-\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DECODER(rows_have_a_path_or_a_descriptors_file),
		WITH_DECODER(sums_have_the_name_that_came_before_them),
		WITH_DECODER(names_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
