/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums by epoch, with the boundaries of the job's phases; without such phases, one epoch is all of the trace. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/phases/phases.h"
#include "report/scan/lookup.h"
#include "report/why/why_impl.h"

#define OUTLIER 6.0 /* deviations; the slowest of many equal workers is about 3 off by chance */
#define LEAST_SAMPLES 8

static const struct phases *phases_of(const struct report *r)
{
	return r->phases;
}

/* --- when it trains --------------------------------------------------------------------------------- */

static bool widen(const struct phases *phases, enum phase_kind kind, uint64_t *begin_ns, uint64_t *end_ns)
{
	bool any = false;

	for (uint32_t i = 0; i < phases_count(phases, kind); i++) {
		const struct phase *phase = phases_get(phases, kind, i);

		if (phase->inferred || phase->end_ns <= phase->begin_ns)
			continue;
		*begin_ns = MIN(*begin_ns, phase->begin_ns);
		*end_ns = MAX(*end_ns, phase->end_ns);
		any = true;
	}
	return any;
}

bool why_training(const struct report *r, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct phases *p = phases_of(r);
	uint64_t checkpoint_ns = UINT64_MAX; /* the first may be of earlier training */
	bool any;

	if (!p)
		return false;
	any = widen(p, PHASE_EPOCH, begin_ns, end_ns) || widen(p, PHASE_TRAINING, begin_ns, end_ns);
	if (any)
		widen(p, PHASE_CHECKPOINT, &checkpoint_ns, end_ns);
	*end_ns = MIN(*end_ns, r->last_ns);
	return any && *end_ns > *begin_ns;
}

/* --- epochs ----------------------------------------------------------------------------------------- */

/* Puts the name of epoch I; epochs without a number get #1, #2 ... */
static void name_epoch(const struct phases *p, uint32_t i, char name[PHASE_LABEL_MAX])
{
	const struct phase *phase = phases_get(p, PHASE_EPOCH, i);
	size_t len;

	phases_label(p, phase, name);
	len = strlen(name);
	if (phase->number < 0 && phases_count(p, PHASE_EPOCH) > 1)
		snprintf(name + len, PHASE_LABEL_MAX - len, " #%u", i + 1);
}

int why_epochs_begin(struct report *report)
{
	const struct phases *phases = phases_of(report);
	uint32_t n = phases ? MIN(phases_count(phases, PHASE_EPOCH), WHY_EPOCHS_MAX) : 0;
	struct why *why = report->why;

	why->n_epochs = MAX(n, 1);
	why->epoch = calloc(why->n_epochs + 1, sizeof(*why->epoch));
	if (!why->epoch) {
		why->n_epochs = 0;
		return -ENOMEM;
	}
	why->outside = &why->epoch[why->n_epochs];
	why->epoch[0] = (struct why_epoch){ .phase = PHASES_NONE, .end_ns = UINT64_MAX };
	for (uint32_t i = 0; i < n; i++)
		why->epoch[i] = (struct why_epoch){ .phase = i,
						    .begin_ns = phases_get(phases, PHASE_EPOCH, i)->begin_ns,
						    .end_ns = phases_get(phases, PHASE_EPOCH, i)->end_ns };
	return 0;
}

/* Keeps the N epochs from FROM on, with the boundaries that the phases have now. */
static void settle_named(struct why *why, const struct phases *phases, uint32_t from, uint32_t n)
{
	why->by_epoch = true;
	why->n_epochs = n;
	for (uint32_t i = 0; i < n; i++) {
		struct why_epoch *e = &why->epoch[i];

		*e = why->epoch[from + i];
		e->phase = i;
		e->begin_ns = phases_get(phases, PHASE_EPOCH, i)->begin_ns;
		e->end_ns = phases_get(phases, PHASE_EPOCH, i)->end_ns;
		name_epoch(phases, i, e->name);
	}
}

static void settle_none(const struct report *report)
{
	struct why *w = report->why;
	struct why_epoch *e = &w->epoch[0];

	if (e->phase != PHASES_NONE)
		*e = *w->outside;
	e->phase = PHASES_NONE;
	e->begin_ns = report->first_ns;
	e->end_ns = report->last_ns;
	snprintf(e->name, sizeof(e->name), "all of the trace");
	w->n_epochs = 1;
}

void why_epochs_settle(struct report *report)
{
	const struct phases *phases = phases_of(report);
	uint32_t n = phases ? phases_count(phases, PHASE_EPOCH) : 0, from = 0;
	struct why *why = report->why;

	/* the phases have dropped those that ended before the trace began */
	while (n && from < why->n_epochs && why->epoch[from].end_ns <= phases_get(phases, PHASE_EPOCH, 0)->begin_ns)
		from++;
	if (from < why->n_epochs && n)
		settle_named(why, phases, from, MIN(n, why->n_epochs - from));
	else
		settle_none(report);
	if (n > WHY_EPOCHS_MAX)
		why_note(why, "the first %d of %u epochs are listed one by one", WHY_EPOCHS_MAX, n);
	why->at_epoch = 0;
	for (uint32_t i = 0; i < why->n_epochs; i++)
		why->sums.rewritten_bytes += why->epoch[i].rewritten_bytes;
}

