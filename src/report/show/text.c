/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct report as text for a terminal: its facts, and the order of its sections. */
#include <stdio.h>
#include <sys/wait.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/disk/faults.h"
#include "report/path/path.h"
#include "report/report.h"
#include "report/scan/model.h"
#include "report/show/json.h"
#include "report/show/show.h"
#include "report/show/tables/tables.h"
#include "report/show/text.h"
#include "report/why/why.h"

#define FACT_LABEL "%-12s "
#define FACT_WIDTH 12
#define COMMAND_SHOWN 1000U

void text_fact(FILE *out, int width, const char *label, const char *value)
{
	if (!value[0])
		return;
	fprintf(out, "%-*s ", width, label);
	fmt_plain(out, value, 0);
	fputc('\n', out);
}

/* A window that begins before the trace does, begins with it. */
static void text_window(const struct manifest_facts *m, const char *label, FILE *out)
{
	if (!m->window.end_ns)
		return;
	fprintf(out, "%srows from %s on", label, m->start_utc[0] ? m->start_utc : "--from");
	if (m->window.end_ns != UINT64_MAX)
		fprintf(out, " and before %s", m->end_utc[0] ? m->end_utc : "--to");
	fputc('\n', out);
}

void text_only(const struct report *r, const char *label, const char *rest, FILE *out)
{
	text_window(&r->manifest, label, out);
	if (!r->only.path)
		return;
	fprintf(out, "%scalls on files at or below ", label);
	fmt_text(out, r->only.path[0] ? r->only.path : "/", 0);
	fprintf(out, ", without %s of ", FMT_COUNT(r->only.left_out));
	fprintf(out, "%s%s\n", FMT_N(r->only.rows, "row", "rows"), rest);
}

void text_notes(FILE *out, char *const *notes, unsigned int n)
{
	view_title(out, "What is missing");
	for (unsigned int i = 0; i < n; i++)
		fmt_line(out, "- ", notes[i]);
	if (n == 0)
		fputs("nothing that dltraced knows of\n", out);
}

/* --- run facts ------------------------------------------------------------------------------- */

static void fact(FILE *out, const char *label, const char *value)
{
	text_fact(out, FACT_WIDTH, label, value);
}

/* The folders to which lists of files are restricted. */
static void fact_listed(const struct report *report, FILE *out)
{
	const struct data_dirs *dirs = report->phases ? &report->phases->data_dirs : NULL;

	if (!dirs || !data_dirs_any(dirs) || report->only.path)
		return;
	fprintf(out, FACT_LABEL "files at or below", "listed");
	for (unsigned int i = 0; i < dirs->n; i++) {
		fputs(i ? ", " : " ", out);
		fmt_text(out, dirs->path[i], 0);
	}
	fputs(" (DFTRACER_DATA_DIR); --path lists others\n", out);
}

/* A command may have 100 KB, as a program for an interpreter has. */
static void fact_command(const char *command, FILE *out)
{
	const int shown = fmt_fits(command, COMMAND_SHOWN);
	autofree char *text = util_fmt("%.*s ... (manifest.json has all of it)", shown, command);

	fact(out, "command", command[shown] && text ? text : command);
}

static void facts(const struct report *report, FILE *out)
{
	const struct manifest_facts *manifest_facts = &report->manifest;
	uint64_t self_us = manifest_facts->self_user_us + manifest_facts->self_system_us;

	fact(out, "trace", report->dir);
	text_only(report, "only         ", "; disks are whole", out);
	fact_listed(report, out);
	fact_command(report_command(report), out);
	fact(out, "user", manifest_facts->user);
	fact(out, "host", manifest_facts->host);
	fact(out, "kernel", manifest_facts->kernel);
	fact(out, "started", report_started(report));
	fact(out, "lasted", FMT_NS(report_duration_ns(report)));
	if (manifest_facts->has_status)
		fprintf(out, FACT_LABEL "%s %d\n", "ended",
			WIFSIGNALED(manifest_facts->status) ? "killed by signal" : "exit status",
			WIFSIGNALED(manifest_facts->status) ? WTERMSIG(manifest_facts->status) :
							      WEXITSTATUS(manifest_facts->status));
	text_usage(report, FACT_WIDTH, out);
	fprintf(out, FACT_LABEL "%s, %s\n", "files", report->missing.complete ? "complete" : "NOT complete",
		FMT_BYTES(report->trace_bytes));
	if (report->present[REPORT_TIME_ALIGN])
		fprintf(out, FACT_LABEL "UTC within %s, steps: %s%s%s\n", "clock", FMT_NS(report->clock_error_ns),
			FMT_COUNT(report->clock_steps), report->asleep_ns ? ", the machine slept for " : "",
			report->asleep_ns ? FMT_NS(report->asleep_ns) : "");
	if (self_us)
		fact(out, "dltraced CPU", FMT_NS(self_us * 1000));
	for (unsigned int i = 0; i < manifest_facts->n_collectors; i++) {
		fprintf(out, FACT_LABEL, i ? "" : "collectors");
		fmt_text(out, manifest_facts->collectors[i].name, 0);
		fmt_line(out, ": ", manifest_facts->collectors[i].state);
	}
}

