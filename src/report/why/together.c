/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the loaders of a trainer did together during its waits. The loaders of a generation live at the same time, and
 * their trainer takes batches from them in order: it waits for the one that is late though the others are ready. So
 * they are ready only where none of them is busy; and where one is busy most of the time and the others are not, it is
 * a straggler.
 */
#include <stdlib.h>

#include "base/util.h"
#include "report/why/account.h"
#include "report/why/why_impl.h"

#define STRAGGLER_BUSY 0.5 /* of its generation's waits: a straggler was busy for at least this part, */
#define STRAGGLER_OTHERS 0.4 /* and the others of its generation for at most this part */

/* The loaders of a generation during the waits for them. */
struct generation {
	const struct why_loader *busiest;
	double busy, busy_sum, idle_ns;
	uint64_t begin_ns, end_ns;
	uint32_t n;
};

static double busy_of(const struct why_loader *l)
{
	return l->alive_idle_ns > 0 ? 1 - MIN(l->idle_ns[WHY_QUEUE] / l->alive_idle_ns, 1) : 0;
}

/* Returns for how long one loader was busy and the others were not; *OTHERS: for what part of the waits these were
 * busy. */
static double straggled(const struct generation *g, double *others)
{
	*others = g->n > 1 ? (g->busy_sum - g->busy) / (g->n - 1) : 0;
	if (g->n < 2 || g->busy < STRAGGLER_BUSY || *others > STRAGGLER_OTHERS * g->busy)
		return 0;
	return g->idle_ns * (g->busy - *others);
}

/* Returns the part of T's waits that may be for loaders: those for its own threads and for the network are not. */
static double for_loaders(const struct why *w, const struct why_trainer *t)
{
	const struct account *a = t->then == WHY_BY_SUMS && w->accounts ? &w->accounts[t - w->trainer] : NULL;
	const double all_ns = a ? a->ns[ACCOUNT_THREADS] + a->ns[ACCOUNT_OTHERS] : 0;

	return all_ns > 0 ? MAX(a->ns[ACCOUNT_OTHERS] - t->main.ns[SLEEP_SOCKET], 0.0) / all_ns : 1;
}

/*
 * Returns for how long T waited during G's life while any loader was at work. AT goes through the work of T's loaders.
 * Where that had too many stretches to keep each, the gaps that were closed count as everywhere.
 */
static double worked(struct why *w, struct why_trainer *t, const struct generation *g, size_t *at)
{
	const struct spans *s = &t->at_work;
	uint64_t ns = 0;

	while (*at < s->n && s->v[*at].end_ns <= g->begin_ns)
		++*at;
	for (size_t i = *at; i < s->n && s->v[i].begin_ns < g->end_ns; i++)
		ns += why_waited_then(w, t, MAX(s->v[i].begin_ns, g->begin_ns), MIN(s->v[i].end_ns, g->end_ns));
	return s->total_ns ? (double)ns * (1 - MIN((double)s->glued_ns / (double)s->total_ns, 1)) : 0;
}

/*
 * Returns the waits in which none of G's loaders had anything to do. They are at most those in which the busiest one
 * had not, as it is known how long it slept, but by sched.out not when.
 */
static double ready(struct why *w, struct why_trainer *t, const struct generation *g, size_t *at)
{
	const double busiest_ns = g->idle_ns * (1 - g->busy);
	double late_ns;

	if (!why_waits_for_any(t) || g->n < 2)
		return busiest_ns;
	late_ns = MAX(busiest_ns - MAX(g->idle_ns - worked(w, t, g, at), 0.0), 0.0);
	return busiest_ns - late_ns * for_loaders(w, t);
}

struct why_together why_together(struct why *why, uint32_t t)
{
	struct generation *all = calloc(why->loaders.n + 1, sizeof(*all));
	struct why_together ret = { 0 };
	double most_ns = 0;
	size_t at = 0;

	for (uint32_t i = 0; all && i < why->loaders.n; i++) {
		const struct why_loader *loader = *(struct why_loader **)table_at(&why->loaders, i);
		struct generation *generation = loader ? &all[MIN(loader->generation, why->loaders.n)] : NULL;

		if (!loader || loader->trainer != t || loader->alive_idle_ns <= 0)
			continue;
		generation->begin_ns = generation->n ? MIN(generation->begin_ns, loader->begin_ns) : loader->begin_ns;
		generation->end_ns = MAX(generation->end_ns, loader->end_ns);
		generation->n++;
		generation->busy_sum += busy_of(loader);
		generation->idle_ns = MAX(generation->idle_ns, loader->alive_idle_ns);
		if (!generation->busiest || busy_of(loader) > generation->busy) {
			generation->busiest = loader;
			generation->busy = busy_of(loader);
		}
	}
	spans_close(&why->trainer[t].at_work);
	for (uint32_t i = 0; all && i <= why->loaders.n; i++) {
		double others, ns = straggled(&all[i], &others);

		ret.straggler_ns += ns;
		ret.idle_ns += all[i].idle_ns;
		ret.ready_ns += ready(why, &why->trainer[t], &all[i], &at);
		if (ns <= most_ns)
			continue;
		most_ns = ns;
		if (why->straggler && ns <= why->straggler_most_ns)
			continue;
		why->straggler = all[i].busiest;
		why->straggler_busy = all[i].busy;
		why->straggler_others = others;
		why->straggler_most_ns = ns;
	}
	free(all);
	return ret;
}
