/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of the memory that programs allocated, in all, by phase, by stack and by process, of a struct report. */
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/memory/accesses.h"
#include "report/memory/allocs.h"
#include "report/phases/phases.h"
#include "report/show/tables/tables.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)

#define STACK_SHOWN 100U /* columns of a terminal */

/* --- in all ------------------------------------------------------------------------------------------------- */

VIEW_ROWS_OF(all, struct report, r, void, parent)
{
	if (r->alloc.present)
		view_add(rows, &r->alloc);
}

GET(all_short_share, struct report_alloc, a)
{
	view_share(cell, a->n.short_bytes, a->n.bytes);
}

#define ALL(member) VIEW_AT(struct report_alloc, member)
#define SHORT_WHAT "freed within 10 ms"
_Static_assert(ALLOCS_SHORT_NS == 10 * NSEC_PER_MSEC, "SHORT_WHAT says so");
#define LEFT_WHAT "in use when their process ended or executed another program, or when the trace ended"

static const struct view_column all_columns[] = {
	{ "peak_bytes", "IN USE AT MOST", VIEW_BYTES, 9, 0, ALL(n.peak_bytes),
	  .what = "of several hosts: the sum of their peaks" },
	{ "peak_blocks", NULL, VIEW_COUNT, 9, 0, ALL(n.peak_blocks) },
	{ "peak_ns", NULL, VIEW_NS, 0, 0, ALL(peak_ns), VIEW_KNOWN(struct report_alloc, peak_ns),
	  .what = "TIMESTAMP of the peak" },
	{ "peak_utc", "WHEN", VIEW_TEXT, 30, 0, ALL(peak_time) },
	{ "blocks", "BLOCKS", VIEW_COUNT, 9, 0, ALL(n.blocks), .what = "allocated; each realloc is one more" },
	{ "bytes", "BYTES", VIEW_BYTES, 9, 0, ALL(n.bytes) },
	{ "short_blocks", NULL, VIEW_COUNT, 9, 0, ALL(n.short_blocks), .what = SHORT_WHAT },
	{ "short_bytes", NULL, VIEW_BYTES, 9, 0, ALL(n.short_bytes) },
	{ "short_share", "SHORT", VIEW_SHARE, 9, .get = all_short_share, .what = SHORT_WHAT },
	{ "never_freed_blocks", NULL, VIEW_COUNT, 9, 0, ALL(n.left_blocks), .what = LEFT_WHAT },
	{ "never_freed_bytes", "NEVER FREED", VIEW_BYTES, 9, 0, ALL(n.left_bytes), .what = LEFT_WHAT },
	{ "frees", "FREES", VIEW_COUNT, 9, 0, ALL(n.frees), .what = "of blocks whose allocation is in the trace" },
	{ "cross_thread_frees", "ACROSS", VIEW_COUNT, 9, 0, ALL(n.cross_frees),
	  .what = "of FREES: by another thread than the one that allocated" },
	{ "unknown_frees", NULL, VIEW_COUNT, 9, 0, ALL(n.unknown_frees),
	  .what = "of blocks whose allocation is not in the trace" },
	{ "failed", "FAILED", VIEW_COUNT, 9, VIEW_DASH, ALL(n.failed), .what = "allocations that failed" },
	{ "min_bytes", NULL, VIEW_BYTES, 9, 0, ALL(min_bytes), .what = "--alloc min: smaller blocks have no rows" },
	{ "small_calls", NULL, VIEW_COUNT, 9, 0, ALL(n.small_calls), .what = "allocations below that" },
	{ "small_bytes", NULL, VIEW_BYTES, 9, 0, ALL(n.small_bytes), .what = "likewise" },
	{ "peak_phase", "IN PHASE", VIEW_TEXT, 0, 0, ALL(peak_phase),
	  .what = "phase of the job in which most was in use" },
	{ 0 },
};

const struct view view_allocs = {
	.key = "alloc",
	.title = "Memory that programs allocated",
	.what = "one row, with alloc.out",
	.columns = all_columns,
	.rows = all,
};

