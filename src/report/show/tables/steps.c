/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of the job's steps, which its own regions show, of a struct report. */
#include "report/phases/phases.h"
#include "report/scan/model.h"
#include "report/show/tables/tables.h"
#include "report/why/overlap.h"
#include "report/why/why.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)

GET(epoch_of_sum, struct step_sum, s)
{
	cell->known = s->epoch >= 0;
	cell->n = (uint64_t)s->epoch;
}

GET(samples_per_s, struct step_sum, s)
{
	cell->known = s->samples && s->wall_ns;
	cell->f = cell->known ? (double)s->samples * 1e9 / (double)s->wall_ns : 0;
}

GET(epoch_of_overlap, struct overlap, o)
{
	cell->known = o->epoch >= 0;
	cell->n = (uint64_t)o->epoch;
}

GET(epoch_of_step, struct step, s)
{
	cell->known = s->epoch >= 0;
	cell->n = (uint64_t)s->epoch;
}

GET(number_of_step, struct step, s)
{
	cell->known = s->number >= 0;
	cell->n = (uint64_t)s->number;
}

#define PARTS(type)                                                                             \
	{ "fetch_ns",                                                                           \
	  "FETCH",                                                                              \
	  VIEW_NS,                                                                              \
	  10,                                                                                   \
	  VIEW_SUM,                                                                             \
	  VIEW_AT(type, part_ns[STEP_FETCH]),                                                   \
	  .what = "in regions of dataloader and data" },                                        \
		{ "compute_ns",                                                                 \
		  "COMPUTE",                                                                    \
		  VIEW_NS,                                                                      \
		  10,                                                                           \
		  VIEW_SUM,                                                                     \
		  VIEW_AT(type, part_ns[STEP_COMPUTE]),                                         \
		  .what = "in regions of compute and device" },                                 \
		{ "checkpoint_ns",                                                              \
		  "CHECKPOINT",                                                                 \
		  VIEW_NS,                                                                      \
		  10,                                                                           \
		  VIEW_SUM,                                                                     \
		  VIEW_AT(type, part_ns[STEP_CHECKPOINT]),                                      \
		  .what = "in regions of checkpoint" },                                         \
		{ "comm_ns",                                                                    \
		  "COMM",                                                                       \
		  VIEW_NS,                                                                      \
		  10,                                                                           \
		  VIEW_SUM,                                                                     \
		  VIEW_AT(type, part_ns[STEP_COMM]),                                            \
		  .what = "in regions of comm" },                                               \
	{                                                                                       \
		"other_ns", "OTHER", VIEW_NS, 10, VIEW_SUM, VIEW_AT(type, part_ns[STEP_OTHER]), \
			.what = "in none of these"                                              \
	}
#define PROCESS(type)                                                                                 \
	{ "pid", "PID", VIEW_ID, 8, 0, VIEW_AT(type, pid) },                                          \
		{ "rank", "RANK", VIEW_TEXT, 0, VIEW_NO_TEXT, VIEW_AT(type, pid), .get = view_rank }, \
	{                                                                                             \
		"comm", "COMM", VIEW_TEXT, 0, VIEW_EMPTY, VIEW_AT(type, pid), .get = view_comm        \
	}

static const struct view_column sum_columns[] = {
	{ "epoch", "EPOCH", VIEW_ID, 6, 0, .get = epoch_of_sum },
	{ "steps", "STEPS", VIEW_COUNT, 8, 0, VIEW_AT(struct step_sum, n) },
	{ "wall_ns", "TOTAL", VIEW_NS, 10, 0, VIEW_AT(struct step_sum, wall_ns),
	  .what = "the sum of the parts that follow, with the time after the last step" },
	PARTS(struct step_sum),
	{ "p50_ns", "P50", VIEW_NS, 10, 0, VIEW_AT(struct step_sum, p50_ns), .what = "of a step" },
	{ "p99_ns", "P99", VIEW_NS, 10, 0, VIEW_AT(struct step_sum, p99_ns) },
	{ "max_ns", "LONGEST", VIEW_NS, 10, 0, VIEW_AT(struct step_sum, max_ns) },
	{ "first_fetch_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct step_sum, first_fetch_ns),
	  .what = "of the epoch's first batch" },
	{ "samples", NULL, VIEW_COUNT, 0, 0, VIEW_AT(struct step_sum, samples), VIEW_KNOWN(struct step_sum, samples),
	  .what = "that regions of compute name" },
	{ "samples_per_s", "SAMPLES/S", VIEW_NUMBER, 9, 0, .get = samples_per_s,
	  .what = "samples by the time of TOTAL" },
	PROCESS(struct step_sum),
	{ 0 },
};

