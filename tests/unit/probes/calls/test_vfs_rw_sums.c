/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of short reads and writes as rows: tests/golden/vfs_rw_sums.txt. */
#include "dlt/vfs_rw_sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "records.h"

static uint16_t func_of(const char *name)
{
	for (unsigned int i = 0; i < vfs_rw_probe.n_calls; i++)
		if (!strcmp(vfs_rw_probe.calls[i].name, name))
			return (uint16_t)i;
	fail();
	return 0;
}

static struct dlt_vfs_rw_sums *sums(const char *name, enum dlt_rw_dir dir, uint64_t ino)
{
	struct dlt_vfs_rw_sums *rec = rec_begin(DLT_vfs_rw_sums);

	rec->hdr.func = func_of(name);
	rec->hdr.lat_ns = NSEC_PER_SEC;
	rec->id = id_of(ino);
	rec->dir = dir;
	return rec;
}

static void sums_have_the_calls_of_vfs_rw(void **state)
{
	struct dlt_vfs_rw_sums *rec = sums("pread64", DLT_RW_R, 5);

	rec->sum.count = 7;
	rec->sum.empty = 1;
	rec->sum.bytes = 6 * 4096;
	rec->sum.ns = 9000;
	rec->sum.max_ns = 3000;
	rec->sum.bucket[0] = 1;
	rec->sum.bucket[10] = 5;
	rec->sum.bucket[11] = 1;
	rec_emit();

	rec = sums("writev", DLT_RW_W, 6);
	rec->sum.count = rec->sum.bytes = rec->sum.ns = rec->sum.max_ns = UINT64_MAX;
	for (unsigned int i = 0; i < DLT_RW_BUCKETS; i++)
		rec->sum.bucket[i] = UINT32_MAX - i;
	rec_emit();

	sums("read", DLT_RW_R, 5); /* not sent: a sum has a call */
	rec_emit();
	expect_golden(DLT_vfs_rw_sums);
	assert_int_equal(decode.counts[DLT_vfs_rw_sums].bad, 0);
	assert_int_equal(decode.counts[DLT_vfs_rw_sums].records, 3);
}

static void short_records_are_refused(void **state)
{
	autofree char *rows = NULL;

	sums("read", DLT_RW_R, 5);
	record.hdr.size--;
	rec_emit();
	rows = rows_of(DLT_vfs_rw_sums);
	assert_string_equal(rows, "");
	assert_int_equal(decode.counts[DLT_vfs_rw_sums].bad, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DECODER(sums_have_the_calls_of_vfs_rw),
		WITH_DECODER(short_records_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
