/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of the job's time the calls of a rule cost. Where the causes of the trainers' waits are known, the cost of a
 * kind of calls is these waits: the rest of the loaders' time costs nothing. Where they are not known, the cost is at
 * most the time in which any process was in a call of the kind. A rule gets the part of it that its calls have of the
 * time of all such calls.
 */
#include "report/rules/rules_impl.h"

#include <math.h>

#include "base/util.h"

#define UNSEEN_MATTERS 0.1 /* of the time: with more, what was seen of the waits is not what the job waited for */

static const struct finding_size unknown = { (double)NAN, (double)NAN, (double)NAN };

bool rules_know_all_waits(const struct report *r)
{
	return rules_know_waits(r) && r->why->unseen_ns < UNSEEN_MATTERS * r->why->window_ns;
}

/*
 * Returns the time from the first process's begin to the last one's end; without these in pids.out, the length of the
 * trace.
 */
static double life_of_job(const struct report *report)
{
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	for (uint32_t i = 0; i < report->procs.n; i++) {
		const struct report_proc *p = table_at(&report->procs, i);

		if (p->begin_ns)
			begin_ns = MIN(begin_ns, p->begin_ns);
		end_ns = MAX(end_ns, p->end_ns);
	}
	if (begin_ns >= end_ns) {
		begin_ns = report->first_ns;
		end_ns = report->last_ns;
	}
	return end_ns > begin_ns ? (double)(end_ns - begin_ns) : 0;
}

/* Returns the mean length of the trainers' windows. */
static double mean_window(const struct why *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_trainers; i++)
		n += why_knows_waits(&w->trainer[i]);
	return n ? w->window_ns / n : 0;
}

struct finding_size rules_size_of_life(const struct report *r, double ns)
{
	double life_ns = life_of_job(r);
	struct finding_size size = unknown;

	if (life_ns <= 0)
		return size;
	size.ns = MIN(ns, life_ns);
	size.share = size.ns / life_ns;
	return size;
}

struct finding_size rules_size_of_share(const struct report *report, double part)
{
	double window_ns = mean_window(report->why);
	struct finding_size size = unknown;

	if (isnan(part))
		return size;
	if (window_ns <= 0)
		return rules_size_of_life(report, part * life_of_job(report));
	size.share = MIN(part, 1);
	size.ns = size.share * window_ns;
	return size;
}

/* Returns the cost of all calls of KIND. */
static double waits_for(const struct why *w, enum why_kind kind)
{
	switch (kind) {
	case WHY_READS:
		return w->blame_ns[WHY_DISK] + w->blame_ns[WHY_CACHE];
	case WHY_WRITES: /* without the time in checkpoints outside of writes, which makes their bytes */
		return MAX(w->blame_ns[WHY_WRITE] - (w->saves_ns - w->saves_write_ns), 0.0);
	default:
		return w->blame_ns[WHY_META];
	}
}

struct finding_size rules_size(const struct report *r, enum why_kind kind, uint64_t part_ns)
{
	const struct why_kind_sum *sum = &r->why->kind[kind];
	double part = sum->ns ? MIN((double)part_ns / (double)sum->ns, 1) : 0;

	if (rules_know_all_waits(r))
		return rules_size_of_share(r, part * waits_for(r->why, kind) / r->why->window_ns);
	return rules_size_of_life(r, part * (double)sum->busy_ns);
}

struct finding_size rules_size_of_all(const struct report *report, double part_ns)
{
	double all_ns = 0, busy_ns = 0, waits_ns = 0, part;

	for (unsigned int k = 0; k < WHY_KINDS; k++) {
		all_ns += (double)report->why->kind[k].ns;
		busy_ns += (double)report->why->kind[k].busy_ns;
		waits_ns += waits_for(report->why, (enum why_kind)k);
	}
	part = all_ns > 0 ? MIN(part_ns / all_ns, 1) : 0;
	if (rules_know_all_waits(report))
		return rules_size_of_share(report, part * waits_ns / report->why->window_ns);
	return rules_size_of_life(report, part * busy_ns);
}

struct finding_size rules_size_of_bytes(const struct report *r, enum why_kind kind, uint64_t bytes)
{
	const struct why_sums *s = sums(r);
	double all = (double)(kind == WHY_READS ? s->read_bytes : s->write_bytes);
	double ns = (double)(kind == WHY_READS ? s->read_files_ns : s->write_files_ns);
	struct finding_size size = rules_size(r, kind, all > 0 ? (uint64_t)(ns * MIN((double)bytes / all, 1)) : 0);

	size.bytes = (double)bytes;
	return size;
}

struct finding_size rules_size_of_reads(const struct report *r)
{
	return rules_size_of_bytes(r, WHY_READS, sums(r)->read_bytes);
}

struct finding_size rules_size_of_writes(const struct report *r)
{
	return rules_size_of_bytes(r, WHY_WRITES, sums(r)->write_bytes);
}