static void put_peak(const struct report_alloc *a, FILE *out)
{
	fprintf(out, "%s in %s", FMT_BYTES(a->n.peak_bytes), FMT_N(a->n.peak_blocks, "block", "blocks"));
	if (a->peak_time[0])
		fprintf(out, " at %.23sZ", a->peak_time);
	if (a->peak_phase[0]) {
		fputs(", in ", out);
		fmt_text(out, a->peak_phase, 0);
	}
}

void report_alloc_brief(const struct report *report, FILE *out)
{
	const struct report_alloc *alloc = &report->alloc;

	if (!alloc->n.peak_blocks) {
		fputs("no allocation is in the trace", out);
		return;
	}
	fputs("programs had at most ", out);
	put_peak(alloc, out);
	if (alloc->n.left_blocks)
		fprintf(out, "; they never freed %s", FMT_BYTES(alloc->n.left_bytes));
	if (report->accesses && report->accesses->untouched_bytes)
		fprintf(out, "; of %s that were watched, nothing touched %s",
			FMT_BYTES(report->accesses->watched_bytes), FMT_BYTES(report->accesses->untouched_bytes));
}

void report_alloc_text(const void *of, FILE *out)
{
	const struct report *report = of;
	const struct report_alloc *alloc = &report->alloc;

	if (!alloc->present)
		return;
	view_title(out, view_allocs.title);
	fputs("in use at most  ", out);
	put_peak(alloc, out);
	fprintf(out, "%s\n", alloc->peak_ns ? "" : " (the sum of the hosts' peaks)");
	fprintf(out, "allocated       %s in %s; " SHORT_WHAT ": %s in %s\n", FMT_BYTES(alloc->n.bytes),
		FMT_N(alloc->n.blocks, "block", "blocks"), FMT_BYTES(alloc->n.short_bytes),
		FMT_COUNT(alloc->n.short_blocks));
	fprintf(out, "never freed     %s in %s\n", FMT_BYTES(alloc->n.left_bytes),
		FMT_N(alloc->n.left_blocks, "block", "blocks"));
	fprintf(out, "freed           %s, %s by another thread than the one that allocated\n",
		FMT_N(alloc->n.frees, "block", "blocks"), FMT_COUNT(alloc->n.cross_frees));
	if (alloc->n.unknown_frees)
		fprintf(out, "unknown         %s freed whose allocation is not in the trace\n",
			FMT_N(alloc->n.unknown_frees, "block was", "blocks were"));
	if (alloc->n.failed)
		fprintf(out, "failed          %s\n", FMT_N(alloc->n.failed, "allocation", "allocations"));
	if (alloc->min_bytes)
		fprintf(out, "smaller         %s below %s, of %s, counted without rows\n",
			FMT_N(alloc->n.small_calls, "allocation", "allocations"), FMT_BYTES(alloc->min_bytes),
			FMT_BYTES(alloc->n.small_bytes));
}

/* --- by phase ------------------------------------------------------------------------------------------------ */

#define PHASES_SHOWN 64U

struct alloc_phase {
	char name[PHASE_LABEL_MAX + 24];
	struct report_alloc_span sum;
};

static void phase_add(const struct report *report, const struct phase_seen *seen, struct view_rows *rows)
{
	struct alloc_phase *row = view_make(rows, sizeof(*row));
	char label[PHASE_LABEL_MAX];

	if (!row)
		return;
	phases_label(report->phases, &seen->phase, label);
	snprintf(row->name, sizeof(row->name), seen->times > 1 ? "%s x %u" : "%s", label, seen->times);
	row->sum.begin_ns = seen->phase.begin_ns;
	row->sum.end_ns = seen->phase.end_ns;
	report_allocs_within(report->allocs, seen->phase.begin_ns, seen->phase.end_ns, &row->sum);
}

VIEW_ROWS_OF(by_phase, struct report, r, void, parent)
{
	uint32_t n = 0;
	autofree struct phase_seen *seen =
		r->alloc.present && r->allocs && r->phases ? phases_visible(r->phases, PHASES_SHOWN, &n) : NULL;

	for (uint32_t i = 0; seen && i < n; i++)
		if (r->phases->names[seen[i].phase.name].kind != PHASE_MARK)
			phase_add(r, &seen[i], rows);
}

