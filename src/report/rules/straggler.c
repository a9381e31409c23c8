/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loader that is slower than the others. Loaders of a generation live at the same time, and their trainer takes
 * batches from them in order: it waits for the one that is late though the others are ready. That one is busy then, and
 * the others are not; where the path goes through a loader only because its batch comes first, the others are as busy.
 */
#include "base/fmt.h"
#include "base/util.h"
#include "report/rules/rules_impl.h"
#include "report/rules/shares.h"
#include "report/why/why_impl.h"

#define BUSY 0.5 /* of its life: a straggler was busy for at least this part, */
#define OTHERS 0.4 /* and the others of its generation for at most this part of that, on average */
#define MOST 0.5 /* of the cause */

/* A generation of loaders. */
struct generation {
	const struct why_loader *busiest;
	double busy, sum; /* of the busiest; of all */
	uint32_t n;
};

struct straggler {
	const struct why_loader *loader; /* that cost the most; NULL: there is none */
	double busy, others; /* parts of its life; of the others' lives */
	double most_ns, ns; /* that it cost; that all stragglers did */
};

/* Its life, but for waits for orders: by poll(2), futex(2) or a read of a pipe; what calls on files take is in rows. */
static double busy_of(const struct why *why, const struct why_loader *loader)
{
	const struct sleeps *s = &loader->main;
	const double files_ns = loader->ns[WHY_DISK] + loader->ns[WHY_CACHE] + loader->ns[WHY_WRITE];
	const double pipes_ns = MAX(s->ns[SLEEP_READ] + s->ns[SLEEP_WRITE] - files_ns, 0.0);
	const double idle_ns = s->ns[SLEEP_POLL] + s->ns[SLEEP_THREAD] + s->ns[SLEEP_CHILD] + pipes_ns;
	const double life_ns = (double)why_looked_at(&why->trainer[loader->trainer], loader->begin_ns, loader->end_ns);

	return life_ns > 0 ? MAX(1 - idle_ns / life_ns, 0.0) : 0;
}

static const struct why_loader *loader_at(const struct why *why, uint32_t i)
{
	return *(struct why_loader *const *)table_at(&why->loaders, i);
}

/* Adds what GENERATION's busiest loader cost, if it was slow: its time on the path, as far as the others were faster.
 */
static void look(const struct report_path *path, const struct generation *generation, struct straggler *ret)
{
	const double others = generation->n > 1 ? (generation->sum - generation->busy) / (generation->n - 1) : 1;
	const uint64_t *path_ns = generation->n > 1 ? table_find(&path->workers, generation->busiest->pid) : NULL;
	double ns;

	if (!path_ns || generation->busy < BUSY || others > OTHERS * generation->busy)
		return;
	ns = (double)*path_ns * (1 - others / generation->busy);
	ret->ns += ns;
	if (ns <= ret->most_ns)
		return;
	ret->loader = generation->busiest;
	ret->busy = generation->busy;
	ret->others = others;
	ret->most_ns = ns;
}

/* Loaders of several trainers have generations of their own. */
static struct straggler find(const struct report *report)
{
	const struct why *why = report->why;
	autofree struct generation *all = calloc(why->loaders.n + 1ULL, sizeof(*all));
	struct straggler ret = { 0 };

	for (uint32_t i = 0; all && i < why->loaders.n; i++) {
		const struct why_loader *loader = loader_at(why, i);
		struct generation *of = loader ? &all[MIN(loader->generation, why->loaders.n)] : NULL;
		const double busy = loader ? busy_of(why, loader) : 0;

		if (!loader)
			continue;
		of->n++;
		of->sum += busy;
		if (!of->busiest || busy > of->busy) {
			of->busiest = loader;
			of->busy = busy;
		}
	}
	for (uint32_t i = 0; all && i <= why->loaders.n; i++)
		look(report->path, &all[i], &ret);
	return ret;
}

uint64_t rules_straggler_ns(const struct shares *shares, const struct cause *cause)
{
	const struct report *report = shares->report;
	double ns;

	if (!report->why->has_sums || report->path->slow_rank.pid || cause->starting || cause->is_work)
		return 0;
	ns = MIN(find(report).ns, (double)shares_ns(shares, cause));
	return ns >= MOST * (double)shares_ns(shares, cause) ? (uint64_t)ns : 0;
}

void rules_show_straggler(struct report *report, struct finding *finding)
{
	const struct straggler slow = find(report);

	if (slow.loader)
		finding_add(finding,
			    "process %u, loader %u of those that ran at that time, from %.3f s to %.3f s, was busy for "
			    "%.0f %% of that, the others for %.0f %%",
			    (unsigned int)slow.loader->pid, slow.loader->number + 1,
			    rules_seconds(report, slow.loader->begin_ns), rules_seconds(report, slow.loader->end_ns),
			    100 * slow.busy, 100 * slow.others);
}
