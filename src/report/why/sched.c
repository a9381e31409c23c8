/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits by CPU scheduling: sched.out has sums of intervals, which count evenly over the interval. A trainer waits while
 * its main thread sleeps in a call that waits for others.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/scan/gate.h"
#include "report/scan/scan.h"
#include "report/why/why_impl.h"

/*
 * Rows of sched.out are a second apart, or more. Bins are shorter than that if BINS of them suffice, so that hardly any
 * part of a wait is counted before its process began, or outside of its window.
 */
#define BINS 65536
#define FINE_BINS 16384
#define FINE_NS (NSEC_PER_SEC / 16)

/*
 * Calls TAKE with each row of NAME.out, which the report has open; false when it is not there. It is read after the
 * rows of calls, which show the trainers, their windows and the loaders.
 */
static bool each(struct report *r, const char *name, void (*take)(struct scan *s, void *own), void *own)
{
	struct scan s = { .report = r };

	if (scan_begin(&s, r->folder, name) < 0)
		return false;
	while (scan_next(&s) > 0)
		if (scan_has_number(&s, COL_TIMESTAMP))
			take(&s, own);
	return true;
}

/*
 * Returns the time that the row covers, within the life of its process. A wait gets its row when it is over, and may
 * have begun long before the row's interval.
 */
static struct span span_of(const struct scan *scan)
{
	const struct report_proc *proc = table_find(&scan->report->procs, scan_number(scan, COL_PID));
	static const enum column parts[] = { COL_RUN_NS, COL_RUNQ_NS, COL_DISK_NS, COL_BLOCKED_NS, COL_SLEEP_NS };
	uint64_t least_ns = 0, span_ns;
	struct span span;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		least_ns += scan_number(scan, parts[i]);
	span_ns = MAX(scan_number(scan, COL_SPAN_NS), least_ns);
	span = (struct span){ .begin_ns = scan->time_ns - MIN(span_ns, scan->time_ns), .end_ns = scan->time_ns };

	span.begin_ns = MAX(span.begin_ns, scan->report->first_ns);
	if (proc && proc->end_ns > span.begin_ns && proc->end_ns < span.end_ns)
		span.end_ns = proc->end_ns;
	if (proc && proc->begin_ns > span.begin_ns && proc->begin_ns < span.end_ns)
		span.begin_ns = proc->begin_ns;
	return span;
}

struct sums {
	bool any; /* the sums have a row of a trainer's main thread */
	uint64_t bin_ns;
	float *waits[WHY_TRAINERS_MAX]; /* BINS each */
};

/* Returns the row's time asleep, in any call. */
static double asleep_ns(const struct scan *s)
{
	return (double)(scan_number(s, COL_DISK_NS) + scan_number(s, COL_BLOCKED_NS) + scan_number(s, COL_SLEEP_NS));
}

static void add_to_sleeps(const struct scan *s, const struct sleep_call *call, double share, struct sleeps *to)
{
	if (call) {
		to->ns[call->kind] += share * asleep_ns(s);
		return;
	}
	to->run_ns += share * (double)scan_number(s, COL_RUN_NS);
	to->runq_ns += share * (double)scan_number(s, COL_RUNQ_NS);
}

/* Adds the busy time of a row to its process: not its sleep, as a process that waits in wait4(2) or poll(2) is not
 * busy. */
static void take_busy(struct scan *s, void *own)
{
	struct report_proc *p =
		scan_is(s, COL_KIND, "target") ? table_find(&s->report->procs, scan_number(s, COL_PID)) : NULL;

	if (p && !scan_is_gate(s))
		p->busy_ns += scan_number(s, COL_RUN_NS) + scan_number(s, COL_RUNQ_NS) + scan_number(s, COL_DISK_NS) +
			      scan_number(s, COL_BLOCKED_NS);
}

void why_read_busy(struct report *r)
{
	each(r, "sched", take_busy, NULL);
}

/*
 * Returns the sums that the row counts in; NULL: it is of no process of the job, or of a loader's further thread. *T:
 * the trainer whose window counts.
 */
static struct sleeps *sleeps_of(const struct scan *scan, struct why_trainer **t)
{
	const uint64_t pid = scan_number(scan, COL_PID);
	struct why *why = scan->report->why;
	struct why_loader *loader;
	bool main = scan_number(scan, COL_TID) == pid;

	if (!scan_is(scan, COL_KIND, "target") || scan_is_gate(scan))
		return NULL;
	*t = why_trainer(why, pid);
	if (*t)
		return main ? &(*t)->main : &(*t)->threads;
	loader = why_loader(why, pid);
	*t = &why->trainer[loader ? loader->trainer : 0];
	if (!loader)
		return &why->others;
	return main ? &loader->main : NULL;
}

