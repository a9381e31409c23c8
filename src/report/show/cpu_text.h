/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the parts of the report on CPU time as text that are no tables. */
#ifndef REPORT_SHOW_CPU_TEXT_H
#define REPORT_SHOW_CPU_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/util.h"
#include "report/cpu/cpu.h"

/* OF is a struct report_cpu. */
void report_cpu_text_matrix(const void *of, FILE *out);
void report_cpu_text_gaps(const void *of, FILE *out);
void report_cpu_text_phases(const void *of, FILE *out);
void report_cpu_text_waits(const void *of, FILE *out);

/* Has NS at least the part of WHOLE_NS that a line of one's own takes? */
static inline bool report_cpu_is_shown(const struct report_cpu *r, uint64_t ns, uint64_t whole_ns)
{
	return (double)ns * 1000 >= (double)whole_ns * r->options.threshold_permille;
}

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