/* --- the report ------------------------------------------------------------------------------- */

static void sources_text(const void *of, FILE *out)
{
	const struct report *report = of;

	view_text(&view_sources, report, out);
	fputs("FROM DISK is what the kernel fetched from disk for these calls, read-ahead included; the\n"
	      "rest of the buffered bytes came from the page cache.\n",
	      out);
	if (report->source[REPORT_BUFFERED].unaccounted)
		fprintf(out, "Buffered reads without an account of it (DISK_BYTES is -): %s.\n",
			FMT_COUNT(report->source[REPORT_BUFFERED].unaccounted));
	if (report->faults && report->faults->present)
		fprintf(out,
			"Page faults on mapped files that waited for a disk: %s, %s fetched; mappings of files made: "
			"%s, of %s.\n",
			FMT_COUNT(report->faults->file.n + report->faults->kernel.n),
			FMT_BYTES(report->faults->file.bytes + report->faults->kernel.bytes),
			FMT_COUNT(report->map_calls), FMT_BYTES(report->map_bytes));
	else
		fprintf(out, "Reads through mmap are not covered; mappings of files made: %s, of %s.\n",
			FMT_COUNT(report->map_calls), FMT_BYTES(report->map_bytes));
	if (report->why && report->why->reclaims.machine.n + report->why->reclaims.cgroup.n)
		fprintf(out,
			"Direct reclaims of memory: %s at a cgroup's limit, %s in all; %s for the machine, %s in "
			"all.\n",
			FMT_COUNT(report->why->reclaims.cgroup.n), FMT_NS(report->why->reclaims.cgroup.ns),
			FMT_COUNT(report->why->reclaims.machine.n), FMT_NS(report->why->reclaims.machine.ns));
}

static bool has_why(const void *of)
{
	const struct why *w = ((const struct report *)of)->why;

	return w && w->rules;
}

static bool has_path(const void *of)
{
	const struct report_path *path = ((const struct report *)of)->path;

	return path && path->n;
}

static void epochs_text(const void *of, FILE *out)
{
	const struct report *r = of;
	const struct why *w = r->why;

	if (!w || !w->n_epochs || !(w->by_epoch || w->epoch[0].reads))
		return;
	view_text(&view_epochs, r, out);
	view_text(&view_epochs_more, r, out);
}

static bool has_source(const struct phases *p, enum phase_source source)
{
	for (uint32_t i = 0; i < p->all.n; i++)
		if (p->names[p->all.v[i].name].source == source)
			return true;
	return false;
}

#define NO_LINE "no line that the job printed names an epoch in a form that dltraced knows: if it has epochs, "
#define AS_IN "--phase 'Round ([0-9]+)=epoch \\1', in the words of your lines (dltraced(8), PHASES)"

const char *text_unnamed(const struct report *r)
{
	/* a part may lie within an epoch, whose lines are outside of it */
	if (!r->phases || !phases_are_unnamed(r->phases) || r->manifest.cut_begin_ns)
		return NULL;
	return r->phases->printed_kept ? NO_LINE "report with " AS_IN : NO_LINE "trace again with " AS_IN;
}

