/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a struct report_cpu, and functions that they share. */
#ifndef REPORT_SHOW_CPU_TABLES_H
#define REPORT_SHOW_CPU_TABLES_H

#include "base/fmt.h"
#include "base/util.h"
#include "report/cpu/cpu.h"
#include "report/show/view/view.h"

/* tables.c: in text and JSON */
extern const struct view view_tasks, view_cpus, view_cpu_processes, view_threads, view_lifespans, view_cpu_waits,
	view_cpu_gaps;
/* csv.c: CSV files, each with all rows. */
extern const struct view_section report_cpu_files[];

extern const struct view_section report_cpu_sections[];

#define MATRIX_CPUS_MAX 32 /* in the table of tasks by CPUs */

/* A row of view_tasks. REST: the groups that have no array of their own. */
struct group_row {
	struct cpu_group group;
	uint64_t *by_cpu, *rest;
	uint32_t n_cpus;
};

/* --- shared columns: see VIEW_AT() --- */

#define CPU_KIND(type) VIEW_AT(type, kind), .names = report_cpu_kind_names
#define CPU_TASK_OF(type, member) VIEW_VIA(type, member, struct report_cpu, tasks)
#define CPU_PROC_OF(type) VIEW_VIA(type, proc, struct report_cpu, procs)

/* The other members of struct cpu_sums, for which text has no room. */
#define CPU_SUMS_REST(type)                                                                   \
	{ "disk_ns", NULL, VIEW_NS, 0, VIEW_SUM, VIEW_AT(type, sums.disk_ns) },               \
		{ "blocked_ns", NULL, VIEW_NS, 0, VIEW_SUM, VIEW_AT(type, sums.blocked_ns) }, \
	{                                                                                     \
		"sleep_ns", NULL, VIEW_NS, 0, VIEW_SUM, VIEW_AT(type, sums.sleep_ns)          \
	}
#define CPU_SUM(type, key, head, kind, width, member)                        \
	{                                                                    \
		key, head, kind, width, VIEW_SUM, VIEW_AT(type, sums.member) \
	}

void view_thread_life(const struct view_column *c, const void *of, const void *row, struct view_cell *cell);
void view_gap_cpu(const struct view_column *c, const void *of, const void *row, struct view_cell *cell);

void view_more_gaps(const void *of, struct json *j);
uint64_t view_gap_length(const struct gap *g); /* for a step of the clock: its size, in either direction */

/* --- text that is no view --- */

/* OF is a struct report_cpu. */
void report_cpu_text_matrix(const void *of, FILE *out);
void report_cpu_text_gaps(const void *of, FILE *out);
void report_cpu_text_phases(const void *of, FILE *out);
void report_cpu_text_waits(const void *of, FILE *out);

/* Whether NS is a large enough part of WHOLE_NS for a line. */
static inline bool report_cpu_is_shown(const struct report_cpu *r, uint64_t ns, uint64_t whole_ns)
{
	return (double)ns * 1000 >= (double)whole_ns * r->options.threshold_permille;
}

static inline const char *report_cpu_percent(char buf[16], uint64_t part, uint64_t whole)
{
	if (whole)
		snprintf(buf, 16, "%.1f %%", 100.0 * (double)part / (double)whole);
	else
		snprintf(buf, 16, "-");
	return buf;
}

#define PERCENT(part, whole) report_cpu_percent((char[16]){ 0 }, part, whole)

#endif
