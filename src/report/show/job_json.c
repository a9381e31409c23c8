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
#include "report/show/timeline/timeline_json.h"
#include "report/why/why.h"

static void hosts(const struct report_job *job, struct json *json)
{
	json_array(json, "hosts");
	for (unsigned int i = 0; i < job->n; i++) {
		const struct job_host *h = &job->host[i];

		json_object(json, NULL);
		json_str(json, "name", h->name);
		json_u64(json, "after_ns", report_job_after_ns(job, i));
		json_bool(json, "synchronised", h->synchronised);
		json_u64_known(json, "maxerror_ns", h->error_ns, h->error_ns);
		view_sections_json(report_sections, h->report, h->report->thin, job->by_summaries, json);
		json_end(json);
	}
	json_end(json);
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
static void not_in_summaries(struct json *json)
{
	static const char *const others[] = {
		"timeline",        "hosts[].bottleneck",  "hosts[].cpu",           "hosts[].facts",
		"hosts[].missing", "hosts[].n_processes", "hosts[].n_uses",        "hosts[].path",
		"hosts[].rules",   "hosts[].waited",      "hosts[].rules_missing", "hosts[].what_if",
	};

	json_array(json, "not_in_summaries");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		json_str(json, NULL, others[i]);
	for (const struct view_section *s = report_sections; s->view || s->text || s->json; s++)
		if (s->view && !s->sum && s->view->key && !s->view->parent) {
			autofree char *member = util_fmt("hosts[].%s", s->view->key);

			json_str(json, NULL, member);
		}
	json_end(json);
}

static struct report **reports_of(const struct report_job *job)
{
	struct report **reports = calloc(job->n, sizeof(*reports));

	for (unsigned int i = 0; reports && i < job->n; i++)
		reports[i] = job->host[i].report;
	return reports;
}

void report_job_json(const struct report_job *job, struct json *json)
{
	autofree struct report **reports = reports_of(job);

	if (!reports) {
		json->error = -ENOMEM;
		return;
	}
	json_object(json, NULL);
	view_sections_json(report_sections, job->total, 0, true, json);
	json_u64(json, "n_processes", job->total->n_procs);
	bottleneck(job, json);
	between(job, json);
	hosts(job, json);
	if (job->by_summaries)
		not_in_summaries(json);
	else
		report_timelines_json((const struct report *const *)reports, job->n, report_started(job->total), json);
	json_strs(json, "missing", job->total->notes, job->total->n_notes);
	json_end(json);
}

static void build(const void *job, struct json *j)
{
	report_job_json(job, j);
}

void report_job_fit(struct report_job *job, struct json *json)
{
	autofree struct report **reports = reports_of(job);
	const struct page_fit f = { .build = build, .what = job, .reports = reports, .n = job->n };

	if (job->by_summaries)
		report_job_json(job, json); /* no page */
	else if (reports)
		report_page_fit(&f, json);
	else
		json->error = -ENOMEM;
}
