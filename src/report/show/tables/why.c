/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of the job's epochs and phases, of a struct report. */
#include <math.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/util.h"
#include "report/scan/model.h"
#include "report/show/tables/tables.h"
#include "report/why/why.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)
#define ROWS(name, type, parent) VIEW_ROWS_OF(name, struct report, r, type, parent)

#define EPOCHS_SHOWN 20
#define PHASES_SHOWN 24

/* --- epochs ------------------------------------------------------------------------------------------------- */

ROWS(epochs, void, parent)
{
	const struct why *w = r->why;

	for (uint32_t i = 0; w && w->rules && i < w->n_epochs; i++)
		view_add(rows, &w->epoch[i]);
}

/* The number at C's place, which is known when the trace has the file that it comes from. */
static void epoch_number(const struct view_column *c, const void *row, struct view_cell *cell, bool known)
{
	cell->known = known;
	cell->n = *(const uint64_t *)view_at(row, c);
}

GET(of_reads, void, row)
{
	epoch_number(c, row, cell, r->present[REPORT_VFS_RW]);
}

GET(of_opens, void, row)
{
	epoch_number(c, row, cell, r->present[REPORT_OPEN]);
}

static bool knows_disk(const struct report *r, const struct why_epoch *e)
{
	return r->present[REPORT_VFS_RW] && why_knows_disk(e);
}

GET(of_disk, void, row)
{
	epoch_number(c, row, cell, knows_disk(r, row));
}

GET(from_cache, struct why_epoch, e)
{
	cell->known = knows_disk(r, e);
	cell->n = e->read_bytes > e->disk_bytes ? e->read_bytes - e->disk_bytes : 0;
}

GET(lasted, struct why_epoch, e)
{
	cell->n = e->end_ns - e->begin_ns;
}

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : (double)NAN;
}

GET(waited, struct why_epoch, e)
{
	cell->f = share((double)e->waited_ns, (double)e->waitable_ns);
}

GET(in_order, struct why_epoch, e)
{
	cell->f = share((double)e->sequential, (double)e->placed);
}

GET(workers, struct why_epoch, e)
{
	cell->known = r->present[REPORT_PIDS];
	cell->n = e->workers;
}

GET(slow_worker, struct why_epoch, e)
{
	cell->known = e->workers;
	cell->n = e->slow_worker;
}

/* The double at C's place. */
GET(of_worker, struct why_epoch, e)
{
	cell->known = e->workers;
	cell->n = e->workers ? (uint64_t) * (const double *)view_at(e, c) : 0;
}

static void workers_json(const void *of, const void *row, struct json *json)
{
	const struct why_epoch *epoch = row;

	json_object(json, "workers");
	if (((const struct report *)of)->present[REPORT_PIDS])
		json_u64(json, "count", epoch->workers);
	else
		json_null(json, "count");
	if (epoch->workers) {
		json_u64(json, "slowest_pid", epoch->slow_worker);
		json_f64(json, "slowest_ns", epoch->slow_worker_ns);
		json_f64(json, "median_ns", epoch->median_worker_ns);
	}
	json_end(json);
}

#define EPOCH(member) VIEW_AT(struct why_epoch, member)

static const struct view_column epoch_columns[] = {
	{ "begin_ns", NULL, VIEW_NS, 0, 0, EPOCH(begin_ns) },
	{ "end_ns", NULL, VIEW_NS, 0, 0, EPOCH(end_ns) },
	{ "lasted_ns", "LASTED", VIEW_NS, 10, VIEW_NO_JSON, .get = lasted },
	{ "waited_share", "WAITED", VIEW_SHARE, 9, .get = waited,
	  .what = "of the time of trainers of which it is known when they waited; null: of none" },
	{ "samples", "SAMPLES", VIEW_COUNT, 9, 0, EPOCH(samples), .get = of_opens,
	  .what = "regular data files opened for reading" },
	{ "read_bytes", "READ", VIEW_BYTES, 10, 0, EPOCH(read_bytes), .get = of_reads },
	{ "disk_bytes", "FROM DISK", VIEW_BYTES, 10, 0, EPOCH(disk_bytes), .get = of_disk },
	{ "cache_bytes", "FROM CACHE", VIEW_BYTES, 0, VIEW_NO_TEXT, .get = from_cache },
	{ "disk_reads", NULL, VIEW_COUNT, 0, 0, EPOCH(disk_reads), .get = of_disk },
	{ "reads", "READS", VIEW_COUNT, 10, 0, EPOCH(reads), .get = of_reads },
	{ "sequential_share", "IN ORDER", VIEW_SHARE, 9, .get = in_order,
	  .what = "of reads by a descriptor that had read the file before, without those at its first position: those "
		  "that continued" },
	{ "again_bytes", "AGAIN", VIEW_BYTES, 10, 0, EPOCH(again_bytes), .get = of_reads,
	  .what = "read a second time in it" },
	{ "writes", NULL, VIEW_COUNT, 0, 0, EPOCH(writes), .get = of_reads },
	{ "write_bytes", NULL, VIEW_BYTES, 0, 0, EPOCH(write_bytes), .get = of_reads },
	{ "workers.count", "WORKERS", VIEW_COUNT, 8, VIEW_NO_JSON, .get = workers },
	{ "workers.slowest_pid", "SLOWEST WORKER", VIEW_ID, 0, VIEW_NO_JSON | VIEW_NO_TEXT, .get = slow_worker,
	  .what = "its PID" },
	{ "workers.slowest_ns", "A SAMPLE", VIEW_NS, 0, VIEW_NO_JSON | VIEW_NO_TEXT, EPOCH(slow_worker_ns),
	  .get = of_worker, .what = "in its calls on files" },
	{ "workers.median_ns", "MEDIAN", VIEW_NS, 0, VIEW_NO_JSON | VIEW_NO_TEXT, EPOCH(median_worker_ns),
	  .get = of_worker, .what = "of those that ran at the same time" },
	{ "name", "EPOCH", VIEW_TEXT, 0, VIEW_EMPTY | VIEW_KEY, EPOCH(name) },
	{ "read_sizes", NULL, VIEW_ROWS, .list = &view_epoch_sizes },
	{ "slowest_files", NULL, VIEW_ROWS, .list = &view_epoch_files },
	{ "workers", NULL, VIEW_JSON, .json = workers_json,
	  .what = "`count`, `slowest_pid`, `slowest_ns`, `median_ns` in calls on files for a sample" },
	{ 0 },
};

