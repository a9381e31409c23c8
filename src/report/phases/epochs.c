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

/* Returns the group that E's line belongs to; NULL: it begins a new one. */
static struct epoch_group *group_of(struct epoch_groups *g, const struct phase_entry *e)
{
	struct epoch_group *last = g->n ? &g->v[g->n - 1] : NULL;

	if (is_row_of(last, e)) {
		last->number = e->number;
		return last;
	}
	if (e->number < 0)
		return last && !last->barred && e->at_ns >= last->last_ns ? last : NULL;
	for (uint32_t i = g->n; i && g->n - i <= BACK; i--) {
		struct epoch_group *at = &g->v[i - 1];

		/* a line of an epoch before the last is of another rank, and comes soon */
		if (at->number == e->number && (at == last || e->at_ns < at->last_ns + BACK_NS))
			return at;
	}
	return NULL;
}

static struct epoch_group *new_group(struct epoch_groups *g)
{
	if (g->n == g->room) {
		uint32_t room = g->room ? 2 * g->room : 64;
		struct epoch_group *v = room <= EPOCH_GROUPS_MAX ? reallocarray(g->v, room, sizeof(*v)) : NULL;

		if (!v)
			return NULL;
		g->v = v;
		g->room = room;
	}
	return &g->v[g->n++];
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

void epoch_groups_add(struct epoch_groups *g, const struct phase_entry *e)
{
	const struct phase_words *w = &e->words;
	struct epoch_group *at = group_of(g, e);

	if (!at && (e->number < 0 || w->validates)) /* a bar of something else than an epoch, or a validation without training */
		return;
	if (!at && (at = new_group(g)))
		*at = (struct epoch_group){ .number = e->number, .rank = e->rank, .first_ns = e->at_ns, .last_ns = e->at_ns,
					    .first_part = w->part, .last_part = w->part, .part_ns = e->at_ns,
					    .first_result = is_result(w) };
	if (!at) {
		g->left_out++;
		return;
	}
	at->barred |= e->number < 0 && w->part >= 1;
	at->lines++;
	at->rank = at->rank == e->rank ? at->rank : -1;
	if (e->at_ns < at->first_ns) {
		at->first_ns = e->at_ns;
		at->first_part = w->part;
		at->first_result = is_result(w);
	}
	if (e->at_ns >= at->last_ns) {
		at->last_ns = e->at_ns;
		at->last_result = w->validates || is_result(w);
	}
	take_part(at, e);
	if (w->elapsed_ns && w->elapsed_ns < e->at_ns)
		at->begin_ns = at->begin_ns ? MIN(at->begin_ns, e->at_ns - w->elapsed_ns) : e->at_ns - w->elapsed_ns;
	if (w->run_ns && w->run_ns < e->at_ns)
		g->run_ns = e->at_ns - w->run_ns;
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
static double usual(const struct epoch_groups *g, const struct epoch_trace *t, amount_fn amount)
{
	double *v, median;

	if (g->n < 2)
		return MAX(amount(t, t->begin_ns, line_ns(g, 0)), amount(t, line_ns(g, 0), MAX(t->end_ns, line_ns(g, 0))));
	v = calloc(g->n, sizeof(*v));
	if (!v)
		return 0;
	for (uint32_t i = 0; i + 1 < g->n; i++)
		v[i] = amount(t, line_ns(g, i), MAX(line_ns(g, i + 1), line_ns(g, i)));
	qsort(v, g->n - 1, sizeof(*v), by_value);
	median = v[(g->n - 1) / 2];
	free(v);
	return median;
}

/* Returns the amount before the first line minus that after the last one, each in epochs, at most 1. */
static double outer(const struct epoch_groups *g, const struct epoch_trace *t, amount_fn amount)
{
	const uint64_t first_ns = line_ns(g, 0), last_ns = line_ns(g, g->n - 1);
	double each, before = 0.5, behind = 0.5;

	if (!t->begin_ns || first_ns < t->begin_ns)
		return 0;
	each = usual(g, t, amount);
	if (each <= 0)
		return 0;
	if (t->begins)
		before = MIN(amount(t, t->begin_ns, first_ns) / each, 1);
	if (t->ends)
		behind = MIN(amount(t, last_ns, MAX(t->end_ns, last_ns)) / each, 1);
	return before - behind;
}

/* Returns 1 where all lines come sooner after workers than before the next ones, -1 where none does, else the mean. */
static double nearness(const struct epoch_groups *g, const struct phase_workers *w)
{
	uint32_t n = 0, at = 0;
	double sum = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		const uint64_t ns = line_ns(g, i);

		while (at < w->n && w->v[at].end_ns <= ns)
			at++;
		if (!at || at == w->n || w->v[at].begin_ns <= ns) /* before all workers, after all, or while some live */
			continue;
		sum += ns - w->v[at - 1].end_ns <= w->v[at].begin_ns - ns ? 1 : -1;
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

struct epoch_score epoch_side_of(const struct epoch_groups *g, const struct epoch_trace *t)
{
	struct epoch_score s = { .epochs = g->n, .words = words_of(g) };
	double sum;

	for (uint32_t i = 0; i < g->n; i++)
		s.lines += g->v[i].lines;
	if (mostly_lasts(g)) {
		s.side = EPOCH_LASTS;
		return s;
	}
	if (t->workers && t->workers->n)
		s.workers = 3 * outer(g, t, amount_of_workers) + nearness(g, t->workers);
	if (t->timeline)
		s.reading = 3 * outer(g, t, amount_of_reading);
	s.life = outer(g, t, amount_of_time);
	sum = s.words + s.workers + s.reading + s.life;
	s.assumed = sum > -EPOCH_SURE && sum < EPOCH_SURE;
	s.side = (s.assumed ? s.words : sum) > 0 ? EPOCH_ENDS : EPOCH_BEGINS;
	return s;
}

/* --- epochs ------------------------------------------------------------------------------------------------- */

/* Returns when reading of data began, after settings and start scripts; 0: not known. */
static uint64_t reading_from(const struct timeline *t, uint64_t first_ns)
{
	uint32_t to = bin_at(t, first_ns);
	uint64_t all = 0, sum = 0;

	for (uint32_t i = 0; i < to; i++)
		all += t->data[i];
	for (uint32_t i = 0; i < to; i++)
		if ((sum += t->data[i]) > all / SETTINGS)
			return MAX(t->begin_ns + i * t->bin_ns, t->data_ns);
	return 0;
}

/*
 * Whether most of G's life lies before a line at NS: a line reaches its log late, when the next workers may exist already.
 */
static bool is_before(const struct phase_generation *g, uint64_t ns)
{
	return g->begin_ns + (g->end_ns - g->begin_ns) / 2 < ns;
}

/* Returns the begin of the N-th last generation before FIRST_NS, validations not counted; 0: there is none. */
static uint64_t workers_from(const struct phase_workers *w, uint64_t first_ns, uint32_t n)
{
	uint64_t begin_ns = 0;

	for (uint32_t i = w->n; i && n; i--) {
		const struct phase_generation *v = &w->v[i - 1];

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
 * Returns when the line at NS was due: workers that began up to LATE_NS before it belong to the next epoch. Generations that
 * live shorter than twice that are ignored.
 */
static uint64_t adjusted_ns(const struct epoch_trace *t, uint64_t ns)
{
	for (uint32_t i = 0; t->workers && i < t->workers->n; i++) {
		const struct phase_generation *v = &t->workers->v[i];

		if (!v->minor && v->begin_ns < ns && v->begin_ns + LATE_NS >= ns && v->end_ns > v->begin_ns + 2 * LATE_NS)
			return v->begin_ns;
	}
	return ns;
}

/*
 * Returns when group I began, whose lines are at the begin of an epoch or within it: the first line may show how far in it
 * is.
 */
static uint64_t begin_of(const struct epoch_groups *g, uint32_t i)
{
	const struct epoch_group *v = &g->v[i];
	const uint64_t before_ns = i ? g->v[i - 1].last_ns : 0;
	double each;

	if (v->begin_ns)
		return MAX(v->begin_ns, before_ns);
	if (v->first_part <= 0 || v->last_part <= v->first_part)
		return v->first_ns;
	each = (double)(v->part_ns - v->first_ns) / (double)(v->last_part - v->first_part);
	return MAX(v->first_ns - (uint64_t)MIN(each * (double)v->first_part, (double)v->first_ns), before_ns);
}

static struct epoch_bounds ended(const struct epoch_groups *g, uint32_t i, const struct epoch_trace *t)
{
	const struct epoch_group *v = &g->v[i];
	struct epoch_bounds b = { .begin_ns = i ? g->v[i - 1].last_ns : 0, .end_ns = v->last_ns };

	if (i)
		return b;
	b.begin_ns = g->run_ns && g->run_ns < b.end_ns ? g->run_ns : v->begin_ns;
	if (!b.begin_ns) {
		b.since_start = true;
		b.begin_ns = epoch_start(t, v->last_ns, generations_of(g, t->workers));
	}
	return b;
}

static struct epoch_bounds by_lines(const struct epoch_groups *g, uint32_t i, enum epoch_side side, const struct epoch_trace *t)
{
	const bool is_last = i + 1 == g->n;
	struct epoch_bounds b;

	if (side == EPOCH_ENDS)
		return ended(g, i, t);
	if (side == EPOCH_BEGINS)
		b = (struct epoch_bounds){ .begin_ns = g->v[i].first_ns, .end_ns = is_last ? PHASE_NO_END : g->v[i + 1].first_ns };
	else
		b = (struct epoch_bounds){ .begin_ns = begin_of(g, i), .end_ns = is_last ? g->v[i].last_ns : begin_of(g, i + 1) };
	b.until_end = b.end_ns == PHASE_NO_END;
	return b;
}

struct epoch_bounds epoch_bounds_of(const struct epoch_groups *g, uint32_t i, enum epoch_side side, const struct epoch_trace *t)
{
	struct epoch_bounds b = by_lines(g, i, side, t);

	b.begin_ns = b.since_start ? b.begin_ns : adjusted_ns(t, b.begin_ns);
	b.end_ns = b.until_end ? b.end_ns : adjusted_ns(t, b.end_ns);
	return b;
}
