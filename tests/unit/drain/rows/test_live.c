/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/live.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/util.h"
#include "dlt/bio.h"
#include "dlt/create_del.h"
#include "dlt/fault.h"
#include "dlt/mmap.h"
#include "dlt/open.h"
#include "dlt/regions.h"
#include "dlt/sync.h"
#include "dlt/vfs_rw.h"
#include "dlt/vfs_rw_sums.h"
#include "drain/rows/decode.h"
#include "kernel/syscalls.h"
#include "trace/files.h"

#define SECOND NSEC_PER_SEC

static struct lives lives;
static struct files *files;
static const struct dlt_file_id regular = { .ino = 1 }, fifo = { .ino = 2 };

static int set_up(void **state)
{
	memset(&lives, 0, sizeof(lives));
	lives.fd = -1;
	files = files_new();
	files_get(files, &regular)->file.mode = S_IFREG | 0644;
	files_get(files, &fifo)->file.mode = S_IFIFO | 0644;
	return 0;
}

static int tear_down(void **state)
{
	files_free(files);
	for (unsigned int i = 0; i < LIVE_PLACES; i++)
		live_free(atomic_load(&lives.wanted[i]));
	return 0;
}

/* Returns a watcher that has had its first, empty view. */
static struct live *come(uint32_t max)
{
	struct live *l = live_new(1000, max);

	assert_non_null(l);
	assert_int_equal(lives_add(&lives, l), 0);
	lives_turn(&lives, SECOND, false, files, NULL, NULL);
	assert_int_equal(atomic_load(&l->state), LIVE_FULL);
	assert_int_equal(l->view.all.calls, 0);
	atomic_store(&l->state, LIVE_EMPTY);
	return l;
}

static void row(uint32_t pid, uint64_t lat_ns, struct dlt_file_id id, uint32_t dir, int64_t returned, int64_t disk)
{
	const struct dlt_vfs_rw rec = {
		.hdr = { .tgid = pid, .lat_ns = lat_ns, .comm = "worker", .probe = DLT_vfs_rw },
		.id = id,
		.dir = dir,
		.returned = returned,
		.disk_bytes = disk,
	};

	lives_row(&lives, DLT_vfs_rw, &rec.hdr, files);
}

static void sums_are_those_of_the_rows(void **state)
{
	struct live *l = come(10);
	const struct live_view *v = &l->view;
	const struct dlt_bio bio = { .hdr = { .tgid = 7, .probe = DLT_bio }, .bytes = 512 };
	const struct dlt_fault fault = { .hdr = { .tgid = 7, .lat_ns = 5000, .probe = DLT_fault } };
	const struct dlt_regions epoch = { .hdr = { .tgid = 7, .lat_ns = SECOND, .probe = DLT_regions } };
	const struct dlt_open there = { .hdr = { .tgid = 7, .probe = DLT_open, .func = DLT_OPEN_SNAPSHOT } };

	row(7, 100, regular, DLT_RW_R, 4096, 8192);
	row(7, 300, regular, DLT_RW_R, 1000, 0);
	row(7, 200, fifo, DLT_RW_R, 5, 0); /* not a file: no share */
	row(7, 50, regular, DLT_RW_R, 0, 0); /* end of file: neither */
	row(8, 70, regular, DLT_RW_W, 9000, DLT_NONE);
	row(8, 80, regular, DLT_RW_W, -ENOSPC, DLT_NONE);
	row(8, 90, fifo, DLT_RW_R, DLT_UNKNOWN, DLT_UNKNOWN);
	lives_row(&lives, DLT_bio, &bio.hdr, files); /* not a call */
	lives_row(&lives, DLT_fault, &fault.hdr, files); /* nor are these */
	lives_row(&lives, DLT_regions, &epoch.hdr, files);
	lives_row(&lives, DLT_open, &there.hdr, files);

	lives_turn(&lives, SECOND + SECOND / 2, false, files, NULL, NULL);
	assert_int_equal(atomic_load(&l->state), LIVE_EMPTY); /* not yet */
	lives_turn(&lives, 2 * SECOND, false, files, NULL, NULL);
	assert_int_equal(atomic_load(&l->state), LIVE_FULL);
	assert_int_equal(v->from_ns, SECOND);
	assert_int_equal(v->to_ns, 2 * SECOND);
	assert_int_equal(v->processes, 2);
	assert_int_equal(v->n, 2);
	assert_int_equal(v->sums[0].pid, 8); /* it moved the most bytes */
	assert_string_equal(v->sums[0].comm, "worker");
	assert_int_equal(v->sums[0].calls, 3);
	assert_int_equal(v->sums[0].failed, 1);
	assert_int_equal(v->sums[0].written_bytes, 9000);
	assert_int_equal(v->sums[0].read_bytes, 0);
	assert_int_equal(v->sums[0].reads, 0);
	assert_int_equal(v->sums[1].pid, 7);
	assert_int_equal(v->sums[1].calls, 4);
	assert_int_equal(v->sums[1].read_bytes, 5101);
	assert_int_equal(v->sums[1].fetched_bytes, 8192);
	assert_int_equal(v->sums[1].reads, 2);
	assert_int_equal(v->sums[1].disk_reads, 1);
	assert_int_equal(v->sums[1].lat_ns, 650);
	assert_int_equal(v->sums[1].max_lat_ns, 300);
	assert_int_equal(v->all.calls, 7);
	assert_int_equal(v->all.read_bytes, 5101);
}

