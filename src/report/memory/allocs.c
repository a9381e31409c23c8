/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/memory/allocs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/memory/stacks.h"
#include "report/scan/part.h"
#include "stats/timeline.h"
#include "stats/top.h"

static int part_new(struct report *r, const struct report_options *o)
{
	struct report_allocs *a = r->allocs = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	table_init(&a->sites, sizeof(struct report_alloc_sum), ALLOCS_SITES_MAX);
	table_init_pids(&a->processes, sizeof(struct report_alloc_sum), ALLOCS_PROCESSES_MAX);
	return 0; /* room for spans is made with the first row */
}

static void part_free(struct report *r)
{
	struct report_allocs *allocs = r->allocs;

	if (!allocs)
		return;
	for (unsigned int o = 0; o < ALLOC_ORDERS; o++)
		for (unsigned int i = 0; i < allocs->by_site[o].n; i++)
			free(allocs->by_site[o].row[i].stack);
	table_free(&allocs->sites);
	table_free(&allocs->processes);
	free(allocs->span);
	free(allocs);
}

/* --- by time ---------------------------------------------------------------------------------------- */

/* Makes one of each two, which are full. */
static void spans_halve(struct report_allocs *allocs)
{
	for (uint32_t i = 0; i < ALLOCS_SPANS_MAX / 2; i++) {
		const struct report_alloc_span *first = &allocs->span[2UL * i], *second = first + 1;

		allocs->span[i] = (struct report_alloc_span){
			.begin_ns = first->begin_ns,
			.end_ns = second->end_ns,
			.most = MAX(first->most, second->most),
			.last = second->last,
			.blocks = first->blocks + second->blocks,
			.bytes = first->bytes + second->bytes,
		};
	}
	allocs->n_spans = ALLOCS_SPANS_MAX / 2;
	allocs->span_rows *= 2;
}

/* A row at AT_NS has changed the sums, which were OLD. */
static void span_add(struct report_allocs *allocs, uint64_t at_ns, const struct report_alloc_sum *old)
{
	const int64_t now = allocs->all.level.now;
	struct report_alloc_span *span;

	if (!allocs->span) {
		allocs->span = calloc(ALLOCS_SPANS_MAX, sizeof(*allocs->span));
		allocs->span_rows = 1;
	}
	if (!allocs->span)
		return;
	if (allocs->rows++ % allocs->span_rows == 0) {
		if (allocs->n_spans == ALLOCS_SPANS_MAX)
			spans_halve(allocs);
		allocs->span[allocs->n_spans++] = (struct report_alloc_span){ .begin_ns = at_ns, .most = now };
	}
	span = &allocs->span[allocs->n_spans - 1];
	span->end_ns = at_ns;
	span->most = MAX(span->most, now);
	span->last = now;
	span->blocks += allocs->all.blocks - old->blocks;
	span->bytes += allocs->all.bytes - old->bytes;
}

void report_allocs_within(const struct report_allocs *allocs, uint64_t begin_ns, uint64_t end_ns,
			  struct report_alloc_span *sum)
{
	uint32_t i = 0;

	for (sum->most = 0; i < allocs->n_spans && allocs->span[i].end_ns < begin_ns; i++)
		sum->most = allocs->span[i].last; /* in use when it begins */
	for (sum->last = sum->most; i < allocs->n_spans && allocs->span[i].end_ns < end_ns; i++) {
		sum->most = MAX(sum->most, allocs->span[i].most);
		sum->last = allocs->span[i].last;
		sum->blocks += allocs->span[i].blocks;
		sum->bytes += allocs->span[i].bytes;
	}
}

/* --- rows ------------------------------------------------------------------------------------------- */

/* A block that a row begins or ends. */
struct block {
	uint64_t bytes, site;
	bool begins;
	bool left; /* it was never freed */
	bool brief; /* it was short-lived */
	bool cross; /* another thread had allocated it */
	bool before; /* it was allocated before the first row */
};

/* A damaged trace must not overflow. */
static int64_t plus(int64_t a, uint64_t b)
{
	return (int64_t)((uint64_t)a + b);
}

