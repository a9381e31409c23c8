/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the parts of the report on CPU time as text: its sections, in the order in which they come, and
 * how they write numbers.
 */
#ifndef REPORT_SHOW_CPU_TEXT_H
#define REPORT_SHOW_CPU_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/util.h"
#include "report/cpu/cpu.h"

/* cpu_text_tasks.c */
void report_cpu_text_tasks(const struct report_cpu *r, FILE *out);
void report_cpu_text_cpus(const struct report_cpu *r, FILE *out);
void report_cpu_text_matrix(const struct report_cpu *r, FILE *out);
/* cpu_text_threads.c */
void report_cpu_text_processes(const struct report_cpu *r, FILE *out);
void report_cpu_text_threads(const struct report_cpu *r, FILE *out);
void report_cpu_text_patterns(const struct report_cpu *r, FILE *out);
/* cpu_text_time.c */
void report_cpu_text_gaps(const struct report_cpu *r, FILE *out);
void report_cpu_text_phases(const struct report_cpu *r, FILE *out);
/* cpu_waits.c: what threads waited for */
void report_cpu_text_waits(const struct report_cpu *r, FILE *out);

/* What shares without idle, and without the kernel's workers as well, are of. */
struct cpu_wholes {
	uint64_t all_ns, busy_ns, own_ns;
};

struct cpu_wholes report_cpu_wholes(const struct report_cpu *r);
/* Has NS at least the part of WHOLE_NS that a line of one's own takes? */
bool report_cpu_is_shown(const struct report_cpu *r, uint64_t ns, uint64_t whole_ns);
/* Of the line of those N that have none. */
void report_cpu_other_name(const struct report_cpu *r, char *buf, size_t size, uint32_t n);

static inline void report_cpu_title(FILE *out, const char *text)
{
	fprintf(out, "\n%s\n", text);
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
