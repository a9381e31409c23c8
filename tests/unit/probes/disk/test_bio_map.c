/* SPDX-License-Identifier: BSD-2-Clause */
/* Extents of requests as rows: tests/golden/bio_map.txt. */
#include "dlt/bio.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "records.h"
#include "trace/record.h"

static struct dlt_bio_map *extent(uint32_t kind, int64_t sector, uint32_t bytes)
{
	struct dlt_bio_map *rec = rec_begin(DLT_bio_map);

	strcpy(rec->disk, "nvme0n1");
	rec->kind = kind;
	rec->sector = sector;
	rec->bytes = bytes;
	rec->file_off = rec->writer_tgid = rec->writer_tid = DLT_NONE;
	return rec;
}

static void rows_are_extents(void **state)
{
	struct dlt_bio_map *rec;

	rec = extent(DLT_BIO_DATA, 2048, 4096);
	rec->file_off = 1 << 20;
	rec->writer_tgid = 100;
	rec->writer_tid = 101;
	rec_emit();
	extent(DLT_BIO_DATA, 2056, UINT32_MAX); /* a read, or without a known writer or file */
	rec_emit();
	extent(DLT_BIO_KIND_NONE, INT64_MAX, 0);
	rec_emit();
	expect_golden(DLT_bio_map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_are_extents, decoder_make, decoder_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