GET(phase_most, struct alloc_phase, v)
{
	cell->n = report_alloc_level(&r->allocs->all, v->sum.most);
}

GET(phase_last, struct alloc_phase, v)
{
	cell->n = report_alloc_level(&r->allocs->all, v->sum.last);
}

#define PHASE(member) VIEW_AT(struct alloc_phase, member)
static const struct view_column phase_columns[] = {
	{ "begin_ns", NULL, VIEW_NS, 0, 0, PHASE(sum.begin_ns), .what = "TIMESTAMP of its begin" },
	{ "end_ns", NULL, VIEW_NS, 0, 0, PHASE(sum.end_ns) },
	{ "peak_bytes", "AT MOST", VIEW_BYTES, 9, 0, .get = phase_most, .what = "the most in use at a time" },
	{ "end_bytes", "AT END", VIEW_BYTES, 9, 0, .get = phase_last, .what = "in use at its end" },
	{ "blocks", "BLOCKS", VIEW_COUNT, 9, 0, PHASE(sum.blocks), .what = "allocated; each realloc is one more" },
	{ "bytes", "BYTES", VIEW_BYTES, 9, 0, PHASE(sum.bytes) },
	{ "name", "PHASE", VIEW_TEXT, 0, 0, PHASE(name) },
	{ 0 },
};

const struct view view_alloc_phases = {
	.key = "alloc_phases",
	.title = "Memory that programs allocated, by phase",
	.note = "phases may be nested",
	.what = "the phases of the job but marks; where there are many, short ones are joined",
	.columns = phase_columns,
	.rows = by_phase,
	.shown = 20,
};

/* --- by stack and by process ---------------------------------------------------------------------------------- */

GET(at_peak, struct report_alloc_row, v)
{
	cell->n = report_alloc_level(&v->sum, v->sum.level.at_peak);
}

GET(own_peak, struct report_alloc_row, v)
{
	cell->known = !v->others;
	cell->n = report_alloc_level(&v->sum, v->sum.level.peak);
}

#define BETWEEN " < "

/* Returns the length of the frame that STACK begins with. */
static size_t frame_len(const char *stack)
{
	const char *end = strstr(stack, BETWEEN);

	return end ? (size_t)(end - stack) : strlen(stack);
}

/* Shows the first frames that fit. */
static void stack_cut(struct view_cell *cell, const char *stack)
{
	size_t len = frame_len(stack), next;

	for (; stack[len]; len = next) {
		next = len + strlen(BETWEEN) + frame_len(stack + len + strlen(BETWEEN));
		if (next > STACK_SHOWN)
			break;
	}
	if (stack[len])
		snprintf(cell->shown, sizeof(cell->shown), "%.*s < ...", (int)(len < 200 ? len : 200), stack);
}

void view_stack(const char *stack, uint64_t site, bool others, struct view_cell *cell)
{
	if (others)
		cell->text = "(other stacks)";
	else if (site)
		cell->text = stack;
	else
		cell->text = "(not known)";
	if (stack)
		stack_cut(cell, stack);
	else if (!cell->text)
		snprintf(cell->shown, sizeof(cell->shown), "SITE %llu", (unsigned long long)site);
}

GET(stack, struct report_alloc_row, v)
{
	view_stack(v->stack, v->id, v->others, cell);
}

GET(comm, struct report_alloc_row, v)
{
	if (v->others)
		cell->text = "(other processes)";
	else
		view_comm(c, r, v, cell);
}

