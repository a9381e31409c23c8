/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "stats/top.h"

struct timeline *timeline_new(uint64_t begin_ns)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->begin_ns = t->end_ns = begin_ns;
	t->bin_ns = TIMELINE_FIRST_BIN_NS;
	table_init(&t->disks, sizeof(void *), TIMELINE_DISKS_MAX);
	table_init_pids(&t->lanes, sizeof(void *), TIMELINE_LANES_MAX);
	table_init(&t->points, sizeof(void *), TIMELINE_POINTS_MAX);
	return t;
}

static void table_free_all(struct table *table)
{
	for (uint32_t i = 0; i < table->n; i++)
		free(*(void **)table_at(table, i));
	table_free(table);
}

void timeline_free(struct timeline *t)
{
	if (!t)
		return;
	table_free_all(&t->disks);
	table_free_all(&t->lanes);
	table_free_all(&t->points);
	free(t);
}

/* Returns the value of KEY in TABLE, of SIZE bytes, made when new. NULL: no room or no memory. */
static void *value_of(struct table *table, uint64_t key, size_t size)
{
	void **at = table_get(table, key);

	if (at && !*at)
		*at = calloc(1, size);
	return at ? *at : NULL;
}

/* --- bins ---------------------------------------------------------------------------------------- */

/* Adds up the N of A in pairs, into its first half. */
#define FOLD(a, n)                                               \
	do {                                                     \
		const size_t half_ = (size_t)(n) / 2;            \
                                                                 \
		for (size_t i_ = 0; i_ < half_; i_++)            \
			(a)[i_] = (a)[2 * i_] + (a)[2 * i_ + 1]; \
		memset(&(a)[half_], 0, half_ * sizeof((a)[0]));  \
	} while (0)

static void fold_heat(uint32_t heat[TIMELINE_BINS][TIMELINE_HEAT_ROWS])
{
	for (size_t i = 0; i < TIMELINE_BINS / 2; i++)
		for (unsigned int row = 0; row < TIMELINE_HEAT_ROWS; row++)
			heat[i][row] = heat[2 * i][row] + heat[2 * i + 1][row];
	memset(heat[TIMELINE_BINS / 2], 0, TIMELINE_BINS / 2 * sizeof(heat[0]));
}

static void fold_level(struct timeline_level *level)
{
	const size_t half = TIMELINE_BINS / 2;

	for (size_t i = 0; i < half; i++) {
		const bool first = level->any[2 * i], second = level->any[2 * i + 1];
		const int64_t a = level->max[2 * i], b = level->max[2 * i + 1];

		level->any[i] = first || second;
		if (first && second)
			level->max[i] = MAX(a, b);
		else if (first)
			level->max[i] = a;
		else
			level->max[i] = b;
		level->last[i] = level->last[2 * i + second];
	}
	memset(&level->any[half], 0, half * sizeof(level->any[0]));
}

void timeline_keep_event(struct timeline_events *events, const struct timeline_event *event)
{
	struct timeline_event *at = TOP_PLACE(events->v, events->n, TIMELINE_EVENTS, e, e->ns, event->ns);

	if (at)
		*at = *event;
	if (events->n == TIMELINE_EVENTS)
		events->least_ns = events->v[TIMELINE_EVENTS - 1].ns;
}

/* Those of two bins, the first one's before equal ones. Memory of bins that never had any stays untouched. */
static void fold_events(struct timeline_events events[TIMELINE_BINS])
{
	for (size_t i = 0; i < TIMELINE_BINS / 2; i++) {
		const struct timeline_events *first = &events[2 * i], *second = first + 1;

		if (i && (events[i].n || first->n))
			events[i] = *first;
		for (uint32_t k = 0; k < second->n; k++)
			timeline_keep_event(&events[i], &second->v[k]);
	}
	for (size_t i = TIMELINE_BINS / 2; i < TIMELINE_BINS; i++)
		if (events[i].n)
			events[i] = (struct timeline_events){ 0 };
}

