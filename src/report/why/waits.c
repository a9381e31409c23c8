/* SPDX-License-Identifier: BSD-2-Clause */
/* When the trainers had nothing to do, by the best source in the trace. */
#include <stdlib.h>

#include "base/util.h"
#include "report/why/account.h"
#include "report/why/why_impl.h"

const char *const why_basis_names[WHY_BASES] = {
	[WHY_BY_GPU] = "gpu",     [WHY_BY_REGIONS] = "regions", [WHY_BY_SUMS] = "sched",
	[WHY_BY_CALLS] = "calls", [WHY_BY_NOTHING] = "nothing", [WHY_BY_SEVERAL] = "mixed",
};

/* A call or an epoch that begins before the part that is looked at counts from the part's begin on. */
static void clip_to_part(const struct report *report, struct why_trainer *trainer)
{
	const struct window part = manifest_part(&report->manifest);

	if (!part.end_ns)
		return;
	trainer->begin_ns = MIN(MAX(trainer->begin_ns, part.begin_ns), part.end_ns);
	trainer->end_ns = MIN(MAX(trainer->end_ns, trainer->begin_ns), part.end_ns);
}

/*
 * Sets the window of TRAINER, the part of the trace in which it trains: by its steps, or its phases, or the lives of
 * its loaders, or its first read of data, as it starts up before that: by the first of these that is known. A trainer
 * that reads no data has its whole life as its window.
 */
static void find_window(struct report *report, struct why_trainer *trainer)
{
	const struct report_proc *proc = table_find(&report->procs, trainer->pid);
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	if (trainer->steps) {
		begin_ns = trainer->steps->begin_ns;
		end_ns = trainer->steps->end_ns;
	} else if (!why_training(report, &begin_ns, &end_ns))
		for (uint32_t i = 0; i < report->why->loaders.n; i++) {
			const struct why_loader *l = *(struct why_loader **)table_at(&report->why->loaders, i);

			if (!l || &report->why->trainer[l->trainer] != trainer)
				continue;
			begin_ns = MIN(begin_ns, l->begin_ns);
			end_ns = MAX(end_ns, l->end_ns);
		}
	if (begin_ns >= end_ns) {
		begin_ns = proc ? first_data_ns(&proc->first_data) : 0;
		begin_ns = begin_ns ? begin_ns : report->first_ns;
		end_ns = report->last_ns;
	}
	trainer->begin_ns = MAX(begin_ns, proc && proc->begin_ns ? proc->begin_ns : report->first_ns);
	trainer->end_ns = MAX(MIN(end_ns, proc && proc->end_ns ? proc->end_ns : report->last_ns), trainer->begin_ns);
	clip_to_part(report, trainer);
}

/* Ends the window at the first and the last sample of its GPU with it: nothing is known outside of these. */
static void clip_to_samples(const struct why *why, struct why_trainer *trainer)
{
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	for (uint32_t i = 0; i < why->gpus->n; i++) {
		const struct spans *idle = &why->gpus->v[i].idle;

		if (why->gpus->v[i].pid != trainer->pid || !idle->n)
			continue;
		begin_ns = MIN(begin_ns, idle->v[0].begin_ns);
		end_ns = MAX(end_ns, idle->v[idle->n - 1].end_ns);
	}
	trainer->begin_ns = MAX(trainer->begin_ns, begin_ns);
	trainer->end_ns = MAX(MIN(trainer->end_ns, end_ns), trainer->begin_ns);
}

static void find_gpus(const struct why *w, struct why_trainer *t)
{
	for (uint32_t i = 0; i < w->gpus->n; i++)
		if (w->gpus->v[i].pid == t->pid && w->gpus->v[i].numbers)
			t->gpu[t->n_gpus++] = (uint8_t)i;
}

/* Returns the steps of T; NULL: it has none, or marks only its steps, so that it is not known when it fetched. */
static struct step_trainer *steps_of(const struct report *r, const struct why_trainer *t)
{
	struct step_trainer *of = r->phases ? phase_steps_trainer(&r->phases->steps, t->pid) : NULL;

	return of && of->spans[STEP_FETCH].n ? of : NULL;
}

void why_find_windows(struct report *r)
{
	for (uint32_t i = 0; i < r->why->n_trainers; i++) {
		struct why_trainer *t = &r->why->trainer[i];

		t->steps = steps_of(r, t);
		t->io.max = t->calls.max;
		find_window(r, t);
	}
}

void why_choose_bases(struct report *report)
{
	struct why *why = report->why;

	for (uint32_t i = 0; i < why->n_trainers; i++) {
		struct why_trainer *trainer = &why->trainer[i];

		spans_close(&trainer->calls);
		find_gpus(why, trainer);
		if (trainer->n_gpus) {
			trainer->basis = WHY_BY_GPU;
			clip_to_samples(why, trainer);
		} else if (trainer->steps) {
			trainer->basis = WHY_BY_REGIONS;
		} else if (why->has_sums && (trainer->waits.n || trainer->main.run_ns > 0)) {
			trainer->basis = WHY_BY_SUMS;
		} else {
			const struct report_proc *proc = table_find(&report->procs, trainer->pid);

			trainer->basis = proc && proc->on_gpu ? WHY_BY_NOTHING : WHY_BY_CALLS;
		}
	}
}

/* Returns the basis of all trainers whose waits are known. */
static enum why_basis basis_of_all(const struct why *why)
{
	enum why_basis basis = WHY_BY_NOTHING;

	for (uint32_t i = 0; i < why->n_trainers; i++) {
		const struct why_trainer *trainer = &why->trainer[i];

		if (why_knows_waits(trainer) && basis != WHY_BY_NOTHING && basis != trainer->basis)
			return WHY_BY_SEVERAL;
		basis = MIN(basis, trainer->basis);
	}
	return basis;
}

void why_sum_waits(struct report *report)
{
	struct why *why = report->why;

	why->basis = basis_of_all(why);
	for (uint32_t i = 0; i < why->n_trainers; i++) {
		struct why_trainer *t = &why->trainer[i];
		const uint64_t window_ns = t->end_ns - t->begin_ns;

		if (!why_knows_waits(t))
			continue;
		/* by second, a wait counts evenly over its row's interval: the account has all of it */
		if (t->basis == WHY_BY_SUMS && why->accounts)
			t->waited_ns = MIN((uint64_t)account_waited(&why->accounts[i]), window_ns);
		else
			t->waited_ns = MIN(why_waited(why, t, t->begin_ns, t->end_ns) + t->outside_ns +
						   why_saves_beside(t, t->begin_ns, t->end_ns),
					   window_ns);
		why->waited_ns += (double)t->waited_ns;
		why->window_ns += (double)window_ns;
	}
}

uint64_t why_gpus_idle(struct why *w, const struct why_trainer *t, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < t->n_gpus; i++)
		ns += spans_within(&w->gpus->v[t->gpu[i]].idle, begin_ns, end_ns);
	return t->n_gpus ? ns / t->n_gpus : 0;
}
