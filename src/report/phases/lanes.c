/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the lists that are shown from the recorded phases: ranks are joined, and each kind gets a lane. */
#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/phases/phases.h"

bool phases_put(struct phase_list *l, const struct phase *phase)
{
	if (l->n == PHASES_MAX || util_room(&l->v, l->n, sizeof(*l->v)) < 0)
		return false;
	l->v[l->n++] = *phase;
	return true;
}

/* --- joining ranks ------------------------------------------------------------------------------------ */

static int by_begin(const void *a, const void *b)
{
	const struct phase *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static void sort(struct phase_list *l)
{
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_begin);
}

static uint64_t hash(uint64_t name, int64_t number, int64_t last)
{
	const uint64_t key[3] = { name, (uint64_t)number, (uint64_t)last };

	return table_key((const char *)key, sizeof(key));
}

static void join(struct phase *into, const struct phase *phase)
{
	into->end_ns = MAX(into->end_ns, phase->end_ns);
	into->unfinished |= phase->unfinished;
	into->cut |= phase->cut;
	into->ranks++;
	into->rank = -1;
}

/* Joins ranks: their I-th phases of one name and number are one phase of the job if they overlap, as of the same epoch.
 */
static int join_ranks(struct phases *phases)
{
	struct phase_list by_rank = phases->all;
	struct table times, firsts; /* how often it was there, by rank; 1 + its index in p->all */
	int res = 0;

	phases->all = (struct phase_list){ 0 };
	table_init(&times, sizeof(uint32_t), PHASES_MAX);
	table_init(&firsts, sizeof(uint32_t), PHASES_MAX);
	for (uint32_t i = 0; i < by_rank.n && res == 0; i++) {
		const struct phase *phase = &by_rank.v[i];
		uint32_t *time = table_get(&times, hash(phase->name, phase->number, phase->rank)), *first;

		first = time ? table_get(&firsts, hash(((uint64_t)++ * time << 32) | phase->name, phase->number, 0)) :
			       NULL;
		if (first && *first && phase->rank >= 0 && phases->all.v[*first - 1].end_ns > phase->begin_ns) {
			join(&phases->all.v[*first - 1], phase);
			continue;
		}
		if (!phases_put(&phases->all, phase))
			res = -ENOMEM;
		else if (first && !*first)
			*first = phases->all.n;
	}
	table_free(&times);
	table_free(&firsts);
	free(by_rank.v);
	sort(&phases->all);
	return res;
}

/* --- lanes --------------------------------------------------------------------------------------------- */

static enum phase_source best_source(const struct phases *phases, enum phase_kind kind)
{
	enum phase_source best = PHASE_SOURCES;

	for (uint32_t i = 0; i < phases->all.n; i++) {
		const struct phase_name *name = &phases->names[phases->all.v[i].name];

		if (name->kind == kind)
			best = MIN(best, name->source);
	}
	return best;
}

/*
 * Adds PHASE to a lane, whose phases come by their begins: it ends an open phase, and begins no earlier than the last
 * one ended.
 */
static int put_lane(struct phase_list *lane, struct phase phase)
{
	struct phase *before = lane->n ? &lane->v[lane->n - 1] : NULL;

	if (before && before->end_ns == PHASE_NO_END && phase.begin_ns > before->begin_ns)
		before->end_ns = phase.begin_ns;
	if (before)
		phase.begin_ns = MAX(phase.begin_ns, before->end_ns);
	if (phase.begin_ns >= phase.end_ns)
		return 0;
	return phases_put(lane, &phase) ? 0 : -ENOMEM;
}

static int make_lanes(struct phases *phases)
{
	enum phase_source best[PHASE_KINDS];

	for (unsigned int k = 0; k < PHASE_KINDS; k++) {
		best[k] = best_source(phases, (enum phase_kind)k);
		phases->lanes[k].n = 0;
	}
	for (uint32_t i = 0; i < phases->all.n; i++) {
		const struct phase_name *name = &phases->names[phases->all.v[i].name];

		if (name->source == best[name->kind] && put_lane(&phases->lanes[name->kind], phases->all.v[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* --- within the trace ------------------------------------------------------------------------------------- */

/* Cuts the list to the trace; phases outside of it go, and are counted in OUTSIDE. */
static void cut_list(struct phase_list *list, uint64_t begin_ns, uint64_t end_ns, uint64_t *outside)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++) {
		struct phase phase = list->v[i];

		if ((phase.end_ns <= begin_ns && phase.begin_ns < begin_ns) || phase.begin_ns >= end_ns) {
			if (outside)
				++*outside;
			continue;
		}
		phase.cut |= phase.begin_ns < begin_ns;
		phase.begin_ns = MAX(phase.begin_ns, begin_ns);
		phase.end_ns = MIN(phase.end_ns, end_ns);
		list->v[n++] = phase;
	}
	list->n = n;
}

int phases_make_lists(struct phases *phases, uint64_t begin_ns, uint64_t *outside)
{
	int res;

	cut_list(&phases->recorded, begin_ns, PHASE_NO_END, outside);
	phases->all.n = 0;
	for (uint32_t i = 0; i < phases->recorded.n; i++)
		if (!phases_put(&phases->all, &phases->recorded.v[i]))
			return -ENOMEM;
	if (phases->has_other_end && !phases_put(&phases->all, &phases->other_end))
		return -ENOMEM;
	sort(&phases->all);
	res = join_ranks(phases);
	return res < 0 ? res : make_lanes(phases);
}

void phases_end(struct phases *p, uint64_t begin_ns, uint64_t end_ns)
{
	cut_list(&p->recorded, begin_ns, end_ns, NULL);
	cut_list(&p->all, begin_ns, end_ns, &p->outside);
	for (unsigned int k = 0; k < PHASE_KINDS; k++)
		cut_list(&p->lanes[k], begin_ns, end_ns, NULL);
}
