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

const struct cpu_task *view_role_task(const struct report_cpu *r, const struct cpu_role *role);
uint32_t view_role_pid(const struct report_cpu *r, const struct cpu_role *role);
uint64_t view_role_key(const void *role); /* its CPU time */
void view_more_gaps(const void *of, struct json *j);
uint64_t view_gap_length(const struct gap *g); /* of a step how far, either way */

#endif
