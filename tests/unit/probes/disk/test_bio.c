/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/disk/bio.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "base/text.h"
#include "kernel/btf.h"
#include "trace/clock.h"
#include "trace/probe.h"
#include "trace/record.h"

/* --- rows ------------------------------------------------------------------------------------- */

static const struct dlt_bio a_write = {
	.hdr = { .ts_ns = 5000,
		 .lat_ns = 300,
		 .tgid = 70,
		 .tid = 71,
		 .comm = "pt_data_worker",
		 .probe = DLT_bio,
		 .size = sizeof(struct dlt_bio) },
	.sector = 2048,
	.qlat_ns = 100,
	.flags = DLT_BIO_SYNC | DLT_BIO_FUA | DLT_BIO_SELF,
	.bytes = 1048576,
	.type = DLT_BIO_WRITE,
	.done_comm = "swapper/3",
	.disk = "nvme0n1",
	.file_off = DLT_NONE,
	.extents = DLT_NONE,
	.writer_tgid = DLT_NONE,
	.writer_tid = DLT_NONE,
	.writers = DLT_NONE,
};

static void put_row(char row[1024], const struct dlt_bio *rec)
{
	const struct clock_map clock = {};
	struct text_utc_cache utc = {};
	struct record_ctx ctx = { .clock = &clock, .utc = &utc };

	*record_put_row(row, &bio_probe, rec, &ctx) = '\0';
}

/* Expects the row of REC, without the columns that all records here share. */
static void expect_row(const struct dlt_bio *rec, const char *from_disk_on)
{
	char row[1024], want[1024];

	put_row(row, rec);
	snprintf(
		want, sizeof(want),
		"5000\t1970-01-01T00:00:00.000005000Z\t70\t71\tpt_data_worker\t0\tswapper/3\t%s\t-\t-\t-\t-\t-\t-\t-\t-\t-\n",
		from_disk_on);
	assert_string_equal(row, want);
}

static void has_the_columns_of_the_format(void **state)
{
	char header[1024];

	*record_put_header(header, &bio_probe) = '\0';
	assert_string_equal(
		header,
		"# dltraced bio 1\n"
		"TIMESTAMP\tTIME\tPID\tTID\tCOMM\tDONEPID\tDONECOMM\tDISK\tT\t"
		"SECTOR\tBYTES\tLAT_NS\tQLAT_NS\tFLAGS\tSTATUS\tKIND\tFID\tFOFF\tEXTENTS\tWPID\tWTID\tWCOMM\tWN\tFILE\n");
}

static void writes_a_request(void **state)
{
	expect_row(&a_write, "nvme0n1\tW\t2048\t1048576\t300\t100\tSYNC|FUA|SELF\t0");
}

static void writes_an_error_as_negative_errno(void **state)
{
	struct dlt_bio rec = a_write;

	rec.status = -EIO;
	rec.flags = 0;
	rec.type = DLT_BIO_READ;
	expect_row(&rec, "nvme0n1\tR\t2048\t1048576\t300\t100\t0\t-5");
}

static void a_flush_has_no_place(void **state)
{
	struct dlt_bio rec = a_write;

	rec.sector = DLT_NONE;
	rec.bytes = 0;
	rec.flags = DLT_BIO_PREFLUSH;
	rec.type = DLT_BIO_FLUSH;
	expect_row(&rec, "nvme0n1\tF\t-\t0\t300\t100\tPREFLUSH\t0");
}

static void a_disk_of_bios_has_no_queue(void **state)
{
	struct dlt_bio rec = a_write;

	rec.qlat_ns = DLT_NONE;
	rec.flags = DLT_BIO_BIO | DLT_BIO_RAHEAD | DLT_BIO_META;
	rec.type = DLT_BIO_DISCARD;
	strcpy(rec.disk, "dm-0");
	expect_row(&rec, "dm-0\tD\t2048\t1048576\t300\t-\tMETA|RAHEAD|BIO\t0");
}

static void passthrough_without_a_disk_is_o(void **state)
{
	struct dlt_bio rec = a_write;

	rec.type = DLT_BIO_OTHER;
	memset(rec.disk, 0, sizeof(rec.disk));
	expect_row(&rec, "-\tO\t2048\t1048576\t300\t100\tSYNC|FUA|SELF\t0");
}

/* --- in flight at the end --------------------------------------------------------------------- */

static void what_the_driver_never_had_is_no_row(void **state)
{
	const struct dlt_bio_flight io = { .rec = a_write, .queued_ns = 1000 };
	struct dlt_bio rec;

	assert_false(bio_unfinished(&io, 9000, &rec));
}

static void what_the_driver_has_is_a_row_with_its_latency_so_far(void **state)
{
	const struct dlt_bio_flight io = { .rec = a_write, .queued_ns = 1000, .issued_ns = 1500, .given = 1 };
	struct dlt_bio rec;
	char row[1024];

	assert_true(bio_unfinished(&io, 9000, &rec));
	put_row(row, &rec);
	assert_non_null(strstr(row, "9000\t1970"));
	assert_non_null(strstr(row, "\tpt_data_worker\t?\t"));
	assert_non_null(strstr(row, "\t8000\t500\tSYNC|FUA|SELF\t?\t-\t-\t-\t-\t-\t-\t-\t-\t-\n"));
}

static void what_the_driver_gave_back_is_still_waiting(void **state)
{
	const struct dlt_bio_flight io = { .rec = a_write, .queued_ns = 1000, .given = 1 };
	struct dlt_bio rec;

	assert_true(bio_unfinished(&io, 9000, &rec));
	assert_int_equal(rec.qlat_ns, 8000);
}