const struct view view_steps = {
	.key = "steps",
	.title = "Steps of epochs, by the job's own regions",
	.note = "a step ends with compute.step and begins where the previous one ended; TOTAL includes the time after "
		"the last one",
	.what = "the steps of a process in an epoch",
	.columns = sum_columns,
	VIEW_BEHIND(struct report, phases),
	VIEW_POINTED(struct phases, steps.sums, steps.n_sums),
	.most = 1000,
	.least = 10,
	.shown = 50,
};

static const struct view_column step_columns[] = {
	{ "epoch", "EPOCH", VIEW_ID, 6, 0, .get = epoch_of_step },
	{ "step", "STEP", VIEW_ID, 8, 0, .get = number_of_step },
	{ "begin_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct step, begin_ns), .what = "CLOCK_MONOTONIC" },
	{ "wall_ns", "TIME", VIEW_NS, 10, 0, VIEW_AT(struct step, wall_ns) },
	PARTS(struct step),
	{ "io_disk_ns", "IO:DISK", VIEW_NS, 10, 0, VIEW_AT(struct step, io_ns[STEP_IO_DISK]),
	  .what = "while it fetched, in reads and page faults that waited for storage: its own and its loaders', added "
		  "up" },
	{ "io_cache_ns", "CACHE", VIEW_NS, 10, 0, VIEW_AT(struct step, io_ns[STEP_IO_CACHE]),
	  .what = "likewise, in other reads" },
	{ "io_names_ns", "NAMES", VIEW_NS, 10, 0, VIEW_AT(struct step, io_ns[STEP_IO_NAMES]),
	  .what = "likewise, in opens, closes, and calls that make, remove and rename files" },
	{ "io_write_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct step, io_ns[STEP_IO_WRITE]),
	  .what = "likewise, in writes and syncs" },
	PROCESS(struct step),
	{ 0 },
};

const struct view view_slowest_steps = {
	.key = "slowest_steps",
	.title = "Slowest steps",
	.note = "IO: what the process and its loaders did on files while it fetched, added up: reads that waited for a "
		"disk, other reads, opens and the like",
	.what = "the first ten",
	.columns = step_columns,
	VIEW_BEHIND(struct report, phases),
	VIEW_ARRAY(struct phases, steps.slowest, steps.n_slowest),
};

static const struct view_column overlap_columns[] = {
	{ "epoch", "EPOCH", VIEW_ID, 6, 0, .get = epoch_of_overlap },
	{ "wall_ns", "TIME", VIEW_NS, 10, 0, VIEW_AT(struct overlap, wall_ns),
	  .what = "from its first step to its last one; the sum of the next four" },
	{ "compute_io_ns", "COMPUTE+IO", VIEW_NS, 10, VIEW_SUM, VIEW_AT(struct overlap, both_ns),
	  .what = "computing, with I/O at the same time" },
	{ "compute_alone_ns", "COMPUTE", VIEW_NS, 10, VIEW_SUM, VIEW_AT(struct overlap, compute_alone_ns),
	  .what = "computing alone" },
	{ "io_alone_ns", "IO", VIEW_NS, 10, VIEW_SUM, VIEW_AT(struct overlap, io_alone_ns),
	  .what = "unoverlapped I/O: without computing" },
	{ "neither_ns", "NEITHER", VIEW_NS, 10, VIEW_SUM, VIEW_AT(struct overlap, neither_ns) },
	{ "compute_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct overlap, compute_ns),
	  .what = "in regions of compute and device, an exact union" },
	{ "io_ns", NULL, VIEW_NS, 0, 0, VIEW_AT(struct overlap, io_ns),
	  .what = "in calls on files and page faults that waited, of the process or of its loaders: an exact union" },
	PROCESS(struct overlap),
	{ 0 },
};

const struct view view_overlap = {
	.key = "overlap",
	.title = "Overlap of computing and I/O, by epoch",
	.note = "computing: regions of compute and device; I/O: calls on files of the process and its loaders, page "
		"faults",
	.what = "the time of a process's steps in an epoch",
	.columns = overlap_columns,
	VIEW_BEHIND(struct report, why),
	VIEW_POINTED(struct why, overlaps, n_overlaps),
	.most = 1000,
	.least = 10,
	.shown = 50,
};
