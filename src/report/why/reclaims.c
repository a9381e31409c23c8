/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/why/reclaims.h"

#include "base/util.h"
#include "report/scan/scan.h"
#include "report/why/why_impl.h"
#include "stats/cover.h"

/* A main process or a loader with rows. */
struct reclaimer {
	const struct why_trainer *window; /* the trainer that it is or loads for */
	double *ns; /* where its time is added */
	struct cover cover;
};

/* Returns NULL for a process that is neither. */
static struct reclaimer *reclaimer_of(struct why *why, struct table *all, uint64_t pid)
{
	const struct why_trainer *t = why_trainer(why, pid);
	const struct why_loader *l = t ? NULL : why_loader(why, pid);
	struct reclaimer *x = t || l ? table_get(all, pid) : NULL;

	if (!x)
		return NULL;
	x->window = t ? t : &why->trainer[l->trainer];
	x->ns = t ? &why->reclaims.trainers_ns : &why->reclaims.loaders_ns;
	return x;
}

static void took(void *ctx, uint64_t begin_ns, uint64_t end_ns)
{
	struct reclaimer *x = ctx;

	*x->ns += (double)why_looked_at(x->window, begin_ns, end_ns);
}

static void any_took(void *ctx, uint64_t begin_ns, uint64_t end_ns)
{
	*(uint64_t *)ctx += end_ns - begin_ns;
}

static void take(struct why *why, const struct scan *scan, struct table *all, struct cover *any)
{
	struct why_reclaim_sum *sum =
		scan_is(scan, COL_KIND, "cgroup") ? &why->reclaims.cgroup : &why->reclaims.machine;
	const uint64_t ns = MIN(scan_number(scan, COL_LAT_NS), scan->time_ns), begin_ns = scan->time_ns - ns;
	struct reclaimer *x = reclaimer_of(why, all, scan_number(scan, COL_PID));

	sum->n++;
	sum->ns += ns;
	sum->pages += scan_number(scan, COL_PAGES);
	cover_add(any, begin_ns, scan->time_ns, any_took, &why->reclaims.busy_ns);
	if (x)
		cover_add(&x->cover, begin_ns, scan->time_ns, took, x);
}

static void add_lives(struct why *w)
{
	for (uint32_t i = 0; i < w->n_trainers; i++)
		w->reclaims.trainers_life_ns += (double)(w->trainer[i].end_ns - w->trainer[i].begin_ns);
	for (uint32_t i = 0; i < w->loaders.n; i++) {
		const struct why_loader *l = *(struct why_loader **)table_at(&w->loaders, i);

		if (l)
			w->reclaims.loaders_life_ns +=
				(double)why_looked_at(&w->trainer[l->trainer], l->begin_ns, l->end_ns);
	}
}

void why_read_reclaims(struct report *report)
{
	struct scan s = { .report = report };
	struct cover any = { 0 };
	struct table all;

	if (scan_begin(&s, report->folder, "reclaim") < 0)
		return;
	report->why->reclaims.present = true;
	table_init_pids(&all, sizeof(struct reclaimer), WHY_TRAINERS_MAX + WHY_LOADERS_MAX);
	while (scan_next(&s) > 0)
		if (scan_has_number(&s, COL_TIMESTAMP) && scan_has_number(&s, COL_PID) &&
		    scan_has_number(&s, COL_LAT_NS))
			take(report->why, &s, &all, &any);
	table_free(&all);
	add_lives(report->why);
}

static double part(double ns, double life_ns)
{
	return life_ns > 0 ? ns / life_ns : 0;
}

double why_trainers_reclaim(const struct why_reclaims *m)
{
	return part(m->trainers_ns, m->trainers_life_ns);
}

double why_loaders_reclaim(const struct why_reclaims *m)
{
	return part(m->loaders_ns, m->loaders_life_ns);
}
