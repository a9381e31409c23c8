/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct report_cpu as JSON; docs/report-json.md has the names. */
#ifndef REPORT_SHOW_CPU_JSON_H
#define REPORT_SHOW_CPU_JSON_H

#include <stdio.h>

struct json;
struct report_cpu;

/* The members of the object that J is in. */
void report_cpu_json_members(const struct report_cpu *r, struct json *j);
/* All of it as an object of its own. 0 or -ENOMEM; errors of writing stay in OUT. */
int report_cpu_json(const struct report_cpu *r, FILE *out);

#endif
