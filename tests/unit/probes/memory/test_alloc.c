/* SPDX-License-Identifier: BSD-2-Clause */
/* Pages of allocations in, rows of alloc.out and sites.out out. Times are ns here: no counter of a CPU. */
#include "dlt/alloc.h"
#include "dlt/pids.h"

#include <limits.h>
#include <search.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/text.h"
#include "drain/memory/alloc.h"
#include "drain/memory/alloc_blocks.h"
#include "drain/memory/alloc_counts.h"
#include "drain/memory/alloc_threads.h"
#include "drain/memory/ticks.h"
#include "drain/rows/stage.h"
#include "records.h"

static struct dlt_alloc_page page;

static int begin(void **state)
{
	if (decoder_make(state) < 0)
		return -1;
	memset(&page, 0, sizeof(page));
	return alloc_stage.open(&decode);
}

/* What the manifest has of it. */
static void counted(struct alloc_counts *ret)
{
	static struct counts counts;

	memset(&counts, 0, sizeof(counts));
	alloc_stage.count(&decode, NULL, &counts);
	memcpy(ret, counts_of(&counts, DLT_alloc), sizeof(*ret));
}

static int end(void **state)
{
	return decoder_remove(state);
}

/* An event at START_NS + AT. */
static struct dlt_alloc_event *event(uint64_t at, enum dlt_alloc_op op, uint64_t addr, uint64_t size, uint32_t site)
{
	struct dlt_alloc_event *e = &page.v[page.head.n++];

	*e = (struct dlt_alloc_event){ START_NS + at, addr, (uint64_t)op << DLT_ALLOC_OP_SHIFT | size, site, 0 };
	return e;
}

static void define(uint64_t at, enum dlt_alloc_op op, uint32_t site, uint64_t n, const void *data, size_t bytes)
{
	struct dlt_alloc_event *e = event(at, op, n, 0, site);

	e->n = (uint32_t)((bytes + 31) / 32);
	memset(e + 1, 0, 32 * e->n);
	memcpy(e + 1, data, bytes);
	page.head.n += e->n;
}

/* The page leaves as a copy of thread TID in process TGID; AT: when. */
static void leaves(uint32_t tgid, uint32_t tid, uint64_t at, enum dlt_alloc_copy copy)
{
	struct dlt_alloc *rec = rec_begin(DLT_alloc);

	page.head.magic = DLT_ALLOC_NS;
	rec->hdr.ts_ns = START_NS + at;
	rec->hdr.tgid = tgid;
	rec->hdr.tid = tid;
	rec->hdr.size = (uint32_t)DLT_ALLOC_BYTES(page.head.n);
	rec->copy = copy;
	rec->at.head = page.head;
	memcpy(rec->at.v, page.v, page.head.n * sizeof(page.v[0]));
	rec_emit();
	if (copy == DLT_ALLOC_FULL) {
		page.head.n = 0;
		page.head.seq++;
	}
}

static void lives(uint32_t event, uint32_t tgid, uint32_t parent, uint64_t at)
{
	struct dlt_pids *rec = rec_begin(DLT_pids);

	rec->hdr.ts_ns = START_NS + at;
	rec->hdr.tgid = rec->hdr.tid = tgid;
	rec->event = event;
	rec->ppid = parent;
	rec->status = 0;
	rec_emit();
}

static void thread_begins(uint32_t tgid, uint32_t tid, uint64_t at)
{
	page.head = (struct dlt_alloc_head){ .id = tid };
	leaves(tgid, tid, at, DLT_ALLOC_BEGUN);
}

#define FRAME(module, at) ((uint64_t)(module) << DLT_ALLOC_MODULE_SHIFT | (at))
#define PROCESS NO_SUCH_PID

/* Two threads' pages come in the wrong order; a child knows its parent's stacks; what is in use at the end has a row.
 */
