/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Phases that no pair of lines begins and ends: those with lines at their ends only, epochs by lines on one side of
 * them (epochs.h), and, where no line is about an epoch, by generations of workers (workers.h); the training of a job
 * that prints steps alone (step_lines.h).
 */
#include <string.h>

#include "base/util.h"
#include "report/phases/phases.h"

/* in a log without ranks, the longest time between the lines of two ranks about the same end */
#define AGAIN_NS (10 * NSEC_PER_SEC)
#define WORKED_LEAST 5 /* workers exist for at least this part of the time from the first to the last: a 5th */

static struct epoch_trace trace_of(const struct phases *p, const struct timeline *t)
{
	return (struct epoch_trace){ .begin_ns = p->trace.begin_ns,
				     .end_ns = p->trace.end_ns,
				     .begins = p->trace.begins,
				     .ends = p->trace.ends,
				     .workers = &p->workers,
				     .timeline = t };
}

static void put_derived(struct phases *p, struct phase phase)
{
	phase.derived = true;
	if (phase.end_ns > phase.begin_ns && !phases_put(&p->recorded, &phase))
		p->left_out++;
}

/* --- ends alone --------------------------------------------------------------------------------------------- */

/* Whether the phases of NAME have lines only at their ends: each begins with the end before, the first with any
 * activity. */
static bool is_by_ends(const struct phases *p, uint32_t name)
{
	const struct phase_name *n = &p->names[name];

	return !n->has_begins && (n->by_rule || (n->kind == PHASE_EPOCH && n->source == PHASE_LOG && !p->near_lines));
}

static bool any_by_ends(const struct phases *p)
{
	for (uint32_t i = 0; i < p->ends.n; i++)
		if (p->names[p->ends.v[i].name].kind == PHASE_EPOCH && is_by_ends(p, p->ends.v[i].name))
			return true;
	return false;
}

/* Returns the index of the last end before I of its name and rank, or PHASES_NONE. */
static uint32_t end_before(const struct phase_list *ends, uint32_t i)
{
	for (uint32_t k = i; k--;)
		if (ends->v[k].name == ends->v[i].name && ends->v[k].rank == ends->v[i].rank)
			return k;
	return PHASES_NONE;
}

/* Whether END repeats BEFORE, as the line of another rank. */
static bool is_again(const struct phase *before, const struct phase *end)
{
	return end->number >= 0 && end->number == before->number && end->end_ns - before->end_ns < AGAIN_NS;
}

static void by_ends(struct phases *phases, const struct epoch_trace *trace)
{
	for (uint32_t i = 0; i < phases->ends.n; i++) {
		struct phase phase = phases->ends.v[i];
		uint32_t before = end_before(&phases->ends, i);

		if (!is_by_ends(phases, phase.name) ||
		    (before != PHASES_NONE && is_again(&phases->ends.v[before], &phase)))
			continue;
		phase.since_start = before == PHASES_NONE;
		phase.begin_ns =
			phase.since_start ? epoch_start(trace, phase.end_ns, 1) : phases->ends.v[before].end_ns;
		put_derived(phases, phase);
	}
}

/* Counts ends of phases that should have had a begin. */
static void count_unpaired(struct phases *p)
{
	uint64_t used = p->near_lines && !p->has_epochs ? 1 : 0;

	p->lone_ends = 0;
	for (uint32_t i = 0; i < p->ends.n; i++) {
		const struct phase_name *n = &p->names[p->ends.v[i].name];

		p->lone_ends += !is_by_ends(p, p->ends.v[i].name) &&
				!(used && n->kind == PHASE_EPOCH && n->source == PHASE_LOG);
	}
}

/* --- epochs by lines ------------------------------------------------------------------------------------------ */

static bool has_epochs(const struct phases *p)
{
	for (uint32_t i = 0; i < p->recorded.n; i++)
		if (p->names[p->recorded.v[i].name].kind == PHASE_EPOCH && !p->recorded.v[i].derived)
			return true;
	return any_by_ends(p);
}

static void put_bounds(struct phases *p, uint32_t name, uint32_t i, const struct epoch_bounds *b)
{
	const struct epoch_group *g = &p->near.v[i];

	put_derived(p, (struct phase){
			       .begin_ns = b->begin_ns,
			       .end_ns = b->end_ns,
			       .number = g->number,
			       .rank = g->rank,
			       .ranks = 1,
			       .name = name,
			       .since_start = b->since_start,
			       .unfinished = b->until_end,
		       });
}

/*
 * Before the rows are read, it may not be known which side the lines are on. Until then, both the time before the first
 * line and the time after the last one are epochs, so that sums by epoch exist for either case.
 */
