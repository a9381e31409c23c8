/* SPDX-License-Identifier: BSD-2-Clause */
/* Phases for a small picture: each once, and short ones of a name that lie close together become one. */
#include "report/phases/phases.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define SAME 0.8 /* of the longer one: two sources tell of the same phase */
#define CELLS 2048 /* of all the time that they take: a shorter phase is less than a pixel */

/* The state of merging: the last phase in the list of each name, or of each kind and source. */
struct merging {
	const struct phases *p;
	struct phase_seen *v;
	uint32_t *last; /* 1 + index in v; 0: none */
	uint32_t n, most;
	uint64_t cell_ns;
	bool by_kind;
};

static uint32_t class_of(const struct merging *m, uint32_t name)
{
	const struct phase_name *n = &m->p->names[name];

	return m->by_kind ? (uint32_t)n->kind * PHASE_SOURCES + (uint32_t)n->source : name;
}

static void join(struct phase_seen *into, const struct phase *phase)
{
	struct phase *p = &into->phase;

	p->end_ns = MAX(p->end_ns, phase->end_ns);
	p->unfinished |= phase->unfinished;
	p->cut |= phase->cut;
	p->inferred |= phase->inferred;
	p->ranks = MAX(p->ranks, phase->ranks);
	p->number = p->rank = -1;
	into->times++;
}

/* Puts PHASE into the list; joins short ones that are near each other. Returns false when there is no room for one
 * more. */
static bool put(struct merging *merging, const struct phase *phase)
{
	bool is_short = phase->end_ns - phase->begin_ns < merging->cell_ns;
	uint32_t *last = &merging->last[class_of(merging, phase->name)];

	if (is_short && *last && phase->begin_ns - merging->v[*last - 1].phase.begin_ns < merging->cell_ns) {
		join(&merging->v[*last - 1], phase);
		return true;
	}
	if (merging->n == merging->most)
		return false;
	merging->v[merging->n++] = (struct phase_seen){ .phase = *phase, .times = 1 };
	if (is_short)
		*last = merging->n;
	return true;
}

/* Returns the one in LANE, which is in order, that begins last before AT_NS; NULL: none does. */
static const struct phase *phase_at(const struct phase_list *lane, uint64_t at_ns)
{
	uint32_t low = 0, high = lane->n;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (lane->v[middle].begin_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &lane->v[low - 1] : NULL;
}

/*
 * Whether the best source of PHASE's kind has the phase, too: a program that logs its epochs counts them as it likes,
 * and PyTorch's regions from 0.
 */
static bool is_again(const struct phases *p, const struct phase *phase)
{
	const struct phase_list *lane = &p->lanes[p->names[phase->name].kind];
	const struct phase *best = phase_at(lane, phase->begin_ns + (phase->end_ns - phase->begin_ns) / 2);
	uint64_t begin_ns, end_ns, longer_ns;

	if (!best || p->names[best->name].source == p->names[phase->name].source)
		return false;
	begin_ns = MAX(best->begin_ns, phase->begin_ns);
	end_ns = MIN(best->end_ns, phase->end_ns);
	longer_ns = MAX(best->end_ns - best->begin_ns, phase->end_ns - phase->begin_ns);
	return end_ns > begin_ns && (double)(end_ns - begin_ns) >= SAME * (double)longer_ns;
}

static bool merge(struct merging *m)
{
	const struct phase_list *all = &m->p->all;

	memset(m->last, 0, MAX(m->p->n_names, PHASE_KINDS * PHASE_SOURCES) * sizeof(*m->last));
	m->n = 0;
	for (uint32_t i = 0; i < all->n; i++)
		if (!is_again(m->p, &all->v[i]) && !put(m, &all->v[i]))
			return false;
	return true;
}

static uint64_t span_of(const struct phase_list *all)
{
	uint64_t end_ns = 0;

	for (uint32_t i = 0; i < all->n; i++)
		end_ns = MAX(end_ns, all->v[i].end_ns);
	return end_ns - MIN(end_ns, all->n ? all->v[0].begin_ns : 0);
}

struct phase_seen *phases_visible(const struct phases *phases, uint32_t most, uint32_t *n)
{
	uint64_t span_ns = span_of(&phases->all), first_ns = span_ns / CELLS + 1;
	struct merging m = {
		.p = phases,
		.most = MAX(most, PHASE_KINDS * PHASE_SOURCES),
		.last = calloc(MAX(phases->n_names, PHASE_KINDS * PHASE_SOURCES), sizeof(*m.last)),
	};
	bool fits;

	m.v = calloc(MIN(m.most, phases->all.n) + 1, sizeof(*m.v));
	fits = m.v && m.last && merge(&m); /* unmerged */
	/* the last step joins all of a kind and source, which fits */
	for (unsigned int by_kind = 0; by_kind < 2 && m.v && m.last && !fits; by_kind++) {
		m.by_kind = by_kind;
		for (m.cell_ns = first_ns; !fits && m.cell_ns / 4 <= span_ns; m.cell_ns *= 2)
			fits = merge(&m);
	}
	free(m.last);
	if (!m.v || !fits) {
		free(m.v);
		return NULL;
	}
	for (uint32_t i = 0; i < m.n; i++)
		m.v[i].by_kind = m.by_kind && m.v[i].times > 1;
	*n = m.n;
	return m.v;
}
