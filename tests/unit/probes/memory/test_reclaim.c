/* SPDX-License-Identifier: BSD-2-Clause */
/* Direct reclaim as rows: tests/golden/reclaim.txt. */
#include "dlt/reclaim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "records.h"
#include "trace/record.h"

static struct dlt_reclaim *reclaim(uint32_t kind, int64_t pages)
{
	struct dlt_reclaim *rec = rec_begin(DLT_reclaim);

	rec->kind = kind;
	rec->pages = pages;
	return rec;
}

static void rows_have_the_pages_freed_and_the_kind(void **state)
{
	reclaim(DLT_RECLAIM_CGROUP, 32);
	rec_emit();
	reclaim(DLT_RECLAIM_MACHINE, 0); /* in vain */
	rec_emit();
	reclaim(DLT_RECLAIM_CGROUP, INT64_MAX);
	strcpy(record.hdr.comm, "a b\t-");
	rec_emit();
	reclaim(DLT_RECLAIM_MACHINE, DLT_UNKNOWN); /* the trace ended first */
	rec_emit();
	expect_golden(DLT_reclaim);
}

/* A record that is shorter than its fixed part is no row. */
static void a_short_record_is_refused(void **state)
{
	reclaim(DLT_RECLAIM_CGROUP, 1);
	record.hdr.size--;
	rec_emit();
	assert_int_equal(decode.counts[DLT_reclaim].bad, 1);
	expect_rows(DLT_reclaim, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DECODER(rows_have_the_pages_freed_and_the_kind),
		WITH_DECODER(a_short_record_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
