/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups lines by epoch, and makes epochs of the groups. */
#include "report/phases/epochs.h"

#include <stdlib.h>

#include "applog/entry.h"
#include "base/util.h"
#include "report/phases/workers.h"
#include "stats/timeline.h"

#define BACK 2 /* so many groups before the last one may still get a line, from a rank that is behind */
#define BACK_NS (10 * NSEC_PER_SEC)
#define LATE_NS (250 * NSEC_PER_MSEC) /* from writing a line to reading it: tens of ms, more on a busy machine */
/* reads of settings and start scripts are less than this part of what is read before the first line: a 32nd */
#define SETTINGS 32

const char *const epoch_side_names[] = { [EPOCH_ENDS] = "ends", [EPOCH_BEGINS] = "begins", [EPOCH_LASTS] = "both" };

/* --- groups ----------------------------------------------------------------------------------------------- */

/* Whether E is the row of a table below the bars of LAST, which number the same epoch from 1. */
static bool is_row_of(const struct epoch_group *last, const struct phase_entry *e)
{
	return e->words.row && last && last->number == e->number + 1 && last->last_part >= 0;
}

/* Returns the group that ENTRY's line belongs to; NULL: it begins a new one. */
static struct epoch_group *group_of(struct epoch_groups *groups, const struct phase_entry *entry)
{
	struct epoch_group *last = groups->n ? &groups->v[groups->n - 1] : NULL;

	if (is_row_of(last, entry)) {
		last->number = entry->number;
		return last;
	}
	if (entry->number < 0)
		return last && !last->barred && entry->at_ns >= last->last_ns ? last : NULL;
	for (uint32_t i = groups->n; i && groups->n - i <= BACK; i--) {
		struct epoch_group *at = &groups->v[i - 1];

		/* a line of an epoch before the last is of another rank, and comes soon */
		if (at->number == entry->number && (at == last || entry->at_ns < at->last_ns + BACK_NS))
			return at;
	}
	return NULL;
}

static struct epoch_group *new_group(struct epoch_groups *groups)
{
	if (groups->n == EPOCH_GROUPS_MAX || util_room(&groups->v, groups->n, sizeof(*groups->v)) < 0)
		return NULL;
	return &groups->v[groups->n++];
}

static bool is_result(const struct phase_words *w)
{
	return w->part >= 0 ? w->part > 0.5F : w->results;
}

/* Takes the progress that E's line shows, if it is of the training. */
static void take_part(struct epoch_group *at, const struct phase_entry *e)
{
	if (e->words.validates || e->words.part < 0 || e->at_ns < at->part_ns)
		return;
	at->last_part = e->words.part;
	at->part_ns = e->at_ns;
}

void epoch_groups_add(struct epoch_groups *groups, const struct phase_entry *entry)
{
	const struct phase_words *words = &entry->words;
	struct epoch_group *at = group_of(groups, entry);

	if (!at && (entry->number < 0 ||
		    words->validates)) /* a bar of something else than an epoch, or a validation without training */
		return;
	if (!at && (at = new_group(groups)))
		*at = (struct epoch_group){ .number = entry->number,
					    .rank = entry->rank,
					    .first_ns = entry->at_ns,
					    .last_ns = entry->at_ns,
					    .first_part = words->part,
					    .last_part = words->part,
					    .part_ns = entry->at_ns,
					    .first_result = is_result(words) };
	if (!at) {
		groups->left_out++;
		return;
	}
	at->barred |= entry->number < 0 && words->part >= 1;
	at->lines++;
	at->rank = at->rank == entry->rank ? at->rank : -1;
	if (entry->at_ns < at->first_ns) {
		at->first_ns = entry->at_ns;
		at->first_part = words->part;
		at->first_result = is_result(words);
	}
	if (entry->at_ns >= at->last_ns) {
		at->last_ns = entry->at_ns;
		at->last_result = words->validates || is_result(words);
	}
	take_part(at, entry);
	if (words->elapsed_ns && words->elapsed_ns < entry->at_ns)
		at->begin_ns = at->begin_ns ? MIN(at->begin_ns, entry->at_ns - words->elapsed_ns) :
					      entry->at_ns - words->elapsed_ns;
	if (words->run_ns && words->run_ns < entry->at_ns)
		groups->run_ns = entry->at_ns - words->run_ns;
}

