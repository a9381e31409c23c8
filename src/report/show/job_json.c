/* SPDX-License-Identifier: BSD-2-Clause */
/* A job on several hosts as JSON, docs/report-json.md has the names, and as a page. */
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/util.h"
#include "report/hosts/hosts.h"
#include "report/rules/rules.h"
#include "report/show/json.h"
#include "report/show/show.h"
#include "report/show/tables/tables.h"
#include "report/timeline.h"
#include "report/why/why.h"

static void hosts(const struct report_job *job, struct json *j)
{
	json_array(j, "hosts");
	for (unsigned int i = 0; i < job->n; i++) {
		const struct job_host *h = &job->host[i];

		json_object(j, NULL);
		json_str(j, "name", h->name);
		json_u64(j, "after_ns", report_job_after_ns(job, i));
		json_bool(j, "synchronised", h->synchronised);
		json_u64_known(j, "maxerror_ns", h->error_ns, h->error_ns);
		view_sections_json(report_sections, h->report, h->report->thin, job->by_summaries, j);
		json_end(j);
	}
	json_end(j);
}

static void between(const struct report_job *job, struct json *j)
{
	json_object(j, "between_hosts");
	json_u64(j, "read_error_ns", job->read_error_ns);
	json_u64_known(j, "error_ns", job->between_known, job->between_ns);
	json_end(j);
}

static void bottleneck(const struct report_job *job, struct json *j)
{
	struct finding f;

	if (report_job_why(job, &f))
		why_json_finding(j, "bottleneck", &f);
	finding_free(&f);
}

/* Names the members that only a report on the folders has. */
static void not_in_summaries(struct json *j)
{
	static const char *const others[] = {
		"timeline", "hosts[].bottleneck", "hosts[].cpu", "hosts[].facts", "hosts[].missing", "hosts[].n_processes", "hosts[].n_uses",
		"hosts[].rules", "hosts[].rules_missing", "hosts[].waited",
	};

	json_array(j, "not_in_summaries");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		json_str(j, NULL, others[i]);
	for (const struct view_section *s = report_sections; s->view || s->text || s->json; s++)
		if (s->view && !s->sum && s->view->key && !s->view->parent) {
			autofree char *member = util_fmt("hosts[].%s", s->view->key);

			json_str(j, NULL, member);
		}
	json_end(j);
}

static struct report **reports_of(const struct report_job *job)
{
	struct report **reports = calloc(job->n, sizeof(*reports));

	for (unsigned int i = 0; reports && i < job->n; i++)
		reports[i] = job->host[i].report;
	return reports;
}

void report_job_json(const struct report_job *job, struct json *j)
{
	autofree struct report **reports = reports_of(job);

	if (!reports) {
		j->error = -ENOMEM;
		return;
	}
	json_object(j, NULL);
	view_sections_json(report_sections, job->total, 0, true, j);
	json_u64(j, "n_processes", job->total->n_procs);
	bottleneck(job, j);
	between(job, j);
	hosts(job, j);
	if (job->by_summaries)
		not_in_summaries(j);
	else
		report_timelines_json((const struct report *const *)reports, job->n, report_started(job->total), j);
	json_strs(j, "missing", job->total->notes, job->total->n_notes);
	json_end(j);
}

static void build(const void *job, struct json *j)
{
	report_job_json(job, j);
}

void report_job_fit(struct report_job *job, struct json *j)
{
	autofree struct report **reports = reports_of(job);
	const struct page_fit f = { .build = build, .what = job, .reports = reports, .n = job->n };

	if (job->by_summaries)
		report_job_json(job, j); /* no page */
	else if (reports)
		report_page_fit(&f, j);
	else
		j->error = -ENOMEM;
}
