/* SPDX-License-Identifier: BSD-2-Clause */
/* Page faults in, rows of access.out out: tests/golden/access.txt. */
#include "dlt/access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "drain/memory/access.h"
#include "drain/memory/access_counts.h"
#include "drain/memory/alloc_blocks.h"
#include "drain/rows/stage.h"
#include "kernel/tracer.h"
#include "records.h"

#define INTERVAL_NS (100 * NSEC_PER_MSEC)

static int configure(void **state, uint64_t interval_ns)
{
	if (decoder_make(state) < 0)
		return -1;
	config.access_interval_ns = interval_ns;
	config.access_block_bytes = 64 << 10;
	return 0;
}

/* By what the configuration has now. */
static int begin_configured(void)
{
	return access_stage.open(&decode);
}

static int begin_with(void **state, uint64_t interval_ns)
{
	return configure(state, interval_ns) < 0 ? -1 : begin_configured();
}

static int begin(void **state)
{
	return begin_with(state, INTERVAL_NS);
}

static int begin_single(void **state)
{
	return begin_with(state, 0);
}

static int begin_by(void **state, enum config_access access)
{
	if (configure(state, INTERVAL_NS) < 0)
		return -1;
	config.access = access;
	config.access_watch[0] = (struct dlt_watch){ 0x1000, 8 };
	config.access_watch[1] = (struct dlt_watch){ 0x2000, 2 };
	return begin_configured();
}

static int begin_watch(void **state)
{
	return begin_by(state, ACCESS_WATCH);
}

static int begin_pmu(void **state)
{
	return begin_by(state, ACCESS_PMU);
}

static int begin_blocks_with(void **state, uint64_t interval_ns)
{
	if (configure(state, interval_ns) < 0)
		return -1;
	config.access = ACCESS_WATCH;
	strcpy(config.access_site, "train.py:42");
	for (unsigned int i = 0; i < DLT_WATCHES; i++)
		config.access_watch[i] = (struct dlt_watch){ 0, 8 };
	return begin_configured();
}

static int begin_blocks(void **state)
{
	return begin_blocks_with(state, INTERVAL_NS);
}

static int begin_blocks_single(void **state)
{
	return begin_blocks_with(state, 0);
}

static int end(void **state)
{
	config.access_site[0] = '\0';
	return decoder_remove(state);
}

/* A fault at START_NS + AT ms. */
static void fault(uint64_t at, uint32_t tgid, uint64_t addr, uint32_t flags)
{
	struct dlt_access *rec = rec_begin(DLT_access);

	rec->hdr.ts_ns = START_NS + at * NSEC_PER_MSEC;
	rec->hdr.tgid = tgid;
	rec->addr = addr;
	rec->ip = 0x401000;
	rec->flags = flags;
	rec_emit();
}

/* A run that was found at START_NS + AT ms, of file INO, 0: none. */
static void run(uint64_t at, uint16_t source, uint16_t kind, uint64_t ino)
{
	struct dlt_access_run *rec = rec_begin(DLT_access);

	rec->hdr.func = DLT_ACCESS_RUN;
	rec->hdr.size = sizeof(*rec);
	rec->at_ns = START_NS + at * NSEC_PER_MSEC;
	rec->span_ns = INTERVAL_NS;
	rec->addr = 0x7f0000000000;
	rec->bytes = 2 << 20;
	rec->touched = 8192;
	rec->huge = 0;
	rec->offset = ino ? 65536 : DLT_NONE;
	rec->kind = kind;
	rec->node = ino ? 1 : -1;
	rec->source = source;
	rec->id = ino ? id_of(ino) : (struct dlt_file_id){ 0 };
	rec_emit();
}

static void a_run_that_is_too_short_is_none(void **state)
{
	struct dlt_access *rec = rec_begin(DLT_access);

	rec->hdr.func = DLT_ACCESS_RUN;
	rec_emit();
	expect_rows(DLT_access, "");
}

static void faults_of_an_interval_are_joined(void **state)
{
	/* two blocks with one page each, the second of them twice; in another process */
	fault(0, 100, 0x10123, 0);
	fault(1, 200, 0x21fff, DLT_ACCESS_WRITE);
	fault(2, 100, 0x2ffff, 0);
	fault(3, 100, 0x2f000, 0);
	/* the next interval: a page that is read and then written, alone */
	fault(100, 100, 0x30000, 0);
	fault(150, 100, 0x30010, DLT_ACCESS_WRITE);
	/* and one long after: an address that no one can have */
	fault(5000, 100, 0x7fffffffffffffff, DLT_ACCESS_NO_WRITE);
	access_stage.tick(&decode, 0, START_NS + 5050 * NSEC_PER_MSEC);
	access_stage.tick(&decode, 0, START_NS + 5200 * NSEC_PER_MSEC);
	fault(5300, 100, 0x1000, DLT_ACCESS_WRITE);
	access_stage.end(&decode, START_NS + 5301 * NSEC_PER_MSEC);
	run(5400, DLT_ACCESS_PAGES, DLT_ACCESS_FILE, 11);
	run(5400, DLT_ACCESS_PAGES, DLT_ACCESS_STACK, 0);
	run(5500, DLT_ACCESS_WRITES, DLT_ACCESS_ANON, 0);
	expect_golden(DLT_access);
}