void epoch_groups_free(struct epoch_groups *g)
{
	free(g->v);
	*g = (struct epoch_groups){ 0 };
}

/* --- the score --------------------------------------------------------------------------------------------- */

/* Returns the instant of line I, which counts as the end of group I and the begin of the next. */
static uint64_t line_ns(const struct epoch_groups *g, uint32_t i)
{
	return g->v[i].last_ns;
}

/* Returns the amount of a quantity between two instants. */
typedef double (*amount_fn)(const struct epoch_trace *t, uint64_t begin_ns, uint64_t end_ns);

static double amount_of_workers(const struct epoch_trace *t, uint64_t begin_ns, uint64_t end_ns)
{
	return (double)phase_workers_within(t->workers, begin_ns, end_ns);
}

static double amount_of_time(const struct epoch_trace *t, uint64_t begin_ns, uint64_t end_ns)
{
	(void)t;
	return (double)(end_ns - begin_ns);
}

static uint32_t bin_at(const struct timeline *t, uint64_t ns)
{
	return ns > t->begin_ns ? (uint32_t)MIN((ns - t->begin_ns) / t->bin_ns, timeline_bins(t)) : 0;
}

static double amount_of_reading(const struct epoch_trace *t, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t to = bin_at(t->timeline, end_ns);
	uint64_t sum = 0;

	for (uint32_t i = bin_at(t->timeline, begin_ns); i < to; i++)
		sum += t->timeline->data[i];
	return (double)sum;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Returns the median amount between two lines; with one line, the larger of the amounts before and after it. */
static double usual(const struct epoch_groups *groups, const struct epoch_trace *trace, amount_fn amount)
{
	double *v, median;

	if (groups->n < 2)
		return MAX(amount(trace, trace->begin_ns, line_ns(groups, 0)),
			   amount(trace, line_ns(groups, 0), MAX(trace->end_ns, line_ns(groups, 0))));
	v = calloc(groups->n, sizeof(*v));
	if (!v)
		return 0;
	for (uint32_t i = 0; i + 1 < groups->n; i++)
		v[i] = amount(trace, line_ns(groups, i), MAX(line_ns(groups, i + 1), line_ns(groups, i)));
	qsort(v, groups->n - 1, sizeof(*v), by_value);
	median = v[(groups->n - 1) / 2];
	free(v);
	return median;
}

/* Returns the amount before the first line minus that after the last one, each in epochs, at most 1. */
static double outer(const struct epoch_groups *groups, const struct epoch_trace *trace, amount_fn amount)
{
	const uint64_t first_ns = line_ns(groups, 0), last_ns = line_ns(groups, groups->n - 1);
	double each, before = 0.5, behind = 0.5;

	if (!trace->begin_ns || first_ns < trace->begin_ns)
		return 0;
	each = usual(groups, trace, amount);
	if (each <= 0)
		return 0;
	if (trace->begins)
		before = MIN(amount(trace, trace->begin_ns, first_ns) / each, 1);
	if (trace->ends)
		behind = MIN(amount(trace, last_ns, MAX(trace->end_ns, last_ns)) / each, 1);
	return before - behind;
}

/* Returns 1 where all lines come sooner after workers than before the next ones, -1 where none does, else the mean. */
static double nearness(const struct epoch_groups *groups, const struct phase_workers *workers)
{
	uint32_t n = 0, at = 0;
	double sum = 0;

	for (uint32_t i = 0; i < groups->n; i++) {
		const uint64_t ns = line_ns(groups, i);

		while (at < workers->n && workers->v[at].end_ns <= ns)
			at++;
		if (!at || at == workers->n ||
		    workers->v[at].begin_ns <= ns) /* before all workers, after all, or while some live */
			continue;
		sum += ns - workers->v[at - 1].end_ns <= workers->v[at].begin_ns - ns ? 1 : -1;
		n++;
	}
	return n ? sum / n : 0;
}

static double words_of(const struct epoch_groups *g)
{
	uint32_t results = 0;

	for (uint32_t i = 0; i < g->n; i++)
		results += g->v[i].last_result;
	return 2 * (2 * (double)results / g->n - 1);
}

/* Whether the group has lines at both ends of its epoch: a heading and a result, or a bar from its begin to its end. */
static bool lasts(const struct epoch_group *v)
{
	if (v->last_ns == v->first_ns)
		return false;
	return v->first_part >= 0 ? v->last_part > v->first_part : !v->first_result && v->last_result;
}

static bool mostly_lasts(const struct epoch_groups *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++)
		n += lasts(&g->v[i]);
	return 2 * n > g->n;
}

