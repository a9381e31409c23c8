/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/access.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "drain/memory/access_blocks.h"
#include "drain/memory/access_counts.h"
#include "drain/memory/access_pages.h"
#include "drain/memory/access_runs.h"
#include "drain/memory/alloc_blocks.h"
#include "drain/rows/decode.h"
#include "drain/rows/stage.h"
#include "kernel/tracer.h"
#include "trace/config.h"

#define FAULTS_MAX 65536 /* more of them end an interval early */

struct fault {
	uint64_t ts_ns, addr;
	int64_t ip;
	uint32_t tgid, tid;
	uint32_t kind, flags;
	uint32_t site; /* of the watched block that it was in; 0: none, as far as is known */
	uint32_t pad;
};

struct access {
	uint64_t interval_ns, block_bytes, page_bytes;
	enum dlt_access_source source;
	const struct dlt_watch *watch;
	bool of_blocks; /* watched blocks: an access waits until it is known whether its block was in use then */
	struct access_blocks blocks;
	struct access_source *breakpoints; /* that are moved to them; NULL: none */
	uint64_t unwatched; /* blocks for which there was no breakpoint, or not on each CPU; relaxed */
	uint64_t begin_ns; /* of the interval; 0: there has been none yet */
	unsigned int n;
	struct fault faults[FAULTS_MAX]; /* in the order of time */
};

static struct access *access_of(const struct decode *d)
{
	return d->state[DLT_access];
}

static void emit(void *ctx, struct access_row *row)
{
	decode_row(ctx, DLT_access, &row->hdr);
}

/* By process, address and site. */
static int compare(const void *x, const void *y)
{
	const struct fault *a = x, *b = y;

	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}

static struct access_runs runs_of(const struct access *a, struct decode *d, uint64_t end_ns)
{
	const struct dlt_hdr hdr = {
		.ts_ns = end_ns,
		.lat_ns = end_ns - a->begin_ns,
		.probe = DLT_access,
		.size = sizeof(struct access_row),
	};

	return (struct access_runs){
		.block_bytes = a->block_bytes,
		.page_bytes = a->page_bytes,
		.emit = emit,
		.ctx = d,
		.row = { .hdr = hdr, .source = a->source, .node = DLT_NONE, .offset = DLT_NONE, .site = DLT_NONE },
	};
}

static int64_t written(const struct fault *f, uint64_t bytes)
{
	if (f->flags & DLT_ACCESS_NO_WRITE)
		return DLT_NONE;
	return f->flags & DLT_ACCESS_WRITE ? (int64_t)bytes : 0;
}

/* The faults from I on that are of one page of one process, as one. Returns how many they are. */
static unsigned int page_of(const struct access *access, unsigned int i, struct access_touch *ret)
{
	const struct fault *fault = &access->faults[i];
	const uint64_t page = fault->addr & ~(access->page_bytes - 1);
	unsigned int n;

	*ret = (struct access_touch){
		.addr = page,
		.bytes = access->page_bytes,
		.written = written(fault, access->page_bytes),
		.huge = DLT_NONE,
		.node = DLT_NONE,
		.tid = fault->tid,
		.ip = fault->ip,
		.at = fault->addr,
		.kind = fault->kind,
	};
	for (n = 1;
	     i + n < access->n && fault[n].tgid == fault->tgid && (fault[n].addr & ~(access->page_bytes - 1)) == page;
	     n++)
		if (fault[n].flags & DLT_ACCESS_WRITE)
			ret->written = (int64_t)access->page_bytes;
	ret->count = n;
	return n;
}

static uint64_t watched_bytes(const struct access *a, uint64_t addr)
{
	unsigned int w = 0;

	while (w + 1 < DLT_WATCHES && a->watch[w].addr != addr)
		w++;
	return a->watch[w].len;
}

/*
 * The accesses from I on that are of one watched address, or samples of one block, in one process are a row; but none
 * that were in no watched block. Returns how many they are. A sample does not show how many bytes were accessed.
 */
