/* SPDX-License-Identifier: BSD-2-Clause */
/* From a trace folder to a struct report: the files in order, outliers among the sums, and notes on missing data. */
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/cpu/load.h"
#include "report/disk/cache.h"
#include "report/disk/causes.h"
#include "report/disk/faults.h"
#include "report/files/datasets.h"
#include "report/files/path_filter.h"
#include "report/files/spreads.h"
#include "report/files/streams.h"
#include "report/files/uses.h"
#include "report/memory/accesses.h"
#include "report/memory/allocs.h"
#include "report/memory/memory_map.h"
#include "report/missing.h"
#include "report/phases/read.h"
#include "report/phases/saves.h"
#include "report/rows.h"
#include "report/rules/load.h"
#include "report/scan/functions.h"
#include "report/scan/lookup.h"
#include "report/timeline.h"
#include "report/window_counts.h"
#include "stats/top.h"

/* --- outliers ---------------------------------------------------------------------------- */

static uint64_t file_bytes(const struct report_file *f)
{
	return f->read_bytes + f->write_bytes;
}

static uint64_t file_time(const struct report_file *f)
{
	return f->time_ns;
}

static void pick_procs(struct report *r)
{
	for (uint32_t i = 0; i < r->procs.n; i++) {
		const struct report_proc *p = table_at(&r->procs, i);
		struct report_proc *at = NULL;

		if (p->calls)
			at = TOP_PLACE(r->top_procs, r->n_top_procs, REPORT_TOP_PROCS, e, e->file_ns, p->file_ns);
		if (at)
			*at = *p;
		r->n_procs += p->calls != 0;
	}
}

/* --- missing data ------------------------------------------------------------------------ */

static bool is_expected(const struct report *r, enum report_kind kind)
{
	const struct manifest_probe *p = manifest_probe(&r->manifest, report_kind_names[kind]);

	if (r->manifest.dry)
		return false;
	if (r->manifest.rollup_only && (kind == REPORT_FILES || kind >= REPORT_BIO))
		return false;
	if (p || kind == REPORT_ROLLUP)
		return p && !manifest_is_untraced(p);
	return kind == REPORT_FILES || kind == REPORT_PIDS || r->manifest.n_probes == 0;
}

/* Adds a note for each reason, with all probes that have it: mostly the same reason holds for all of them. */
static void note_untraced(struct report *r)
{
	const struct manifest_facts *m = &r->manifest;
	bool listed[MANIFEST_PROBES_MAX] = {};

	for (unsigned int i = 0; i < m->n_probes; i++) {
		const struct manifest_probe *p = &m->probes[i];
		char names[40 * MANIFEST_PROBES_MAX] = "";

		for (unsigned int k = i; k < m->n_probes && manifest_is_untraced(p); k++) {
			size_t len = strlen(names);

			if (listed[k] || !manifest_is_untraced(&m->probes[k]) || strcmp(m->probes[k].why, p->why))
				continue;
			listed[k] = true;
			snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "", m->probes[k].name);
		}
		if (names[0])
			report_note(r, "%s: not traced: %s", names, p->why[0] ? p->why : "no reason given");
	}
}

static void note_manifest(struct report *r, int error)
{
	const struct manifest_facts *m = &r->manifest;

	if (error == -ENOENT)
		report_note(r, "manifest.json is missing: no command, no host, no losses");
	else if (error < 0)
		report_note(r, "manifest.json is not complete (%s)", strerror(-error));
	else if (!m->complete)
		report_note(r, "the trace has no end: it is still running, or dltraced was killed");
	if (m->schema > READER_SCHEMA)
		report_note(r, "manifest.json: schema %" PRIu64 ", newer than this dltraced knows",
			    m->schema);
}

/* Adds a note about N of something, unless N is 0: ONE or OTHERS, then TEXT. */
static void note_count(struct report *r, const char *what, uint64_t n, const char *one, const char *others, const char *text)
{
	if (n)
		report_note(r, "%s: %s %s", what, FMT_N(n, one, others), text);
}