static void each_fault_has_its_address_thread_and_instruction(void **state)
{
	fault(0, 100, 0x10123, DLT_ACCESS_WRITE);
	fault(1, 100, 0x10123, 0);
	expect_rows(
		DLT_access,
		"1000000000000\t2026-11-21T01:02:03.000000000Z\t100\tfaults\t0\t0x10123\t4096\t4096\t4096\t1\t-\t-\t101\t0x401000\t-\t-\t-\t-\n"
		"1000001000000\t2026-11-21T01:02:03.001000000Z\t100\tfaults\t0\t0x10123\t4096\t4096\t0\t1\t-\t-\t101\t0x401000\t-\t-\t-\t-\n");
}

/* By process and watched address, with the length that is watched there. */
static void accesses_of_watched_bytes_are_counted(void **state)
{
	fault(0, 100, 0x2000, DLT_ACCESS_NO_WRITE);
	fault(1, 200, 0x1000, DLT_ACCESS_NO_WRITE);
	fault(2, 100, 0x1000, DLT_ACCESS_NO_WRITE);
	fault(3, 100, 0x2000, DLT_ACCESS_NO_WRITE);
	fault(4, 100, 0x2000, DLT_ACCESS_NO_WRITE);
	access_stage.end(&decode, START_NS + 200 * NSEC_PER_MSEC);
	expect_rows(
		DLT_access,
		"1000100000000\t2026-11-21T01:02:03.100000000Z\t100\twatch\t100000000\t0x1000\t8\t8\t-\t1\t-\t-\t101\t0x401000\t-\t-\t-\t-\n"
		"1000100000000\t2026-11-21T01:02:03.100000000Z\t100\twatch\t100000000\t0x2000\t2\t2\t-\t3\t-\t-\t-\t-\t-\t-\t-\t-\n"
		"1000100000000\t2026-11-21T01:02:03.100000000Z\t200\twatch\t100000000\t0x1000\t8\t8\t-\t1\t-\t-\t101\t0x401000\t-\t-\t-\t-\n");
}

/* By process and block. A single one has its address, thread and instruction; how much was accessed is not known of
 * any. */
static void samples_are_counted_by_block(void **state)
{
	fault(0, 100, 0x2fff8, DLT_ACCESS_NO_WRITE);
	fault(1, 200, 0x20008, DLT_ACCESS_NO_WRITE);
	fault(2, 100, 0x20010, DLT_ACCESS_NO_WRITE);
	fault(3, 100, 0x30008, DLT_ACCESS_NO_WRITE);
	fault(4, 100, 0x20010, DLT_ACCESS_NO_WRITE);
	access_stage.end(&decode, START_NS + 200 * NSEC_PER_MSEC);
	expect_rows(
		DLT_access,
		"1000100000000\t2026-11-21T01:02:03.100000000Z\t100\tpmu\t100000000\t0x20000\t65536\t-\t-\t3\t-\t-\t-\t-\t-\t-\t-\t-\n"
		"1000100000000\t2026-11-21T01:02:03.100000000Z\t100\tpmu\t100000000\t0x30008\t4096\t-\t-\t1\t-\t-\t101\t0x401000\t-\t-\t-\t-\n"
		"1000100000000\t2026-11-21T01:02:03.100000000Z\t200\tpmu\t100000000\t0x20008\t4096\t-\t-\t1\t-\t-\t101\t0x401000\t-\t-\t-\t-\n");
}

/* A block of process 100 is in use from START_NS + AT ms on; or it ends then. */
static void block(uint64_t at, uint64_t addr, uint32_t site)
{
	const struct alloc_block b = {
		.addr = addr, .size = 4096, .begin_ns = START_NS + at * NSEC_PER_MSEC, .tid = 101, .site = site
	};

	if (site)
		access_block_begins(&decode, 100, &b);
	else
		access_block_ends(&decode, 100, addr, b.begin_ns);
}

static void known(uint64_t until)
{
	access_blocks_known(&decode, START_NS + until * NSEC_PER_MSEC);
}