/* Calls that are only in sums count as their rows would. */
static void sums_count_as_rows(void **state)
{
	struct live *l = come(10);
	const struct live_view *v = &l->view;
	const struct dlt_vfs_rw_sums sums = {
		.hdr = { .tgid = 7, .comm = "worker", .probe = DLT_vfs_rw_sums },
		.id = regular,
		.sum = { .count = 99,
			 .empty = 9,
			 .bytes = 900,
			 .ns = 99 * 700,
			 .max_ns = 1000,
			 .bucket = { [9] = 99 } },
		.dir = DLT_RW_R,
	};

	lives_sums(&lives, &sums, files);
	row(7, 5000, regular, DLT_RW_W, 10, 0);
	lives_turn(&lives, SECOND + SECOND / 2, false, files, NULL, NULL);
	lives_turn(&lives, 2 * SECOND, false, files, NULL, NULL);
	assert_int_equal(v->all.calls, 100);
	assert_int_equal(v->all.read_bytes, 900);
	assert_int_equal(v->all.written_bytes, 10);
	assert_int_equal(v->all.reads, 90);
	assert_int_equal(v->all.disk_reads, 0);
	assert_int_equal(v->all.lat_ns, 99 * 700 + 5000);
	assert_int_equal(v->all.max_lat_ns, 5000);
	assert_int_equal(v->n, 1);
	assert_int_equal(v->sums[0].calls, 100);
	assert_in_range(v->sums[0].p99_ns, 512, 1023);
}

static void what_is_not_taken_is_not_lost(void **state)
{
	struct live *l = come(10);

	row(7, 1, regular, DLT_RW_R, 1, 0);
	lives_turn(&lives, 2 * SECOND, false, files, NULL, NULL);
	row(7, 1, regular, DLT_RW_R, 1, 0);
	lives_turn(&lives, 3 * SECOND, false, files, NULL, NULL);
	assert_int_equal(l->view.all.calls, 1); /* unchanged since it was full */
	row(7, 1, regular, DLT_RW_R, 1, 0);
	atomic_store(&l->state, LIVE_EMPTY);
	lives_turn(&lives, 3 * SECOND + 1, false, files, NULL, NULL);
	assert_int_equal(atomic_load(&l->state), LIVE_FULL);
	assert_int_equal(l->view.all.calls, 2);
	assert_int_equal(l->view.from_ns, 2 * SECOND);

	atomic_store(&l->state, LIVE_EMPTY);
	row(7, 1, regular, DLT_RW_R, 1, 0);
	lives_turn(&lives, 3 * SECOND + 2, true, files, NULL, NULL); /* at the end, due or not */
	assert_int_equal(atomic_load(&l->state), LIVE_FULL);
	assert_int_equal(l->view.all.calls, 1);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void a_percentile_is_within_an_eighth(void **state)
{
	static uint64_t values[5000];
	struct live *l = come(10);
	uint64_t exact, seed = 1;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		values[i] = (seed >> 33) >> (seed >> 59); /* of any size up to 2 s */
		row(7, values[i], regular, DLT_RW_R, 1, 0);
	}
	qsort(values, ARRAY_SIZE(values), sizeof(values[0]), by_value);
	exact = values[ARRAY_SIZE(values) * 99 / 100 - 1];
	lives_turn(&lives, 2 * SECOND, false, files, NULL, NULL);
	assert_in_range(l->view.sums[0].p99_ns, exact - exact / 8, exact + exact / 8);
	assert_int_equal(l->view.all.p99_ns, l->view.sums[0].p99_ns);
	assert_int_equal(l->view.sums[0].max_lat_ns, values[ARRAY_SIZE(values) - 1]);
}

