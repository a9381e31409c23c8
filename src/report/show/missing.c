/* SPDX-License-Identifier: BSD-2-Clause */
/* What is missing of a trace, beside the answer: as lines of the first screen, and as JSON. */
#include "base/fmt.h"
#include "base/json.h"
#include "base/util.h"
#include "report/scan/model.h"
#include "report/show/show.h"

#define REASONS_SHOWN 5

void report_missing_text(const struct report *r, FILE *out)
{
	const struct report_missing *m = &r->missing;

	for (unsigned int i = 0; i < MIN(m->n, REASONS_SHOWN); i++) {
		fputs("missing      ", out);
		fmt_text(out, m->reason[i].text, 0);
		fputc('\n', out);
	}
	if (m->n > REASONS_SHOWN)
		fprintf(out, "missing      %u reasons more: see missing_reasons of --json\n", m->n - REASONS_SHOWN);
	if (m->n == 0)
		fputs("missing      no call is known to be missing\n", out);
}

void report_missing_json(const struct report *r, struct json *j)
{
	const struct report_missing *m = &r->missing;

	json_u64(j, "rows_missing", r->rows_missing);
	json_f64(j, "missing_share", missing_share(m));
	json_array(j, "missing_reasons");
	for (unsigned int i = 0; i < m->n; i++) {
		const struct missing_reason *reason = &m->reason[i];

		json_object(j, NULL);
		json_str(j, "code", missing_codes[reason->kind]);
		json_str(j, "file", reason->file[0] ? reason->file : NULL);
		json_u64(j, "count", reason->n);
		json_str(j, "of", reason->of);
		json_f64(j, "share", reason->share);
		json_bool(j, "matters", reason->matters);
		json_bool(j, "damage", missing_is_damage(reason));
		json_str(j, "text", reason->text);
		json_end(j);
	}
	json_end(j);
}