void timeline_fold(struct timeline *timeline)
{
	fold_level(&timeline->in_use);
	FOLD(timeline->data, TIMELINE_BINS);
	for (unsigned int i = 0; i < TIMELINE_SUMS; i++)
		FOLD(timeline->sum[i], TIMELINE_BINS);
	for (unsigned int i = 0; i < TIMELINE_HEATS; i++)
		if (timeline->has_heat[i]) {
			fold_heat(timeline->heat[i]);
			fold_events(timeline->events[i]);
		}
	for (uint32_t i = 0; i < timeline->disks.n; i++) {
		struct timeline_disk *d = *(void **)table_at(&timeline->disks, i);

		for (unsigned int k = 0; d && k < TIMELINE_D_SUMS; k++)
			FOLD(d->sum[k], TIMELINE_BINS);
	}
	for (uint32_t i = 0; i < timeline->lanes.n; i++) {
		struct timeline_lane *l = *(void **)table_at(&timeline->lanes, i);

		for (unsigned int k = 0; l && k < TIMELINE_BUSY; k++)
			FOLD(l->busy_ns[k], TIMELINE_LANE_BINS);
	}
	for (uint32_t i = 0; i < timeline->points.n; i++) {
		struct timeline_points *p = *(void **)table_at(&timeline->points, i);

		if (!p)
			continue;
		FOLD(p->sum, TIMELINE_BINS);
		FOLD(p->n, TIMELINE_BINS);
	}
	timeline->bin_ns *= 2;
	timeline->at.end_ns = 0;
}

void timeline_begin(struct timeline *t, uint64_t at_ns)
{
	if (!t->begin_ns)
		t->begin_ns = t->end_ns = at_ns;
}

uint32_t timeline_bins(const struct timeline *t)
{
	uint64_t bins = (t->end_ns - t->begin_ns) / t->bin_ns + 1;

	return (uint32_t)MIN(bins, TIMELINE_BINS);
}

uint32_t timeline_find_bin(struct timeline *timeline, uint64_t ns)
{
	uint32_t bin;

	timeline_begin(timeline, ns);
	if (ns < timeline->begin_ns)
		return 0;
	timeline->end_ns = MAX(timeline->end_ns, ns);
	while ((ns - timeline->begin_ns) / timeline->bin_ns >= TIMELINE_BINS)
		timeline_fold(timeline);
	bin = (uint32_t)((ns - timeline->begin_ns) / timeline->bin_ns);
	timeline->at.bin = bin;
	timeline->at.begin_ns = timeline->begin_ns + bin * timeline->bin_ns;
	timeline->at.end_ns = timeline->at.begin_ns + timeline->bin_ns;
	return bin;
}

void timeline_align(struct timeline *const *t, unsigned int n)
{
	uint64_t span_ns = 0, bin_ns = 0;

	for (unsigned int i = 0; i < n; i++)
		span_ns = MAX(span_ns, t[i]->end_ns - t[i]->begin_ns);
	for (unsigned int i = 0; i < n; i++) {
		timeline_bin(t[i], t[i]->begin_ns + span_ns);
		bin_ns = MAX(bin_ns, t[i]->bin_ns);
	}
	for (unsigned int i = 0; i < n; i++)
		while (t[i]->bin_ns < bin_ns)
			timeline_fold(t[i]);
}

/*
 * Returns the part of the SPAN_NS before AT_NS that is in the next bin, of BIN_NS each: the bin into *BIN,
 * 0 when none is left. Advances *FROM_NS, where the rest begins.
 */
static uint64_t next_part(const struct timeline *timeline, uint64_t bin_ns, uint64_t *from_ns, uint64_t at_ns,
			  uint32_t *bin)
{
	uint64_t end_ns, part;

	if (*from_ns >= at_ns)
		return 0;
	*bin = (uint32_t)((*from_ns - timeline->begin_ns) / bin_ns);
	end_ns = timeline->begin_ns + (*bin + 1ULL) * bin_ns;
	part = MIN(end_ns, at_ns) - *from_ns;
	*from_ns += part;
	return part;
}

/* --- rates --------------------------------------------------------------------------------------- */