static void thousands_of_processes_are_bounded(void **state)
{
	struct live *few = come(500), *many = come(UINT32_MAX);

	for (int round = 0; round < 3; round++) {
		for (uint32_t pid = 1; pid <= LIVE_PROCESSES_MAX + 1000; pid++)
			row(pid, 1000, regular, DLT_RW_R, pid, 0);
		lives_turn(&lives, (2ULL + (unsigned int)round) * SECOND, false, files, NULL, NULL);
		assert_int_equal(few->view.n, 500);
		assert_int_equal(few->view.processes, LIVE_PROCESSES_MAX);
		assert_int_equal(few->view.sums[0].pid, LIVE_PROCESSES_MAX);
		assert_int_equal(few->view.sums[499].pid, LIVE_PROCESSES_MAX - 499);
		assert_int_equal(many->view.n, LIVE_PROCESSES_MAX);
		assert_int_equal(many->view.sums[LIVE_PROCESSES_MAX - 1].pid, 1);
		assert_int_equal(many->view.all.calls, LIVE_PROCESSES_MAX + 1000);
		atomic_store(&few->state, LIVE_EMPTY);
		atomic_store(&many->state, LIVE_EMPTY);
	}
}

static void clients_that_leave_cost_nothing_more(void **state)
{
	struct live *l[LIVE_PLACES], *late = live_new(1000, 1);

	for (unsigned int i = 0; i < LIVE_PLACES; i++)
		l[i] = come(1);
	assert_int_equal(lives_add(&lives, late), -EBUSY);
	assert_int_equal(lives.n, LIVE_PLACES);
	atomic_store(&l[1]->leave, true);
	lives_turn(&lives, SECOND + 1, false, files, NULL, NULL);
	assert_int_equal(atomic_load(&l[1]->state), LIVE_GONE);
	live_free(l[1]);
	assert_int_equal(lives.n, LIVE_PLACES - 1);
	assert_int_equal(lives_add(&lives, late), 0);
	l[1] = late;
	for (unsigned int i = 0; i < LIVE_PLACES; i++)
		atomic_store(&l[i]->leave, true);
	lives_turn(&lives, SECOND + 2, false, files, NULL, NULL);
	assert_int_equal(lives.n, 0);
	assert_false(atomic_load(&lives.any));
	for (unsigned int i = 0; i < LIVE_PLACES; i++) {
		assert_int_equal(atomic_load(&l[i]->state), LIVE_GONE);
		live_free(l[i]);
	}
}

static void expect_file(struct dlt_call call, int64_t fd, uint64_t addr)
{
	int64_t its_fd;
	uint64_t its_addr;

	memcpy(call.args, (uint64_t[]){ 10, 11, 12, 13, 14, 15 }, sizeof(call.args));
	call_file(&call, &its_fd, &its_addr);
	assert_int_equal(its_fd, fd);
	assert_int_equal(its_addr, addr);
}

static void a_call_has_its_descriptor_or_path(void **state)
{
	expect_file((struct dlt_call){ .probe = DLT_vfs_rw, .nr = SYS_read }, 10, 0);
	expect_file((struct dlt_call){ .probe = DLT_vfs_rw, .nr = SYS_io_submit }, DLT_NONE, 0);
	expect_file((struct dlt_call){ .probe = DLT_close }, 10, 0);
	expect_file((struct dlt_call){ .probe = DLT_mmap, .shape = DLT_MMAP }, 14, 0);
	expect_file((struct dlt_call){ .probe = DLT_mmap, .shape = DLT_MUNMAP }, DLT_NONE, 0);
	expect_file((struct dlt_call){ .probe = DLT_sync, .shape = DLT_SYNC_FD }, 10, 0);
	expect_file((struct dlt_call){ .probe = DLT_sync, .shape = DLT_SYNC_NONE }, DLT_NONE, 0);
	expect_file((struct dlt_call){ .probe = DLT_sync, .shape = DLT_SYNC_TRUNCATE }, DLT_NONE, 10);
	expect_file((struct dlt_call){ .probe = DLT_open, .shape = DLT_OPEN_PLAIN }, DLT_NONE, 10);
	expect_file((struct dlt_call){ .probe = DLT_open, .shape = DLT_OPEN_AT }, 10, 11);
	expect_file((struct dlt_call){ .probe = DLT_create_del, .shape = DLT_CD_MKDIR }, DLT_NONE, 10);
	expect_file((struct dlt_call){ .probe = DLT_create_del, .shape = DLT_CD_RENAMEAT | DLT_CD_NO_FLAGS }, 10, 11);
	expect_file((struct dlt_call){ .probe = DLT_create_del, .shape = DLT_CD_SYMLINKAT }, 11, 12);
	expect_file((struct dlt_call){ .probe = DLT_create_del, .shape = DLT_CD_SYMLINK }, DLT_NONE, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sums_are_those_of_the_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sums_count_as_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_taken_is_not_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_percentile_is_within_an_eighth, set_up, tear_down),
		cmocka_unit_test_setup_teardown(thousands_of_processes_are_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(clients_that_leave_cost_nothing_more, set_up, tear_down),
		cmocka_unit_test(a_call_has_its_descriptor_or_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
