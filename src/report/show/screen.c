/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first screen of a struct report: the answer with its evidence, where the time went, other findings, missing data,
 * and what to run next. It has about 24 lines of 80 columns; report_text() has the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/shell.h"
#include "base/util.h"
#include "base/wrap.h"
#include "report/disk/causes.h"
#include "report/path/path.h"
#include "report/rules/rules.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "report/show/tables/tables.h"
#include "report/show/text.h"
#include "report/why/why.h"

#define FOUND_SHOWN 3U
#define COMMAND_MAX 4096
#define COMMAND_SHOWN 200U /* columns of the job's */
#define LABEL 9 /* columns of a fact's name, with a blank */

/* Prints the text that PUT writes of FINDING, broken at WIDTH. */
static void wrap_finding(const struct finding *finding, void (*put)(const struct finding *f, FILE *out),
			 unsigned int width, FILE *out)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *line = open_memstream(&text, &len);

	if (!line)
		return;
	put(finding, line);
	if (fclose(line) != 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	wrap_text(out, text, 0, width);
}

static void put_answer(const struct finding *f, unsigned int width, FILE *out)
{
	wrap_finding(f, why_headline, width, out);
	for (unsigned int i = 0; i < MIN(f->n, TEXT_EVIDENCE_SHOWN); i++)
		wrap_from(out, 2, f->evidence[i], width);
	if (!finding_advice(f))
		return;
	fputs("  => ", out);
	wrap_text(out, finding_advice(f), strlen("  => "), width);
}

static void put_found(const struct rules *rules, unsigned int width, FILE *out)
{
	if (!rules->n)
		return;
	fputs("\nAlso found\n", out);
	for (unsigned int i = 0; i < MIN(rules->n, FOUND_SHOWN); i++)
		wrap_finding(&rules->found[i], why_headline, width, out);
	if (rules->n > FOUND_SHOWN)
		fprintf(out, "and %u more\n", rules->n - FOUND_SHOWN);
}

static void fact(FILE *out, const char *label, const char *text, unsigned int width)
{
	fprintf(out, "%-*s", LABEL, label);
	wrap_text(out, text, LABEL, width);
}

/* Returns how many reasons are more than a small loss, for which the answer stays what it is; *FIRST: one of these. */
static unsigned int weighty(const struct report_missing *m, const struct missing_reason **first)
{
	unsigned int n = 0;

	for (unsigned int i = m->n; i-- > 0;)
		if (m->reason[i].matters || missing_is_damage(&m->reason[i])) {
			*first = &m->reason[i];
			n++;
		}
	return n;
}

/* Prints which calls are missing; the notes also have oddities, and other missing data. */
static void put_missing(const struct report *r, unsigned int width, FILE *out)
{
	const struct report_missing *m = &r->missing;
	const struct missing_reason *reason = NULL;
	const char *first = "nothing that dltraced knows of";
	autofree char *text = NULL;
	unsigned int n = weighty(m, &reason);

	if (n)
		first = reason->text;
	else if (m->n)
		text = util_fmt("nothing that matters for the answer (--full has %s)",
				FMT_N(m->n, "small loss", "small losses"));
	else if ((n = r->n_notes) > 0)
		first = r->notes[0];
	if (n > 1)
		text = util_fmt("%s (and %u more)", first, n - 1);
	fact(out, "missing", text ? text : first, width);
}

/* Prints how to name the job's epochs, where none of its lines does. */
static void put_epochs(const struct report *r, unsigned int width, FILE *out)
{
	if (text_unnamed(r))
		fact(out, "epochs", text_unnamed(r), width);
}

static const char *name_of(const struct report_cause_row *row)
{
	if (row->path)
		return row->path;
	return row->what ? row->what : "a file";
}

/* Prints what the disks worked for beside files of the job, if that is much. */
static void put_foreign(const struct report *report, unsigned int width, FILE *out)
{
	struct report_foreign foreign;
	char text[512];
	int len;

	if (!report->causes || !report_causes_foreign(report->causes, report_duration_ns(report), &foreign))
		return;
	len = snprintf(text, sizeof(text), "%.0f %% of their time was for files outside the job: %.200s %.0f %%",
		       100 * foreign.share, name_of(foreign.file[0]), 100 * foreign.file_share[0]);
	if (foreign.file[1])
		snprintf(text + len, sizeof(text) - (size_t)len, ", %.200s %.0f %%", name_of(foreign.file[1]),
			 100 * foreign.file_share[1]);
	fact(out, "disks", text, width);
}

/* Prints how much faster an epoch can become, and what makes it so. */
static void put_what_if(const struct report *report, unsigned int width, FILE *out)
{
	autofree char *headspace = what_if_headspace(report), *workers = what_if_workers(report);

	if (headspace)
		fact(out, "what if", headspace, width);
	if (workers)
		fact(out, "", workers, width);
}

/* Prints how much memory programs had allocated, where that was traced. */
static void put_memory(const struct report *report, unsigned int width, FILE *out)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *line = report->alloc.present ? open_memstream(&text, &len) : NULL;

	if (!line)
		return;
	report_alloc_brief(report, line);
	if (fclose(line) == 0)
		fact(out, "memory", text, width);
}

static void put_job(const struct report *report, unsigned int width, FILE *out)
{
	const struct manifest_facts *m = &report->manifest;
	/* a dry run that was stopped may end long after what would have been its trace */
	const uint64_t ns = m->dry && m->has_usage ? m->usage[USAGE_WALL_NS] : report_duration_ns(report);
	const char *command = report_command(report);
	const int shown = fmt_fits(command, COMMAND_SHOWN); /* an interpreter's may have a whole program in it */
	autofree char *text = util_fmt("%.*s%s: %s%s%s", shown, command, command[shown] ? " ..." : "", FMT_NS(ns),
				       m->has_status ? ", " : "", m->has_status ? FMT_ENDED(m->status) : "");

	if (m->window.end_ns)
		text_only(report, "part     ", "", out);
	fprintf(out, "%-*s", LABEL, "job");
	wrap_plain(out, text ? text : "", LABEL, width);
}

/* Prints commands ready to be copied, each in one line of any length. */
static void put_next(const struct report *report, FILE *out)
{
	char full[COMMAND_MAX] = "dltraced report --full", html[COMMAND_MAX] = "dltraced report --html report.html";

	shell_append(full, sizeof(full), report->dir);
	shell_append(html, sizeof(html), report->dir);
	fprintf(out, "%-*s", LABEL, "next");
	fmt_plain(out, full, 0);
	fprintf(out, "\n%-*s", LABEL, "");
	fmt_plain(out, html, 0);
	fputc('\n', out);
}

void report_screen(const struct report *report, unsigned int width, FILE *out)
{
	const struct rules *rules = report->why ? report->why->rules : NULL;

	if (report->manifest.dry) {
		text_dry(out);
		put_job(report, width, out);
		text_usage(report, LABEL - 1, out);
		return;
	}
	if (rules)
		put_answer(&rules->bottleneck, width, out);
	failed_text(report, width, out);
	path_text(report, width, out);
	if (!path_is_known(report)) /* which has the same by what ended each wait */
		account_brief(report, width, out);
	if (rules)
		put_found(rules, width, out);
	fputc('\n', out);
	put_missing(report, width, out);
	put_epochs(report, width, out);
	put_foreign(report, width, out);
	put_memory(report, width, out);
	put_what_if(report, width, out);
	put_job(report, width, out);
	put_next(report, out);
	what_if_table(report, out);
}
