/* SPDX-License-Identifier: BSD-2-Clause */
/* What a report has to say about the trace itself: files that are not there, rows that were lost, limits. */
#include "report/notes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "report/missing.h"
#include "report/parts.h"
#include "report/scan/part.h"
#include "report/scan/scan.h"
#include "trace/segment.h"

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

void report_note_manifest(struct report *report, int error)
{
	const struct manifest_facts *facts = &report->manifest;

	if (error == -ENOENT)
		report_note(report, "manifest.json is missing: no command, no host, no losses");
	else if (error < 0)
		report_note(report, "manifest.json is not complete (%s)", strerror(-error));
	else if (!facts->complete)
		report_note(report, "the trace has no end: it is still running, or dltraced was killed");
	note_untraced(report);
}

static void note_losses(struct report *report)
{
	const struct manifest_facts *facts = &report->manifest;

	for (unsigned int i = 0; i < facts->n_probes; i++)
		if (facts->probes[i].lost)
			report_note(report, "%s: %" PRIu64 " lost", facts->probes[i].name, facts->probes[i].lost);
	for (unsigned int i = 0; i < facts->n_probes; i++) {
		report_note_count(report, facts->probes[i].name, facts->probes[i].unsure, "row was", "rows were",
				  "written but may be missing: the disk refused some writes");
		report_note_count(report, facts->probes[i].name, facts->probes[i].unmatched, "end", "ends",
				  "without a start");
		report_note_count(report, facts->probes[i].name, facts->probes[i].late, "row", "rows",
				  "out of time order");
		report_note_count(report, facts->probes[i].name, facts->probes[i].dropped, "row was", "rows were",
				  "dropped by --keep; rollup.out has the sums");
		report_note_count(report, facts->probes[i].name, facts->probes[i].summed, "row was", "rows were",
				  "only summed up (--keep sums), in rollup.out");
		if (strcmp(facts->probes[i].name, "cache") != 0)
			report_note_count(report, facts->probes[i].name, facts->probes[i].refused, "call was",
					  "calls were", "refused by a seccomp filter, and have no rows");
		else
			report_note_count(report, "cache", facts->probes[i].refused, "page was", "pages were",
					  "read ahead for which there was no room to see the use: none counts as used "
					  "or wasted");
		if (!strcmp(facts->probes[i].name, "cache"))
			report_note_count(
				report, "cache", facts->probes[i].overwritten, "time a file was", "times a file was",
				"forgotten that had pages "
				"in the cache, as there was no room for so many files: these pages count nowhere "
				"when they leave");
		else
			report_note_count(report, facts->probes[i].name, facts->probes[i].overwritten, "dirty page was",
					  "dirty pages were",
					  "written back when the writer had been forgotten, as there was no room");
	}
	report_note_count(report, "rollup", facts->unsummed_rows, "of the dropped rows", "of the dropped rows",
			  "could not be summed up");
	report_note_count(report, "32-bit calls", facts->compat_calls, "seen", "seen", "but not recorded");
}

static void note_limits(struct report *report)
{
	uint64_t reused = 0;

	for (uint32_t i = 0; i < report->procs.n; i++)
		reused += ((const struct report_proc *)table_at(&report->procs, i))->lives > 1;
	report_note_count(report, "processes", reused, "PID was", "PIDs were", "reused; each has one line");
	if (report->present[REPORT_FILES])
		report_note_count(report, "files", report->unknown_files, "FID is", "FIDs are", "not in files.out");
	report_note_count(report, "too many files", report->other_file.calls, "call is", "calls are",
			  "in the sum of no file");
	report_note_count(report, "too many processes", report->other_proc.calls, "call is", "calls are",
			  "in the sum of no process");
	report_note_count(report, "too many functions", report->func_left_out, "row is", "rows are",
			  "in the sum of no function");
	if (report->no_result)
		report_note(report, "vfs_rw: %s no result; the %" PRIu64 " requested bytes are in no sum",
			    FMT_N(report->no_result, "row has", "rows have"), report->no_result_bytes);
}

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
void report_note_files(struct report *report)
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

void report_note_sums(struct report *report, int dirfd)
{
	note_losses(report);
	note_limits(report);
	report_each_part(note, report);
	segment_each_entry(dirfd, note_leftover, report);
}