#define EPOCHS .rows = epochs, .shown = EPOCHS_SHOWN

const struct view view_epochs = {
	.key = "epochs",
	.title = "Reads of regular files, by epoch",
	.note = "AGAIN: bytes read a second time in it",
	.what = "of regular files without software, by epoch; one for the whole trace if no phase is an epoch",
	.columns = epoch_columns,
	EPOCHS,
	.left_out = "epochs_left_out",
	.most = WHY_EPOCHS_MAX,
	.least = 4,
};

/* --- sizes of reads and slowest files ------------------------------------------------------------------------- */

struct epoch_size {
	uint64_t from, to, calls;
};

ROWS(sizes, struct why_epoch, e)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(e->size); i++) {
		struct epoch_size *row = e->size[i] ? view_make(rows, sizeof(*row)) : NULL;

		if (row)
			*row = (struct epoch_size){ i ? 1ULL << (i - 1) : 0, i ? (1ULL << (i - 1)) * 2 - 1 : 0,
						    e->size[i] };
	}
}

static const struct view_column epoch_size_columns[] = {
	{ "from", "FROM", VIEW_BYTES, 10, 0, VIEW_AT(struct epoch_size, from) },
	{ "to", "TO", VIEW_BYTES, 10, 0, VIEW_AT(struct epoch_size, to) },
	{ "calls", "READS", VIEW_COUNT, 10, 0, VIEW_AT(struct epoch_size, calls) },
	{ 0 },
};

const struct view view_epoch_sizes = {
	.key = "read_sizes",
	.title = "Sizes of reads, by epoch",
	.columns = epoch_size_columns,
	.rows = sizes,
	.parent = &view_epochs,
};

ROWS(slow_files, struct why_epoch, e)
{
	for (unsigned int i = 0; i < e->n_slow; i++)
		view_add(rows, &e->slow[i]);
}

static const struct view_column epoch_file_columns[] = {
	{ "read_ns", "TIME", VIEW_NS, 10, 0, VIEW_AT(struct why_slow_file, time_ns), .what = "in reads of it" },
	{ "calls", "READS", VIEW_COUNT, 10, 0, VIEW_AT(struct why_slow_file, calls) },
	{ "read_bytes", "READ", VIEW_BYTES, 10, 0, VIEW_AT(struct why_slow_file, bytes) },
	{ "fid", NULL, VIEW_ID, 0, 0, VIEW_AT(struct why_slow_file, fid) },
	{ "path", "FILE", VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(struct why_slow_file, path) },
	{ 0 },
};

const struct view view_epoch_files = {
	.key = "slowest_files",
	.title = "Slowest files, by epoch",
	.columns = epoch_file_columns,
	.rows = slow_files,
	.parent = &view_epochs,
	.most = WHY_SLOW_FILES,
	.least = 1,
};

/* Returns the power of two in which most reads of E were, and how many; *ALL: those that returned data. */
static unsigned int usual_size(const struct why_epoch *e, uint64_t *all)
{
	unsigned int most = 1;

	*all = 0;
	for (unsigned int i = 1; i < ARRAY_SIZE(e->size); i++) {
		*all += e->size[i];
		most = e->size[i] > e->size[most] ? i : most;
	}
	return most;
}

GET(most_of, void, row)
{
	uint64_t all;

	cell->n = 1ULL << (usual_size(row, &all) - 1);
	cell->known = all;
}

GET(most_share, struct why_epoch, e)
{
	uint64_t all;
	unsigned int size = usual_size(e, &all);

	cell->f = share((double)e->size[size], (double)all);
}

