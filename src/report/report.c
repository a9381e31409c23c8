/* SPDX-License-Identifier: BSD-2-Clause */
/* From a trace folder to a struct report: the files in order, and outliers among the sums. */
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/cpu/load.h"
#include "report/memory/memory_map.h"
#include "report/notes.h"
#include "report/parts.h"
#include "report/phases/read.h"
#include "report/rows.h"
#include "report/scan/lookup.h"
#include "report/scan/part.h"
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

/* --- in order ---------------------------------------------------------------------------- */

/* Makes all parts that OPTIONS asks for. */
static int prepare(struct report *report, const struct report_options *options)
{
	int res = 0;

	for (const struct report_part *const *part = report_parts; res == 0 && *part; part++)
		if ((*part)->new)
			res = (*part)->new (report, options);
	return res;
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
	report_each_part(begin, report);
	for (enum report_kind kind = REPORT_ROLLUP; kind < REPORT_KINDS; kind++)
		report_read(report, kind, NULL);
	report_each_part(read, report);
	report_note_files(report);
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
	report_each_part(end, report);
	report_note_sums(report, dirfd);
	report->n_top_bytes = report_pick_files(report, report->top_bytes, file_bytes);
	report->n_top_time = report_pick_files(report, report->top_time, file_time);
	pick_procs(report);
	report_look_up_calls(report, &report->slow);
	report_look_up_calls(report, &report->waits);
	report_look_up_calls(report, &report->running);
	report_look_up_calls(report, &report->running_waits);
	report_each_part(settle, report);
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
	report_note_manifest(report, manifest);
	res = manifest_narrow(&report->manifest, &options->window);
	manifest_forget_whole(&report->manifest);
	report->folder->part = manifest_part(&report->manifest);
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
	report_each_part(free, report);
	table_free(&report->files);
	table_free(&report->procs);
	table_free(&report->disks);
	free(report->dir);
	free(report);
}