static void each_event_has_a_row_with_its_block(void **state)
{
	char module[32 + 24] = "\xde\xad\xbe\xef";
	const uint64_t stack[] = { FRAME(1, 0x1234), FRAME(1, 0x5678), 0x7f00 };
	struct alloc_counts n;

	memcpy(module + 32, "/usr/bin/python3 (x)", 21);
	thread_begins(PROCESS, PROCESS + 1, 0);
	event(50, DLT_ALLOC_FREE, 0x1000, 0, 0); /* of the other thread's block */
	event(60, DLT_ALLOC_FREE, 0x9000, 0, 0); /* from before the trace */
	page.head.small_calls = 3;
	page.head.small_bytes = 100;
	leaves(PROCESS, PROCESS + 1, 900, DLT_ALLOC_FULL);
	thread_begins(PROCESS, PROCESS, 1);
	define(10, DLT_ALLOC_MODULE, 1, 4, module, sizeof(module));
	define(11, DLT_ALLOC_SITE, 7, 3, stack, sizeof(stack));
	event(20, DLT_ALLOC_MALLOC, 0x1000, 5000, 7);
	event(70, DLT_ALLOC_CALLOC, 0x2000, 8000, 0);
	event(80, DLT_ALLOC_OLD, 0x2000, 0, 0);
	event(85, DLT_ALLOC_REALLOC, 0x3000, 9000, 7);
	event(90, DLT_ALLOC_OLD, 0x3000, 0, 0);
	event(95, DLT_ALLOC_REALLOC, 0, 1ULL << 50, 7); /* fails: the old one stays */
	event(99, DLT_ALLOC_POSIX_MEMALIGN, 0, 1ULL << 50, 8); /* fails; not a stack that is known */
	leaves(PROCESS, PROCESS, 901, DLT_ALLOC_LAST);
	lives(DLT_PIDS_FORK, PROCESS + 5, PROCESS, 100);
	thread_begins(PROCESS + 5, PROCESS + 5, 110);
	event(120, DLT_ALLOC_MALLOC, 0x3000, 6000, 7);
	event(130, DLT_ALLOC_OLD, 0x3000, 0, 0);
	event(131, DLT_ALLOC_REALLOC, 0x3000, 10, 7)->n = 1; /* it has become a small one */
	leaves(PROCESS + 5, PROCESS + 5, 140, DLT_ALLOC_LAST);
	lives(DLT_PIDS_EXIT, PROCESS + 5, PROCESS, 150);
	lives(DLT_PIDS_EXIT, PROCESS, 1, 950);
	lives(DLT_PIDS_EXIT, PROCESS + 9, 1, 951); /* never seen */
	alloc_stage.end(&decode, 0);
	expect_golden(DLT_alloc);
	expect_golden(DLT_sites);
	counted(&n);
	assert_int_equal(n.small_calls, 3);
	assert_int_equal(n.small_bytes, 100);
	assert_int_equal(n.threads, 3);
	assert_int_equal(n.uncovered, 1);
	assert_int_equal(n.unread, 0);
	assert_int_equal(n.live_blocks, 0);
	assert_int_equal(n.live_bytes, 0);
}

/* A child knows its parent's functions; what would separate frames is none; what is not known has no name. */
static void stacks_of_python_are_lines(void **state)
{
	const uint64_t lines[] = { 1ULL << 32 | 12, 2ULL << 32 | 7, 9ULL << 32 | 1 }, again[] = { 2ULL << 32 | 8 };
	struct alloc_counts n;

	thread_begins(PROCESS, PROCESS, 0);
	event(5, DLT_ALLOC_PYTHON, 0x030b0200, 0, 1);
	define(10, DLT_ALLOC_CODE, 1, 0, "/home/a b/train.py\0Net.forward", 31);
	define(11, DLT_ALLOC_CODE, 2, 0, "<a;b:c>\0f:;g", 13);
	define(12, DLT_ALLOC_LINES, 7, 3, lines, sizeof(lines));
	event(20, DLT_ALLOC_MALLOC, 0x1000, 5000, 7);
	leaves(PROCESS, PROCESS, 30, DLT_ALLOC_LAST);
	lives(DLT_PIDS_FORK, PROCESS + 5, PROCESS, 100);
	thread_begins(PROCESS + 5, PROCESS + 5, 110);
	define(111, DLT_ALLOC_LINES, 8, 1, again, sizeof(again));
	event(112, DLT_ALLOC_PYTHON, 0x030e0100, 0, 0);
	event(113, DLT_ALLOC_PYTHON, 0x030e0100, 0, 0);
	leaves(PROCESS + 5, PROCESS + 5, 140, DLT_ALLOC_LAST);
	alloc_stage.end(&decode, 0);
	expect_rows(DLT_sites,
		    "1000000000012\t2026-11-21T01:02:03.000000012Z\t5000000\t1\tpython\t"
		    "/home/a\\040b/train.py:12:Net.forward;<a?b:c>:7:f??g;?:1:?\t-\n"
		    "1000000000111\t2026-11-21T01:02:03.000000111Z\t5000005\t2\tpython\t<a?b:c>:8:f??g\t-\n");
	counted(&n);
	assert_int_equal(n.python, 1);
	assert_int_equal(n.unread_python, 1);
	assert_int_equal(n.unread_version, 0x030e0100);
}