static unsigned int accesses_row(const struct access *access, struct decode *decode, unsigned int i,
				 struct access_row row)
{
	const bool watch = access->source == DLT_ACCESS_WATCH;
	const uint64_t within = watch ? 0 : access->block_bytes - 1;
	const struct fault *fault = &access->faults[i];
	unsigned int n = 1;

	while (i + n < access->n && fault[n].tgid == fault->tgid &&
	       (fault[n].addr | within) == (fault->addr | within) && fault[n].site == fault->site)
		n++;
	if (access->of_blocks && !fault->site)
		return n;
	row.hdr.tgid = fault->tgid;
	row.addr = n == 1 ? fault->addr : fault->addr & ~within;
	if (watch)
		row.bytes = watched_bytes(access, fault->addr);
	else if (n == 1)
		row.bytes = access->page_bytes;
	else
		row.bytes = access->block_bytes;
	row.touched = watch ? (int64_t)row.bytes : DLT_NONE;
	row.written = row.huge = DLT_NONE;
	row.count = n;
	row.kind = fault->kind;
	row.tid = n == 1 ? fault->tid : DLT_NONE;
	row.ip = n == 1 ? fault->ip : DLT_NONE;
	row.site = fault->site ? (int64_t)fault->site : DLT_NONE;
	decode_row(decode, DLT_access, &row.hdr);
	return n;
}

/* Adds the page of the fault I, after those of the same process. Returns how many faults it has had. */
static unsigned int add_page(const struct access *a, unsigned int i, struct access_runs *runs)
{
	struct access_touch page;
	unsigned int n = page_of(a, i, &page);

	if (runs->row.hdr.tgid != a->faults[i].tgid)
		access_runs_end(runs);
	runs->row.hdr.tgid = a->faults[i].tgid;
	access_runs_add(runs, &page);
	return n;
}

/* The interval ends at END_NS with the first N, and the next one begins. */
static void flush_first(struct access *access, struct decode *decode, unsigned int n, uint64_t end_ns)
{
	struct access_runs runs = runs_of(access, decode, end_ns);
	const unsigned int more = access->n - n;

	access->n = n;
	qsort(access->faults, access->n, sizeof(access->faults[0]), compare);
	for (unsigned int i = 0; i < access->n;)
		i += access->source == DLT_ACCESS_FAULTS ? add_page(access, i, &runs) :
							   accesses_row(access, decode, i, runs.row);
	access_runs_end(&runs);
	memmove(access->faults, access->faults + n, more * sizeof(access->faults[0]));
	access->n = more;
	access->begin_ns = end_ns;
}

static void flush(struct access *a, struct decode *d, uint64_t end_ns)
{
	flush_first(a, d, a->n, end_ns);
}

/* The interval is over by NOW_NS: its rows, and the next interval, which NOW_NS is in. */
static void advance(struct access *a, struct decode *d, uint64_t now_ns)
{
	if (a->interval_ns && now_ns < a->begin_ns + a->interval_ns)
		return;
	if (a->n)
		flush(a, d, a->begin_ns + a->interval_ns);
	a->begin_ns = a->interval_ns ? now_ns - (now_ns - a->begin_ns) % a->interval_ns : now_ns;
}

/* --- watched blocks --------------------------------------------------------------------------------------- */