/* PEAK_NR: how often all together had more than ever before. What was in use then is known at the next change. */
static void level_add(struct alloc_level *l, uint64_t bytes, uint64_t peak_nr)
{
	if (l->peak_nr != peak_nr) {
		l->at_peak = l->now;
		l->peak_nr = peak_nr;
	}
	l->now = plus(l->now, bytes);
	l->peak = MAX(l->peak, l->now);
}

static void sum_add(struct report_alloc_sum *sum, const struct block *block, uint64_t peak_nr)
{
	level_add(&sum->level, block->begins ? block->bytes : -block->bytes, peak_nr);
	sum->blocks += block->begins;
	sum->bytes += block->begins ? block->bytes : 0;
	if (block->begins)
		return;
	sum->frees += !block->left;
	sum->left_blocks += block->left;
	sum->left_bytes += block->left ? block->bytes : 0;
	sum->short_blocks += block->brief;
	sum->short_bytes += block->brief ? block->bytes : 0;
	sum->cross_frees += block->cross;
	sum->level.before += block->before ? block->bytes : 0;
}

/* PROCESS NULL: it has no room. */
static void block_add(struct report_allocs *allocs, struct report_alloc_sum *process, const struct block *block)
{
	const uint64_t peak_nr = allocs->all.level.peak_nr;
	struct report_alloc_sum *site = table_get(&allocs->sites, block->site);

	allocs->blocks_now += block->begins ? 1 : UINT64_MAX;
	allocs->blocks_before += block->before;
	sum_add(&allocs->all, block, peak_nr);
	if (process)
		sum_add(process, block, peak_nr);
	if (site)
		sum_add(site, block, peak_nr);
	allocs->site_left_out += !site;
	allocs->process_left_out += !process;
}

/* A row begins a block of SIZE. Returns false when it is damaged. */
static bool begin(struct report_allocs *allocs, const struct scan *scan, struct report_alloc_sum *process)
{
	struct block b = { .begins = true };

	if (reader_is(scan_field(scan, COL_ADDR), "0")) {
		allocs->all.failed++;
		if (process)
			process->failed++;
		return true;
	}
	if (!scan_u64(scan, COL_SIZE, &b.bytes)) /* it is below the threshold now */
		return true;
	if (b.bytes > ALLOCS_BLOCK_BYTES_MAX)
		return false;
	b.site = scan_number(scan, COL_SITE);
	block_add(allocs, process, &b);
	return true;
}

/* A row ends a block, whose size and stack are in SIZE and SITE; LEFT: which was never freed. */
static bool end(struct report_allocs *allocs, const struct scan *scan, struct report_alloc_sum *process,
		enum column size, enum column site, bool left)
{
	const uint64_t life_ns = scan_number(scan, COL_LIFE_NS);
	struct block b = { .left = left, .site = scan_number(scan, site) };
	uint64_t tid;

	if (!scan_u64(scan, size, &b.bytes)) {
		allocs->unknown_frees++;
		return true;
	}
	if (b.bytes > ALLOCS_BLOCK_BYTES_MAX || life_ns > scan->time_ns)
		return false;
	b.brief = !left && life_ns < ALLOCS_SHORT_NS;
	b.cross = !left && scan_u64(scan, COL_ALLOC_TID, &tid) && tid != scan_number(scan, COL_TID);
	b.before = scan->time_ns - life_ns < allocs->first_ns;
	block_add(allocs, process, &b);
	return true;
}

/* The bytes in use have changed: for the timeline, and if there have never been more, for the peak. */
static void changed(struct report *report, const struct scan *scan)
{
	struct alloc_level *level = &report->allocs->all.level;
	struct timeline *timeline = report->timeline;

	if (timeline && timeline_has(timeline, scan->time_ns))
		timeline_in_use(timeline, scan->time_ns, level->now);
	if (level->peak == level->at_peak)
		return;
	level->at_peak = level->peak;
	level->peak_nr++;
	report->alloc.n.peak_blocks = report->allocs->blocks_now;
	report->alloc.peak_ns = scan->time_ns;
	report_copy(report->alloc.peak_time, sizeof(report->alloc.peak_time), scan_field(scan, COL_TIME));
}

bool report_alloc_frees(struct reader_field func)
{
	return reader_is(func, "free") || reader_is(func, "c10::free_cpu");
}

