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

static void pick_procs(struct report *report)
{
	for (uint32_t i = 0; i < report->procs.n; i++) {
		const struct report_proc *p = table_at(&report->procs, i);
		struct report_proc *at = NULL;

		if (p->calls)
			at = TOP_PLACE(report->top_procs, report->n_top_procs, REPORT_TOP_PROCS, e, e->file_ns,
				       p->file_ns);
		if (at)
			*at = *p;
		report->n_procs += p->calls != 0;
	}
}

/* --- missing data ------------------------------------------------------------------------ */

static bool is_expected(const struct report *report, enum report_kind kind)
{
	const struct manifest_probe *p = manifest_probe(&report->manifest, report_kind_names[kind]);

	if (report->manifest.dry)
		return false;
	if (report->manifest.rollup_only && (kind == REPORT_FILES || kind >= REPORT_BIO))
		return false;
	if (p || kind == REPORT_ROLLUP)
		return p && !manifest_is_untraced(p);
	return kind == REPORT_FILES || kind == REPORT_PIDS || report->manifest.n_probes == 0;
}

/* Adds a note for each reason, with all probes that have it: mostly the same reason holds for all of them. */
static void note_untraced(struct report *report)
{
	const struct manifest_facts *facts = &report->manifest;
	bool listed[MANIFEST_PROBES_MAX] = {};

	for (unsigned int i = 0; i < facts->n_probes; i++) {
		const struct manifest_probe *probe = &facts->probes[i];
		char names[40 * MANIFEST_PROBES_MAX] = "";

		for (unsigned int k = i; k < facts->n_probes && manifest_is_untraced(probe); k++) {
			size_t len = strlen(names);

			if (listed[k] || !manifest_is_untraced(&facts->probes[k]) ||
			    strcmp(facts->probes[k].why, probe->why))
				continue;
			listed[k] = true;
			snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "", facts->probes[k].name);
		}
		if (names[0])
			report_note(report, "%s: not traced: %s", names,
				    probe->why[0] ? probe->why : "no reason given");
	}
}

static void note_manifest(struct report *report, int error)
{
	const struct manifest_facts *facts = &report->manifest;

	if (error == -ENOENT)
		report_note(report, "manifest.json is missing: no command, no host, no losses");
	else if (error < 0)
		report_note(report, "manifest.json is not complete (%s)", strerror(-error));
	else if (!facts->complete)
		report_note(report, "the trace has no end: it is still running, or dltraced was killed");
	if (facts->schema > READER_SCHEMA)
		report_note(report, "manifest.json: schema %" PRIu64 ", newer than this dltraced knows", facts->schema);
}

/* Adds a note about N of something, unless N is 0: ONE or OTHERS, then TEXT. */
static void note_count(struct report *r, const char *what, uint64_t n, const char *one, const char *others,
		       const char *text)
{
	if (n)
		report_note(r, "%s: %s %s", what, FMT_N(n, one, others), text);
}

static void note_losses(struct report *report)
{
	const struct manifest_facts *facts = &report->manifest;

	for (unsigned int i = 0; i < facts->n_probes; i++)
		if (facts->probes[i].lost)
			report_note(report, "%s: %" PRIu64 " lost", facts->probes[i].name, facts->probes[i].lost);
	for (unsigned int i = 0; i < facts->n_probes; i++) {
		note_count(report, facts->probes[i].name, facts->probes[i].unsure, "row was", "rows were",
			   "written but may be missing: the disk refused some writes");
		note_count(report, facts->probes[i].name, facts->probes[i].unmatched, "end", "ends", "without a start");
		note_count(report, facts->probes[i].name, facts->probes[i].late, "row", "rows", "out of time order");
		note_count(report, facts->probes[i].name, facts->probes[i].dropped, "row was", "rows were",
			   "dropped by --keep; rollup.out has the sums");
		note_count(report, facts->probes[i].name, facts->probes[i].summed, "row was", "rows were",
			   "only summed up (--rollup-only), in rollup.out");
		note_count(report, facts->probes[i].name, facts->probes[i].refused, "page was", "pages were",
			   "read ahead for which there was no room to see the use: none counts as used or "
			   "wasted");
		if (!strcmp(facts->probes[i].name, "cache"))
			note_count(report, "cache", facts->probes[i].overwritten, "time a file was", "times a file was",
				   "forgotten that had pages "
				   "in the cache, as there was no room for so many files: these pages count nowhere "
				   "when they leave");
		else
			note_count(report, facts->probes[i].name, facts->probes[i].overwritten, "dirty page was",
				   "dirty pages were",
				   "written back when the writer had been forgotten, as there was no room");
	}
	note_count(report, "rollup", facts->unsummed_rows, "of the dropped rows", "of the dropped rows",
		   "could not be summed up");
	note_count(report, "32-bit calls", facts->compat_calls, "seen", "seen", "but not recorded");
}