GET(slowest_time, struct why_epoch, e)
{
	cell->known = e->n_slow;
	cell->n = e->slow[0].time_ns;
}

GET(slowest_reads, struct why_epoch, e)
{
	cell->known = e->n_slow;
	cell->n = e->slow[0].calls;
}

GET(slowest_path, struct why_epoch, e)
{
	if (!e->n_slow)
		cell->text = NULL;
	else if (e->slow[0].path)
		cell->text = e->slow[0].path;
	else
		cell->text = "?";
}

static const struct view_column more_columns[] = {
	{ NULL, "EPOCH", VIEW_TEXT, 17, VIEW_EMPTY, EPOCH(name) },
	{ NULL, "MOST OF", VIEW_BYTES, 10, .get = most_of },
	{ NULL, "SHARE", VIEW_SHARE, 8, .get = most_share },
	{ NULL, "SLOWEST", VIEW_ID, 9, .get = slow_worker },
	{ NULL, "A SAMPLE", VIEW_NS, 10, 0, EPOCH(slow_worker_ns), .get = of_worker },
	{ NULL, "MEDIAN", VIEW_NS, 10, 0, EPOCH(median_worker_ns), .get = of_worker },
	{ NULL, "FILE TOOK", VIEW_NS, 10, .get = slowest_time },
	{ NULL, "READS", VIEW_COUNT, 8, .get = slowest_reads },
	{ NULL, "SLOWEST FILE", VIEW_TEXT, 0, .get = slowest_path },
	{ 0 },
};

/* On a terminal, in place of the two tables above. */
const struct view view_epochs_more = {
	.title = "Sizes of reads, workers and slowest files, by epoch",
	.note = "MOST OF: most reads returned this much, up to twice as much; A SAMPLE: time in calls on files",
	.columns = more_columns,
	EPOCHS,
};

/* --- phases, added up by name ------------------------------------------------------------------------------------- */

struct phase_sum {
	const struct phase_name *name;
	uint64_t times, unfinished, ns, mean_ns, min_ns, max_ns;
	double share;
	bool inferred;
};

static void phase_sum_add(struct phase_sum *s, const struct phase *p)
{
	uint64_t ns = p->end_ns - p->begin_ns;

	s->min_ns = s->times++ ? MIN(s->min_ns, ns) : ns;
	s->max_ns = MAX(s->max_ns, ns);
	s->ns += ns;
	s->unfinished += p->unfinished;
	s->inferred |= p->inferred;
}

ROWS(phase_sums, void, parent)
{
	const struct phases *p = r->phases;
	autofree struct phase_sum *sums = p ? calloc(p->n_names + 1, sizeof(*sums)) : NULL;

	for (uint32_t i = 0; sums && i < p->all.n; i++)
		phase_sum_add(&sums[p->all.v[i].name], &p->all.v[i]);
	for (uint32_t i = 0; sums && i < p->n_names; i++) {
		struct phase_sum *s = sums[i].times ? view_make(rows, sizeof(*s)) : NULL;

		if (!s)
			continue;
		*s = sums[i];
		s->name = &p->names[i];
		s->mean_ns = s->ns / s->times;
		s->share = report_duration_ns(r) ? (double)s->ns / (double)report_duration_ns(r) : 0;
	}
}

GET(phase_source, struct phase_sum, s)
{
	cell->text = phase_source_names[s->name->source];
}

GET(phase_sum_name, struct phase_sum, s)
{
	cell->text = s->name->name;
	snprintf(cell->shown, sizeof(cell->shown), "%s%s%s", s->name->name, s->inferred ? " (inferred)" : "",
		 s->unfinished ? " (has no end: to the trace's)" : "");
}

#define PHASE(member) VIEW_AT(struct phase_sum, member)

static const struct view_column phase_columns[] = {
	{ "source", "FROM", VIEW_TEXT, 8, .get = phase_source },
	{ "times", "TIMES", VIEW_COUNT, 7, 0, PHASE(times) },
	{ "time_ns", "TOTAL", VIEW_NS, 10, 0, PHASE(ns) },
	{ "share", "TRACE", VIEW_SHARE, 7, 0, PHASE(share) },
	{ "mean_ns", "MEAN", VIEW_NS, 10, 0, PHASE(mean_ns) },
	{ "min_ns", "SHORTEST", VIEW_NS, 10, 0, PHASE(min_ns) },
	{ "max_ns", "LONGEST", VIEW_NS, 10, 0, PHASE(max_ns) },
	{ "inferred", NULL, VIEW_FLAG, 0, 0, PHASE(inferred) },
	{ "unfinished", NULL, VIEW_COUNT, 0, 0, PHASE(unfinished) },
	{ "name", "PHASE", VIEW_TEXT, 0, VIEW_EMPTY, .get = phase_sum_name },
	{ 0 },
};

/* In JSON, `timeline' has each phase. */
const struct view view_phase_sums = {
	.title = "Phases of the job",
	.note = "TRACE: share of the trace's time; phases may be nested",
	.csv = "phases",
	.columns = phase_columns,
	.rows = phase_sums,
	.shown = PHASES_SHOWN,
};
