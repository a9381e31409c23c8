/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a struct report_cpu. */
#ifndef REPORT_SHOW_TABLES_CPU_H
#define REPORT_SHOW_TABLES_CPU_H

#include <stdlib.h>

#include "base/fmt.h"
#include "report/cpu/cpu.h"
#include "report/show/view.h"

/* tables_cpu.c: in text and JSON */
extern const struct view view_tasks, view_cpus, view_cpu_processes, view_threads, view_lifespans, view_cpu_waits,
	view_cpu_gaps;
/* tables_cpu_csv.c: CSV files, each with all that there is. */
extern const struct view_section report_cpu_files[];

extern const struct view_section report_cpu_sections[];

/* --- columns of both: see VIEW_AT() --- */

#define CPU_KIND(type) VIEW_AT(type, kind), .names = report_cpu_kind_names
#define CPU_TASK_OF(type, member) VIEW_VIA(type, member, struct report_cpu, tasks)
#define CPU_PROC_OF(type) VIEW_VIA(type, proc, struct report_cpu, procs)

void view_thread_life(const struct view_column *c, const void *of, const void *row, struct view_cell *cell);
void view_gap_cpu(const struct view_column *c, const void *of, const void *row, struct view_cell *cell);

void view_more_gaps(const void *of, struct json *j);
uint64_t view_gap_length(const struct gap *g); /* of a step how far, either way */

#endif