static void an_unfinished_bio_has_no_queue(void **state)
{
	struct dlt_bio_flight io = { .rec = a_write, .queued_ns = 1000, .given = 1 };
	struct dlt_bio rec;

	io.rec.flags |= DLT_BIO_BIO;
	assert_true(bio_unfinished(&io, 9000, &rec));
	assert_true(rec.qlat_ns == DLT_NONE);
}

/* --- kernels ---------------------------------------------------------------------------------- */

static int pointer_to(struct btf *btf, const char *type)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);

	return btf__add_ptr(btf, id > 0 ? id : btf__add_struct(btf, type, 0));
}

/* Adds btf_trace_NAME as in the kernel's BTF, with up to three more parameters of these types. */
static void add_tracepoint(struct btf *btf, const char *name, const int params[3])
{
	int data = btf__add_ptr(btf, 0), proto = btf__add_func_proto(btf, 0);
	char type[64];

	assert_int_equal(btf__add_func_param(btf, NULL, data), 0);
	for (int i = 0; i < 3 && params[i]; i++)
		assert_int_equal(btf__add_func_param(btf, NULL, params[i]), 0);
	snprintf(type, sizeof(type), "btf_trace_%s", name);
	assert_true(btf__add_typedef(btf, type, btf__add_ptr(btf, proto)) > 0);
}

/* The tracepoints of a kernel: OLD with queues and errno in them, otherwise as since 6.5. */
static struct dlt_bio_kernel kernel(bool old, bool zone_resource)
{
	struct btf *btf = btf__new_empty();
	struct kernel_btf whole = { .btf = btf, .excerpt_fd = -1 };
	struct dlt_bio_kernel k;
	int num, status, queue, rq, bio;

	assert_non_null(btf);
	num = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	status = btf__add_typedef(btf, "blk_status_t", btf__add_int(btf, "unsigned char", 1, 0));
	assert_true(btf__add_struct(btf, "request_queue", 8) > 0);
	if (zone_resource)
		btf__add_field(btf, "required_elevator_features", num, 0, 0);
	queue = pointer_to(btf, "request_queue");
	rq = pointer_to(btf, "request");
	bio = pointer_to(btf, "bio");
	add_tracepoint(btf, "block_rq_issue", old ? (int[3]){ queue, rq } : (int[3]){ rq });
	add_tracepoint(btf, "block_bio_queue", old ? (int[3]){ queue, bio } : (int[3]){ bio });
	add_tracepoint(btf, "block_rq_complete", (int[3]){ rq, old ? num : status, num });
	if (!old)
		add_tracepoint(btf, "block_io_start", (int[3]){ rq });
	assert_int_equal(kernel_btf_index(&whole), 0);
	k = bio_kernel_of(&whole);
	kernel_btf_free(&whole);
	return k;
}

static void knows_a_kernel_with_block_io_start(void **state)
{
	struct dlt_bio_kernel k = kernel(false, false);

	assert_true(k.has_io_start);
	assert_false(k.queue_before_rq);
	assert_false(k.queue_before_bio);
	assert_false(k.status_is_errno);
}

static void knows_a_kernel_that_passes_queues_and_errno(void **state)
{
	struct dlt_bio_kernel k = kernel(true, true);

	assert_false(k.has_io_start);
	assert_true(k.queue_before_rq);
	assert_true(k.queue_before_bio);
	assert_true(k.status_is_errno);
}

static void every_kernel_numbers_the_first_statuses_alike(void **state)
{
	for (int zone_resource = 0; zone_resource < 2; zone_resource++) {
		struct dlt_bio_kernel k = kernel(false, zone_resource);

		assert_int_equal(k.status_errno[0], 0);
		assert_int_equal(k.status_errno[1], -EOPNOTSUPP);
		assert_int_equal(k.status_errno[3], -ENOSPC);
		assert_int_equal(k.status_errno[7], -ENODATA);
		assert_int_equal(k.status_errno[10], -EIO);
		assert_int_equal(k.status_errno[13], -EBUSY);
		assert_int_equal(k.status_errno[19], -EINVAL);
		assert_int_equal(k.status_errno[31], -EIO);
	}
}

static void statuses_after_zone_resource_moved_down_when_it_went(void **state)
{
	struct dlt_bio_kernel with = kernel(false, true), without = kernel(false, false);

	assert_int_equal(with.status_errno[17], -ENODEV); /* offline */
	assert_int_equal(with.status_errno[18], -ETIME);
	assert_int_equal(without.status_errno[16], -ENODEV);
	assert_int_equal(without.status_errno[17], -ETIME);
	assert_int_equal(without.status_errno[18], -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_the_columns_of_the_format),
		cmocka_unit_test(writes_a_request),
		cmocka_unit_test(writes_an_error_as_negative_errno),
		cmocka_unit_test(a_flush_has_no_place),
		cmocka_unit_test(a_disk_of_bios_has_no_queue),
		cmocka_unit_test(passthrough_without_a_disk_is_o),
		cmocka_unit_test(what_the_driver_never_had_is_no_row),
		cmocka_unit_test(what_the_driver_has_is_a_row_with_its_latency_so_far),
		cmocka_unit_test(what_the_driver_gave_back_is_still_waiting),
		cmocka_unit_test(an_unfinished_bio_has_no_queue),
		cmocka_unit_test(knows_a_kernel_with_block_io_start),
		cmocka_unit_test(knows_a_kernel_that_passes_queues_and_errno),
		cmocka_unit_test(every_kernel_numbers_the_first_statuses_alike),
		cmocka_unit_test(statuses_after_zone_resource_moved_down_when_it_went),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