static void note_causes(struct report *report)
{
	const struct report_causes *causes = report->causes;

	if (!causes)
		return;
	note_count(report, "too many files", causes->other_files.requests, "request is", "requests are",
		   "in the sum of no file");
	note_count(report, "too many pieces of requests", causes->pieces.left_out, "is", "are",
		   "in the sum of no file");
	note_count(report, "too many processes", causes->other_processes.requests, "request is", "requests are",
		   "in the sum of no process");
	note_count(report, "too much is dirty at the same time", causes->writebacks.writers.left_out,
		   "written byte has", "written bytes have", "no writer at write-back");
	note_count(report, "write-back", causes->writebacks.out_of_order, "write", "writes",
		   "ended so late that the bytes may count for other writers");
}

static void note_limits(struct report *report)
{
	uint64_t reused = 0;

	for (uint32_t i = 0; i < report->procs.n; i++)
		reused += ((const struct report_proc *)table_at(&report->procs, i))->lives > 1;
	note_count(report, "processes", reused, "PID was", "PIDs were", "reused; each has one line");
	if (report->present[REPORT_FILES])
		note_count(report, "files", report->unknown_files, "FID is", "FIDs are", "not in files.out");
	note_count(report, "too many files", report->other_file.calls, "call is", "calls are", "in the sum of no file");
	note_count(report, "too many processes", report->other_proc.calls, "call is", "calls are",
		   "in the sum of no process");
	note_count(report, "too many functions", report->func_left_out, "row is", "rows are",
		   "in the sum of no function");
	if (report->no_result)
		report_note(report, "vfs_rw: %s no result; the %" PRIu64 " requested bytes are in no sum",
			    FMT_N(report->no_result, "row has", "rows have"), report->no_result_bytes);
	path_filter_note(report);
	note_causes(report);
	if (!report->uses)
		return;
	note_count(report, "too many processes and files", report->uses->left_out, "call is", "calls are",
		   "in no sum of a process and a file");
	note_count(report, "too many processes", report->spreads.left_out, "call is", "calls are",
		   "in the medians of no process");
	note_count(report, "too many logs", report->streams->left_out, "write is", "writes are",
		   "in the sum of no log");
}

/* --- in order ---------------------------------------------------------------------------- */