/* Adds the row of a trainer's main thread that slept in a call for others. */
static void add_to_waits(const struct scan *scan, const struct sums *sums, uint32_t trainer, const struct span *span)
{
	const uint64_t first_ns = scan->report->first_ns;
	const double sleep_ns = (double)scan_number(scan, COL_SLEEP_NS);
	float *waits = sums->waits[trainer];

	for (uint64_t at_ns = span->begin_ns; waits && at_ns < span->end_ns;) {
		uint64_t bin = (at_ns - first_ns) / sums->bin_ns;
		uint64_t end_ns = MIN(first_ns + (bin + 1) * sums->bin_ns, span->end_ns);

		if (bin >= BINS || end_ns <= at_ns)
			break;
		waits[bin] += (float)(sleep_ns * (double)(end_ns - at_ns) / (double)(span->end_ns - span->begin_ns));
		at_ns = end_ns;
	}
}

/* Whether fault.out has rows for what this row sums up: page faults of main threads, but not calls that fill pages
 * ahead. */
static bool is_in_rows(const struct scan *s, const struct sleeps *sleeps, const struct why_trainer *t)
{
	const struct why *w = s->report->why;

	return w->has_faults && scan_is(s, COL_CALL, "fault") && sleeps != &t->threads && sleeps != &w->others;
}

static void take_sum(struct scan *scan, void *own)
{
	struct why *why = scan->report->why;
	struct why_trainer *trainer = NULL;
	struct sleeps *sleeps = sleeps_of(scan, &trainer);
	const struct sleep_call *call;
	struct sums *sums = own;
	struct span span;
	double all_ns, looked_at;

	if (!sleeps)
		return;
	span = span_of(scan);
	if (span.begin_ns >= span.end_ns)
		return;
	all_ns = (double)(span.end_ns - span.begin_ns);
	looked_at = (double)why_looked_at(trainer, span.begin_ns, span.end_ns) / all_ns;
	call = scan_is(scan, COL_CALL, "-") ? NULL : sleep_call_of(scan_field(scan, COL_CALL));
	if (!is_in_rows(scan, sleeps, trainer))
		add_to_sleeps(scan, call, looked_at, sleeps);
	if (sleeps != &trainer->main)
		return;
	if (span.begin_ns < trainer->begin_ns)
		add_to_sleeps(scan, call, (double)(MIN(span.end_ns, trainer->begin_ns) - span.begin_ns) / all_ns,
			      &trainer->before);
	sums->any = true;
	if (call && call->for_others)
		add_to_waits(scan, sums, (uint32_t)(trainer - why->trainer), &span);
}

/* Returns the length of a bin. MOST: the number of bins that a trainer has room for. */
static uint64_t bin_length(uint64_t all_ns, uint64_t most)
{
	uint64_t fine_ns = MAX(all_ns / (FINE_BINS - 1) + 1, FINE_NS);

	return MAX(all_ns / (MIN(most, BINS) - 1) + 1, MIN(fine_ns, NSEC_PER_SEC));
}

/* Returns false when sched.out is not there, or has no row of the trainers, as one that was cut off may. */
static bool trainers_by_sums(struct report *report)
{
	struct why *why = report->why;
	uint64_t all_ns = report->last_ns - report->first_ns;
	struct sums s = { .bin_ns = bin_length(all_ns, why->n_trainers ? why->trainer[0].waits.max : BINS) };
	bool there;

	for (uint32_t i = 0; i < why->n_trainers; i++)
		s.waits[i] = calloc(BINS, sizeof(float));
	there = why->n_trainers && each(report, "sched", take_sum, &s) && s.any;
	for (uint32_t i = 0; i < why->n_trainers; i++) {
		struct why_trainer *trainer = &why->trainer[i];

		for (uint64_t bin = 0; there && s.waits[i] && bin * s.bin_ns < all_ns; bin++) {
			uint64_t length_ns = MIN(s.bin_ns, all_ns - bin * s.bin_ns);
			double waits = (double)s.waits[i][bin] / (double)length_ns;

			spans_append(&trainer->waits, report->first_ns + bin * s.bin_ns,
				     report->first_ns + bin * s.bin_ns + length_ns, MIN(waits, 1));
		}
		free(s.waits[i]);
		/* at most the whole window: a damaged trace may have any number */
		trainer->own_ns[WHY_DISK] +=
			(uint64_t)MIN(trainer->main.ns[SLEEP_FAULT], (double)(trainer->end_ns - trainer->begin_ns));
		trainer->own_ns[WHY_META] +=
			(uint64_t)MIN(trainer->main.ns[SLEEP_STAT], (double)(trainer->end_ns - trainer->begin_ns));
	}
	return there;
}

void why_read_trainer_sched(struct report *report)
{
	struct why *w = report->why;

	if (!report->first_ns || report->last_ns <= report->first_ns)
		return;
	w->has_faults = why_faults_are_rows(report);
	w->has_sums = trainers_by_sums(report);
	for (uint32_t i = 0; i < w->n_trainers; i++)
		spans_close(&w->trainer[i].waits);
}
