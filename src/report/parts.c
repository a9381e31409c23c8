/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/brief.h"
#include "report/cpu/load.h"
#include "report/disk/cache.h"
#include "report/disk/causes.h"
#include "report/disk/faults.h"
#include "report/failed/failures.h"
#include "report/hang/hang.h"
#include "report/files/datasets.h"
#include "report/files/every.h"
#include "report/files/meta.h"
#include "report/files/path_filter.h"
#include "report/files/peers.h"
#include "report/files/spreads.h"
#include "report/files/streams.h"
#include "report/files/uses.h"
#include "report/gpu/gpus.h"
#include "report/limits/cgroups.h"
#include "report/memory/accesses.h"
#include "report/memory/allocs.h"
#include "report/memory/memory_map.h"
#include "report/missing.h"
#include "report/path/path.h"
#include "report/phases/read.h"
#include "report/phases/saves.h"
#include "report/rules/load.h"
#include "report/scan/functions.h"
#include "report/scan/part.h"
#include "report/timeline.h"
#include "report/whatif/whatif.h"
#include "report/why/syscalls.h"

/* --- phases and timeline ---------------------------------------------------------------------------------- */

static int timed_new(struct report *r, const struct report_options *o)
{
	if (!o->timed)
		return 0;
	r->timeline = timeline_new(o->begin_ns ? o->begin_ns : r->manifest.start_ns);
	r->saves = phase_saves_new();
	return r->timeline && r->saves ? 0 : -ENOMEM;
}

/* Derives phases again: the times of reads show, too, on which side of an epoch its lines are. */
static void settle_phases(struct report *r)
{
	const struct epoch_score *s = &r->phases->score;

	if (phases_settle(r->phases, r->timeline) < 0)
		report_note(r, "phases: not enough memory");
	if (r->phases->has_score && s->assumed)
		report_note(r,
			    "phases: the %" PRIu32
			    " lines about epochs can mean an epoch's end or its beginning: it was "
			    "assumed that they %s one; --phase REGEX='epoch %s' says so",
			    s->lines, s->side == EPOCH_ENDS ? "end" : "begin", s->side == EPOCH_ENDS ? "end" : "start");
}

/* Ends open phases at the last row. */
static void timed_end(struct report *report)
{
	const struct timeline *timeline = report->timeline;
	uint64_t begin_ns, end_ns;

	gaps_sort(&report->gaps);
	if (!report->phases)
		return;
	settle_phases(report);
	begin_ns = MAX(timeline->begin_ns, report->manifest.start_ns);
	end_ns = MAX(MAX(timeline->end_ns, report->last_ns), report->manifest.end_ns);
	phases_end(report->phases, begin_ns, end_ns);
	region_layers_end(&report->phases->layers);
	report_note_count(report, "too many threads with regions of readers and checkpoints",
			  report->phases->layers.left_out, "region is", "regions are", "in no layer of calls");
	report_note_count(report, "phases", report->phases->outside, "is", "are", "not within the trace, and left out");
}

static void timed_free(struct report *r)
{
	timeline_free(r->timeline);
	phases_free(r->phases);
	phase_saves_free(r->saves);
	gaps_free(&r->gaps);
}

static const struct report_part timed_part = {
	.new = timed_new,
	.end = timed_end,
	.free = timed_free,
};

/* --- why the job waited ----------------------------------------------------------------------------------- */

/* Infers phases where the job shows none, once the trainers are known. */
static void infer_phases(struct report *r)
{
	uint64_t from_ns;
	bool sure;

	if (!r->phases || !r->saves)
		return;
	sure = why_trains_from(r, &from_ns);
	phases_infer(r->phases, r->timeline, r->saves, from_ns, sure);
}

static void why_part_begin(struct report *r)
{
	if (!r->only.path)
		why_begin(r);
}

static void why_part_settle(struct report *r)
{
	report_datasets_end(r, r->why ? why_fetched_bytes : NULL);
	why_settle(r);
	infer_phases(r);
	why_end(r);
}

static void why_part_free(struct report *r)
{
	why_free(r->why);
}

static const struct report_part why_part = {
	.begin = why_part_begin,
	.settle = why_part_settle,
	.free = why_part_free,
};

/* --- parts of rooms that do not know of what they are asked for -------------------------------------------- */

static int path_new(struct report *r, const struct report_options *o)
{
	return path_filter_init(r, o->path);
}

static void path_free(struct report *r)
{
	free(r->only.path);
}

static const struct report_part path_part = {
	.new = path_new,
	.note = path_filter_note,
	.free = path_free,
};

static void host_take(void *ctx, const char *address, size_t len, const char *name)
{
	path_names_rename(ctx, address, len, name);
}

/* Where the path has a peer's address, it has the host's name, too. */
static void hosts_end(struct report *r)
{
	if (r->peers && r->path)
		report_peers_named(r->peers, host_take, &r->path->names);
}

static const struct report_part hosts_part = {
	.end = hosts_end,
};

static void others_free(struct report *r)
{
	report_cpu_free(r->cpu);
	memory_map_free(r->memory);
	report_funcs_free(r);
}

static const struct report_part others = {
	.free = others_free,
};

const struct report_part *const report_parts[] = {
	&path_part,
	&timed_part,
	&report_datasets_part,
	&report_gpu_part,
	&why_part,
	&report_missing_part,
	&report_causes_part,
	&report_faults_part,
	&report_cache_part,
	&report_meta_part,
	&report_brief_part,
	&report_syscalls_part,
	&report_cgroups_part,
	&report_allocs_part,
	&report_accesses_part, /* counts what alloc.out has in use */
	&report_every_part, /* frees paths in tables of the next three */
	&report_uses_part,
	&report_spreads_part,
	&report_streams_part,
	&report_peers_part,
	&report_path_part,
	&hosts_part,
	&report_failed_part,
	&report_hang_part,
	&report_whatif_part,
	&others,
	NULL,
};
