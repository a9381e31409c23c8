/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Infers phases where no log and no mark names any. Start-up lasts until reading has become as strong as it is for most
 * of the time; checkpoints are files that trainers write in one go (saves.h) after training began. A phase that does
 * not stand out is not inferred.
 */
#include <stdlib.h>

#include "base/util.h"
#include "report/phases/phases.h"
#include "report/phases/saves.h"
#include "stats/timeline.h"

#define WINDOWS 256 /* equal parts of the trace */
#define LEAST_WINDOWS 32
#define LEAST_READS 256 /* reads in all of the trace; with fewer, nothing is inferred */
#define SUSTAINED 5 /* windows in a row, of which most must be strong */

/* Sums of the timeline per window of EACH bins. */
struct windows {
	uint64_t v[WINDOWS];
	uint32_t n, each;
};

static struct windows windows_of(const struct timeline *t, enum timeline_sum what)
{
	uint32_t bins = timeline_bins(t);
	struct windows w = { .each = MAX((bins + WINDOWS - 1) / WINDOWS, 1) };

	for (uint32_t i = 0; i < bins; i++)
		w.v[i / w.each] += t->sum[what][i];
	w.n = (bins + w.each - 1) / w.each;
	return w;
}

static uint64_t sum_of(const struct timeline *t, const uint64_t *values)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < timeline_bins(t); i++)
		sum += values[i];
	return sum;
}

static uint64_t begin_of(const struct timeline *t, uint64_t bin)
{
	return MIN(t->begin_ns + bin * t->bin_ns, t->end_ns);
}

/* --- start-up and what follows ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Returns the least amount of a strong window: half the median of the windows that read; 0: too few windows read. */
static uint64_t strong(const struct windows *windows)
{
	uint64_t v[WINDOWS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < windows->n; i++)
		if (windows->v[i])
			v[n++] = windows->v[i];
	if (n < windows->n / 4 || n < SUSTAINED)
		return 0;
	qsort(v, n, sizeof(*v), by_value);
	return MAX(v[n / 2] / 2, 1);
}

/* Whether most of the windows from I on, in the direction STEP, are strong, and I itself is. */
static bool is_sustained(const struct windows *w, uint64_t least, uint32_t i, int step)
{
	unsigned int n = 0;

	for (int k = 0; k < SUSTAINED; k++) {
		int64_t at = (int64_t)i + (int64_t)k * step;

		n += at >= 0 && at < w->n && w->v[at] >= least;
	}
	return w->v[i] >= least && n > SUSTAINED / 2;
}

/* Adds start-up and steady state. Returns when the steady state begins; 0: there is none. */
static uint64_t infer_steady(struct phases *phases, const struct timeline *timeline)
{
	const struct windows w = windows_of(timeline, TIMELINE_READ_BYTES);
	uint64_t least = strong(&w), begin_ns, end_ns;
	uint32_t first = 0, last;

	if (!least)
		return 0;
	while (first < w.n && !is_sustained(&w, least, first, 1))
		first++;
	if (first == w.n)
		return 0;
	for (last = w.n - 1; last > first && !is_sustained(&w, least, last, -1);)
		last--;
	begin_ns = begin_of(timeline, (uint64_t)first * w.each);
	end_ns = begin_of(timeline, (last + 1ULL) * w.each);
	if (first)
		phases_add(phases, PHASE_INFERRED, "start-up", timeline->begin_ns, begin_ns, true);
	phases_add(phases, PHASE_INFERRED, "steady", begin_ns, end_ns, true);
	return begin_ns;
}

/* --- checkpoints -------------------------------------------------------------------------------------------- */

/* Adds checkpoints. Writes before FROM_NS prepare the training: the data set is unpacked or made. */
static void infer_checkpoints(struct phases *p, struct phase_saves *saves, const struct timeline *t, uint64_t from_ns)
{
	uint32_t n = 0;
	autofree struct phase_save *v = phase_saves_find(saves, t->begin_ns, t->end_ns, &n);

	for (uint32_t i = 0; i < n; i++)
		if (v[i].begin_ns >= from_ns)
			phases_add(p, PHASE_INFERRED, "checkpoint", v[i].begin_ns, v[i].end_ns, true);
}

/* Whether a log or a mark names a phase of KIND; PHASE_KINDS: any phase. */
static bool has_source(const struct phases *p, enum phase_kind kind)
{
	for (uint32_t i = 0; i < p->recorded.n; i++) {
		const struct phase *phase = &p->recorded.v[i];

		if (!phase->inferred && (kind == PHASE_KINDS || p->names[phase->name].kind == kind))
			return true;
	}
	return false;
}

void phases_infer(struct phases *phases, const struct timeline *timeline, struct phase_saves *saves, uint64_t from_ns,
		  bool sure)
{
	uint64_t steady_ns = 0;

	if (!timeline->begin_ns || timeline_bins(timeline) < LEAST_WINDOWS)
		return;
	if (!has_source(phases, PHASE_KINDS) && sum_of(timeline, timeline->sum[TIMELINE_READS]) >= LEAST_READS)
		steady_ns = infer_steady(phases, timeline);
	if (!has_source(phases, PHASE_CHECKPOINT))
		infer_checkpoints(phases, saves, timeline, sure ? from_ns : MAX(from_ns, steady_ns));
	if (phases_close(phases, timeline->begin_ns) == 0)
		phases_end(phases, timeline->begin_ns, timeline->end_ns);
}
