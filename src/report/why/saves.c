/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checkpoints that a trainer's main thread writes itself: training stands still from their begins to their ends, also while
 * the thread copies weights from the GPU and makes the file's bytes of them, which no call shows. Where the waits are known
 * by scheduling or by calls, their sources say what the main thread did, and nothing is to be added.
 */
#include "base/util.h"
#include "report/phases/phases.h"
#include "report/why/impl.h"

#define OWN_WRITES 0.02 /* of the checkpoints: one that another process or thread saves is none of the main thread's */

static bool is_looked_at(const struct why_trainer *t)
{
	return t->basis == WHY_BY_GPU || t->basis == WHY_BY_REGIONS;
}

void why_find_saves(struct report *r)
{
	const struct phase_list *l = r->phases ? &r->phases->lanes[PHASE_CHECKPOINT] : NULL;

	for (uint32_t i = 0; l && i < r->why->n_trainers; i++) {
		struct why_trainer *t = &r->why->trainer[i];

		for (uint32_t k = 0; is_looked_at(t) && k < l->n; k++)
			spans_add(&t->saves, MAX(l->v[k].begin_ns, t->begin_ns), MIN(l->v[k].end_ns, t->end_ns));
		spans_close(&t->saves);
	}
}

void why_saves_call(struct why_trainer *t, enum why_state state, uint64_t begin_ns, uint64_t end_ns)
{
	t->in_saves_ns[state] += spans_within(&t->saves, begin_ns, end_ns);
}

bool why_saves_itself(const struct why_trainer *t)
{
	return t->saves.total_ns && (double)t->in_saves_ns[WHY_WRITE] >= OWN_WRITES * (double)t->saves.total_ns;
}

double why_saves_waited(struct why *w, struct why_trainer *t)
{
	double ns = 0;

	if (t->basis != WHY_BY_GPU)
		return (double)t->saves.total_ns;
	for (size_t i = 0; i < t->saves.n; i++)
		ns += (double)why_waited(w, t, t->saves.v[i].begin_ns, t->saves.v[i].end_ns);
	return ns;
}