bool report_alloc_is_unpaired(struct reader_field func)
{
	static const char prefix[] = "libc:";

	return func.len > strlen(prefix) && !memcmp(func.p, prefix, strlen(prefix));
}

static bool take(struct scan *scan, void *own)
{
	struct report *report = own;
	struct report_allocs *allocs = report->allocs;
	const struct reader_field func = scan_field(scan, COL_FUNC);
	const bool left = reader_is(func, "end");
	const struct report_alloc_sum before = allocs->all;
	struct report_alloc_sum *process;
	bool good = true;
	uint64_t pid;

	if (!scan_u64(scan, COL_PID, &pid))
		return false;
	if (report_alloc_is_unpaired(func)) {
		allocs->unpaired++;
		return true;
	}
	allocs->first_ns = allocs->first_ns ? allocs->first_ns : scan->time_ns;
	process = table_get(&allocs->processes, pid);
	if (left || report_alloc_frees(func)) {
		good = end(allocs, scan, process, COL_SIZE, COL_SITE, left);
	} else {
		if (!reader_is(scan_field(scan, COL_LIFE_NS), "-"))
			good = end(allocs, scan, process, COL_OLD_SIZE, COL_OLD_SITE, false);
		good &= begin(allocs, scan, process);
	}
	changed(report, scan);
	span_add(allocs, scan->time_ns, &before);
	return good;
}

/* --- what is missing -------------------------------------------------------------------------------------- */

static void note(struct report *r, uint64_t n, const char *one, const char *others, const char *text)
{
	if (n)
		report_note(r, "alloc: %s %s", FMT_N(n, one, others), text);
}

static void note_missing(struct report *report)
{
	const struct report_allocs *allocs = report->allocs;
	const struct manifest_alloc *alloc = &report->manifest.alloc;

	note(report, alloc->uncovered_processes, "process", "processes",
	     "ran without the library: the allocations are not in the trace");
	note(report, alloc->unread_threads, "thread was", "threads were",
	     "killed, and up to 126 of the last events of each are missing");
	note(report, alloc->refused_pages, "page of events is missing, as it was",
	     "pages of events are missing, as they were", "spoiled by a program");
	note(report, alloc->skipped, "event in a signal handler is", "events in signal handlers are", "missing");
	note(report, alloc->unkept_blocks, "block counts", "blocks count",
	     "as in use until the end: there was no room while tracing");
	note(report, alloc->siteless, "event is", "events are", "without a stack, as a process has too many");
	note(report, allocs->unpaired, "block of libc is", "blocks of libc are",
	     "in no sum: the processes ran before the trace, so no free is recorded");
	note(report, allocs->site_left_out, "block is", "blocks are", "in the sum of no stack: there are too many");
	note(report, allocs->process_left_out, "block is", "blocks are",
	     "in the sum of no process: there are too many");
}

static void part_read(struct report *report)
{
	struct scan_taker taker = { .take = take, .own = report };
	const struct notes notes = report_notes(report);
	struct scan_file *f = scan_walk(report->folder, "alloc", &taker);

	scan_note_error(f, &notes);
	report->alloc.present = f->error == 0;
	if (!report->alloc.present)
		return;
	scan_note_header(f, taker.bad_rows, &notes);
	note_missing(report);
}

/* --- tables ----------------------------------------------------------------------------------------------- */

static uint64_t key_of(const struct report_alloc_sum *s, enum alloc_order order)
{
	switch (order) {
	case ALLOCS_BY_PEAK:
		return report_alloc_level(s, s->level.at_peak);
	case ALLOCS_BY_BYTES:
		return s->bytes;
	case ALLOCS_BY_SHORT:
		return s->short_bytes;
	case ALLOCS_BY_LEFT:
		return s->left_bytes;
	case ALLOCS_BY_OWN_PEAK:
		break;
	}
	return report_alloc_level(s, s->level.peak);
}

