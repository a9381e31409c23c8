/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the rows of a check for humans and as JSON. Their contents come from the machine and may be
 * hostile: they reach the terminal escaped.
 */
#include "check/check.h"

#include <string.h>

#include "base/fmt.h"
#include "base/json.h"
#include "base/util.h"
#include "base/wrap.h"

#define STATE_WIDTH 8 /* "missing" and a blank */
#define ARROW "-> "

static const struct {
	const char *name, *colour;
} states[] = {
	[CHECK_OK] = { "ok", "\033[32m" },
	[CHECK_NOTE] = { "note", "\033[33m" },
	[CHECK_MISSING] = { "missing", "\033[35m" },
	[CHECK_FAIL] = { "fail", "\033[1;31m" },
};

static void put_row(FILE *out, const struct check_row *row, unsigned int need_width, unsigned int width, bool colour)
{
	unsigned int indent = need_width + STATE_WIDTH;

	fmt_text(out, row->need, (int)need_width);
	fprintf(out, "%s%-*s%s", colour ? states[row->state].colour : "", STATE_WIDTH, states[row->state].name,
		colour ? "\033[0m" : "");
	wrap_text(out, row->found, indent, width);
	if (!*row->remedy)
		return;
	fprintf(out, "%*s" ARROW, (int)indent, "");
	wrap_text(out, row->remedy, indent + (unsigned int)strlen(ARROW), width);
}

void check_print(const struct check *check, FILE *out, unsigned int width, bool colour)
{
	const struct check_row *verdict =
		check->n && !strcmp(check->rows[check->n - 1].need, CHECK_VERDICT) ? &check->rows[check->n - 1] : NULL;
	const unsigned int n = check->n - !!verdict;
	unsigned int need_width = (unsigned int)strlen("NEED");

	for (unsigned int i = 0; i < n; i++)
		need_width = MAX(need_width, (unsigned int)strlen(check->rows[i].need));
	need_width += 2;
	fprintf(out, "%-*s%-*s%.*s\n", (int)need_width, "NEED", STATE_WIDTH, "STATE",
		(int)(width > need_width + STATE_WIDTH ? width - need_width - STATE_WIDTH : 0),
		"FOUND " ARROW "WHAT TO DO");
	for (unsigned int i = 0; i < n; i++)
		put_row(out, &check->rows[i], need_width, width, colour);
	if (verdict)
		wrap_text(out, verdict->found, 0, width);
}

int check_print_json(const struct check *check, FILE *out)
{
	struct json j = { 0 };

	json_array(&j, NULL);
	for (unsigned int i = 0; i < check->n; i++) {
		const struct check_row *row = &check->rows[i];

		json_object(&j, NULL);
		json_str(&j, "need", row->need);
		json_str(&j, "state", states[row->state].name);
		json_str(&j, "found", row->found);
		json_str(&j, "remedy", *row->remedy ? row->remedy : NULL);
		json_end(&j);
	}
	json_end(&j);
	return json_write(&j, out);
}
