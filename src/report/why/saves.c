/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checkpoints that a trainer's main thread writes itself. Training stands still from the begin of a checkpoint to its
 * end, even while the thread copies weights from the GPU and turns them into the file's bytes, which no call shows.
 * Other sources than regions show what the main thread did, or that the GPU was idle, so nothing is added to these.
 */
#include "base/util.h"
#include "report/phases/phases.h"
#include "report/phases/saves.h"
#include "report/why/why_impl.h"

#define OWN_WRITES 0.02 /* of the checkpoints: with less time in writes, another process or thread has saved them */

static bool is_looked_at(const struct why_trainer *t)
{
	return t->basis == WHY_BY_REGIONS;
}

/* Adds [BEGIN, END), or the part of it that is in T's window. */
static void add(struct why_trainer *t, uint64_t begin_ns, uint64_t end_ns)
{
	begin_ns = MAX(begin_ns, t->begin_ns);
	end_ns = MIN(end_ns, t->end_ns);
	if (begin_ns < end_ns)
		spans_add(&t->saves, begin_ns, end_ns);
}

/* Whether a phase of L and S share some time. */
static bool is_shown(const struct phase_list *l, const struct phase_save *s)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->v[i].begin_ns < s->end_ns && s->begin_ns < l->v[i].end_ns)
			return true;
	return false;
}

/*
 * Where a log or a region shows a checkpoint, writing of its files right before and after belongs to it, too:
 * torch.save() ends before a script's own fsync(2).
 */
void why_find_saves(struct report *report)
{
	const struct phase_list *list = report->phases ? &report->phases->lanes[PHASE_CHECKPOINT] : NULL;
	uint32_t n = 0;
	autofree struct phase_save *by_files =
		list && list->n && report->saves && !list->v[0].inferred ?
			phase_saves_find(report->saves, report->timeline->begin_ns, report->timeline->end_ns, &n) :
			NULL;

	for (uint32_t i = 0; list && i < report->why->n_trainers; i++) {
		struct why_trainer *t = &report->why->trainer[i];

		for (uint32_t k = 0; is_looked_at(t) && k < list->n; k++)
			add(t, list->v[k].begin_ns, list->v[k].end_ns);
		for (uint32_t k = 0; is_looked_at(t) && by_files && k < n; k++)
			if (is_shown(list, &by_files[k]))
				add(t, by_files[k].begin_ns, by_files[k].end_ns);
		spans_close(&t->saves);
	}
}

void why_saves_call(struct why_trainer *t, enum why_state state, uint64_t begin_ns, uint64_t end_ns)
{
	t->in_saves_ns[state] += spans_within(&t->saves, begin_ns, end_ns);
}

static bool saves_itself(const struct why_trainer *t)
{
	return t->saves.total_ns && (double)t->in_saves_ns[WHY_WRITE] >= OWN_WRITES * (double)t->saves.total_ns;
}

uint64_t why_saves_beside(struct why_trainer *t, uint64_t begin_ns, uint64_t end_ns)
{
	const double all_ns = (double)t->saves.total_ns;

	if (!saves_itself(t))
		return 0;
	return (uint64_t)((double)spans_within(&t->saves, begin_ns, end_ns) *
			  (1 - MIN((double)t->in_saves_ns[WHY_WRITE] / all_ns, 1)));
}
