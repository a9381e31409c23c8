/* SPDX-License-Identifier: BSD-2-Clause */
/* Major page faults as rows: tests/golden/fault.txt. */
#include "dlt/fault.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "records.h"
#include "trace/record.h"

static struct dlt_fault *fault(uint32_t func, uint32_t kind, uint64_t addr)
{
	struct dlt_fault *rec = rec_begin(DLT_fault);

	rec->func = func;
	rec->kind = kind;
	rec->addr = addr;
	rec->lat_ns = 1500;
	rec->ip = rec->offset = rec->disk_bytes = DLT_NONE;
	return rec;
}

static void rows_have_the_page_of_the_wait(void **state)
{
	struct dlt_fault *rec;

	learn(file_of(42), "/data/tokens.bin");
	rec = fault(DLT_FAULT_USER, DLT_FAULT_FILE, 0x7f0000001234);
	rec->ip = 0x55d0c0de;
	rec->offset = 4096;
	rec->disk_bytes = 131072;
	rec->id = id_of(42);
	rec_emit();
	rec = fault(DLT_FAULT_KERNEL, DLT_FAULT_FILE, 0x7f0000003000); /* it waited for another thread's read */
	rec->offset = 1LL << 62;
	rec->disk_bytes = 0;
	rec->id = id_of(42);
	rec_emit();
	rec = fault(DLT_FAULT_USER, DLT_FAULT_SWAP, 0x7ffffffff000);
	rec->ip = INT64_MAX;
	rec->disk_bytes = 4096;
	rec_emit();
	rec = fault(DLT_FAULT_USER, DLT_FAULT_OTHER, 1);
	rec->lat_ns = DLT_NONE;
	strcpy(record.hdr.comm, "a b\t-");
	rec_emit();
	expect_golden(DLT_fault);
}

/* A record that is shorter than its fixed part is no row. */
static void a_short_record_is_refused(void **state)
{
	fault(DLT_FAULT_USER, DLT_FAULT_FILE, 1);
	record.hdr.size--;
	rec_emit();
	assert_int_equal(decode.counts[DLT_fault].bad, 1);
	expect_rows(DLT_fault, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DECODER(rows_have_the_page_of_the_wait),
		WITH_DECODER(a_short_record_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
