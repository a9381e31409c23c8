/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace for ui.perfetto.dev: hosts, processes and threads are tracks, calls are slices that nest by time, requests
 * get lanes of their own where they overlap, numbers of collectors are counters. The format is written by hand: the
 * numbers of fields are those of protos/perfetto/trace/ of google/perfetto. Times are CLOCK_MONOTONIC; of several
 * hosts, the first host's.
 */
#include "export/perfetto/perfetto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/log.h"
#include "base/util.h"
#include "export/export.h"

#define NAMES_MAX (1U << 16)

/* Returns the name of the output file: -o, and for further files with their number before the suffix. */
static char *path_of(const struct export *x)
{
	const char *path = x->o->out, *slash = strrchr(path, '/'), *dot = strchr(slash ? slash + 1 : path, '.');
	const uint32_t part = ((const struct perfetto *)x->state)->tracks.part;

	if (part == 1)
		return strdup(path);
	return dot ? util_fmt("%.*s-%u%s", (int)(dot - path), path, part, dot) : util_fmt("%s-%u", path, part);
}

static int open_part(struct export *x)
{
	autofree char *path = path_of(x);
	int res = path ? out_open(&x->out, path) : -ENOMEM;

	if (res == -EISDIR)
		log_err("%s is a folder: name a file with -o, or - for standard output", path);
	else if (res < 0)
		log_err_r(res, "%s: cannot be made", path ? path : x->o->out);
	return res < 0 ? -ECANCELED : 0;
}

/* Begins another output file if this one is large: a viewer in a browser takes several times a file's size of memory.
 */
static int split(struct export *export)
{
	struct perfetto *perfetto = export->state;
	int res;

	if (!export->o->split_bytes || export->out.bytes + export->out.len < export->o->split_bytes ||
	    export->out.stream == stdout)
		return 0;
	res = out_close(&export->out);
	if (res < 0)
		return res;
	tracks_next_part(&perfetto->tracks);
	perfetto->begun = false;
	perfetto->last_track = TRACKS_NONE;
	return open_part(export);
}

static int put_rows(struct export *export, const struct export_file *file, const struct reader_row *rows,
		    unsigned int n)
{
	struct perfetto *perfetto = export->state;
	struct plan *plan = &perfetto->plan[file->index];
	int res = split(export);

	if (plan->kind == PLAN_NEW)
		plan_make(plan, file->table);
	if (plan->kind == PLAN_NONE)
		return res;
	for (unsigned int i = 0; i < n && res == 0; i++) {
		struct perfetto_row r = { .f = file, .row = &rows[i], .plan = plan };

		perfetto_row_times(&r);
		if (!perfetto->begun)
			perfetto_head(export, perfetto_ns(export, r.begin_ns));
		perfetto->begun = true;
		plan_write(export, plan, file->table);
		res = perfetto_row(export, &r);
		if (res == 0)
			res = out_record(&export->out);
	}
	return res;
}

static int host(struct export *export)
{
	struct perfetto *perfetto = export->state;
	autofree char *name = util_fmt("host %s", export->host->name);

	perfetto->host = (unsigned int)(export->host - export->hosts);
	perfetto->last_track = TRACKS_NONE;
	perfetto->blocks_ns = 0;
	perfetto->host_track = name ? perfetto_track(export, perfetto_key(perfetto, 'h', "", 0), TRACK_PLAIN,
						     TRACKS_NONE, (struct reader_field){ "", 0 }) :
				      TRACKS_NONE;
	if (perfetto->host_track == TRACKS_NONE)
		return -ENOMEM;
	tracks_name(tracks_at(&perfetto->tracks, perfetto->host_track), name, strlen(name));
	return 0;
}

static int host_end(struct export *x)
{
	struct perfetto *s = x->state;

	if (!s->begun)
		return 0;
	perfetto_end_sums(x);
	return perfetto_phases(x);
}

static int begin(struct export *x)
{
	struct perfetto *s = x->state;

	tracks_init(&s->tracks, &x->out);
	for (unsigned int i = 0; i < INTERNED_KINDS; i++)
		table_init(&s->names[i], sizeof(struct interned), NAMES_MAX);
	return open_part(x);
}

static int end(struct export *x)
{
	const struct perfetto *s = x->state;

	if (s->left_out)
		log_warn("%s left out: there are too many threads, or too many of their calls overlap",
			 FMT_N(s->left_out, "row is", "rows are"));
	if (s->tracks.part > 1)
		log_info("%u files, each as large as a browser can show; `trace_processor --httpd' shows larger ones "
			 "(--split)",
			 s->tracks.part);
	return out_close(&x->out);
}

static void close_all(struct export *x)
{
	struct perfetto *s = x->state;

	out_drop(&x->out);
	if (!s->tracks.out)
		return;
	tracks_free(&s->tracks);
	for (unsigned int i = 0; i < INTERNED_KINDS; i++)
		table_free(&s->names[i]);
}

const struct exporter export_perfetto = {
	.name = "perfetto",
	.help = "for ui.perfetto.dev: hosts, processes, threads, disks and CPUs on one axis of time",
	.order = EXPORT_BY_TIME,
	.state_size = sizeof(struct perfetto),
	.own_out = true,
	.begin = begin,
	.host = host,
	.rows = put_rows,
	.host_end = host_end,
	.end = end,
	.close = close_all,
};