/* Returns how much of BIN the trace, or the host's trace, covers. */
static uint64_t covered_ns(const struct timeline *t, uint32_t bin)
{
	uint64_t begin_ns = t->begin_ns + bin * t->bin_ns, end_ns = begin_ns + t->bin_ns;

	begin_ns = MAX(begin_ns, t->host ? t->host_begin_ns : t->begin_ns);
	end_ns = MIN(end_ns, t->host ? t->host_end_ns : t->end_ns);
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static uint32_t bin_at(const struct timeline *t, uint64_t ns)
{
	return ns > t->begin_ns ? (uint32_t)MIN((ns - t->begin_ns) / t->bin_ns, TIMELINE_BINS - 1) : 0;
}

double timeline_rate(const struct timeline *timeline, const uint64_t *values, uint32_t bin)
{
	uint32_t first = bin_at(timeline, timeline->host ? timeline->host_begin_ns : timeline->begin_ns);
	uint32_t last = bin_at(timeline, timeline->host ? timeline->host_end_ns : timeline->end_ns), from = bin,
		 to = bin;
	bool short_first = covered_ns(timeline, first) < timeline->bin_ns / 2,
	     short_last = covered_ns(timeline, last) < timeline->bin_ns / 2;
	uint64_t ns = 0, value = 0;

	if (bin < first || bin > last)
		return (double)NAN;
	if (first < last) {
		from -= (bin == last && short_last) || (bin == first + 1 && short_first);
		to += (bin == first && short_first) || (bin + 1 == last && short_last);
	}
	for (uint32_t i = from; i <= to; i++) {
		value += values[i];
		ns += covered_ns(timeline, i);
	}
	return (double)value / (double)MAX(ns, timeline->bin_ns / 8) * NSEC_PER_SEC;
}

/* --- adding -------------------------------------------------------------------------------------- */

void timeline_add(struct timeline *t, enum timeline_sum what, uint64_t at_ns, uint64_t value)
{
	t->sum[what][timeline_bin(t, at_ns)] += value;
}

void timeline_in_use(struct timeline *t, uint64_t at_ns, int64_t bytes)
{
	const uint32_t bin = timeline_bin(t, at_ns);
	struct timeline_level *l = &t->in_use;

	l->max[bin] = l->any[bin] ? MAX(l->max[bin], bytes) : bytes;
	l->last[bin] = bytes;
	l->any[bin] = t->has_in_use = true;
}

void timeline_spread(struct timeline *timeline, enum timeline_sum what, uint64_t at_ns, uint64_t span_ns,
		     uint64_t value)
{
	uint32_t bin = timeline_bin(timeline, at_ns);
	uint64_t from_ns = timeline_from(timeline, at_ns, span_ns), all = at_ns > from_ns ? at_ns - from_ns : 0, part,
		 placed = 0;

	if (!all || !value) {
		timeline->sum[what][bin] += value;
		return;
	}
	/* from what is left, so that the parts add up to the whole */
	while ((part = next_part(timeline, timeline->bin_ns, &from_ns, at_ns, &bin))) {
		uint64_t left = at_ns - from_ns;
		uint64_t now = value - placed - (uint64_t)((double)value * (double)left / (double)all);

		now = MIN(now, value - placed);
		if (!left)
			now = value - placed;
		timeline->sum[what][MIN(bin, TIMELINE_BINS - 1)] += now;
		placed += now;
	}
}

struct timeline_lane *timeline_lane(struct timeline *t, uint64_t pid)
{
	struct timeline_lane *l = value_of(&t->lanes, pid, sizeof(*l));

	if (l)
		l->pid = pid;
	return l;
}

void timeline_keep_longest(struct timeline_lane *l, const struct timeline_span *span)
{
	struct timeline_span *at = TOP_PLACE(l->longest, l->n_longest, TIMELINE_LONGEST, e, e->ns, span->ns);

	if (at)
		*at = *span;
	if (l->n_longest == TIMELINE_LONGEST)
		l->shortest_ns = l->longest[TIMELINE_LONGEST - 1].ns;
}

void timeline_spread_busy(struct timeline *t, struct timeline_lane *l, enum timeline_busy what, uint64_t from_ns,
			  uint64_t at_ns, uint64_t ns)
{
	const uint64_t lane_bin_ns = t->bin_ns * TIMELINE_LANE_FOLD, all = at_ns - from_ns;
	uint64_t part;
	uint32_t bin;

	while ((part = next_part(t, lane_bin_ns, &from_ns, at_ns, &bin)))
		l->busy_ns[what][MIN(bin, TIMELINE_LANE_BINS - 1)] += (float)((double)ns * (double)part / (double)all);
}

struct timeline_disk *timeline_disk(struct timeline *t, const char *name, size_t len)
{
	struct timeline_disk *d = value_of(&t->disks, table_key(name, len), sizeof(*d));

	if (d && !d->name[0])
		memcpy(d->name, name, MIN(len, sizeof(d->name) - 1));
	return d;
}

/* --- points -------------------------------------------------------------------------------------- */

struct timeline_points *timeline_points(struct timeline *timeline, const char *panel, const char *name,
					const char *unit)
{
	const uint64_t key =
		table_key_more(table_key_more(table_key(panel, strlen(panel)), "/", 1), name, strlen(name));
	struct timeline_points *p = value_of(&timeline->points, key, sizeof(*p));

	if (!p || p->unit)
		return p;
	strncpy(p->panel, panel, sizeof(p->panel) - 1);
	strncpy(p->name, name, sizeof(p->name) - 1);
	p->unit = unit;
	return p;
}

void timeline_point(struct timeline *t, struct timeline_points *p, uint64_t at_ns, double value)
{
	uint32_t bin = timeline_bin(t, at_ns);

	p->sum[bin] += (float)value;
	p->n[bin]++;
}
