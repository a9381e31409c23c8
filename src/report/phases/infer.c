/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Phases where nobody tells of any. Start-up lasts until reading has become as strong as it is for most of the time;
 * checkpoints are bursts of writing by those who train, and not before they do. What does not stand out is not told.
 */
#include <stdlib.h>

#include "base/util.h"
#include "report/phases/phases.h"
#include "stats/timeline.h"

#define WINDOWS 256	       /* that the trace is looked at in */
#define LEAST_WINDOWS 32
#define LEAST_READS 256	       /* in all of the trace */
#define SUSTAINED 5	       /* windows, of which most are strong */
#define BURST_BYTES (16U << 20) /* of a checkpoint, at least */
#define BURST_TIMES 4	       /* the mean */
#define BURSTS_MAX 4096

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

/* Half of what is read in the middle one of the windows in which something is; 0: these are too few. */
static uint64_t strong(const struct windows *w)
{
	uint64_t v[WINDOWS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++)
		if (w->v[i])
			v[n++] = w->v[i];
	if (n < w->n / 4 || n < SUSTAINED)
		return 0;
	qsort(v, n, sizeof(*v), by_value);
	return MAX(v[n / 2] / 2, 1);
}

/* Whether most windows from I on, STEP apart, are strong, and the first is. */
static bool is_sustained(const struct windows *w, uint64_t least, uint32_t i, int step)
{
	unsigned int n = 0;

	for (int k = 0; k < SUSTAINED; k++) {
		int64_t at = (int64_t)i + (int64_t)k * step;

		n += at >= 0 && at < w->n && w->v[at] >= least;
	}
	return w->v[i] >= least && n > SUSTAINED / 2;
}

/* When it begins; 0: there is none. */
static uint64_t infer_steady(struct phases *p, const struct timeline *t)
{
	const struct windows w = windows_of(t, TIMELINE_READ_BYTES);
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
	begin_ns = begin_of(t, (uint64_t)first * w.each);
	end_ns = begin_of(t, (last + 1ULL) * w.each);
	if (first)
		phases_add(p, PHASE_INFERRED, "start-up", t->begin_ns, begin_ns, true);
	phases_add(p, PHASE_INFERRED, "steady", begin_ns, end_ns, true);
	return begin_ns;
}

/* --- checkpoints -------------------------------------------------------------------------------------------- */

/* Whether a file was made from bin FROM to bin TO; where none was made at all that tells nothing. */
static bool made_files(const struct timeline *t, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to; i++)
		if (t->sum[TIMELINE_CREATES][i])
			return true;
	return sum_of(t, t->sum[TIMELINE_CREATES]) == 0;
}

struct burst {
	uint32_t from, to; /* bins */
	uint64_t begin_ns, end_ns;
	uint64_t bytes;
};

/* What is nearer is of the same. */
static uint64_t apart_ns(const struct timeline *t)
{
	return MAX(2, timeline_bins(t) / 100) * t->bin_ns;
}

/* From when to when there was writing that ended in bin I: bins may be much longer than that, or much shorter. */
static struct timeline_extent writing(const struct timeline *t, uint32_t i)
{
	return t->wrote[i].end_ns ? t->wrote[i]
				  : (struct timeline_extent){ begin_of(t, i), begin_of(t, i + 1ULL) };
}

/* The syncs that begin in it, or right behind. */
static void add_syncs(const struct timeline *t, struct burst *b)
{
	for (uint32_t i = b->from; i < timeline_bins(t); i++)
		if (t->synced[i].end_ns > b->end_ns && t->synced[i].begin_ns < b->end_ns + apart_ns(t))
			b->end_ns = t->synced[i].end_ns;
}

/* What is written before FROM_NS is what is needed to begin: the data set, unpacked or made. */
static void put_burst(struct phases *p, const struct timeline *t, const struct burst *b, uint64_t from_ns)
{
	/* a file is made before the first write to it has ended */
	uint32_t before = MIN(b->from, MAX(timeline_bins(t) / 20, 2));

	if (b->bytes >= BURST_BYTES && b->begin_ns >= from_ns && made_files(t, b->from - before, b->to))
		phases_add(p, PHASE_INFERRED, "checkpoint", b->begin_ns, b->end_ns, true);
}

/* Bins with much more writing than the mean, and those between that are near each other. */
static void infer_checkpoints(struct phases *p, const struct timeline *t, uint64_t from_ns)
{
	const uint64_t *written = t->saved;
	uint32_t bins = timeline_bins(t), bursts = 0;
	uint64_t least = MAX(BURST_TIMES * (sum_of(t, written) / bins), 1);
	struct burst b = { .bytes = 0 };

	for (uint32_t i = 0; i < bins && bursts < BURSTS_MAX; i++) {
		struct timeline_extent e = writing(t, i);

		if (written[i] < least)
			continue;
		if (b.bytes && e.begin_ns >= b.end_ns + apart_ns(t)) {
			put_burst(p, t, &b, from_ns);
			bursts++;
			b.bytes = 0;
		}
		if (!b.bytes)
			b = (struct burst){ .from = i, .begin_ns = MAX(e.begin_ns, b.end_ns) };
		b.bytes += written[i];
		b.to = i;
		b.begin_ns = MIN(b.begin_ns, e.begin_ns);
		b.end_ns = MAX(b.end_ns, e.end_ns);
		add_syncs(t, &b);
	}
	if (b.bytes)
		put_burst(p, t, &b, from_ns);
}

/* By somebody who knows: epochs by workers say nothing of checkpoints. */
static bool is_told(const struct phases *p)
{
	for (uint32_t i = 0; i < p->recorded.n; i++)
		if (!p->recorded.v[i].inferred)
			return true;
	return false;
}

void phases_infer(struct phases *p, const struct timeline *t, uint64_t from_ns, bool sure)
{
	uint64_t steady_ns = 0;

	if (is_told(p) || !t->begin_ns || timeline_bins(t) < LEAST_WINDOWS)
		return;
	if (sum_of(t, t->sum[TIMELINE_READS]) >= LEAST_READS)
		steady_ns = infer_steady(p, t);
	infer_checkpoints(p, t, sure ? from_ns : MAX(from_ns, steady_ns));
	if (phases_close(p, t->begin_ns) == 0)
		phases_end(p, t->begin_ns, t->end_ns);
}
