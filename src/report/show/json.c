/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct report as JSON: numbers as they are (ns, bytes), names escaped as in the .out files. */
#include "base/exit_codes.h"
#include "base/json.h"
#include "report/show/json.h"
#include "report/show/show.h"
#include "report/show/tables/tables.h"
#include "report/timeline.h"
#include "report/why/why.h"

void report_known_json(struct json *j, const char *key, const char *s)
{
	json_str(j, key, s && s[0] ? s : NULL);
}

void report_facts_json(const void *of, struct json *j)
{
	const struct report *r = of;
	const struct manifest_facts *m = &r->manifest;

	json_str(j, "dir", r->dir);
	report_known_json(j, "version", m->version);
	report_known_json(j, "command", report_command(r));
	report_known_json(j, "user", m->user);
	report_known_json(j, "host", m->host);
	report_known_json(j, "kernel", m->kernel);
	report_known_json(j, "started", report_started(r));
	json_u64(j, "duration_ns", report_duration_ns(r));
	json_u64_known(j, "exit_code", m->has_status, (uint64_t)exit_code_of(m->status));
	report_usage_json(r, j);
	json_bool(j, "complete", r->missing.complete);
	json_u64(j, "rows_missing", r->rows_missing);
	json_f64(j, "missing_share", missing_share(&r->missing));
}

void report_more_facts_json(const void *of, struct json *j)
{
	const struct report *r = of;
	const struct manifest_facts *m = &r->manifest;

	json_u64(j, "trace_bytes", r->trace_bytes);
	json_u64(j, "own_cpu_ns", (m->self_user_us + m->self_system_us) * 1000);
	json_object(j, "clock");
	json_u64(j, "error_ns", r->clock_error_ns);
	json_u64(j, "steps", r->clock_steps);
	json_u64(j, "asleep_ns", r->asleep_ns);
	json_end(j);
	json_array(j, "collectors");
	for (unsigned int i = 0; i < m->n_collectors; i++) {
		json_object(j, NULL);
		json_str(j, "name", m->collectors[i].name);
		json_str(j, "state", m->collectors[i].state);
		json_end(j);
	}
	json_end(j);
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

void report_only_json(const struct report *r, struct json *j)
{
	window_json(&r->manifest.window, j);
	if (!r->only.path)
		return;
	json_object(j, "only");
	json_str(j, "path", r->only.path[0] ? r->only.path : "/");
	json_u64(j, "rows", r->only.rows);
	json_u64(j, "left_out", r->only.left_out);
	json_end(j);
}

void report_rest_json(const void *of, struct json *j)
{
	const struct report *r = of;

	report_only_json(r, j);
	if (r->cpu) {
		json_object(j, "cpu");
		report_cpu_json_members(r->cpu, j);
		json_end(j);
	}
	json_array(j, "missing");
	for (unsigned int i = 0; i < r->n_notes; i++)
		json_str(j, NULL, r->notes[i]);
	if (r->thin)
		json_str(j, NULL, "lists are shortened here, since a page has 5 MiB at most: the text of dltraced "
			 "report and the trace folder have the rest");
	json_end(j);
}

void report_json(const struct report *r, struct json *j)
{
	json_object(j, NULL);
	view_sections_json(report_sections, r, r->thin, false, j);
	report_timeline_json(r, j);
	json_end(j);
}
