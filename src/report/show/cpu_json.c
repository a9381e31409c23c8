/* SPDX-License-Identifier: BSD-2-Clause */
/* A struct report_cpu as JSON. */
#include "report/show/cpu_json.h"

#include "base/json.h"
#include "report/cpu/cpu.h"
#include "report/show/tables_cpu.h"

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
	json_array(j, "missing");
	for (uint32_t i = 0; i < r->n_notes; i++)
		json_str(j, NULL, r->notes[i]);
	json_end(j);
}

int report_cpu_json(const struct report_cpu *r, FILE *out)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_str(&j, "dir", r->dir);
	report_cpu_json_members(r, &j);
	json_end(&j);
	return json_write(&j, out);
}
