/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct report_cpu as text and as JSON: the facts, whether the sums add up, and the order of the sections. */
#include "base/fmt.h"
#include "base/json.h"
#include "report/show/cpu/tables.h"
#include "report/show/json.h"
#include "report/show/show.h"
#include "report/show/text.h"

#define DIFFERING_MAX 8

#define FACT_LABEL "%-16s "

/* Returns NS in s with nine decimals, as in the CSV files. */
static const char *seconds(char buf[32], uint64_t ns)
{
	snprintf(buf, 32, "%llu.%09llu s", ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
	return buf;
}

#define SECONDS(ns) seconds((char[32]){ 0 }, ns)

/* --- facts ---------------------------------------------------------------------------------------------- */

static void facts(const struct report_cpu *r, FILE *out)
{
	const struct manifest_facts *m = &r->manifest;

	text_fact(out, 16, "trace", r->dir);
	text_fact(out, 16, "command", m->argv[0] ? m->argv : m->cmdline);
	text_fact(out, 16, "host", m->host);
	text_fact(out, 16, "kernel", m->kernel);
	text_fact(out, 16, "started", m->start_utc);
	if (r->has_sums)
		fprintf(out, FACT_LABEL "sched.out: sums, each of %s at most%s\n", "from", FMT_NS(r->span_max_ns),
			r->has_switches ? "; sched_switch.out: phases of the job's threads, gaps" : "");
	else
		fprintf(out,
			FACT_LABEL
			"sched_switch.out: single switches of the job's threads; the other threads are known in "
			"part only\n",
			"from");
}

static void differing_cpus(const struct report_cpu *r, FILE *out)
{
	for (uint32_t i = 0, lines = 0; i < r->n_cpus && lines < DIFFERING_MAX; i++) {
		uint64_t ns = r->cpus[i].busy_ns + r->cpus[i].idle_ns;
		bool differs = ns && r->wall_ns - ns >= NSEC_PER_SEC / 1000000;

		lines += differs;
		if (differs)
			fprintf(out, "  CPU %u has %s: %s\n", i, SECONDS(ns),
				r->manifest.complete ? "it was not always online, or rows are missing" :
						       "the trace has no end");
	}
}

static void invariant(const struct report_cpu *r, FILE *out)
{
	uint64_t all = r->wall_ns * r->cpus_seen;

	view_title(out, "Does it add up?");
	fprintf(out, FACT_LABEL "%s\n", "sum over tasks", SECONDS(r->by_task_ns));
	fprintf(out, FACT_LABEL "%s\n", "sum over CPUs", SECONDS(r->by_cpu_ns));
	fprintf(out, FACT_LABEL "%s = %s x %u\n", "wall x CPUs", SECONDS(all), SECONDS(r->wall_ns), r->cpus_seen);
	fprintf(out, FACT_LABEL "%s\n", "difference",
		SECONDS(MAX(all, MAX(r->by_task_ns, r->by_cpu_ns)) - MIN(all, MIN(r->by_task_ns, r->by_cpu_ns))));
	differing_cpus(r, out);
}

static void top_text(const void *r, FILE *out)
{
	facts(r, out);
	invariant(r, out);
}

static void notes_text(const void *of, FILE *out)
{
	const struct report_cpu *r = of;

	text_notes(out, r->notes, r->n_notes);
}

const struct view_section report_cpu_sections[] = {
	{ .text = top_text },
	{ &view_tasks },
	{ &view_cpus },
	{ .text = report_cpu_text_matrix },
	{ &view_cpu_processes },
	{ &view_threads },
	{ &view_lifespans },
	{ &view_cpu_gaps, .text = report_cpu_text_gaps, .json = view_more_gaps },
	{ .text = report_cpu_text_phases },
	{ &view_cpu_waits, .text = report_cpu_text_waits },
	{ .text = notes_text },
	{ 0 },
};

void report_cpu_text(const struct report_cpu *r, FILE *out)
{
	view_sections_text(report_cpu_sections, r, false, out);
}

void report_cpu_json_members(const struct report_cpu *r, struct json *j)
{
	json_bool(j, "sums", r->has_sums);
	json_bool(j, "switches", r->has_switches);
	json_u64(j, "wall_ns", r->wall_ns);
	json_u64(j, "by_cpu_ns", r->by_cpu_ns);
	json_u64(j, "by_task_ns", r->by_task_ns);
	json_object(j, "kinds");
	for (unsigned int k = 0; k < CPU_KINDS; k++)
		json_u64(j, report_cpu_kind_names[k], r->kind_ns[k]);
	json_end(j);
	view_sections_json(report_cpu_sections, r, r->thin, false, j);
	json_strs(j, "missing", r->notes, r->n_notes);
}

void report_cpu_json(const struct report_cpu *r, struct json *j)
{
	json_object(j, NULL);
	json_str(j, "dir", r->dir);
	report_cpu_json_members(r, j);
	json_end(j);
}
