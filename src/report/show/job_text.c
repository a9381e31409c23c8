/* SPDX-License-Identifier: BSD-2-Clause */
/* A job on several hosts for a terminal: the answer for all of it, when each host was traced, then each host's report;
 * of many, the hosts that differ most.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/hosts/differ.h"
#include "report/hosts/hosts.h"
#include "report/rules/rules.h"
#include "report/show/show.h"
#include "report/show/tables/tables.h"
#include "report/show/text.h"
#include "report/why/why.h"

#define HOST_LINE "%10s %10s %10s %9s %10s  "
#define NAME_WIDTH 20
#define CODE_WIDTH 18
#define NOTES_SHOWN 10U /* of many hosts */

/* Sums up rows and lost rows by the manifest. */
static void rows_of(const struct report *r, uint64_t *rows, uint64_t *lost)
{
	for (unsigned int kind = 0; kind < REPORT_KINDS; kind++) {
		const struct manifest_probe *m = manifest_probe(&r->manifest, report_kind_names[kind]);

		*rows += r->op[kind].rows;
		*lost += m ? m->lost : 0;
	}
}

static const char *code_of(const struct report_job *job, unsigned int i)
{
	const struct why *why = job->host[i].report->why;

	return why && why->rules ? why->rules->bottleneck.rule->code : "-";
}

static void host(const struct report_job *job, unsigned int i, FILE *out)
{
	const struct job_host *job_host = &job->host[i];
	uint64_t rows = 0, lost = 0;

	rows_of(job_host->report, &rows, &lost);
	fmt_plain(out, job_host->name, NAME_WIDTH);
	fprintf(out, HOST_LINE, FMT_NS(report_job_after_ns(job, i)), FMT_NS(report_duration_ns(job_host->report)),
		FMT_COUNT(rows), FMT_COUNT(lost), job_host->error_ns ? FMT_NS(job_host->error_ns) : "-");
	fmt_text(out, code_of(job, i), CODE_WIDTH);
	fmt_plain(out, job_host->dir, 0);
	fputc('\n', out);
}

/* The smallest and the largest value of hosts that have no line. */
struct range {
	uint64_t least, most;
};

static void widen(struct range *range, uint64_t value, bool first)
{
	range->least = first ? value : MIN(range->least, value);
	range->most = first ? value : MAX(range->most, value);
}

static bool is_among(unsigned int host, const struct job_differ *v, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (v[i].host == host)
			return true;
	return false;
}

/* Prints how many of the hosts that are not in V have each answer, in the order of the hosts. */
static void answers(const struct report_job *job, const struct job_differ *v, unsigned int n, FILE *out)
{
	const char *before = "";

	for (unsigned int i = 0; i < job->n; i++) {
		unsigned int same = 0;

		for (unsigned int k = 0; k < job->n; k++) {
			if (is_among(k, v, n) || strcmp(code_of(job, k), code_of(job, i)) != 0)
				continue;
			if (k < i)
				break; /* it has been counted there */
			same++;
		}
		if (same && !is_among(i, v, n)) {
			fprintf(out, "%s%s on %u", before, code_of(job, i), same);
			before = ", ";
		}
	}
}

/* Sums up the hosts that are not in V. */
static void others(const struct report_job *job, const struct job_differ *v, unsigned int n, FILE *out)
{
	struct range after = { 0 }, lasted = { 0 }, rows = { 0 };
	uint64_t lost = 0;
	bool first = true;

	for (unsigned int i = 0; i < job->n; i++) {
		uint64_t of_host = 0;

		if (is_among(i, v, n))
			continue;
		rows_of(job->host[i].report, &of_host, &lost);
		widen(&after, report_job_after_ns(job, i), first);
		widen(&lasted, report_duration_ns(job->host[i].report), first);
		widen(&rows, of_host, first);
		first = false;
	}
	fprintf(out,
		"and %u more: began %s to %s after the first, lasted %s to %s, %s to %s rows, %s lost; waited for ",
		job->n - n, FMT_NS(after.least), FMT_NS(after.most), FMT_NS(lasted.least), FMT_NS(lasted.most),
		FMT_COUNT(rows.least), FMT_COUNT(rows.most), FMT_COUNT(lost));
	answers(job, v, n, out);
	fputs("\nThose that differ most from the others (--json has all):\n", out);
	for (unsigned int i = 0; i < n; i++) {
		fputs("  ", out);
		job_differ_text(job, &v[i], out);
	}
}

static void head(const struct report_job *job, const struct job_differ *differ, unsigned int n_differ, FILE *out)
{
	struct finding f;

	if (report_job_why(job, &f))
		why_finding_text(&f, out);
	finding_free(&f);
	fprintf(out,
		"\n%u hosts of one job, from %s on (AFTER: began this long after the first; CLOCK: maximum error of "
		"its clock)\n",
		job->n, report_started(job->total));
	fmt_text(out, "HOST", NAME_WIDTH);
	fprintf(out, HOST_LINE, "AFTER", "LASTED", "ROWS", "LOST", "CLOCK");
	fmt_text(out, "WAITED FOR", CODE_WIDTH);
	fputs("FOLDER\n", out);
	for (unsigned int i = 0; i < (n_differ ? n_differ : job->n); i++)
		host(job, n_differ ? differ[i].host : i, out);
	if (n_differ)
		others(job, differ, n_differ, out);
	if (job->between_known)
		fprintf(out, "times of two hosts may differ by up to %s\n", FMT_NS(job->between_ns));
	else
		fprintf(out,
			"by how much times of two hosts may differ is not known; their clocks were read within %s\n",
			FMT_NS(job->read_error_ns));
}

static void doubts(const struct report_job *job, FILE *out)
{
	for (unsigned int i = 0; i < job->n_doubts; i++)
		fmt_line(out, "", job->total->notes[i]);
}

/* What is missing: of MANY hosts, which mostly miss the same, the first ones. */
static void notes(const struct report_job *job, bool many, FILE *out)
{
	const unsigned int all = job->total->n_notes, n = many ? MIN(all, NOTES_SHOWN) : all;

	text_notes(out, job->total->notes, n);
	if (n < all)
		fprintf(out, "- %u more: see missing of --json\n", all - n);
}

void report_job_text(const struct report_job *job, unsigned int width, FILE *out)
{
	const bool hosts = report_job_at_a_time(job);
	struct job_differ differ[JOB_DIFFER_MAX];
	const unsigned int n_differ = hosts ? report_job_differ(job, differ) : 0, n = n_differ ? n_differ : job->n;

	if (hosts)
		head(job, differ, n_differ, out);
	doubts(job, out);
	if (hosts || job->n_doubts)
		fputc('\n', out);
	if (job->by_summaries) {
		view_sections_text(report_sections, job->total, true, out);
		notes(job, n_differ != 0, out);
	}
	for (unsigned int i = 0; i < n && !job->by_summaries; i++) {
		const struct report *report = job->host[n_differ ? differ[i].host : i].report;

		if (i)
			fputc('\n', out);
		if (width)
			report_screen(report, width, out);
		else
			report_text(report, out);
	}
}