static unsigned int rows_in(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Before an exec that fails, a page is copied and goes on to be filled; in between the daemon reads it, too. */
static void a_page_that_is_copied_twice_counts_once(void **state)
{
	autofree char *rows = NULL;

	thread_begins(PROCESS, PROCESS, 0);
	event(1, DLT_ALLOC_MALLOC, 0x1000, 5000, 0);
	event(2, DLT_ALLOC_MALLOC, 0x2000, 5000, 0);
	leaves(PROCESS, PROCESS, 3, DLT_ALLOC_PART);
	event(4, DLT_ALLOC_MALLOC, 0x3000, 5000, 0);
	leaves(PROCESS, PROCESS, 5, DLT_ALLOC_PART);
	leaves(PROCESS, PROCESS, 6, DLT_ALLOC_PART);
	event(7, DLT_ALLOC_MALLOC, 0x4000, 5000, 0);
	leaves(PROCESS, PROCESS, 8, DLT_ALLOC_FULL);
	event(9, DLT_ALLOC_MALLOC, 0x5000, 5000, 0);
	leaves(PROCESS, PROCESS, 10, DLT_ALLOC_LAST);
	lives(DLT_PIDS_EXIT, PROCESS, 1, 20);
	alloc_stage.end(&decode, 0);
	rows = rows_of(DLT_alloc);
	assert_int_equal(rows_in(rows), 10); /* each once, and its end */
}

/* Where there was no room for a thread's first copy, the next one shows that it has begun; one event may come alone. */
static void a_thread_is_known_by_whatever_comes_first(void **state)
{
	autofree char *rows = NULL;
	struct alloc_counts n;

	page.head = (struct dlt_alloc_head){ .id = 9, .seq = 4 };
	event(1, DLT_ALLOC_MALLOC, 0x1000, 5000, 0);
	leaves(PROCESS, PROCESS, 3, DLT_ALLOC_PART);
	event(4, DLT_ALLOC_MALLOC, 0x2000, 5000, 0);
	leaves(PROCESS, PROCESS, 5, DLT_ALLOC_LAST);
	page.head = (struct dlt_alloc_head){ .id = 6 };
	event(6, DLT_ALLOC_FREE, 0x2000, 0, 0);
	leaves(PROCESS, PROCESS, 7, DLT_ALLOC_SINGLE);
	lives(DLT_PIDS_EXIT, PROCESS, 1, 20);
	alloc_stage.end(&decode, 0);
	rows = rows_of(DLT_alloc);
	assert_int_equal(rows_in(rows), 4);
	assert_non_null(strstr(rows, "\tfree\t0x2000\t5000\t"));
	counted(&n);
	assert_int_equal(n.threads, 1);
	assert_int_equal(n.uncovered, 0);
}

/* A call that a uprobe has seen, as a record of its own, with the N frames V; STATED: so many, it says. */
static void called_from(uint32_t tgid, uint64_t at, uint64_t addr, const uint64_t *v, size_t n, uint32_t stated)
{
	struct dlt_alloc *rec = rec_begin(DLT_alloc);

	rec->hdr.ts_ns = START_NS + at;
	rec->hdr.tgid = rec->hdr.tid = tgid;
	rec->hdr.size = (uint32_t)DLT_ALLOC_BYTES(1 + DLT_ALLOC_FRAME_EVENTS);
	rec->copy = DLT_ALLOC_CALLED;
	rec->at.head.n = 1 + DLT_ALLOC_FRAME_EVENTS;
	rec->at.v[0] = (struct dlt_alloc_event){ UINT64_MAX, addr,
						 (uint64_t)DLT_ALLOC_IN_c10_alloc_cpu << DLT_ALLOC_OP_SHIFT | 5000,
						 stated, DLT_ALLOC_FRAME_EVENTS };
	memcpy(&rec->at.v[1], v, n * sizeof(*v));
	rec_emit();
}

/* Without frames. */
static void called(uint32_t tgid, uint64_t at, enum dlt_alloc_op op, uint64_t addr, uint64_t size)
{
	struct dlt_alloc *rec = rec_begin(DLT_alloc);

	rec->hdr.ts_ns = START_NS + at;
	rec->hdr.tgid = rec->hdr.tid = tgid;
	rec->hdr.size = DLT_ALLOC_BYTES(1);
	rec->copy = DLT_ALLOC_CALLED;
	rec->at.head.n = 1;
	rec->at.v[0] = (struct dlt_alloc_event){ UINT64_MAX, addr, (uint64_t)op << DLT_ALLOC_OP_SHIFT | size, 0, 0 };
	rec_emit();
}

/*
 * A block that is freed by a function with a probe is known then; one that free(3) frees is not, and one below the
 * threshold is only counted.
 */
static void calls_that_uprobes_see_are_rows(void **state)
{
	struct alloc_counts n;

	alloc_stage.free(decode.state[DLT_alloc]);
	config.alloc_min_bytes = 4096;
	assert_int_equal(alloc_stage.open(&decode), 0);
	page.head = (struct dlt_alloc_head){ .id = 6 };
	event(1, DLT_ALLOC_MALLOC, 0x2000, 5000, 0);
	leaves(PROCESS + 1, PROCESS + 1, 2, DLT_ALLOC_SINGLE); /* all pages have this clock */
	called(PROCESS, 10, DLT_ALLOC_IN_c10_alloc_cpu, 0x1000, 6000);
	called(PROCESS, 11, DLT_ALLOC_IN_c10_alloc_cpu, 0x9000, 4095);
	called(PROCESS, 12, DLT_ALLOC_IN_posix_memalign, 0x3000, 7000);
	called(PROCESS, 13, DLT_ALLOC_IN_c10_alloc_cpu, 0, 8000); /* fails */
	called(PROCESS, 14, DLT_ALLOC_IN_c10_free_cpu, 0x9000, 0);
	called(PROCESS, 15, DLT_ALLOC_IN_c10_free_cpu, 0x1000, 0);
	called(PROCESS, 16, DLT_ALLOC_IN_c10_free_cpu, 0x1000, 0); /* not known any more */
	called(PROCESS, 17, DLT_ALLOC_IN_c10_alloc_cpu, 0x1000, 9000);
	called(PROCESS, 18, DLT_ALLOC_IN_c10_alloc_cpu, 0x4000, 10); /* a small one that stays */
	called(PROCESS, 19, DLT_ALLOC_END, 0x1000, 0); /* nobody sends this */
	lives(DLT_PIDS_EXIT, PROCESS, 1, 30);
	lives(DLT_PIDS_EXIT, PROCESS + 1, 1, 31);
	alloc_stage.end(&decode, 0);
#define ROW(at, pid, rest) \
	"10000000000" at "\t2026-11-21T01:02:03.0000000" at "Z\t" pid "\t" pid "\tpython\t" rest "\t-\t-\n"
	expect_rows(DLT_alloc,
		    ROW("01", "5000001", "malloc\t0x2000\t5000\t-\t-\t-\t-")
			    ROW("10", "5000000", "c10::alloc_cpu\t0x1000\t6000\t-\t-\t-\t-")
				    ROW("12", "5000000", "libc:posix_memalign\t0x3000\t7000\t-\t-\t-\t-")
					    ROW("13", "5000000", "c10::alloc_cpu\t0\t8000\t-\t-\t-\t-") ROW(
						    "15", "5000000", "c10::free_cpu\t0x1000\t6000\t-\t-\t5\t5000000")
						    ROW("16", "5000000", "c10::free_cpu\t0x1000\t-\t-\t-\t-\t-") ROW(
							    "17", "5000000", "c10::alloc_cpu\t0x1000\t9000\t-\t-\t-\t-")
							    ROW("30", "5000000", "end\t0x1000\t9000\t-\t-\t13\t5000000")
								    ROW("31", "5000001",
									"end\t0x2000\t5000\t-\t-\t30\t5000001"));
#undef ROW
	counted(&n);
	assert_int_equal(n.small_calls, 2);
	assert_int_equal(n.small_bytes, 4105);
	assert_int_equal(n.refused, 1);
	assert_int_equal(n.uncovered, 0);
}

/*
 * Frames are addresses in files of the process, up to the first one that is not in code; of a process that is gone they
 * are what they are. The stack of the allocation stays with the block.
 */
static void calls_that_uprobes_see_have_stacks(void **state)
{
	/* insque(3): a sanitizer has no function of its own for it */
	const uint64_t here = (uintptr_t)&called_from + 1, libc = (uintptr_t)&insque + 1, none[] = { 0x7001, 0x7002 };
	const uint64_t mine[] = { here, libc, (uintptr_t)&page, here };
	const uint32_t me = (uint32_t)getpid();
	autofree char *rows = NULL, *sites = NULL, *exe = NULL;
	char escaped[4 * PATH_MAX + 1];
	struct alloc_counts n;

	called_from(PROCESS, 10, 0x1000, none, 2, 2);
	called(PROCESS, 11, DLT_ALLOC_IN_c10_free_cpu, 0x1000, 0);
	called_from(me, 20, 0x2000, mine, 4, 4);
	called_from(me, 21, 0x3000, mine, 4, 2);
	called_from(me, 22, 0x4000, mine, 0, 0); /* the kernel had none */
	called_from(PROCESS, 30, 0x5000, none, 2, UINT32_MAX); /* more than came: the rest is 0 */
	lives(DLT_PIDS_FORK, PROCESS + 1, me, 31);
	called_from(PROCESS + 1, 32, 0x6000, mine, 4, 4); /* a child that is gone had the same code */
	lives(DLT_PIDS_EXIT, PROCESS, 1, 40);
	alloc_stage.end(&decode, 0);
	rows = rows_of(DLT_alloc);
	sites = rows_of(DLT_sites);
	assert_non_null(strstr(rows, "\tc10::alloc_cpu\t0x1000\t5000\t-\t-\t-\t-\t1\t-\n"));
	assert_non_null(strstr(rows, "\tc10::free_cpu\t0x1000\t5000\t-\t-\t1\t5000000\t1\t-\n"));
	assert_non_null(strstr(sites, "\t5000000\t1\tnative\t-+0x7001;-+0x7002\t-\n"));
	/* two modules, 2 and 3, and one stack: what is behind data is none */
	exe = realpath("/proc/self/exe", NULL);
	*text_put_str(escaped, exe, strlen(exe)) = '\0';
	assert_non_null(strstr(sites, escaped));
	assert_non_null(strstr(sites, "\t2\tmodule\t"));
	assert_non_null(strstr(sites, "\t3\tmodule\t"));
	assert_non_null(strstr(sites, "\t4\tnative\t2+0x"));
	assert_non_null(strstr(rows, "\t0x2000\t5000\t-\t-\t-\t-\t4\t-\n"));
	assert_non_null(strstr(rows, "\t0x3000\t5000\t-\t-\t-\t-\t4\t-\n"));
	assert_non_null(strstr(rows, "\t0x6000\t5000\t-\t-\t-\t-\t4\t-\n"));
	assert_non_null(strstr(rows, "\t0x4000\t5000\t-\t-\t-\t-\t-\t-\n"));
	assert_non_null(strstr(sites, "\t5\tnative\t-+0x7001;-+0x7002;-+0x0;"));
	assert_int_equal(rows_in(sites), 5);
	counted(&n);
	assert_int_equal(n.siteless, 1);
}

/*
 * A thread of this program, whose page alloc_end() finds in its memory. It reads what was written until now, by the
 * clock: here events have the clock's times too, as those of START_NS are to come on a machine that was just started.
 */
static void what_a_thread_has_not_sent_is_read(void **state)
{
	static struct dlt_alloc_page mine;
	struct dlt_alloc *rec;
	const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	autofree char *rows = NULL;

	mine.head = (struct dlt_alloc_head){ .magic = DLT_ALLOC_NS, .id = 77, .seq = 1, .n = 1 };
	mine.v[0] = (struct dlt_alloc_event){ now_ns - 1, 0x1000,
					      (uint64_t)DLT_ALLOC_MALLOC << DLT_ALLOC_OP_SHIFT | 4242, 0, 0 };
	page.head.id = 77;
	record.hdr.ts_ns = now_ns - 10 * NSEC_PER_MSEC; /* rec_begin() goes on from there */
	rec = rec_begin(DLT_alloc);
	*rec = (struct dlt_alloc){ .hdr = rec->hdr,
				   .page = (uintptr_t)&mine,
				   .copy = DLT_ALLOC_BEGUN,
				   .at.head = { .magic = DLT_ALLOC_NS, .id = 77 } };
	rec->hdr.tgid = rec->hdr.tid = (uint32_t)getpid();
	rec->hdr.size = DLT_ALLOC_BYTES(DLT_ALLOC_FEW);
	rec_emit();
	rec = rec_begin(DLT_alloc); /* a page before it, full of frees */
	*rec = (struct dlt_alloc){ .hdr = rec->hdr,
				   .copy = DLT_ALLOC_FULL,
				   .at.head = { .magic = DLT_ALLOC_NS, .id = 77 } };
	rec->hdr.tgid = rec->hdr.tid = (uint32_t)getpid();
	rec->hdr.size = DLT_ALLOC_BYTES(DLT_ALLOC_FEW);
	rec_emit();
	alloc_stage.end(&decode, 0);
	rows = rows_of(DLT_alloc);
	assert_int_equal(rows_in(rows), 2);
	assert_non_null(strstr(rows, "\tmalloc\t0x1000\t4242\t"));
}

/* While a thread is writing an event, rows of later ones wait, but not for ever. */
static void rows_wait_for_an_event_that_is_being_written(void **state)
{
	static struct dlt_alloc_page mine;
	struct alloc_threads t = { .magic = DLT_ALLOC_NS };
	const struct ticks ticks = { .tsc = false };
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct dlt_alloc rec = {
		.hdr = { .ts_ns = now_ns - NSEC_PER_SEC,
			 .tgid = (uint32_t)getpid(),
			 .tid = (uint32_t)getpid(),
			 .size = sizeof(rec) },
		.page = (uintptr_t)&mine,
		.copy = DLT_ALLOC_BEGUN,
		.at.head = { .magic = DLT_ALLOC_NS, .id = 7 },
	};

	mine.head = (struct dlt_alloc_head){ .magic = DLT_ALLOC_NS, .id = 7, .writing = 1 };
	assert_non_null(alloc_threads_take(&t, &rec, UINT64_MAX));
	assert_int_equal(alloc_threads_pull(&t, &ticks, now_ns, 2000), rec.hdr.ts_ns);
	mine.head.writing = 0;
	assert_int_equal(alloc_threads_pull(&t, &ticks, now_ns + 1, 2000), now_ns + 1);
	mine.head.writing = 1;
	rec.hdr.ts_ns = now_ns > 11 * NSEC_PER_SEC ? now_ns - 11 * NSEC_PER_SEC : 0; /* too long */
	assert_non_null(alloc_threads_take(&t, &rec, UINT64_MAX));
	assert_int_equal(alloc_threads_pull(&t, &ticks, now_ns + 2, 2000), now_ns > 11 * NSEC_PER_SEC ? now_ns + 2 : 0);
	alloc_threads_free(&t);
}

/*
 * A thread's page is not there any more: rows of later events wait for its last copy, which is in a ring, or until all
 * records since then have come without it.
 */
static void rows_wait_for_the_last_copy_of_a_thread(void **state)
{
	static struct dlt_alloc_page mine; /* has been given back: no head */
	struct alloc_threads t = { .magic = DLT_ALLOC_NS };
	const struct ticks ticks = { .tsc = false };
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC), heard_ns = now_ns - NSEC_PER_SEC;
	struct dlt_alloc rec = {
		.hdr = { .ts_ns = heard_ns,
			 .tgid = (uint32_t)getpid(),
			 .tid = (uint32_t)getpid(),
			 .size = sizeof(rec) },
		.page = (uintptr_t)&mine,
		.copy = DLT_ALLOC_BEGUN,
		.at.head = { .magic = DLT_ALLOC_NS, .id = 7 },
	};

	assert_non_null(alloc_threads_take(&t, &rec, UINT64_MAX));
	assert_int_equal(alloc_threads_pull(&t, &ticks, now_ns, 2000), heard_ns);
	assert_int_equal(alloc_threads_pull(&t, &ticks, now_ns + 1, 2000),
			 heard_ns); /* records since have not been taken */
	rec.copy = DLT_ALLOC_LAST;
	rec.hdr.ts_ns = now_ns + 2;
	assert_non_null(alloc_threads_take(&t, &rec, UINT64_MAX));
	assert_int_equal(alloc_threads_pull(&t, &ticks, now_ns + 3, 2000), now_ns + 3);

	rec.copy = DLT_ALLOC_BEGUN;
	rec.at.head.id = 8;
	assert_non_null(alloc_threads_take(&t, &rec, UINT64_MAX));
	now_ns += 3;
	assert_int_equal(alloc_threads_pull(&t, &ticks, now_ns, 2000), now_ns - 1);
	now_ns = clock_now_ns(CLOCK_MONOTONIC); /* there is no last copy */
	assert_int_equal(alloc_threads_pull(&t, &ticks, now_ns, 2000), now_ns);
	alloc_threads_free(&t);
}

