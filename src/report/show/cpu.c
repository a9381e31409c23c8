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

static void facts(const struct report_cpu *cpu, FILE *out)
{
	const struct manifest_facts *manifest_facts = &cpu->manifest;

	text_fact(out, 16, "trace", cpu->dir);
	text_fact(out, 16, "command", manifest_facts->argv[0] ? manifest_facts->argv : manifest_facts->cmdline);
	text_fact(out, 16, "host", manifest_facts->host);
	text_fact(out, 16, "kernel", manifest_facts->kernel);
	text_fact(out, 16, "started", manifest_facts->start_utc);
	if (cpu->has_sums)
		fprintf(out, FACT_LABEL "sched.out: sums, each of %s at most%s\n", "from", FMT_NS(cpu->span_max_ns),
			cpu->has_switches ? "; sched_switch.out: phases of the job's threads, gaps" : "");
	else
		fprintf(out,
			FACT_LABEL
			"sched_switch.out: single switches of the job's threads; the other threads are known in "
			"part only\n",
			"from");
}

static void differing_cpus(const struct report_cpu *cpu, FILE *out)
{
	for (uint32_t i = 0, lines = 0; i < cpu->n_cpus && lines < DIFFERING_MAX; i++) {
		uint64_t ns = cpu->cpus[i].busy_ns + cpu->cpus[i].idle_ns;
		bool differs = ns && cpu->wall_ns - ns >= NSEC_PER_SEC / 1000000;

		lines += differs;
		if (differs)
			fprintf(out, "  CPU %u has %s: %s\n", i, SECONDS(ns),
				cpu->manifest.complete ? "it was not always online, or rows are missing" :
							 "the trace has no end");
	}
}

static void invariant(const struct report_cpu *cpu, FILE *out)
{
	uint64_t all = cpu->wall_ns * cpu->cpus_seen;

	view_title(out, "Does it add up?");
	fprintf(out, FACT_LABEL "%s\n", "sum over tasks", SECONDS(cpu->by_task_ns));
	fprintf(out, FACT_LABEL "%s\n", "sum over CPUs", SECONDS(cpu->by_cpu_ns));
	fprintf(out, FACT_LABEL "%s = %s x %u\n", "wall x CPUs", SECONDS(all), SECONDS(cpu->wall_ns), cpu->cpus_seen);
	fprintf(out, FACT_LABEL "%s\n", "difference",
		SECONDS(MAX(all, MAX(cpu->by_task_ns, cpu->by_cpu_ns)) -
			MIN(all, MIN(cpu->by_task_ns, cpu->by_cpu_ns))));
	differing_cpus(cpu, out);
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

void report_cpu_json_members(const struct report_cpu *cpu, struct json *json)
{
	json_bool(json, "sums", cpu->has_sums);
	json_bool(json, "switches", cpu->has_switches);
	json_u64(json, "wall_ns", cpu->wall_ns);
	json_u64(json, "by_cpu_ns", cpu->by_cpu_ns);
	json_u64(json, "by_task_ns", cpu->by_task_ns);
	json_object(json, "kinds");
	for (unsigned int k = 0; k < CPU_KINDS; k++)
		json_u64(json, report_cpu_kind_names[k], cpu->kind_ns[k]);
	json_end(json);
	view_sections_json(report_cpu_sections, cpu, cpu->thin, false, json);
	json_strs(json, "missing", cpu->notes, cpu->n_notes);
}

void report_cpu_json(const struct report_cpu *r, struct json *j)
{
	json_object(j, NULL);
	json_str(j, "dir", r->dir);
	report_cpu_json_members(r, j);
	json_end(j);
}