/* Subtracts SUM from REST, whose own peak is not known. */
static void take_away(struct report_alloc_sum *rest, const struct report_alloc_sum *sum)
{
	rest->blocks -= sum->blocks;
	rest->bytes -= sum->bytes;
	rest->short_blocks -= sum->short_blocks;
	rest->short_bytes -= sum->short_bytes;
	rest->left_blocks -= sum->left_blocks;
	rest->left_bytes -= sum->left_bytes;
	rest->frees -= sum->frees;
	rest->cross_frees -= sum->cross_frees;
	rest->failed -= sum->failed;
	rest->level.before -= sum->level.before;
	rest->level.at_peak = plus(rest->level.at_peak, -(uint64_t)sum->level.at_peak);
}

/* Puts the rows of TABLE with the most, and all others as one. */
static void pick(struct report_alloc_rows *rows, const struct table *table, const struct report_alloc_sum *all,
		 enum alloc_order order)
{
	struct report_alloc_row rest = { .others = true, .sum = *all }, *at;

	for (uint32_t i = 0; i < table->n; i++) {
		const struct report_alloc_sum *sum = table_at(table, i);
		const uint64_t key = key_of(sum, order);

		at = key ? TOP_PLACE(rows->row, rows->n, ALLOCS_SHOWN, e, key_of(&e->sum, order), key) : NULL;
		if (at)
			*at = (struct report_alloc_row){ .id = table_key_at(table, i), .sum = *sum };
	}
	for (unsigned int i = 0; i < rows->n; i++)
		take_away(&rest.sum, &rows->row[i].sum);
	if (key_of(&rest.sum, order == ALLOCS_BY_OWN_PEAK ? ALLOCS_BY_BYTES : order))
		rows->row[rows->n++] = rest;
}

/* What was in use at the peak of all, where nothing has changed since. */
static void settle(const struct table *t, uint64_t peak_nr)
{
	for (uint32_t i = 0; i < t->n; i++)
		level_add(&((struct report_alloc_sum *)table_at(t, i))->level, 0, peak_nr);
}

static void read_stacks(struct report *report)
{
	struct stack_place places[ALLOC_ORDERS * (ALLOCS_SHOWN + 1)];
	unsigned int n = 0;

	for (unsigned int o = 0; o < ALLOC_ORDERS; o++)
		for (unsigned int i = 0; i < report->allocs->by_site[o].n; i++) {
			struct report_alloc_row *row = &report->allocs->by_site[o].row[i];

			places[n++] = (struct stack_place){ row->id, &row->stack };
		}
	stacks_read_apart(report->folder, places, n);
}

static void sum_up(struct report *report)
{
	const struct report_allocs *allocs = report->allocs;
	const struct report_alloc_sum *all = &allocs->all;
	const struct manifest_alloc *alloc = &report->manifest.alloc;
	const struct phase *phase = report->phases ? phases_at(report->phases, report->alloc.peak_ns) : NULL;

	report->alloc.n = (struct report_alloc_counts){
		.peak_bytes = report_alloc_level(all, all->level.peak),
		.peak_blocks = report->alloc.n.peak_blocks + allocs->blocks_before,
		.blocks = all->blocks,
		.bytes = all->bytes,
		.short_blocks = all->short_blocks,
		.short_bytes = all->short_bytes,
		.left_blocks = all->left_blocks,
		.left_bytes = all->left_bytes,
		.frees = all->frees,
		.cross_frees = all->cross_frees,
		.unknown_frees = allocs->unknown_frees,
		.failed = all->failed,
		.small_calls = alloc->small_calls,
		.small_bytes = alloc->small_bytes,
	};
	report->alloc.min_bytes = alloc->min_bytes;
	if (phase)
		phases_label(report->phases, phase, report->alloc.peak_phase);
}

static void part_end(struct report *report)
{
	struct report_allocs *allocs = report->allocs;

	if (!report->alloc.present)
		return;
	sum_up(report);
	settle(&allocs->sites, allocs->all.level.peak_nr);
	settle(&allocs->processes, allocs->all.level.peak_nr);
	for (enum alloc_order o = 0; o < ALLOC_ORDERS; o++)
		pick(&allocs->by_site[o], &allocs->sites, &allocs->all, o);
	pick(&allocs->by_process, &allocs->processes, &allocs->all, ALLOCS_BY_OWN_PEAK);
	read_stacks(report);
}

const struct report_part report_allocs_part = {
	.new = part_new,
	.read = part_read,
	.end = part_end,
	.free = part_free,
};