static void phases_text(const void *of, FILE *out)
{
	const struct report *report = of;
	const struct phases *phases = report->phases;
	static const char *const sides[] = {
		[EPOCH_ENDS] = "the end", [EPOCH_BEGINS] = "the begin", [EPOCH_LASTS] = "both ends"
	};

	view_text(&view_phase_sums, report, out);
	for (unsigned int i = 0; phases && i < phases->n_rules; i++) {
		fprintf(out, "Lines that --phase matched: %s", FMT_COUNT(phases->rules[i].lines));
		fmt_line(out, " of ", phases->rules[i].text);
	}
	if (phases && phases->has_score)
		fprintf(out,
			"%s neither beginning nor end: by the text, the workers and the reads it is %s of an "
			"epoch%s.\n",
			FMT_N(phases->score.lines, "line is about epochs and names", "lines are about epochs and name"),
			sides[phases->score.side], phases->score.assumed ? ", which is assumed" : "");
	if (phases && has_source(phases, PHASE_WORKERS))
		fputs("Neither a log nor a mark names epochs: each is a generation of worker processes.\n", out);
	if (phases && has_source(phases, PHASE_INFERRED))
		fputs("Neither a log nor a mark names phases: these are inferred from the reads and writes.\n", out);
	if (text_unnamed(report))
		fprintf(out, "Epochs: %s.\n", text_unnamed(report));
}

static void top_text(const void *of, FILE *out)
{
	const struct report *report = of;

	why_answer(report, out);
	failed_text(report, 0, out);
	path_text(report, 0, out);
	if (!path_is_known(report))
		account_text(report, out);
	report_missing_text(report, out);
	facts(report, out);
	why_findings(report, out);
}

static void notes_text(const void *of, FILE *out)
{
	const struct report *r = of;

	text_notes(out, r->notes, r->n_notes);
}

static void no_text(const void *r, FILE *out)
{
	(void)r, (void)out;
}

const struct view_section report_sections[] = {
	{ .text = top_text, .json = report_facts_json, .sum = true },
	{ &view_missing_reasons, .json = report_more_facts_json, .sum = true },
	{ .json = report_why_json },
	{ .json = report_path_json },
	{ &view_path_nodes, .has = has_path },
	{ &view_path_edges, .has = has_path },
	{ &view_what_if, .text = what_if_text, .json = report_what_if_json },
	{ &view_failed, .text = no_text },
	{ &view_account, .text = no_text, .has = has_why },
	{ &view_epochs, .text = epochs_text, .has = has_why },
	{ &view_epoch_sizes, .text = no_text },
	{ &view_epoch_files, .text = no_text },
	{ &view_regions },
	{ &view_layers },
	{ &view_steps },
	{ &view_slowest_steps },
	{ &view_overlap },
	{ &view_probes, .sum = true },
	{ &view_rollup, .sum = true },
	{ &view_functions },
	{ &view_meta },
	{ &view_syscalls },
	{ &view_syscalls_by_process },
	{ &view_phase_sums, .text = phases_text },
	{ &view_types, .sum = true },
	{ &view_sources, .text = sources_text, .json = report_maps_json, .sum = true },
	{ &view_read_sizes, .sum = true },
	{ &view_histograms, .text = report_octaves_text },
	{ &view_histogram_counts, .text = no_text },
	{ &view_datasets },
	{ &view_files_by_bytes },
	{ &view_files_by_time },
	{ &view_files_by_written },
	{ &view_files_by_opens },
	{ &view_files_shared },
	{ &view_uses_by_bytes },
	{ &view_uses_by_time },
	{ &view_shm },
	{ &view_processes },
	{ &view_medians },
	{ &view_process_histograms },
	{ &view_classes },
	{ &view_logs },
	{ &view_slowest },
	{ &view_waits },
	{ &view_running },
	{ &view_running_waits },
	{ &view_network },
	{ &view_cgroups },
	{ &view_disks },
	{ &view_disk_ops },
	{ &view_causes },
	{ &view_causers },
	{ &view_cache },
	{ &view_cache_epochs },
	{ &view_allocs, .text = report_alloc_text, .sum = true },
	{ &view_alloc_phases },
	{ &view_allocs_by_peak },
	{ &view_allocs_by_bytes },
	{ &view_allocs_by_short },
	{ &view_allocs_by_left },
	{ &view_alloc_processes },
	{ &view_access_untouched },
	{ &view_access_once },
	{ &view_access_files },
	{ &view_access_processes },
	{ .text = notes_text, .json = report_rest_json },
	{ 0 },
};

void report_text(const struct report *r, FILE *out)
{
	if (r->manifest.dry) {
		text_dry(out);
		facts(r, out);
		return;
	}
	view_sections_text(report_sections, r, false, out);
}