static void note_losses(struct report *r)
{
	const struct manifest_facts *m = &r->manifest;

	for (unsigned int i = 0; i < m->n_probes; i++)
		if (m->probes[i].lost)
			report_note(r, "%s: %" PRIu64 " lost", m->probes[i].name, m->probes[i].lost);
	for (unsigned int i = 0; i < m->n_probes; i++) {
		note_count(r, m->probes[i].name, m->probes[i].unsure,
			   "row was", "rows were", "written but may be missing: the disk refused some writes");
		note_count(r, m->probes[i].name, m->probes[i].unmatched, "end", "ends", "without a start");
		note_count(r, m->probes[i].name, m->probes[i].late, "row", "rows", "out of time order");
		note_count(r, m->probes[i].name, m->probes[i].dropped,
			   "row was", "rows were", "dropped by --keep; rollup.out has the sums");
		note_count(r, m->probes[i].name, m->probes[i].summed,
			   "row was", "rows were", "only summed up (--rollup-only), in rollup.out");
		note_count(r, m->probes[i].name, m->probes[i].refused,
			   "page was", "pages were", "read ahead for which there was no room to see the use: none counts as used or "
			   "wasted");
		if (!strcmp(m->probes[i].name, "cache"))
			note_count(r, "cache", m->probes[i].overwritten, "time a file was", "times a file was", "forgotten that had pages "
				   "in the cache, as there was no room for so many files: these pages count nowhere when they leave");
		else
			note_count(r, m->probes[i].name, m->probes[i].overwritten,
				   "dirty page was", "dirty pages were", "written back when the writer had been forgotten, as there was no room");
	}
	note_count(r, "rollup", m->unsummed_rows, "of the dropped rows", "of the dropped rows", "could not be summed up");
	note_count(r, "32-bit calls", m->compat_calls, "seen", "seen", "but not recorded");
}

static void note_causes(struct report *r)
{
	const struct report_causes *c = r->causes;

	if (!c)
		return;
	note_count(r, "too many files", c->other_files.requests, "request is", "requests are", "in the sum of no file");
	note_count(r, "too many pieces of requests", c->pieces.left_out, "is", "are", "in the sum of no file");
	note_count(r, "too many processes", c->other_processes.requests, "request is", "requests are", "in the sum of no process");
	note_count(r, "too much is dirty at the same time", c->writebacks.writers.left_out, "written byte has", "written bytes have",
		   "no writer at write-back");
	note_count(r, "write-back", c->writebacks.out_of_order, "write", "writes",
		   "ended so late that the bytes may count for other writers");
}

static void note_limits(struct report *r)
{
	uint64_t reused = 0;

	for (uint32_t i = 0; i < r->procs.n; i++)
		reused += ((const struct report_proc *)table_at(&r->procs, i))->lives > 1;
	note_count(r, "processes", reused, "PID was", "PIDs were", "reused; each has one line");
	if (r->present[REPORT_FILES])
		note_count(r, "files", r->unknown_files, "FID is", "FIDs are", "not in files.out");
	note_count(r, "too many files", r->other_file.calls, "call is", "calls are", "in the sum of no file");
	note_count(r, "too many processes", r->other_proc.calls, "call is", "calls are", "in the sum of no process");
	note_count(r, "too many functions", r->func_left_out, "row is", "rows are", "in the sum of no function");
	if (r->no_result)
		report_note(r, "vfs_rw: %s no result; the %" PRIu64 " requested bytes are in no sum",
			    FMT_N(r->no_result, "row has", "rows have"), r->no_result_bytes);
	path_filter_note(r);
	note_causes(r);
	if (!r->uses)
		return;
	note_count(r, "too many processes and files", r->uses->left_out, "call is", "calls are", "in no sum of a process and a file");
	note_count(r, "too many processes", r->spreads.left_out, "call is", "calls are", "in the medians of no process");
	note_count(r, "too many logs", r->streams->left_out, "write is", "writes are", "in the sum of no log");
}

/* --- in order ---------------------------------------------------------------------------- */