struct why_epoch *why_epoch_find(struct why *why, uint64_t at_ns)
{
	struct why_epoch *epoch = &why->epoch[why->at_epoch];
	uint32_t lo = 0, hi = why->n_epochs;

	if (at_ns >= epoch->begin_ns && (at_ns < epoch->end_ns || epoch->phase == PHASES_NONE))
		return epoch;
	if (epoch->phase == PHASES_NONE)
		return NULL;
	while (lo < hi) { /* find the first that ends after it */
		uint32_t mid = lo + (hi - lo) / 2;

		if (why->epoch[mid].end_ns <= at_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == why->n_epochs || at_ns < why->epoch[lo].begin_ns)
		return NULL;
	why->at_epoch = lo;
	return &why->epoch[lo];
}

/* --- workers ----------------------------------------------------------------------------------------- */

struct why_work *why_work_of(struct why *w, const struct why_epoch *e, uint64_t pid)
{
	const uint32_t epoch = (uint32_t)(e - w->epoch);
	struct why_work *work = table_get(&w->work, (uint64_t)epoch << 40 | pid);

	if (work) {
		work->pid = pid;
		work->epoch = epoch;
	}
	return work;
}

/* A worker's time per sample. GENERATION: that of a loader; 0 for others. */
struct pace {
	uint64_t pid, generation, samples;
	double each_ns;
};

static int by_generation(const void *a, const void *b)
{
	const struct pace *x = a, *y = b;

	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	return (x->each_ns > y->each_ns) - (x->each_ns < y->each_ns);
}

static uint32_t paces_of(struct why *why, uint32_t epoch, struct pace *all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < why->work.n; i++) {
		const struct why_work *k = table_at(&why->work, i);
		struct why_loader *const *l =
			k->epoch == epoch && k->samples ? table_find(&why->loaders, k->pid) : NULL;

		if (k->epoch == epoch && k->samples)
			all[n++] = (struct pace){ k->pid, l && *l ? (*l)->generation + 1ULL : 0, k->samples,
						  (double)k->ns / (double)k->samples };
	}
	return n;
}

static int by_ns(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Whether SLOW is an outlier: it exceeds the median of the N values ALL by OUTLIER times their own median deviation. */
static bool stands_out(const struct pace *all, uint32_t n, const struct pace *slow, const struct pace *median)
{
	autofree double *off = calloc(n, sizeof(*off));

	for (uint32_t i = 0; off && i < n; i++)
		off[i] = fabs(all[i].each_ns - median->each_ns);
	if (off)
		qsort(off, n, sizeof(*off), by_ns);
	return off && slow->each_ns - median->each_ns > OUTLIER * off[(n - 1) / 2];
}

/*
 * Finds the slowest worker, compared with the median of those that ran at the same time, since later workers may have
 * found the files in the page cache. Of several generations with an outlier, the one with the largest difference
 * counts.
 */
static void find_slow_worker(struct why *why, uint32_t epoch)
{
	autofree struct pace *all = calloc(why->work.n + 1, sizeof(*all));
	struct why_epoch *why_epoch = &why->epoch[epoch];
	double worst = 0;

	why_epoch->workers = all ? paces_of(why, epoch, all) : 0;
	if (why_epoch->workers)
		qsort(all, why_epoch->workers, sizeof(*all), by_generation);
	for (uint32_t first = 0, next; first < why_epoch->workers; first = next) {
		const struct pace *slow, *median;

		for (next = first + 1; next < why_epoch->workers && all[next].generation == all[first].generation;
		     next++)
			;
		slow = &all[next - 1];
		median = &all[first + (next - 1 - first) / 2];
		if (why_epoch->slow_among &&
		    (slow->each_ns <= worst * median->each_ns || !stands_out(&all[first], next - first, slow, median)))
			continue;
		why_epoch->slow_stands_out =
			stands_out(&all[first], next - first, slow, median) && slow->samples >= LEAST_SAMPLES;
		worst = median->each_ns > 0 ? slow->each_ns / median->each_ns : 0;
		why_epoch->slow_worker = slow->pid;
		why_epoch->slow_samples = slow->samples;
		why_epoch->slow_worker_ns = slow->each_ns;
		why_epoch->median_worker_ns = median->each_ns;
		why_epoch->slow_among = next - first;
	}
}

void why_epochs_end(struct report *report)
{
	struct why *why = report->why;

	for (uint32_t i = 0; i < why->n_epochs; i++) {
		struct why_epoch *epoch = &why->epoch[i];

		find_slow_worker(why, i);
		for (unsigned int k = 0; k < epoch->n_slow; k++)
			epoch->slow[k].path = report_path_of(report, epoch->slow[k].fid, NULL, 0);
		for (uint32_t k = 0; k < why->n_trainers; k++) {
			struct why_trainer *t = &why->trainer[k];

			if (!why_knows_waits(t))
				continue;
			epoch->waited_ns += epoch->own_ns[k] + why_saves_beside(t, epoch->begin_ns, epoch->end_ns) +
					    why_waited(why, t, epoch->begin_ns, epoch->end_ns);
			epoch->waitable_ns += why_looked_at(t, epoch->begin_ns, epoch->end_ns);
		}
		epoch->waited_ns = MIN(epoch->waited_ns, epoch->waitable_ns);
	}
}