#define ROW(member) VIEW_AT(struct report_alloc_row, member)
#define AT_PEAK_WHAT "in use when all together had most in use"
/* a column a line: */
/* clang-format off */
#define SUMS                                                                                                              \
	{ "at_peak_bytes", "AT PEAK", VIEW_BYTES, 9, VIEW_DASH, .get = at_peak, .what = AT_PEAK_WHAT },                   \
		{ "peak_bytes", "AT MOST", VIEW_BYTES, 9, 0, .get = own_peak, .what = "the most in use at a time" },      \
		{ "blocks", "BLOCKS", VIEW_COUNT, 9, 0, ROW(sum.blocks), .what = "allocated; each realloc is one more" }, \
		{ "bytes", "BYTES", VIEW_BYTES, 9, 0, ROW(sum.bytes) },                                                   \
		{ "short_blocks", NULL, VIEW_COUNT, 9, 0, ROW(sum.short_blocks), .what = SHORT_WHAT },                    \
		{ "short_bytes", "SHORT", VIEW_BYTES, 9, VIEW_DASH, ROW(sum.short_bytes), .what = SHORT_WHAT },           \
		{ "never_freed_blocks", NULL, VIEW_COUNT, 9, 0, ROW(sum.left_blocks), .what = LEFT_WHAT },                \
		{ "never_freed_bytes", "LEFT", VIEW_BYTES, 9, VIEW_DASH, ROW(sum.left_bytes), .what = LEFT_WHAT },        \
	{                                                                                                                 \
		"frees", NULL, VIEW_COUNT, 9, 0, ROW(sum.frees), .what = "of these blocks"                                \
	}
/* clang-format on */

static const struct view_column site_columns[] = {
	SUMS,
	{ "cross_thread_frees", NULL, VIEW_COUNT, 9, 0, ROW(sum.cross_frees),
	  .what = "by another thread than the one that allocated" },
	{ "others", NULL, VIEW_FLAG, 0, 0, ROW(others), .what = "the sum of all other stacks" },
	{ "site", NULL, VIEW_ID, 0, 0, ROW(id), VIEW_KNOWN(struct report_alloc_row, id), .what = "SITE of sites.out" },
	{ "stack", "STACK", VIEW_TEXT, 0, VIEW_EMPTY, .get = stack,
	  .what = "from the innermost on, joined by \" < \": functions, or files and addresses in them" },
	{ 0 },
};

static const struct view_column process_columns[] = {
	SUMS,
	{ "cross_thread_frees", "ACROSS", VIEW_COUNT, 9, VIEW_DASH, ROW(sum.cross_frees),
	  .what = "frees by another thread than the one that allocated" },
	{ "failed", "FAILED", VIEW_COUNT, 6, VIEW_DASH, ROW(sum.failed), .what = "allocations that failed" },
	{ "others", NULL, VIEW_FLAG, 0, 0, ROW(others), .what = "the sum of all other processes" },
	{ "pid", "PID", VIEW_ID, 8, VIEW_DASH, ROW(id), VIEW_KNOWN(struct report_alloc_row, id) },
	{ "comm", "COMM", VIEW_TEXT, 0, VIEW_EMPTY, ROW(id), .get = comm },
	{ 0 },
};

#define NOTE "AT PEAK: in use when all together had most in use; SHORT: " SHORT_WHAT "; LEFT: never freed"
#define SITES(order)                                                                                                 \
	.columns = site_columns, .what = "twenty stacks, and the others as one", VIEW_BEHIND(struct report, allocs), \
	VIEW_ARRAY(struct report_allocs, by_site[order].row, by_site[order].n), .least = 1, .most = ALLOCS_SHOWN + 1

const struct view view_allocs_by_peak = {
	.key = "allocs_by_peak",
	.title = "Stacks with most memory in use at the peak",
	.note = NOTE,
	SITES(ALLOCS_BY_PEAK),
};
const struct view view_allocs_by_bytes = {
	.key = "allocs_by_bytes",
	.title = "Stacks that allocated the most bytes",
	SITES(ALLOCS_BY_BYTES),
};
const struct view view_allocs_by_short = {
	.key = "allocs_by_short",
	.title = "Stacks with the most bytes of short-lived blocks",
	SITES(ALLOCS_BY_SHORT),
};
const struct view view_allocs_by_left = {
	.key = "allocs_by_never_freed",
	.title = "Stacks with the most bytes never freed",
	SITES(ALLOCS_BY_LEFT),
};

const struct view view_alloc_processes = {
	.key = "alloc_processes",
	.title = "Processes by memory in use",
	.what = "the twenty processes that had the most in use, and the others as one",
	.columns = process_columns,
	VIEW_BEHIND(struct report, allocs),
	VIEW_ARRAY(struct report_allocs, by_process.row, by_process.n),
	.least = 1,
	.most = ALLOCS_SHOWN + 1,
};