static void note_segments(struct report *r, const struct scan_file *f)
{
	const struct reader *rd = &f->reader;

	if (rd->missing)
		report_note(r, "%s: %s missing", f->name, FMT_N(rd->missing, "segment between others is", "segments between others are"));
	if (rd->gone)
		report_note(r, "%s: %s could be read", f->name,
			    FMT_N(rd->gone, "segment was dropped before it", "segments were dropped before they"));
	if (rd->bad && rd->error == -ENOTSUP)
		report_note(r, "%s: %s compressed in a format that this dltraced was built without: unpack first (zstd -d --rm, "
			    "gzip -d)", f->name, FMT_N(rd->bad, "segment is", "segments are"));
	else if (rd->bad)
		report_note(r, "%s: %s left out", f->name,
			    FMT_N(rd->bad, "segment could not be read and is", "segments could not be read and are"));
	if (rd->damaged)
		report_note(r, "%s: %s damaged; the rows after the damage are left out", f->name,
			    FMT_N(rd->damaged, "segment is", "segments are"));
}

/* Adds notes on a file that was read, maybe not to its end. */
static void note_file(struct report *r, const struct scan_file *f)
{
	const struct notes notes = report_notes(r);

	note_segments(r, f);
	scan_note_header(f, f->bad_rows, &notes);
}

/* Adds notes on all files, when they have been read. */
static void note_files(struct report *r)
{
	const struct notes notes = report_notes(r);
	char absent[256] = "";

	for (enum report_kind kind = 0; kind < REPORT_KINDS; kind++) {
		const struct scan_file *f = scan_file(r->folder, report_kind_names[kind]);
		size_t len = strlen(absent);

		if (r->present[kind])
			note_file(r, f);
		if (f->error == -ENOENT && is_expected(r, kind))
			snprintf(absent + len, sizeof(absent) - len, " %s.out", f->name);
		else if (f->error == -ENODATA)
			report_note(r, "%s.out has no header yet", f->name);
		else if (f->error == -EBADMSG)
			report_note(r, "%s.out is not a dltraced file", f->name);
		scan_note_error(f, &notes);
	}
	if (absent[0])
		report_note(r, "files of the trace that are not in its folder:%s", absent);
	report_missing_files(r);
}

static int note_leftover(void *ctx, const char *file)
{
	if (segment_is_leftover(file))
		report_note(ctx, "%s is being written by a running trace, or was left by one that was cut off: "
				 "in that case it can be removed", file);
	return 0;
}

/* --- phases and gaps --------------------------------------------------------------------- */

/* Derives phases again: the times of reads show, too, on which side of an epoch its lines are. */
static void settle_phases(struct report *r)
{
	const struct epoch_score *s = &r->phases->score;

	if (phases_settle(r->phases, r->timeline) < 0)
		report_note(r, "phases: not enough memory");
	if (r->phases->has_score && s->assumed)
		report_note(r, "phases: the %" PRIu32 " lines about epochs can mean an epoch's end or its beginning: it was "
			    "assumed that they %s one; --phase REGEX='epoch %s' says so", s->lines,
			    s->side == EPOCH_ENDS ? "end" : "begin", s->side == EPOCH_ENDS ? "end" : "start");
}

/* Ends open phases at the last row. */
static void end_phases(struct report *r)
{
	const struct timeline *t = r->timeline;
	uint64_t begin_ns, end_ns;

	gaps_sort(&r->gaps);
	if (!r->phases)
		return;
	settle_phases(r);
	begin_ns = MAX(t->begin_ns, r->manifest.start_ns);
	end_ns = MAX(MAX(t->end_ns, r->last_ns), r->manifest.end_ns);
	phases_end(r->phases, begin_ns, end_ns);
	note_count(r, "phases", r->phases->outside, "is", "are", "not within the trace, and left out");
}

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

/* Sets up the optional sums, as O asks. */
static int prepare(struct report *r, const struct report_options *o)
{
	int res = path_filter_init(r, o->path);

	if (res < 0)
		return res;
	r->uses = report_uses_new();
	r->streams = report_streams_new();
	r->datasets = report_datasets_new();
	r->causes = report_causes_new();
	r->faults = report_faults_new();
	r->cache = report_cache_new();
	r->allocs = report_allocs_new();
	r->accesses = report_accesses_new();
	if (!r->uses || !r->streams || !r->datasets || !r->causes || !r->faults || !r->cache || !r->allocs || !r->accesses)
		return -ENOMEM;
	if (o->timed) {
		r->timeline = timeline_new(o->begin_ns ? o->begin_ns : r->manifest.start_ns);
		r->saves = phase_saves_new();
		if (!r->timeline || !r->saves)
			return -ENOMEM;
	}
	return 0;
}

