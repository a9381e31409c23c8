/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a trace folder to a struct report: which files there are, what stands out in their sums,
 * and which sentences the reader must know about what is missing.
 */
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/cpu/load.h"
#include "report/phases/read.h"
#include "report/rows.h"
#include "report/scan/lookup.h"
#include "report/scan/only.h"
#include "report/scan/spreads.h"
#include "report/scan/streams.h"
#include "report/scan/uses.h"
#include "report/timeline.h"
#include "report/why/load.h"

/* --- what stands out --------------------------------------------------------------------- */

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
	struct report_proc *top = r->top_procs;
	unsigned int n = 0, at;

	for (uint32_t i = 0; i < r->procs.n; i++) {
		const struct report_proc *p = table_at(&r->procs, i);

		if (p->calls == 0)
			continue;
		r->n_procs++;
		if (n == REPORT_TOP_PROCS && p->file_ns <= top[n - 1].file_ns)
			continue;
		n = MIN(n + 1, REPORT_TOP_PROCS);
		for (at = n - 1; at > 0 && top[at - 1].file_ns < p->file_ns; at--)
			top[at] = top[at - 1];
		top[at] = *p;
	}
	r->n_top_procs = n;
}

/* --- what is missing --------------------------------------------------------------------- */

static bool is_expected(const struct report *r, enum report_kind kind)
{
	const struct manifest_probe *p = manifest_probe(&r->manifest, report_kind_names[kind]);

	if (r->manifest.rollup_only && (kind == REPORT_FILES || kind >= REPORT_BIO))
		return false;
	if (p || kind == REPORT_ROLLUP)
		return p && !manifest_is_untraced(p);
	return kind == REPORT_FILES || kind == REPORT_PIDS || r->manifest.n_probes == 0;
}

/* A sentence for each reason: mostly there is one for all of them. */
static void note_untraced(struct report *r)
{
	const struct manifest_facts *m = &r->manifest;
	bool told[MANIFEST_PROBES_MAX] = {};

	for (unsigned int i = 0; i < m->n_probes; i++) {
		const struct manifest_probe *p = &m->probes[i];
		char names[40 * MANIFEST_PROBES_MAX] = "";

		for (unsigned int k = i; k < m->n_probes && manifest_is_untraced(p); k++) {
			size_t len = strlen(names);

			if (told[k] || !manifest_is_untraced(&m->probes[k]) || strcmp(m->probes[k].why, p->why))
				continue;
			told[k] = true;
			snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "", m->probes[k].name);
		}
		if (names[0])
			report_note(r, "%s: not traced: %s", names, p->why[0] ? p->why : "no reason is given");
	}
}

static void note_manifest(struct report *r, int error)
{
	const struct manifest_facts *m = &r->manifest;

	if (error == -ENOENT)
		report_note(r, "manifest.json is not there: no command, no host, no losses");
	else if (error < 0)
		report_note(r, "manifest.json is not whole (%s)", strerror(-error));
	else if (!m->complete)
		report_note(r, "the trace has no end: it still runs, or dltraced was killed");
	if (m->schema > READER_SCHEMA)
		report_note(r, "manifest.json: schema %" PRIu64 ", newer than this dltraced knows",
			    m->schema);
}

/* A sentence about N of something, when there is any. */
static void note_count(struct report *r, const char *what, uint64_t n, const char *text)
{
	if (n)
		report_note(r, "%s: %" PRIu64 " %s", what, n, text);
}

static void note_losses(struct report *r)
{
	const struct manifest_facts *m = &r->manifest;

	for (unsigned int i = 0; i < m->n_probes; i++)
		note_count(r, m->probes[i].name, m->probes[i].lost, "lost");
	for (unsigned int i = 0; i < m->n_probes; i++) {
		note_count(r, m->probes[i].name, m->probes[i].unsure,
			   "rows were written and may be missing: the disk has refused some of what it was given");
		note_count(r, m->probes[i].name, m->probes[i].unmatched, "ends without a start");
		note_count(r, m->probes[i].name, m->probes[i].late, "rows out of time order");
		note_count(r, m->probes[i].name, m->probes[i].dropped,
			   "rows were dropped by --keep; rollup.out has their sums");
		note_count(r, m->probes[i].name, m->probes[i].summed,
			   "rows were only summed up (--rollup-only), in rollup.out");
	}
	note_count(r, "rollup", m->unsummed_rows, "of the dropped rows could not be summed up");
	note_count(r, "32-bit calls", m->compat_calls, "seen but not recorded");
}

static void note_limits(struct report *r)
{
	uint64_t reused = 0;

	for (uint32_t i = 0; i < r->procs.n; i++)
		reused += ((const struct report_proc *)table_at(&r->procs, i))->lives > 1;
	note_count(r, "processes", reused, "PIDs were used again and are one line each");
	if (r->present[REPORT_FILES])
		note_count(r, "files", r->unknown_files, "FIDs are not in files.out");
	note_count(r, "too many files", r->other_file.calls, "calls are in no file's sum");
	note_count(r, "too many processes", r->other_proc.calls, "calls are in no process's sum");
	if (r->no_result)
		report_note(r, "vfs_rw: %" PRIu64 " rows tell no result; the %" PRIu64
			    " bytes they asked for are in no sum", r->no_result,
			    r->no_result_bytes);
	report_only_note(r);
	if (!r->uses)
		return;
	note_count(r, "too many processes and files", r->uses->left_out, "calls are in no sum of a process's file");
	note_count(r, "too many processes", r->spreads.left_out, "calls are in no process's medians");
	note_count(r, "too many logs", r->streams->left_out, "writes are in no log's sum");
}

