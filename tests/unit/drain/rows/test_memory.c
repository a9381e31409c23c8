/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine's memory as rows: tests/golden/memory.txt; and how often there is one. */
#include "drain/rows/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/util.h"
#include "dlt/memory.h"
#include "drain/rows/stage.h"
#include "records.h"
#include "trace/record.h"

static void rows_are_bytes(void **state)
{
	struct dlt_memory *rec = rec_begin(DLT_memory);

	rec->free = 1;
	rec->available = 2;
	rec->cached = 3;
	rec->dirty = 4;
	rec->writeback = 5;
	rec->anon = 6;
	rec->shmem = 7;
	rec->swap_free = INT64_MAX;
	rec_emit();
	rec->available = rec->shmem = DLT_NONE;
	rec->swap_free = 0;
	rec_emit();
	expect_golden(DLT_memory);
}

static unsigned int n_rows(void)
{
	autofree char *rows = rows_of(DLT_memory);
	unsigned int n = 0;

	for (const char *p = rows; *p; p++)
		n += *p == '\n';
	return n;
}

/* Ticks are some ms late or early; between intervals there is no row, at the end one more. */
static void there_is_one_each_interval(void **state)
{
	const uint64_t at = 1000 * NSEC_PER_SEC, ms = NSEC_PER_MSEC;

	config.interval_ns = 2 * NSEC_PER_SEC;
	assert_int_equal(memory_stage.open(&decode), 0);
	memory_stage.begin(&decode, NULL, at);
	assert_int_equal(n_rows(), 1);
	memory_stage.tick(&decode, at + 1003 * ms, 0);
	assert_int_equal(n_rows(), 1);
	memory_stage.tick(&decode, at + 1999 * ms, 0);
	assert_int_equal(n_rows(), 2);
	memory_stage.tick(&decode, at + 3002 * ms, 0);
	assert_int_equal(n_rows(), 2);
	memory_stage.end(&decode, at + 3100 * ms);
	assert_int_equal(n_rows(), 3);
	memory_stage.free(TAKE_PTR(decode.state[DLT_memory]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_are_bytes, decoder_make, decoder_remove),
		cmocka_unit_test_setup_teardown(there_is_one_each_interval, decoder_make, decoder_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
