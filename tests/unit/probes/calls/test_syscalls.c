/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of system calls as rows: tests/golden/syscalls.txt. */
#include "dlt/syscalls.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "records.h"
#include "trace/record.h"

static void sums(uint32_t nr, uint64_t count, uint64_t failed, uint64_t ns, uint64_t max_ns)
{
	struct dlt_syscalls *rec = rec_begin(DLT_syscalls);

	rec->hdr.lat_ns = NSEC_PER_SEC;
	rec->nr = nr;
	rec->count = count;
	rec->failed = failed;
	rec->ns = ns;
	rec->max_ns = max_ns;
}

static void rows_are_sums_of_a_call(void **state)
{
	sums(SYS_futex, 3, 1, 4500, 2500);
	rec_emit();
	sums(SYS_futex, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	rec_emit();
	sums(DLT_SYSCALLS_COMPAT, 2, 0, 10, 9);
	rec_emit();
	sums(100000, 1, 1, 7, 7); /* newer than these headers */
	strcpy(record.hdr.comm, "a b\t-");
	rec_emit();
	expect_golden(DLT_syscalls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_are_sums_of_a_call, decoder_make, decoder_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
