/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct report as JSON: numbers as they are (ns, bytes), names escaped as in the .out files. */
#include "base/exit_codes.h"
#include "base/json.h"
#include "report/show/json.h"
#include "report/show/show.h"
#include "report/show/tables/tables.h"
#include "report/show/timeline/timeline_json.h"
#include "report/why/why.h"

void report_known_json(struct json *j, const char *key, const char *s)
{
	json_str(j, key, s && s[0] ? s : NULL);
}

void report_facts_json(const void *of, struct json *json)
{
	const struct report *report = of;
	const struct manifest_facts *facts = &report->manifest;

	json_str(json, "dir", report->dir);
	report_known_json(json, "version", facts->version);
	report_known_json(json, "command", report_command(report));
	report_known_json(json, "user", facts->user);
	report_known_json(json, "host", facts->host);
	report_known_json(json, "kernel", facts->kernel);
	report_known_json(json, "started", report_started(report));
	json_u64(json, "duration_ns", report_duration_ns(report));
	json_u64_known(json, "exit_code", facts->has_status, (uint64_t)exit_code_of(facts->status));
	report_usage_json(report, json);
	json_bool(json, "complete", report->missing.complete);
	json_u64(json, "rows_missing", report->rows_missing);
	json_f64(json, "missing_share", missing_share(&report->missing));
}

void report_more_facts_json(const void *of, struct json *json)
{
	const struct report *report = of;
	const struct manifest_facts *facts = &report->manifest;

	json_u64(json, "trace_bytes", report->trace_bytes);
	json_u64(json, "own_cpu_ns", (facts->self_user_us + facts->self_system_us) * 1000);
	json_object(json, "clock");
	json_u64(json, "error_ns", report->clock_error_ns);
	json_u64(json, "steps", report->clock_steps);
	json_u64(json, "asleep_ns", report->asleep_ns);
	json_end(json);
	json_array(json, "collectors");
	for (unsigned int i = 0; i < facts->n_collectors; i++) {
		json_object(json, NULL);
		json_str(json, "name", facts->collectors[i].name);
		json_str(json, "state", facts->collectors[i].state);
		json_end(json);
	}
	json_end(json);
}

void report_maps_json(const void *of, struct json *j)
{
	const struct report *r = of;

	json_object(j, "mmap_of_files");
	json_u64(j, "calls", r->map_calls);
	json_u64(j, "bytes", r->map_bytes);
	json_end(j);
}

void report_why_json(const void *of, struct json *j)
{
	why_json(of, j);
}

static void window_json(const struct window *w, struct json *j)
{
	if (!w->end_ns)
		return;
	json_object(j, "window");
	json_u64(j, "begin_ns", w->begin_ns);
	json_u64_known(j, "end_ns", w->end_ns != UINT64_MAX, w->end_ns);
	json_end(j);
}

static void listed_json(const struct data_dirs *dirs, struct json *j)
{
	json_array(j, "listed");
	for (unsigned int i = 0; i < dirs->n; i++)
		json_str(j, NULL, dirs->path[i]);
	json_end(j);
}

void report_only_json(const struct report *r, struct json *j)
{
	window_json(&r->manifest.window, j);
	if (!r->only.path && r->phases && data_dirs_any(&r->phases->data_dirs))
		listed_json(&r->phases->data_dirs, j);
	if (!r->only.path)
		return;
	json_object(j, "only");
	json_str(j, "path", r->only.path[0] ? r->only.path : "/");
	json_u64(j, "rows", r->only.rows);
	json_u64(j, "left_out", r->only.left_out);
	json_end(j);
}

void report_rest_json(const void *of, struct json *json)
{
	const struct report *report = of;

	report_only_json(report, json);
	if (report->cpu) {
		json_object(json, "cpu");
		report_cpu_json_members(report->cpu, json);
		json_end(json);
	}
	json_array(json, "missing");
	for (unsigned int i = 0; i < report->n_notes; i++)
		json_str(json, NULL, report->notes[i]);
	if (report->thin)
		json_str(json, NULL,
			 "lists are shortened here, since a page has 5 MiB at most: the text of dltraced "
			 "report and the trace folder have the rest");
	json_end(json);
}

void report_json(const struct report *r, struct json *j)
{
	json_object(j, NULL);
	view_sections_json(report_sections, r, r->thin, false, j);
	report_timeline_json(r, j);
	json_end(j);
}