/* A program may write anything into its page: it is refused, or spoils its own rows. */
static void hostile_pages_are_bounded(void **state)
{
	autofree char *rows = NULL;
	struct alloc_counts n;
	struct dlt_alloc *rec;

	thread_begins(PROCESS, PROCESS, 0);
	event(1, DLT_ALLOC_MALLOC, 0x1000, 5000, 0)->ticks = UINT64_MAX; /* in years: it is not later than the copy */
	event(1, DLT_ALLOC_MALLOC, 0x1000, 6000, UINT32_MAX); /* again, without a free */
	event(1, DLT_ALLOC_SITE, UINT64_MAX, 0, UINT32_MAX); /* many frames, none there */
	event(1, DLT_ALLOC_MODULE, UINT64_MAX, 0, 1);
	event(1, DLT_ALLOC_REALLOC, 0x2000, DLT_ALLOC_SIZE_MAX, 1);
	leaves(PROCESS, PROCESS, 10, DLT_ALLOC_FULL);
	event(2, DLT_ALLOC_SITE, 4, 0, 1)->n = UINT32_MAX; /* reaches beyond the page */
	leaves(PROCESS, PROCESS, 11, DLT_ALLOC_FULL);
	event(2, DLT_ALLOC_OPS, 4, 0, 1);
	leaves(PROCESS, PROCESS, 12, DLT_ALLOC_FULL);
	event(2, DLT_ALLOC_END, 4, 0, 1);
	leaves(PROCESS, PROCESS, 13, DLT_ALLOC_FULL);
	rec = rec_begin(DLT_alloc); /* more events than came */
	rec->hdr.tgid = rec->hdr.tid = PROCESS;
	rec->at.head.magic = DLT_ALLOC_NS;
	rec->at.head.n = UINT64_MAX;
	rec->copy = DLT_ALLOC_FULL;
	rec->hdr.size = DLT_ALLOC_BYTES(DLT_ALLOC_FEW);
	rec_emit();
	lives(DLT_PIDS_FORK, PROCESS, PROCESS, 20); /* its own parent */
	lives(DLT_PIDS_EXIT, PROCESS, 1, 30);
	alloc_stage.end(&decode, 0);
	rows = rows_of(DLT_alloc);
	assert_int_equal(rows_in(rows), 5); /* three, and the ends of two blocks */
	assert_non_null(strstr(rows, "1000000000010\t")); /* not later than its copy */
	counted(&n);
	assert_int_equal(n.refused, 4);
}

