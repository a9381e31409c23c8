/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/missing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define BRIEFS 2 /* in the line of the answer, the share of the calls among them */

const char *const missing_codes[MISSING_KINDS] = {
	[MISSING_CUT] = "cut",
	[MISSING_SURPLUS] = "surplus",
	[MISSING_LOST] = "lost",
	[MISSING_UNSEEN] = "unseen",
	[MISSING_NO_END] = "no-end",
	[MISSING_LEFT_RUNNING] = "left-running",
	[MISSING_DROPPED] = "dropped",
	[MISSING_SUMMED] = "summed",
	[MISSING_UNTRACED] = "untraced",
	[MISSING_ENDED_BEFORE] = "ended-before",
	[MISSING_NOT_RECORDED] = "not-recorded",
	[MISSING_IO_URING] = "io-uring",
	[MISSING_COMPAT] = "compat",
	[MISSING_SKIPPED] = "skipped",
};

/* Whether the trace has all that was to be recorded in spite of R. */
static bool is_by_choice(const struct missing_reason *r)
{
	return r->kind >= MISSING_ENDED_BEFORE;
}

void missing_add(struct report_missing *missing, struct missing_reason r, const char *fmt, ...)
{
	va_list ap;

	if (missing->n == MISSING_MAX) {
		free(r.brief);
		return;
	}
	va_start(ap, fmt);
	if (vasprintf(&r.text, fmt, ap) < 0)
		r.text = NULL;
	va_end(ap);
	if (!r.text) {
		free(r.brief);
		return;
	}
	missing->reason[missing->n++] = r;
	missing->damaged |= missing_is_damage(&r);
}

/* Those that could change the answer come first: the first screen has only one. */
static int by_weight(const void *a, const void *b)
{
	const struct missing_reason *x = a, *y = b;

	if (x->matters != y->matters)
		return x->matters ? -1 : 1;
	return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind) : strcmp(x->file, y->file);
}

static void put_caveat(const struct report_missing *missing, FILE *out)
{
	const bool calls = missing_share(missing) >= MISSING_MATTERS;
	unsigned int n = calls;

	if (calls)
		fprintf(out, "%.1f %% of the calls are missing", 100 * missing_share(missing));
	for (unsigned int i = 0; i < missing->n && n < BRIEFS; i++) {
		const struct missing_reason *r = &missing->reason[i];

		if (r->matters && r->brief && !(calls && r->of_calls))
			fprintf(out, "%s%s", n++ ? ", " : "", r->brief);
	}
	if (n)
		fputs(": this may be otherwise", out);
}

void missing_end(struct report_missing *missing)
{
	size_t len = 0;
	FILE *out = open_memstream(&missing->caveat, &len);

	missing->complete = true;
	qsort(missing->reason, missing->n, sizeof(missing->reason[0]), by_weight);
	for (unsigned int i = 0; i < missing->n; i++)
		missing->complete &= is_by_choice(&missing->reason[i]);
	if (!out)
		return;
	put_caveat(missing, out);
	fclose(out);
	if (len == 0)
		free(TAKE_PTR(missing->caveat));
}

void missing_free(struct report_missing *m)
{
	for (unsigned int i = 0; i < m->n; i++) {
		free(m->reason[i].brief);
		free(m->reason[i].text);
	}
	free(m->caveat);
}
