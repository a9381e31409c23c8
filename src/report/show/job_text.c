/* SPDX-License-Identifier: BSD-2-Clause */
/* A job on several hosts for a terminal: the answer for all of it, when each host was traced, then each host's report.
 */
#include <stdio.h>

#include "base/fmt.h"
#include "report/hosts/hosts.h"
#include "report/rules/rules.h"
#include "report/show/show.h"
#include "report/show/tables/tables.h"
#include "report/show/text.h"
#include "report/why/why.h"

#define HOST_LINE "%10s %10s %10s %9s %10s  "
#define NAME_WIDTH 20
#define CODE_WIDTH 18

/* Sums up rows and lost rows by the manifest. */
static void rows_of(const struct report *r, uint64_t *rows, uint64_t *lost)
{
	for (unsigned int kind = 0; kind < REPORT_KINDS; kind++) {
		const struct manifest_probe *m = manifest_probe(&r->manifest, report_kind_names[kind]);

		*rows += r->op[kind].rows;
		*lost += m ? m->lost : 0;
	}
}

static void host(const struct report_job *job, unsigned int i, FILE *out)
{
	const struct job_host *job_host = &job->host[i];
	const struct rules *rules = job_host->report->why ? job_host->report->why->rules : NULL;
	uint64_t rows = 0, lost = 0;

	rows_of(job_host->report, &rows, &lost);
	fmt_plain(out, job_host->name, NAME_WIDTH);
	fprintf(out, HOST_LINE, FMT_NS(report_job_after_ns(job, i)), FMT_NS(report_duration_ns(job_host->report)),
		FMT_COUNT(rows), FMT_COUNT(lost), job_host->error_ns ? FMT_NS(job_host->error_ns) : "-");
	fmt_text(out, rules ? rules->bottleneck.rule->code : "-", CODE_WIDTH);
	fmt_plain(out, job_host->dir, 0);
	fputc('\n', out);
}

static void head(const struct report_job *job, FILE *out)
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
	for (unsigned int i = 0; i < job->n; i++)
		host(job, i, out);
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

void report_job_text(const struct report_job *job, unsigned int width, FILE *out)
{
	bool hosts = report_job_at_a_time(job);

	if (hosts)
		head(job, out);
	doubts(job, out);
	if (hosts || job->n_doubts)
		fputc('\n', out);
	if (job->by_summaries) {
		view_sections_text(report_sections, job->total, true, out);
		text_notes(out, job->total->notes, job->total->n_notes);
	}
	for (unsigned int i = 0; i < job->n && !job->by_summaries; i++) {
		if (i)
			fputc('\n', out);
		if (width)
			report_screen(job->host[i].report, width, out);
		else
			report_text(job->host[i].report, out);
	}
}