struct epoch_score epoch_side_of(const struct epoch_groups *groups, const struct epoch_trace *trace)
{
	struct epoch_score s = { .epochs = groups->n, .words = words_of(groups) };
	double sum;

	for (uint32_t i = 0; i < groups->n; i++)
		s.lines += groups->v[i].lines;
	if (mostly_lasts(groups)) {
		s.side = EPOCH_LASTS;
		return s;
	}
	if (trace->workers && trace->workers->n)
		s.workers = 3 * outer(groups, trace, amount_of_workers) + nearness(groups, trace->workers);
	if (trace->timeline)
		s.reading = 3 * outer(groups, trace, amount_of_reading);
	s.life = outer(groups, trace, amount_of_time);
	sum = s.words + s.workers + s.reading + s.life;
	s.assumed = sum > -EPOCH_SURE && sum < EPOCH_SURE;
	if (s.assumed)
		sum = s.words;
	s.side = sum > 0 ? EPOCH_ENDS : EPOCH_BEGINS;
	return s;
}

/* --- epochs ------------------------------------------------------------------------------------------------- */

/* Returns when reading of data began, after settings and start scripts; 0: not known. */
static uint64_t reading_from(const struct timeline *timeline, uint64_t first_ns)
{
	uint32_t to = bin_at(timeline, first_ns);
	uint64_t all = 0, sum = 0;

	for (uint32_t i = 0; i < to; i++)
		all += timeline->data[i];
	for (uint32_t i = 0; i < to; i++)
		if ((sum += timeline->data[i]) > all / SETTINGS)
			return MAX(timeline->begin_ns + i * timeline->bin_ns, timeline->data_ns);
	return 0;
}

/*
 * Whether most of G's life lies before a line at NS: a line reaches its log late, when the next workers may exist
 * already.
 */
static bool is_before(const struct phase_generation *g, uint64_t ns)
{
	return g->begin_ns + (g->end_ns - g->begin_ns) / 2 < ns;
}

/* Returns the begin of the N-th last generation before FIRST_NS, validations not counted; 0: there is none. */
static uint64_t workers_from(const struct phase_workers *workers, uint64_t first_ns, uint32_t n)
{
	uint64_t begin_ns = 0;

	for (uint32_t i = workers->n; i && n; i--) {
		const struct phase_generation *v = &workers->v[i - 1];

		if (!is_before(v, first_ns) || v->minor)
			continue;
		begin_ns = v->begin_ns;
		n--;
	}
	return begin_ns;
}

uint64_t epoch_start(const struct epoch_trace *t, uint64_t first_ns, uint32_t generations)
{
	uint64_t begin_ns = t->workers ? workers_from(t->workers, first_ns, generations) : 0;

	if (!begin_ns && t->timeline && t->timeline->data_ns && t->timeline->data_ns < first_ns)
		begin_ns = reading_from(t->timeline, first_ns);
	return MIN(MAX(begin_ns, t->begin_ns), first_ns);
}