/* Children of children whose parents have ended: these stay for their names, but only 32 deep; later ones do not know
 * the stack. */
static void names_are_inherited_from_not_too_many_parents(void **state)
{
	const uint64_t stack[] = { FRAME(0, 0x1234) };
	autofree char *rows = NULL;
	unsigned int known = 0;

	thread_begins(PROCESS, PROCESS, 0);
	define(1, DLT_ALLOC_SITE, 7, 1, stack, sizeof(stack));
	leaves(PROCESS, PROCESS, 2, DLT_ALLOC_LAST);
	for (uint32_t i = 1; i <= 40; i++) {
		lives(DLT_PIDS_FORK, PROCESS + i, PROCESS + i - 1, 10 * i);
		lives(DLT_PIDS_EXIT, PROCESS + i - 1, 1, 10 * i + 1);
		thread_begins(PROCESS + i, PROCESS + i, 10 * i + 2);
		event(10 * i + 3, DLT_ALLOC_MALLOC, 0x1000, 5000, 7);
		leaves(PROCESS + i, PROCESS + i, 10 * i + 4, DLT_ALLOC_LAST);
	}
	lives(DLT_PIDS_EXIT, PROCESS + 40, 1, 1000);
	alloc_stage.end(&decode, 0);
	rows = rows_of(DLT_alloc);
	assert_int_equal(rows_in(rows), 80);
	for (char *row = rows, *line; (line = strsep(&row, "\n")) && *line;)
		known += strlen(line) > 4 && !strcmp(line + strlen(line) - 4, "\t1\t-");
	assert_int_equal(known, 64); /* of 32 children, when they allocate and when they end */
}