static void by_lines(struct phases *phases, const struct epoch_trace *trace)
{
	uint32_t name = phases_name(phases, PHASE_LOG, "epoch", strlen("epoch"));
	struct epoch_bounds b;

	if (name == PHASES_NONE)
		return;
	phases->score = epoch_side_of(&phases->near, trace);
	phases->has_score = true;
	for (uint32_t i = 0; i < phases->near.n; i++) {
		b = epoch_bounds_of(&phases->near, i, phases->score.side, trace);
		put_bounds(phases, name, i, &b);
	}
	phases->has_other_end = !trace->timeline && phases->score.side != EPOCH_LASTS;
	if (!phases->has_other_end)
		return;
	b = epoch_bounds_of(&phases->near, phases->score.side == EPOCH_ENDS ? phases->near.n - 1 : 0,
			    phases->score.side == EPOCH_ENDS ? EPOCH_BEGINS : EPOCH_ENDS, trace);
	phases->other_end = (struct phase){ .begin_ns = b.begin_ns,
					    .end_ns = b.end_ns,
					    .number = -1,
					    .rank = -1,
					    .ranks = 1,
					    .name = name,
					    .derived = true };
	phases->has_other_end = b.end_ns > b.begin_ns;
}

/* --- epochs by workers ---------------------------------------------------------------------------------------- */

static bool are_epochs(const struct phase_workers *w)
{
	const uint64_t begin_ns = w->n ? w->v[0].begin_ns : 0;
	uint64_t end_ns = begin_ns;

	for (uint32_t i = 0; i < w->n; i++)
		end_ns = MAX(end_ns, w->v[i].end_ns);
	return w->n - w->minors > 1 && w->n < PHASE_GENERATIONS_MAX &&
	       phase_workers_within(w, begin_ns, end_ns) >= (end_ns - begin_ns) / WORKED_LEAST;
}

static void put_generation(struct phases *p, const char *what, int64_t number, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t name = phases_name(p, PHASE_WORKERS, what, strlen(what));

	if (name != PHASES_NONE)
		put_derived(p, (struct phase){ .begin_ns = begin_ns,
					       .end_ns = end_ns,
					       .number = number,
					       .rank = -1,
					       .ranks = 1,
					       .name = name,
					       .inferred = true });
}

/* A generation that is no validation begins an epoch, which lasts until the last of its workers has ended. */
static void by_workers(struct phases *phases)
{
	const struct phase_workers *workers = &phases->workers;
	int64_t number = 0;

	for (uint32_t i = 0, next; i < workers->n; i = next) {
		uint64_t end_ns = workers->v[i].end_ns;

		for (next = i + 1; next < workers->n && workers->v[next].minor; next++)
			end_ns = MAX(end_ns, workers->v[next].end_ns);
		if (!workers->v[i].minor) /* a validation before the first epoch is a trial, outside of epochs */
			put_generation(phases, "epoch", number++, workers->v[i].begin_ns, end_ns);
		for (uint32_t k = i; k < next; k++)
			if (workers->v[k].minor)
				put_generation(phases, "eval", -1, workers->v[k].begin_ns, workers->v[k].end_ns);
	}
}

/*
 * Whether the only bar is drawn once, at the end, with the last epoch's number, as Lightning's is without a terminal.
 * Then the generations up to that number are the epochs. With number 1 it could be an epoch and its validation.
 */
static bool is_last_of_many(const struct phases *p)
{
	const struct epoch_group *only = p->near.v;
	const struct phase_workers *w = &p->workers;
	const int64_t generations = (int64_t)w->n - w->minors;

	return p->near.n == 1 && only->number > 1 && (only->number == generations || only->number == generations - 1) &&
	       are_epochs(w) && w->v[w->n - 1].begin_ns < only->first_ns;
}

/* --- training by steps ---------------------------------------------------------------------------------------- */

/* Whether any phase is an epoch or the training. */
static bool shows_training(const struct phases *p)
{
	for (uint32_t i = 0; i < p->recorded.n; i++) {
		enum phase_kind kind = p->names[p->recorded.v[i].name].kind;

		if (kind == PHASE_EPOCH || kind == PHASE_TRAINING)
			return true;
	}
	return false;
}

static void by_steps(struct phases *phases, const struct epoch_trace *trace)
{
	const struct step_lines *l = &phases->step_lines;
	uint32_t name = phases_name(phases, PHASE_LOG, "training", strlen("training"));
	uint64_t begin_ns = step_lines_begin(l);
	bool since_start = !begin_ns;

	if (since_start)
		begin_ns = epoch_start(trace, l->first_ns, 1);
	if (name != PHASES_NONE)
		put_derived(phases, (struct phase){ .begin_ns = MAX(begin_ns, trace->begin_ns),
						    .end_ns = l->last_ns,
						    .number = -1,
						    .rank = -1,
						    .ranks = 1,
						    .name = name,
						    .since_start = since_start });
}

/* --- in order ------------------------------------------------------------------------------------------------- */

static void drop_derived(struct phases *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->recorded.n; i++)
		if (!p->recorded.v[i].derived)
			p->recorded.v[n++] = p->recorded.v[i];
	p->recorded.n = n;
}

void phases_derive(struct phases *phases, const struct timeline *timeline)
{
	const struct epoch_trace t = trace_of(phases, timeline);

	drop_derived(phases);
	phases->has_other_end = false;
	phases->has_epochs = has_epochs(phases);
	by_ends(phases, &t);
	if (!phases->has_epochs && phases->near.n && phases->near_lines && !is_last_of_many(phases))
		by_lines(phases, &t);
	else if (!phases->has_epochs && are_epochs(&phases->workers))
		by_workers(phases);
	if (phases->step_lines.n && !shows_training(phases))
		by_steps(phases, &t);
	count_unpaired(phases);
}
