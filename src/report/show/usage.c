/* SPDX-License-Identifier: BSD-2-Clause */
/* What a workload used, and the report on a dry run, which knows nothing else. */
#include "base/fmt.h"
#include "base/json.h"
#include "base/util.h"
#include "report/scan/model.h"
#include "report/show/json.h"
#include "report/show/text.h"

void text_usage(const struct report *report, int width, FILE *out)
{
	const uint64_t *u = report->manifest.usage;
	autofree char *time = util_fmt("%s, on CPUs %s (user %s, system %s)", FMT_NS(u[USAGE_WALL_NS]),
				       FMT_NS(u[USAGE_USER_NS] + u[USAGE_SYSTEM_NS]), FMT_NS(u[USAGE_USER_NS]),
				       FMT_NS(u[USAGE_SYSTEM_NS]));
	autofree char *memory =
		util_fmt("%s at most; page faults: %s minor, %s major", FMT_BYTES(u[USAGE_MAX_RSS_BYTES]),
			 FMT_COUNT(u[USAGE_MINOR_FAULTS]), FMT_COUNT(u[USAGE_MAJOR_FAULTS]));
	autofree char *switches = util_fmt("%s voluntary, %s involuntary", FMT_COUNT(u[USAGE_VOLUNTARY_SWITCHES]),
					   FMT_COUNT(u[USAGE_INVOLUNTARY_SWITCHES]));

	if (!report->manifest.has_usage || !time || !memory || !switches)
		return;
	text_fact(out, width, "time", time);
	text_fact(out, width, "memory", memory);
	text_fact(out, width, "switches", switches);
}

void text_dry(FILE *out)
{
	fputs("A dry run: the command ran without a trace, so what it waited for is not known\n", out);
}

void report_usage_json(const struct report *report, struct json *json)
{
	const struct manifest_facts *facts = &report->manifest;

	json_bool(json, "dry", facts->dry);
	if (!facts->has_usage) {
		json_null(json, "rusage");
		return;
	}
	json_object(json, "rusage");
	for (enum usage i = 0; i < USAGES; i++)
		json_u64(json, usage_keys[i], facts->usage[i]);
	json_end(json);
}