static unsigned int n_before(const struct access *access, uint64_t ns)
{
	unsigned int from = 0, to = access->n;

	while (from < to) {
		const unsigned int middle = from + (to - from) / 2;

		if (access->faults[middle].ts_ns < ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* What has accessed block B until END_NS is its. A line may allocate and free all the time: so nothing else is looked
 * at. */
static void settle(struct access *a, const struct access_block *b, uint64_t end_ns)
{
	for (unsigned int i = n_before(a, b->begin_ns); i < a->n && a->faults[i].ts_ns <= end_ns; i++)
		if (a->faults[i].addr == b->addr && a->faults[i].tgid == b->tgid)
			a->faults[i].site = b->site;
}

/* Each by itself. */
static void rows_alone(struct access *access, struct decode *decode, unsigned int n)
{
	const unsigned int all = access->n;

	for (unsigned int i = 0; i < n; i++) {
		access->n = i + 1;
		access->begin_ns = access->faults[i].ts_ns;
		accesses_row(access, decode, i, runs_of(access, decode, access->begin_ns).row);
	}
	access->n = all - n;
	memmove(access->faults, access->faults + n, access->n * sizeof(access->faults[0]));
}

/* Rows of the intervals that have ended by UNTIL_NS. */
static void put_until(struct access *access, struct decode *decode, uint64_t until_ns)
{
	if (!access->interval_ns)
		rows_alone(access, decode, n_before(access, until_ns + 1));
	for (uint64_t end_ns; access->n && access->interval_ns;
	     flush_first(access, decode, n_before(access, end_ns), end_ns)) {
		/* from the one of the first access on */
		access->begin_ns += (MAX(access->faults[0].ts_ns, access->begin_ns) - access->begin_ns) /
				    access->interval_ns * access->interval_ns;
		end_ns = access->begin_ns + access->interval_ns;
		if (end_ns > until_ns)
			return;
	}
}

void access_block_begins(struct decode *d, uint32_t tgid, const struct alloc_block *block)
{
	struct access *a = access_of(d);

	if (a && a->of_blocks && !access_blocks_put(&a->blocks, tgid, block))
		util_count(&a->unwatched, 1);
}

void access_block_ends(struct decode *d, uint32_t tgid, uint64_t addr, uint64_t end_ns)
{
	struct access *a = access_of(d);
	struct access_block b;

	if (a && a->of_blocks && access_blocks_take(&a->blocks, tgid, addr, &b))
		settle(a, &b, end_ns);
}

void access_blocks_known(struct decode *decode, uint64_t until_ns)
{
	struct access *a = access_of(decode);

	if (!a || !a->of_blocks)
		return;
	for (unsigned int i = 0; i < DLT_WATCHES; i++)
		if (a->blocks.v[i].addr)
			settle(a, &a->blocks.v[i], until_ns);
	put_until(a, decode, until_ns);
	if (a->breakpoints)
		util_count(&a->unwatched, access_blocks_move(&a->blocks, a->breakpoints));
}

/* --- records ------------------------------------------------------------------------------------------------ */

/* Found by another thread some time ago, and in order among its like. */
static void take_run(struct decode *decode, const struct dlt_access_run *run)
{
	const bool writes = run->source == DLT_ACCESS_WRITES;
	struct access_row row = {
		.hdr = run->hdr,
		.id = run->id,
		.source = run->source,
		.kind = run->kind,
		.addr = run->addr,
		.bytes = run->bytes,
		.touched = run->touched,
		.written = writes ? (int64_t)run->touched : DLT_NONE,
		.count = DLT_NONE,
		.huge = run->huge,
		.node = run->node < 0 ? DLT_NONE : run->node,
		.tid = DLT_NONE,
		.ip = DLT_NONE,
		.offset = run->offset,
		.site = DLT_NONE,
	};

	row.hdr.ts_ns = run->at_ns;
	row.hdr.lat_ns = run->span_ns;
	row.hdr.size = sizeof(row);
	decode_file_used(decode, &row.hdr, &row.id);
	decode_row(decode, DLT_access, &row.hdr);
}

/* Behind those before it: few records come late. */
static void put_fault(struct access *a, const struct dlt_access *rec)
{
	unsigned int i = a->n++;

	for (; i && a->faults[i - 1].ts_ns > rec->hdr.ts_ns; i--)
		a->faults[i] = a->faults[i - 1];
	a->faults[i] = (struct fault){ rec->hdr.ts_ns, rec->addr, rec->ip, rec->hdr.tgid, rec->hdr.tid, rec->kind,
				       rec->flags,     0,         0 };
}

void access_take(struct decode *decode, const struct dlt_access *rec)
{
	struct access *access = access_of(decode);

	if (rec->hdr.func == DLT_ACCESS_RUN && rec->hdr.size >= sizeof(struct dlt_access_run))
		take_run(decode, (const struct dlt_access_run *)rec);
	if (!access || rec->hdr.func != DLT_ACCESS_FAULT)
		return;
	if (!access->begin_ns)
		access->begin_ns = rec->hdr.ts_ns;
	if (!access->of_blocks)
		advance(access, decode, rec->hdr.ts_ns);
	put_fault(access, rec);
	if (access->n == FAULTS_MAX && access->of_blocks) /* what is in use is taken for in use until now */
		access_blocks_known(decode, rec->hdr.ts_ns);
	if (access->n == FAULTS_MAX || (!access->interval_ns && !access->of_blocks))
		flush(access, decode, rec->hdr.ts_ns);
}

/* The access probe's and our own. */
static void count(const struct decode *d, const struct tracer *tracer, struct counts *counts)
{
	const struct access_source *source = tracer->objects[DLT_access].state;
	const struct access *a = access_of(d);
	struct access_counts *ret = counts_of(counts, DLT_access);

	ret->unwatched = a ? util_counted(&a->unwatched) : 0;
	if (!source)
		return;
	if (source->pages)
		access_pages_count(source->pages, ret);
	for (unsigned int i = 0; i < source->n_events; i++)
		ret->sampled[i] = source->event[i].name;
	ret->losses = source->losses;
	ret->addressless = source->addressless ? __atomic_load_n(source->addressless, __ATOMIC_RELAXED) : 0;
}

/* --- the stage ---------------------------------------------------------------------------------------------- */

/* The interval's rows, if it has ended. */
static void tick(struct decode *d, uint64_t now_ns, uint64_t reached_ns)
{
	struct access *a = access_of(d);

	if (!a->of_blocks && a->n && reached_ns > a->begin_ns)
		advance(a, d, reached_ns);
}

static void end(struct decode *d, uint64_t end_ns)
{
	struct access *a = access_of(d);

	access_blocks_known(d, end_ns);
	if (a->n)
		flush(a, d, MAX(MIN(a->begin_ns + a->interval_ns, end_ns), a->begin_ns));
}

/* Of single accesses: page tables have none, as with auto, but for faults instead. */
static const enum dlt_access_source sources[ACCESS_N] = {
	[ACCESS_AUTO] = DLT_ACCESS_FAULTS,
	[ACCESS_FAULTS] = DLT_ACCESS_FAULTS,
	[ACCESS_PMU] = DLT_ACCESS_PMU,
	[ACCESS_WATCH] = DLT_ACCESS_WATCH,
};

static int access_open(struct decode *d)
{
	const struct config *cfg = d->cfg;
	struct access *access = d->state[DLT_access] = calloc(1, sizeof(*access));

	if (!access)
		return -ENOMEM;
	access->interval_ns = cfg->access_interval_ns;
	access->source = sources[cfg->access];
	access->watch = cfg->access_watch;
	access->of_blocks = access->source == DLT_ACCESS_WATCH && *cfg->access_site;
	access->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	access->block_bytes = MAX(cfg->access_block_bytes, access->page_bytes);
	return 0;
}

static void begin(struct decode *d, struct tracer *tracer, uint64_t now_ns)
{
	struct access_source *source = tracer->objects[DLT_access].state;
	int r = source && source->pages ? access_pages_begin(source->pages, d->cfg, tracer) : 0;

	access_of(d)->breakpoints = source;
	if (r < 0)
		log_err_r(r, "access.out stays empty");
}

const struct drain_stage access_stage = {
	.probe = DLT_access,
	.open = access_open,
	.begin = begin,
	.tick = tick,
	.end = end,
	.count = count,
	.manifest = access_manifest,
};