/* Blocks are known later than accesses: what was accessed before, between and behind them has no row. */
static void accesses_belong_to_the_block_of_their_time(void **state)
{
	fault(0, 100, 0x1000, DLT_ACCESS_NO_WRITE);
	fault(20, 100, 0x1000, DLT_ACCESS_NO_WRITE);
	fault(30, 200, 0x1000, DLT_ACCESS_NO_WRITE); /* a forked child's */
	fault(40, 100, 0x1000, DLT_ACCESS_NO_WRITE);
	fault(60, 100, 0x1000, DLT_ACCESS_NO_WRITE);
	fault(80, 100, 0x1000, DLT_ACCESS_NO_WRITE);
	fault(120, 100, 0x1000, DLT_ACCESS_NO_WRITE);
	access_stage.tick(&decode, 0, START_NS + 5000 * NSEC_PER_MSEC);
	expect_rows(DLT_access, "");
	block(10, 0x1000, 5);
	block(50, 0x1000, 0);
	block(70, 0x1000, 6);
	known(110);
	expect_rows(
		DLT_access,
		"1000100000000\t2026-11-21T01:02:03.100000000Z\t100\twatch\t100000000\t0x1000\t8\t8\t-\t2\t-\t-\t-\t-\t-\t-\t-\t5\n"
		"1000100000000\t2026-11-21T01:02:03.100000000Z\t100\twatch\t100000000\t0x1000\t8\t8\t-\t1\t-\t-\t101\t0x401000\t-\t-\t-\t6\n");
}

static struct counts counts;

static void each_access_of_a_block_has_a_row(void **state)
{
	const struct access_counts *n = counts_of(&counts, DLT_access);
	struct tracer tracer = { 0 };

	for (uint64_t i = 1; i <= DLT_WATCHES + 1; i++) /* one too many, */
		block(i, i * 0x1000, (uint32_t)i);
	block(9, 0x10004, 9); /* and one where no breakpoint can be */
	access_stage.count(&decode, &tracer, &counts);
	assert_int_equal(n->unwatched, 2);
	fault(3, 100, 0x1000, DLT_ACCESS_NO_WRITE);
	fault(4, 100, 0x5000, DLT_ACCESS_NO_WRITE);
	fault(20, 100, 0x4000, DLT_ACCESS_NO_WRITE);
	fault(30, 100, 0x1000, DLT_ACCESS_NO_WRITE);
	known(20);
	expect_rows(
		DLT_access,
		"1000003000000\t2026-11-21T01:02:03.003000000Z\t100\twatch\t0\t0x1000\t8\t8\t-\t1\t-\t-\t101\t0x401000\t-\t-\t-\t1\n"
		"1000020000000\t2026-11-21T01:02:03.020000000Z\t100\twatch\t0\t0x4000\t8\t8\t-\t1\t-\t-\t101\t0x401000\t-\t-\t-\t4\n");
}

static void a_late_access_comes_in_the_order_of_time(void **state)
{
	fault(40, 100, 0x1000, DLT_ACCESS_NO_WRITE);
	fault(20, 100, 0x1000, DLT_ACCESS_NO_WRITE);
	block(10, 0x1000, 5);
	block(30, 0x1000, 0);
	block(35, 0x1000, 6);
	known(50);
	expect_rows(
		DLT_access,
		"1000020000000\t2026-11-21T01:02:03.020000000Z\t100\twatch\t0\t0x1000\t8\t8\t-\t1\t-\t-\t101\t0x401000\t-\t-\t-\t5\n"
		"1000040000000\t2026-11-21T01:02:03.040000000Z\t100\twatch\t0\t0x1000\t8\t8\t-\t1\t-\t-\t101\t0x401000\t-\t-\t-\t6\n");
}

/* More than are kept end their interval early: no fault is dropped. */
static void a_storm_of_faults_ends_the_interval(void **state)
{
	const uint64_t n = 200000;
	autofree char *text = NULL;
	uint64_t sum = 0, rows = 0;

	for (uint64_t i = 0; i < n; i++)
		fault(0, 100, 0x10000000 + i * 4096, DLT_ACCESS_WRITE);
	access_stage.end(&decode, START_NS + NSEC_PER_MSEC);
	text = rows_of(DLT_access);
	for (char *row = strtok(text, "\n"); row; row = strtok(NULL, "\n"), rows++) {
		unsigned long long bytes, touched, count;

		assert_int_equal(sscanf(row, "%*s %*s 100 faults %*s %*s %llu %llu %*s %llu", &bytes, &touched, &count),
				 3);
		assert_true(bytes >= touched && touched == count * 4096);
		sum += count;
	}
	assert_int_equal(sum, n);
	assert_int_equal(rows, 4);
}

#define WITH(fn, begin) cmocka_unit_test_setup_teardown(fn, begin, end)
int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(faults_of_an_interval_are_joined, begin),
		WITH(a_run_that_is_too_short_is_none, begin),
		WITH(each_fault_has_its_address_thread_and_instruction, begin_single),
		WITH(accesses_of_watched_bytes_are_counted, begin_watch),
		WITH(samples_are_counted_by_block, begin_pmu),
		WITH(accesses_belong_to_the_block_of_their_time, begin_blocks),
		WITH(each_access_of_a_block_has_a_row, begin_blocks_single),
		WITH(a_late_access_comes_in_the_order_of_time, begin_blocks_single),
		WITH(a_storm_of_faults_ends_the_interval, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