static void note_segments(struct report *report, const struct scan_file *file)
{
	const struct reader *rd = &file->reader;

	if (rd->missing)
		report_note(report, "%s: %s missing", file->name,
			    FMT_N(rd->missing, "segment between others is", "segments between others are"));
	if (rd->gone)
		report_note(report, "%s: %s could be read", file->name,
			    FMT_N(rd->gone, "segment was dropped before it", "segments were dropped before they"));
	if (rd->bad && rd->error == -ENOTSUP)
		report_note(report,
			    "%s: %s compressed in a format that this dltraced was built without: unpack first (zstd -d "
			    "--rm, gzip -d)",
			    file->name, FMT_N(rd->bad, "segment is", "segments are"));
	else if (rd->bad)
		report_note(report, "%s: %s left out", file->name,
			    FMT_N(rd->bad, "segment could not be read and is", "segments could not be read and are"));
	if (rd->damaged)
		report_note(report, "%s: %s damaged; the rows after the damage are left out", file->name,
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
static void note_files(struct report *report)
{
	const struct notes notes = report_notes(report);
	char absent[256] = "";

	for (enum report_kind kind = 0; kind < REPORT_KINDS; kind++) {
		const struct scan_file *file = scan_file(report->folder, report_kind_names[kind]);
		size_t len = strlen(absent);

		if (report->present[kind])
			note_file(report, file);
		if (file->error == -ENOENT && is_expected(report, kind))
			snprintf(absent + len, sizeof(absent) - len, " %s.out", file->name);
		else if (file->error == -ENODATA)
			report_note(report, "%s.out has no header yet", file->name);
		else if (file->error == -EBADMSG)
			report_note(report, "%s.out is not a dltraced file", file->name);
		scan_note_error(file, &notes);
	}
	if (absent[0])
		report_note(report, "files of the trace that are not in its folder:%s", absent);
	report_missing_files(report);
}

static int note_leftover(void *ctx, const char *file)
{
	if (segment_is_leftover(file))
		report_note(ctx,
			    "%s is being written by a running trace, or was left by one that was cut off: "
			    "in that case it can be removed",
			    file);
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
		report_note(r,
			    "phases: the %" PRIu32
			    " lines about epochs can mean an epoch's end or its beginning: it was "
			    "assumed that they %s one; --phase REGEX='epoch %s' says so",
			    s->lines, s->side == EPOCH_ENDS ? "end" : "begin", s->side == EPOCH_ENDS ? "end" : "start");
}

/* Ends open phases at the last row. */
static void end_phases(struct report *report)
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
	note_count(report, "phases", report->phases->outside, "is", "are", "not within the trace, and left out");
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

/* Sets up the optional sums, as OPTIONS asks. */
static int prepare(struct report *report, const struct report_options *options)
{
	int res = path_filter_init(report, options->path);

	if (res < 0)
		return res;
	report->uses = report_uses_new();
	report->streams = report_streams_new();
	report->datasets = report_datasets_new();
	report->causes = report_causes_new();
	report->faults = report_faults_new();
	report->cache = report_cache_new();
	report->allocs = report_allocs_new();
	report->accesses = report_accesses_new();
	if (!report->uses || !report->streams || !report->datasets || !report->causes || !report->faults ||
	    !report->cache || !report->allocs || !report->accesses)
		return -ENOMEM;
	if (options->timed) {
		report->timeline = timeline_new(options->begin_ns ? options->begin_ns : report->manifest.start_ns);
		report->saves = phase_saves_new();
		if (!report->timeline || !report->saves)
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
static int read_names(struct report *report, int dirfd, const struct scan_clocks *clocks,
		      const struct report_options *options)
{
	struct scan_taker pids = { .take = report_cpu_pids_row, .own = report->cpu },
			  files = { .take = report_cpu_files_row, .own = report->cpu };
	struct phases *phases = NULL;
	int res = 0;

	if ((options->timed || report->cpu) &&
	    phases_read(&phases, dirfd, &report->manifest, options->phases, &clocks->phases) < 0)
		return -ENOMEM;
	for (unsigned int i = 0; options->timed && i < phases->n_notes; i++)
		report_note(report, "%s", phases->notes[i]);
	report_read(report, REPORT_PIDS, report->cpu ? &pids : NULL);
	if (report->cpu)
		res = report_cpu_sched(report->cpu, report->folder, &pids, phases);
	if (options->timed)
		report->phases = phases;
	else
		phases_free(phases);
	if (res < 0)
		return res;
	report_read(report, REPORT_FILES, res > 0 ? &files : NULL);
	if (res > 0)
		report_cpu_files_end(report->cpu, scan_file(report->folder, "files"), &files);
	return 0;
}

/* Reads all files, in an order in which the names that rows refer to are known before them. */
static int read_files(struct report *report, int dirfd, struct scan_clocks *clocks,
		      const struct report_options *options)
{
	struct scan_taker clock = { .take = scan_clocks_take, .own = clocks };
	int res;

	report_read(report, REPORT_TIME_ALIGN, &clock);
	report_clock_gaps(report, clocks);
	res = read_names(report, dirfd, clocks, options);
	if (res < 0)
		return res;
	if (!options->path)
		why_begin(report);
	report_causes_begin(report);
	for (enum report_kind kind = REPORT_ROLLUP; kind < REPORT_KINDS; kind++)
		report_read(report, kind, NULL);
	report_faults_read(report);
	report_cache_read(report);
	report_allocs_read(report);
	note_files(report);
	window_counts_apply(report, dirfd);
	if (report->cpu)
		report_cpu_end(report->cpu, report->folder, &clock);
	report_timeline_files(report);
	return 0;
}

static int read_all(struct report *report, int dirfd, int manifest, const struct report_options *options)
{
	struct scan_clocks *clocks = calloc(1, sizeof(*clocks));
	int res = clocks ? prepare(report, options) : -ENOMEM;

	if (res == 0)
		res = begin_cpu(report, manifest, options);
	if (res == 0)
		res = read_files(report, dirfd, clocks, options);
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
static void sum_up(struct report *report, int dirfd)
{
	end_phases(report);
	if (report->causes)
		report_causes_end(report);
	if (report->cache)
		report_cache_end(report);
	if (report->allocs)
		report_allocs_end(report);
	if (report->accesses)
		report_accesses_read(report);
	note_losses(report);
	note_limits(report);
	segment_each_entry(dirfd, note_leftover, report);
	report->n_top_bytes = report_pick_files(report, report->top_bytes, file_bytes);
	report->n_top_time = report_pick_files(report, report->top_time, file_time);
	pick_procs(report);
	report_look_up_calls(report, &report->slow);
	report_look_up_calls(report, &report->waits);
	report_look_up_calls(report, &report->running);
	report_look_up_calls(report, &report->running_waits);
	if (report->datasets)
		report_datasets_end(report, report->why ? why_fetched_bytes : NULL);
	why_settle(report);
	infer_phases(report);
	why_end(report);
	report_missing_end(report);
	if (report->uses) {
		report_uses_pick(report);
		report_streams_pick(report);
	}
}

static int load(struct report *report, const char *dir, int dirfd, const struct report_options *options)
{
	int manifest = manifest_read_at(&report->manifest, dirfd), res;

	report->dir = strdup(dir);
	report->folder = scan_folder_new(dirfd);
	if (!report->dir || !report->folder)
		return -ENOMEM;
	report->has_manifest = strcmp(report->manifest.tool, "dltraced") == 0;
	report->folder->window = options->window;
	note_manifest(report, manifest);
	note_untraced(report);
	res = manifest_narrow(&report->manifest, &options->window);
	if (res == 0)
		res = read_all(report, dirfd, manifest, options);
	if (res < 0)
		return res;
	if (!report->has_manifest && !any_present(report))
		return manifest == -EACCES ? manifest : -ENODATA;
	sum_up(report, dirfd);
	if (options->memory && !options->path)
		memory_map_read(report, options->memory);
	/* many traces at once would need too many descriptors */
	scan_folder_free(report->folder);
	report->folder = NULL;
	return 0;
}

int report_load_at(struct report **ret, const char *dir, int dirfd, const struct report_options *options)
{
	struct report *report = calloc(1, sizeof(*report));
	int res;

	if (!report)
		return -ENOMEM;
	table_init(&report->files, sizeof(struct report_file), REPORT_FILES_MAX);
	table_init_pids(&report->procs, sizeof(struct report_proc), REPORT_PROCS_MAX);
	table_init(&report->disks, sizeof(struct report_disk), REPORT_DISKS_MAX);
	res = load(report, dir, dirfd, options);
	if (res < 0) {
		report_free(report);
		return res;
	}
	*ret = report;
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

void report_free(struct report *report)
{
	if (!report)
		return;
	scan_folder_free(report->folder);
	for (unsigned int i = 0; i < REPORT_TOP; i++) {
		free(report->top_bytes[i].path);
		free(report->top_time[i].path);
	}
	for (uint32_t i = 0; i < report->disks.n; i++)
		free_disk(table_at(&report->disks, i));
	free_disk(&report->other_disk);
	free_calls(&report->slow);
	free_calls(&report->waits);
	free_calls(&report->running);
	free_calls(&report->running_waits);
	for (unsigned int i = 0; i < report->n_notes; i++)
		free(report->notes[i]);
	missing_free(&report->missing);
	table_free(&report->files);
	report_spreads_free(report);
	table_free(&report->procs);
	table_free(&report->disks);
	timeline_free(report->timeline);
	why_free(report->why);
	report_cpu_free(report->cpu);
	report_funcs_free(report);
	report_uses_free(report->uses);
	report_streams_free(report->streams);
	report_datasets_free(report->datasets);
	report_causes_free(report->causes);
	report_faults_free(report->faults);
	report_cache_free(report->cache);
	report_allocs_free(report->allocs);
	report_accesses_free(report->accesses);
	memory_map_free(report->memory);
	free(report->only.path);
	phases_free(report->phases);
	phase_saves_free(report->saves);
	gaps_free(&report->gaps);
	free(report->dir);
	free(report);
}