/* --- all of it --------------------------------------------------------------------------- */

/* Read every file; true when one of them is a trace's. */
static bool scan_all(struct report *r, int dirfd, bool why)
{
	char absent[256] = "";
	bool any = false;

	for (enum report_kind kind = 0; kind < REPORT_KINDS; kind++) {
		const char *name = report_kind_names[kind];
		int res = report_read(r, kind, dirfd);
		size_t len = strlen(absent);

		any |= r->present[kind];
		if (res == -ENOENT && is_expected(r, kind))
			snprintf(absent + len, sizeof(absent) - len, " %s.out", name);
		else if (res == -ENODATA)
			report_note(r, "%s.out has no header yet", name);
		else if (res == -EBADMSG)
			report_note(r, "%s.out is not a dltraced file", name);
		else if (res == -ENOTSUP)
			report_note(r, "%s.out is packed as this dltraced was built without; unpack it first "
				    "(zstd -d --rm, gzip -d)", name);
		else if (res < 0 && res != -ENOENT)
			report_note(r, "%s.out could not be read: %s", name, strerror(-res));
		if (kind == REPORT_PIDS && why)
			why_begin(r, dirfd);
	}
	if (absent[0])
		report_note(r, "not there:%s", absent);
	return any;
}

static int note_leftover(void *ctx, const char *file)
{
	if (segment_is_leftover(file))
		report_note(ctx, "%s is being made by a trace that runs, or was left by one that was cut off: "
				 "then it can be removed", file);
	return 0;
}

/* --- phases and gaps --------------------------------------------------------------------- */

static void note_phases(void *ctx, const char *text)
{
	report_note(ctx, "%s", text);
}

/* All rows are in: what has no end lasts until here. */
static void end_phases(struct report *r)
{
	const struct timeline *t = r->timeline;
	uint64_t begin_ns, end_ns;

	gaps_sort(&r->gaps);
	if (!r->phases)
		return;
	begin_ns = MAX(t->begin_ns, r->manifest.start_ns);
	end_ns = MAX(MAX(t->end_ns, r->last_ns), r->manifest.end_ns);
	phases_end(r->phases, begin_ns, end_ns);
	note_count(r, "phases", r->phases->outside, "are not within the trace and were left out");
}

/* Where the job told of none; when it is known who trains. */
static void infer_phases(struct report *r)
{
	uint64_t from_ns;
	bool sure;

	if (!r->phases)
		return;
	sure = why_trains_from(r, &from_ns);
	phases_infer(r->phases, r->timeline, from_ns, sure);
}

/* What is summed up beside the rest, as O asks. */
static int prepare(struct report *r, int dirfd, const struct report_options *o)
{
	int res = report_only_init(r, o->path);

	if (res < 0)
		return res;
	if (!o->brief) {
		r->uses = report_uses_new();
		r->streams = report_streams_new();
		if (!r->uses || !r->streams)
			return -ENOMEM;
	}
	if (o->timed) {
		r->timeline = timeline_new(o->begin_ns ? o->begin_ns : r->manifest.start_ns);
		if (!r->timeline || phases_read(&r->phases, dirfd, &r->manifest, o->phases, note_phases, r) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* CPU time, as far as it needs no rows of calls: a trace need not have any. */
static int begin_cpu(struct report *r, int dirfd, const struct report_options *o)
{
	int res = o->cpu ? report_cpu_begin(&r->cpu, r->dir, dirfd, o->cpu) : 0;

	return res == -ENOMSG || res == -ENODATA || res == -EACCES ? 0 : res;
}

static int load(struct report *r, const char *dir, int dirfd, const struct report_options *o)
{
	int manifest = manifest_read_at(&r->manifest, dirfd), res;

	r->dir = strdup(dir);
	if (!r->dir)
		return -ENOMEM;
	r->has_manifest = strcmp(r->manifest.tool, "dltraced") == 0;
	note_manifest(r, manifest);
	note_untraced(r);
	res = prepare(r, dirfd, o);
	if (res == 0)
		res = begin_cpu(r, dirfd, o);
	if (res < 0)
		return res;
	if (!scan_all(r, dirfd, !o->brief && !o->path) && !r->has_manifest)
		return manifest == -EACCES ? manifest : -ENODATA;
	if (r->cpu)
		report_cpu_end(r->cpu, dirfd);
	report_timeline_files(r, dirfd);
	end_phases(r);
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
	why_end(r, dirfd);
	infer_phases(r);
	if (r->uses) {
		report_uses_pick(r);
		report_streams_pick(r);
	}
	/* of many traces at once there would be too many descriptors */
	for (unsigned int i = 0; i < REPORT_KINDS; i++)
		reader_close(&r->readers[i]);
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
	for (unsigned int i = 0; i < REPORT_KINDS; i++)
		reader_close(&r->readers[i]);
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
	table_free(&r->files);
	report_spreads_free(r);
	table_free(&r->procs);
	table_free(&r->disks);
	timeline_free(r->timeline);
	why_free(r->why);
	report_cpu_free(r->cpu);
	report_uses_free(r->uses);
	report_streams_free(r->streams);
	free(r->only.path);
	phases_free(r->phases);
	gaps_free(&r->gaps);
	free(r->dir);
	free(r);
}
