/* SPDX-License-Identifier: BSD-2-Clause */
/* What an epoch would take with changes, for a terminal: sentences, and the table of --what-if. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "report/show/tables/tables.h"
#include "report/show/text.h"
#include "report/whatif/whatif.h"

#define GAIN_LEAST 1.02 /* times as fast: less is none */
#define FMT_PREDICTED(ns) FMT_NS((uint64_t)(ns))

/* Returns "12.3 s", or where only its range is known "10 s to 14 s"; to be freed. */
static char *time_of(const struct whatif_prediction *prediction)
{
	if (prediction->sure)
		return util_fmt("%s", FMT_PREDICTED(prediction->ns));
	return util_fmt("%s to %s", FMT_PREDICTED(prediction->low_ns), FMT_PREDICTED(prediction->high_ns));
}

char *what_if_headspace(const struct report *r)
{
	const struct report_whatif *whatif = r->whatif;
	autofree char *time = NULL;

	if (!whatif || !whatif->present || whatif->refused)
		return NULL;
	if (whatif->ready.sure && whatif->ready.times < GAIN_LEAST)
		return util_fmt("with data always ready the longest epoch would take as long as it did");
	time = time_of(&whatif->ready);
	return time ? util_fmt("with data always ready the longest epoch would take %s instead of %s", time,
			       FMT_PREDICTED(whatif->calibrated.whole_ns)) :
		      NULL;
}

/* Returns what more workers would bring, where no number of them is enough. */
static char *without_enough(const struct report_whatif *whatif)
{
	const struct whatif_prediction *workers = &whatif->workers, *helps = &whatif->helps;
	autofree char *other = NULL, *time = time_of(helps);

	if (!time)
		return NULL;
	other = whatif->any_helps ? util_fmt("; %s would: %s", helps->change, time) : util_fmt("%s", "");
	if (!other)
		return NULL;
	if (!workers->change[0])
		return util_fmt("how many workers it needs is not known%s", other);
	if (!workers->sure || workers->times < 1.05)
		return util_fmt("more workers do not certainly help (limited by %s)%s", workers->limited_by, other);
	return util_fmt("%s gain most: %s, limited by %s", workers->change, FMT_PREDICTED(workers->ns),
			workers->limited_by);
}

char *what_if_workers(const struct report *r)
{
	const struct report_whatif *whatif = r->whatif;
	const struct whatif_prediction *workers;
	autofree char *time = NULL;

	if (!whatif || !whatif->present || whatif->refused)
		return NULL;
	workers = &whatif->workers;
	if (!whatif->enough)
		return without_enough(whatif);
	time = time_of(workers);
	return time ? util_fmt("%s instead of %" PRIu32 " is the least number that leaves a wait below 2 %%: %s",
			       workers->change, whatif->calibrated.base.model.loader.workers, time) :
		      NULL;
}

/* Prints the epoch that is replayed. */
static void put_base(const struct report_whatif *whatif, FILE *out)
{
	const uint32_t workers = whatif->calibrated.base.model.loader.workers;

	fprintf(out, "%s in %s, %s%s; replayed %+.1f %%\n", FMT_N(whatif->epoch.batches, "batch", "batches"),
		FMT_PREDICTED(whatif->calibrated.whole_ns), FMT_N(workers, "worker", "workers"),
		whatif->epoch.assumed ? " (prefetch_factor 2 and in_order are assumed)" : "", 100 * whatif->base_error);
}

static void put_rows(const struct report *r, FILE *out)
{
	if (!r->whatif->n)
		return;
	view_text_heads(&view_what_if, out);
	for (uint32_t i = 0; i < r->whatif->n; i++)
		view_fmt_line(&view_what_if, r, &r->whatif->row[i], out);
}

void what_if_table(const struct report *r, FILE *out)
{
	if (!r->whatif || !r->whatif->wanted->n)
		return;
	view_title(out, view_what_if.title);
	if (!r->whatif->present) {
		fputs("not known: no region of a DataLoader (--regions auto)\n", out);
	} else if (r->whatif->refused) {
		fmt_line(out, "not known: ", r->whatif->refused);
	} else {
		put_base(r->whatif, out);
		put_rows(r, out);
	}
}

void what_if_text(const void *of, FILE *out)
{
	const struct report *r = of;
	autofree char *headspace = what_if_headspace(r), *workers = what_if_workers(r);

	if (!r->whatif || !(r->whatif->present || r->whatif->wanted->n))
		return;
	what_if_table(r, out);
	if (!r->whatif->wanted->n)
		view_title(out, view_what_if.title);
	if (headspace)
		fmt_line(out, "", headspace);
	if (workers)
		fmt_line(out, "", workers);
	if (!r->whatif->wanted->n && r->whatif->refused)
		fmt_line(out, "not known: ", r->whatif->refused);
}
