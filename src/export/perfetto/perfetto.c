/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace for ui.perfetto.dev: hosts, processes and threads are tracks, calls are slices that nest by time, requests get
 * lanes of their own where they overlap, numbers of collectors are counters. The format is written by hand: the numbers of
 * fields are those of protos/perfetto/trace/ of google/perfetto. Times are CLOCK_MONOTONIC; of several hosts, the first
 * host's.
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

/* Begins another output file if this one is large: a viewer in a browser takes several times a file's size of memory. */
static int split(struct export *x)
{
	struct perfetto *s = x->state;
	int res;

	if (!x->o->split_bytes || x->out.bytes + x->out.len < x->o->split_bytes || x->out.stream == stdout)
		return 0;
	res = out_close(&x->out);
	if (res < 0)
		return res;
	tracks_next_part(&s->tracks);
	s->begun = false;
	s->last_track = TRACKS_NONE;
	return open_part(x);
}

static int put_rows(struct export *x, const struct export_file *f, const struct reader_row *rows, unsigned int n)
{
	struct perfetto *s = x->state;
	struct plan *plan = &s->plan[f->index];
	int res = split(x);

	if (plan->kind == PLAN_NEW)
		plan_make(plan, f->table);
	if (plan->kind == PLAN_NONE)
		return res;
	for (unsigned int i = 0; i < n && res == 0; i++) {
		struct perfetto_row r = { .f = f, .row = &rows[i], .plan = plan };

		perfetto_row_times(&r);
		if (!s->begun)
			perfetto_head(x, perfetto_ns(x, r.begin_ns));
		s->begun = true;
		plan_write(x, plan, f->table);
		res = perfetto_row(x, &r);
		if (res == 0)
			res = out_record(&x->out);
	}
	return res;
}

static int host(struct export *x)
{
	struct perfetto *s = x->state;
	autofree char *name = util_fmt("host %s", x->host->name);

	s->host = (unsigned int)(x->host - x->hosts);
	s->last_track = TRACKS_NONE;
	s->blocks_ns = 0;
	s->host_track = name ? perfetto_track(x, perfetto_key(s, 'h', "", 0), TRACK_PLAIN, TRACKS_NONE, (struct reader_field){ "", 0 }) : TRACKS_NONE;
	if (s->host_track == TRACKS_NONE)
		return -ENOMEM;
	tracks_name(tracks_at(&s->tracks, s->host_track), name, strlen(name));
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
		log_warn("%s left out: there are too many threads, or too many of their calls overlap", FMT_N(s->left_out, "row is", "rows are"));
	if (s->tracks.part > 1)
		log_info("%u files, each as large as a browser can show; `trace_processor --httpd' shows larger ones (--split)",
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