/* Against a list that is searched from end to end. */
static void blocks_are_found_after_others_are_taken(void **state)
{
	struct alloc_blocks t = { 0 };
	static struct alloc_block list[2000];
	size_t n = 0;
	uint64_t x = 1;

	for (int i = 0; i < 200000; i++) {
		struct alloc_block b = { 0 };
		size_t at;

		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		b.addr = ((x >> 40) % 3000 + 1) * 16;
		b.size = (uint64_t)i;
		for (at = 0; at < n && list[at].addr != b.addr; at++)
			;
		if (x >> 63 && n < 1990) {
			assert_true(alloc_blocks_put(&t, &b));
			list[at] = b;
			n += at == n;
		} else {
			struct alloc_block got;

			assert_int_equal(alloc_blocks_take(&t, b.addr, &got), at < n);
			if (at < n) {
				assert_int_equal(got.size, list[at].size);
				list[at] = list[--n];
			}
		}
		assert_int_equal(t.n, n);
	}
	alloc_blocks_free(&t);
}

/* 3 ticks a ns at first, then 2: both ways, and beyond both ends. */
static void ticks_are_straight_between_measurements(void **state)
{
	struct ticks t = { .tsc = true, .n = 3, .pair = { { 3000, 1000 }, { 6000, 2000 }, { 8000, 3000 } } };

	assert_int_equal(ticks_to_ns(&t, 4500), 1500);
	assert_int_equal(ticks_to_ns(&t, 7000), 2500);
	assert_int_equal(ticks_to_ns(&t, 9000), 3500);
	assert_int_equal(ticks_to_ns(&t, 2700), 900);
	assert_int_equal(ticks_of_ns(&t, 1500), 4500);
	assert_int_equal(ticks_of_ns(&t, 2500), 7000);
	assert_int_equal(ticks_of_ns(&t, 3500), 9000);
	t.n = TICKS_PAIRS + 2; /* the oldest has been overwritten */
	for (unsigned int i = 2; i < TICKS_PAIRS + 2; i++) {
		t.pair[i % TICKS_PAIRS].ticks = 10000 + 10 * i;
		t.pair[i % TICKS_PAIRS].ns = 5000 + 5 * i;
	}
	assert_int_equal(ticks_to_ns(&t, 10000 + 34), 5017);
	assert_int_equal(ticks_of_ns(&t, 5000 + 5 * (TICKS_PAIRS + 1)), 10000 + 10 * (TICKS_PAIRS + 1));
	/* no time changes on the way to ticks and back, however far it is from where they were measured */
	t = (struct ticks){ .tsc = true,
			    .n = 2,
			    .pair = { { 200000000000000, 74000000000000 }, { 200000000002597, 74000000001003 } } };
	for (uint64_t ns = START_NS; ns < START_NS + 1000; ns++)
		assert_int_equal(ticks_to_ns(&t, ticks_of_ns(&t, ns)), ns);
	t.tsc = false;
	assert_int_equal(ticks_to_ns(&t, 42), 42);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_event_has_a_row_with_its_block),
		TEST(stacks_of_python_are_lines),
		TEST(a_page_that_is_copied_twice_counts_once),
		TEST(a_thread_is_known_by_whatever_comes_first),
		TEST(calls_that_uprobes_see_are_rows),
		TEST(calls_that_uprobes_see_have_stacks),
		TEST(what_a_thread_has_not_sent_is_read),
		TEST(hostile_pages_are_bounded),
		cmocka_unit_test(rows_wait_for_an_event_that_is_being_written),
		cmocka_unit_test(rows_wait_for_the_last_copy_of_a_thread),
		TEST(names_are_inherited_from_not_too_many_parents),
		cmocka_unit_test(blocks_are_found_after_others_are_taken),
		cmocka_unit_test(ticks_are_straight_between_measurements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