/* Returns how many generations are between two lines on average, and so in the first epoch, too. */
static uint32_t generations_of(const struct epoch_groups *g, const struct phase_workers *w)
{
	uint32_t n = 0;

	if (g->n < 2 || !w)
		return 1;
	for (uint32_t i = 0; i < w->n; i++)
		n += !w->v[i].minor && !is_before(&w->v[i], line_ns(g, 0)) && is_before(&w->v[i], line_ns(g, g->n - 1));
	return MAX((n + (g->n - 1) / 2) / (g->n - 1), 1);
}

/*
 * Returns when the line at NS was due: workers that began up to LATE_NS before it belong to the next epoch. Generations
 * that live shorter than twice that are ignored.
 */
static uint64_t adjusted_ns(const struct epoch_trace *t, uint64_t ns)
{
	for (uint32_t i = 0; t->workers && i < t->workers->n; i++) {
		const struct phase_generation *v = &t->workers->v[i];

		if (!v->minor && v->begin_ns < ns && v->begin_ns + LATE_NS >= ns &&
		    v->end_ns > v->begin_ns + 2 * LATE_NS)
			return v->begin_ns;
	}
	return ns;
}

/*
 * Returns when group I began, whose lines are at the begin of an epoch or within it: the first line may show how far in
 * it is.
 */
static uint64_t begin_of(const struct epoch_groups *groups, uint32_t i)
{
	const struct epoch_group *v = &groups->v[i];
	const uint64_t before_ns = i ? groups->v[i - 1].last_ns : 0;
	double each;

	if (v->begin_ns)
		return MAX(v->begin_ns, before_ns);
	if (v->first_part <= 0 || v->last_part <= v->first_part)
		return v->first_ns;
	each = (double)(v->part_ns - v->first_ns) / (double)(v->last_part - v->first_part);
	return MAX(v->first_ns - (uint64_t)MIN(each * (double)v->first_part, (double)v->first_ns), before_ns);
}

static struct epoch_bounds ended(const struct epoch_groups *groups, uint32_t i, const struct epoch_trace *trace)
{
	const struct epoch_group *group = &groups->v[i];
	struct epoch_bounds b = { .begin_ns = i ? groups->v[i - 1].last_ns : 0, .end_ns = group->last_ns };

	if (i)
		return b;
	b.begin_ns = groups->run_ns && groups->run_ns < b.end_ns ? groups->run_ns : group->begin_ns;
	if (!b.begin_ns) {
		b.since_start = true;
		b.begin_ns = epoch_start(trace, group->last_ns, generations_of(groups, trace->workers));
	}
	return b;
}

static struct epoch_bounds by_lines(const struct epoch_groups *groups, uint32_t i, enum epoch_side side,
				    const struct epoch_trace *trace)
{
	const bool is_last = i + 1 == groups->n;
	struct epoch_bounds b;

	if (side == EPOCH_ENDS)
		return ended(groups, i, trace);
	if (side == EPOCH_BEGINS)
		b = (struct epoch_bounds){ .begin_ns = groups->v[i].first_ns,
					   .end_ns = is_last ? PHASE_NO_END : groups->v[i + 1].first_ns };
	else
		b = (struct epoch_bounds){ .begin_ns = begin_of(groups, i),
					   .end_ns = is_last ? groups->v[i].last_ns : begin_of(groups, i + 1) };
	b.until_end = b.end_ns == PHASE_NO_END;
	return b;
}

struct epoch_bounds epoch_bounds_of(const struct epoch_groups *g, uint32_t i, enum epoch_side side,
				    const struct epoch_trace *t)
{
	struct epoch_bounds b = by_lines(g, i, side, t);

	b.begin_ns = b.since_start ? b.begin_ns : adjusted_ns(t, b.begin_ns);
	b.end_ns = b.until_end ? b.end_ns : adjusted_ns(t, b.end_ns);
	return b;
}