/* Begins the report on CPU time, which a trace need not have. MANIFEST is the result of reading it. */
static int begin_cpu(struct report *r, int manifest, const struct report_options *o)
{
	int res = o->cpu ? report_cpu_begin(&r->cpu, r->dir, r->folder, &r->manifest, manifest, o->cpu) : 0;

	return res == -ENOMSG ? 0 : res;
}

/* Reads names and times of calls, for this report and that on CPU time; after time_align.out. */
static int read_names(struct report *r, int dirfd, const struct scan_clocks *clocks, const struct report_options *o)
{
	struct scan_taker pids = { .take = report_cpu_pids_row, .own = r->cpu },
			  files = { .take = report_cpu_files_row, .own = r->cpu };
	struct phases *phases = NULL;
	int res = 0;

	if ((o->timed || r->cpu) && phases_read(&phases, dirfd, &r->manifest, o->phases, &clocks->phases) < 0)
		return -ENOMEM;
	for (unsigned int i = 0; o->timed && i < phases->n_notes; i++)
		report_note(r, "%s", phases->notes[i]);
	report_read(r, REPORT_PIDS, r->cpu ? &pids : NULL);
	if (r->cpu)
		res = report_cpu_sched(r->cpu, r->folder, &pids, phases);
	if (o->timed)
		r->phases = phases;
	else
		phases_free(phases);
	if (res < 0)
		return res;
	report_read(r, REPORT_FILES, res > 0 ? &files : NULL);
	if (res > 0)
		report_cpu_files_end(r->cpu, scan_file(r->folder, "files"), &files);
	return 0;
}

/* Reads all files, in an order in which the names that rows refer to are known before them. */
static int read_files(struct report *r, int dirfd, struct scan_clocks *clocks, const struct report_options *o)
{
	struct scan_taker clock = { .take = scan_clocks_take, .own = clocks };
	int res;

	report_read(r, REPORT_TIME_ALIGN, &clock);
	report_clock_gaps(r, clocks);
	res = read_names(r, dirfd, clocks, o);
	if (res < 0)
		return res;
	if (!o->path)
		why_begin(r);
	report_causes_begin(r);
	for (enum report_kind kind = REPORT_ROLLUP; kind < REPORT_KINDS; kind++)
		report_read(r, kind, NULL);
	report_faults_read(r);
	report_cache_read(r);
	report_allocs_read(r);
	note_files(r);
	window_counts_apply(r, dirfd);
	if (r->cpu)
		report_cpu_end(r->cpu, r->folder, &clock);
	report_timeline_files(r);
	return 0;
}

static int read_all(struct report *r, int dirfd, int manifest, const struct report_options *o)
{
	struct scan_clocks *clocks = calloc(1, sizeof(*clocks));
	int res = clocks ? prepare(r, o) : -ENOMEM;

	if (res == 0)
		res = begin_cpu(r, manifest, o);
	if (res == 0)
		res = read_files(r, dirfd, clocks, o);
	scan_clocks_free(clocks);
	return res;
}

static bool any_present(const struct report *r)
{
	for (unsigned int i = 0; i < REPORT_KINDS; i++)
		if (r->present[i])
			return true;
	return false;
}

/* Finishes the sums, after all rows. */
static void sum_up(struct report *r, int dirfd)
{
	end_phases(r);
	if (r->causes)
		report_causes_end(r);
	if (r->cache)
		report_cache_end(r);
	if (r->allocs)
		report_allocs_end(r);
	if (r->accesses)
		report_accesses_read(r);
	note_losses(r);
	note_limits(r);
	segment_each_entry(dirfd, note_leftover, r);
	r->n_top_bytes = report_pick_files(r, r->top_bytes, file_bytes);
	r->n_top_time = report_pick_files(r, r->top_time, file_time);
	pick_procs(r);
	report_look_up_calls(r, &r->slow);
	report_look_up_calls(r, &r->waits);
	report_look_up_calls(r, &r->running);
	report_look_up_calls(r, &r->running_waits);
	if (r->datasets)
		report_datasets_end(r, r->why ? why_fetched_bytes : NULL);
	why_settle(r);
	infer_phases(r);
	why_end(r);
	report_missing_end(r);
	if (r->uses) {
		report_uses_pick(r);
		report_streams_pick(r);
	}
}

