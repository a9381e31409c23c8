/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of the page cache as rows: tests/golden/cache.txt. */
#include "dlt/cache.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "records.h"
#include "trace/record.h"

static struct dlt_cache *sums(uint64_t span_ns)
{
	struct dlt_cache *rec = rec_begin(DLT_cache);

	rec->hdr.lat_ns = span_ns;
	rec->until_ns = rec->hdr.ts_ns;
	return rec;
}

static void rows_are_sums_of_a_file(void **state)
{
	struct dlt_cache *rec;

	rec = sums(NSEC_PER_SEC);
	rec->read_bytes = 262144;
	rec->hit = 60;
	rec->miss = 4;
	rec->ahead = 96;
	rec->used = 60;
	rec->evicted = 100;
	rec->wasted = 36;
	rec->dirtied = 2;
	rec->written = 1;
	rec_emit();
	rec = sums(UINT64_MAX);
	rec->read_bytes = rec->hit = rec->miss = rec->ahead = rec->used = rec->evicted = rec->wasted = rec->dirtied =
		UINT64_MAX;
	rec->written = INT64_MAX;
	rec_emit();
	rec = sums(1);
	rec->until_ns -= 12345;
	rec->evicted = 1;
	rec->written = DLT_NONE; /* without bio */
	rec_emit();
	expect_golden(DLT_cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_are_sums_of_a_file, decoder_make, decoder_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