static int load(struct report *r, const char *dir, int dirfd, const struct report_options *o)
{
	int manifest = manifest_read_at(&r->manifest, dirfd), res;

	r->dir = strdup(dir);
	r->folder = scan_folder_new(dirfd);
	if (!r->dir || !r->folder)
		return -ENOMEM;
	r->has_manifest = strcmp(r->manifest.tool, "dltraced") == 0;
	r->folder->window = o->window;
	note_manifest(r, manifest);
	note_untraced(r);
	res = manifest_narrow(&r->manifest, &o->window);
	if (res == 0)
		res = read_all(r, dirfd, manifest, o);
	if (res < 0)
		return res;
	if (!r->has_manifest && !any_present(r))
		return manifest == -EACCES ? manifest : -ENODATA;
	sum_up(r, dirfd);
	if (o->memory && !o->path)
		memory_map_read(r, o->memory);
	/* many traces at once would need too many descriptors */
	scan_folder_free(r->folder);
	r->folder = NULL;
	return 0;
}

int report_load_at(struct report **ret, const char *dir, int dirfd, const struct report_options *o)
{
	struct report *r = calloc(1, sizeof(*r));
	int res;

	if (!r)
		return -ENOMEM;
	table_init(&r->files, sizeof(struct report_file), REPORT_FILES_MAX);
	table_init_pids(&r->procs, sizeof(struct report_proc), REPORT_PROCS_MAX);
	table_init(&r->disks, sizeof(struct report_disk), REPORT_DISKS_MAX);
	res = load(r, dir, dirfd, o);
	if (res < 0) {
		report_free(r);
		return res;
	}
	*ret = r;
	return 0;
}

int report_load(struct report **ret, const char *dir, const struct report_options *o)
{
	autoclose int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dirfd < 0 ? -errno : report_load_at(ret, dir, dirfd, o);
}

static void free_calls(struct report_calls *calls)
{
	for (unsigned int i = 0; i < calls->n; i++)
		free(calls->call[i].target);
}

static void free_disk(struct report_disk *d)
{
	for (unsigned int t = 0; t < REPORT_TS; t++)
		free(d->op[t].lat);
}

void report_free(struct report *r)
{
	if (!r)
		return;
	scan_folder_free(r->folder);
	for (unsigned int i = 0; i < REPORT_TOP; i++) {
		free(r->top_bytes[i].path);
		free(r->top_time[i].path);
	}
	for (uint32_t i = 0; i < r->disks.n; i++)
		free_disk(table_at(&r->disks, i));
	free_disk(&r->other_disk);
	free_calls(&r->slow);
	free_calls(&r->waits);
	free_calls(&r->running);
	free_calls(&r->running_waits);
	for (unsigned int i = 0; i < r->n_notes; i++)
		free(r->notes[i]);
	missing_free(&r->missing);
	table_free(&r->files);
	report_spreads_free(r);
	table_free(&r->procs);
	table_free(&r->disks);
	timeline_free(r->timeline);
	why_free(r->why);
	report_cpu_free(r->cpu);
	report_funcs_free(r);
	report_uses_free(r->uses);
	report_streams_free(r->streams);
	report_datasets_free(r->datasets);
	report_causes_free(r->causes);
	report_faults_free(r->faults);
	report_cache_free(r->cache);
	report_allocs_free(r->allocs);
	report_accesses_free(r->accesses);
	memory_map_free(r->memory);
	free(r->only.path);
	phases_free(r->phases);
	phase_saves_free(r->saves);
	gaps_free(&r->gaps);
	free(r->dir);
	free(r);
}
