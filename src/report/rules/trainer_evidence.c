/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the main threads of possible trainers did, as evidence for waits without a known cause: time on a CPU, and the
 * calls that they slept in, from sched.out; without that file, their CPU time and the calls that have rows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/rules/rules.h"
#include "report/scan/scan.h"
#include "report/why/why_impl.h"

#define CALLS_SHOWN 3
#define LEAST 0.5 /* % of the time: smaller parts are not listed */

void why_did(struct why_did *did, struct reader_field call, double ns)
{
	unsigned int i;

	for (i = 0; i < did->n_calls; i++)
		if (reader_is(call, did->call[i].name))
			break;
	if (i == ARRAY_SIZE(did->call) || ns <= 0)
		return;
	if (i == did->n_calls)
		report_copy(did->call[did->n_calls++].name, sizeof(did->call[0].name), call);
	did->call[i].ns += ns;
}

static int by_time(const void *a, const void *b)
{
	const struct why_did_call *x = a, *y = b;

	return x->ns != y->ns ? (x->ns < y->ns) - (x->ns > y->ns) : strcmp(x->name, y->name);
}

static void put(FILE *out, double ns, double all_ns, const char *what)
{
	if (rules_percent(ns, all_ns) >= LEAST)
		fprintf(out, ", %.1f %% %s", rules_percent(ns, all_ns), what);
}

/* Returns all time. A row is spread evenly over its interval, so the sum may exceed the window a little at its edges.
 */
static double sum_of(const struct why_did *d)
{
	double ns = d->run_ns + d->runq_ns;

	for (unsigned int i = 0; i < d->n_calls; i++)
		ns += d->call[i].ns;
	return ns;
}

static void put_sums(const struct why *why, double all_ns, FILE *out)
{
	struct why_did d = why->did;

	all_ns = MAX(all_ns, sum_of(&d));
	fprintf(out, "%.1f %% on a CPU", rules_percent(d.run_ns, all_ns));
	put(out, d.runq_ns, all_ns, "waiting for one");
	qsort(d.call, d.n_calls, sizeof(d.call[0]), by_time);
	for (unsigned int i = 0; i < MIN(d.n_calls, CALLS_SHOWN); i++) {
		autofree char *what =
			util_fmt(strcmp(d.call[i].name, "fault") ? "waiting in %s" : "waiting in page %ss",
				 d.call[i].name);

		put(out, d.call[i].ns, all_ns, what ? what : "");
	}
	fputs(" (by sched.out)", out);
}

/* Puts CPU time, which is only known for all threads together, and the calls of main threads. */
static void put_calls(const struct report *report, double all_ns, FILE *out)
{
	double cpu_ns = 0, file_ns = 0, pipe_ns = 0, life_ns = 0;

	for (uint32_t i = 0; i < report->why->n_trainers; i++) {
		struct why_trainer *t = &report->why->trainer[i];
		const struct report_proc *p = table_find(&report->procs, t->pid);

		for (unsigned int s = 0; s < WHY_STATES; s++)
			file_ns += (double)t->own_ns[s];
		pipe_ns += (double)spans_within(&t->calls, t->begin_ns, t->end_ns);
		if (!p || !p->end_ns || !report_is_of_part(report, p))
			continue;
		cpu_ns += (double)(p->user_ns + p->sys_ns);
		life_ns += (double)(p->end_ns - p->begin_ns);
	}
	if (life_ns > 0)
		fprintf(out, "%.1f %% on CPUs, all threads together", rules_percent(cpu_ns, life_ns));
	else
		fputs("CPU time not known", out);
	put(out, file_ns, all_ns, "in calls on files");
	put(out, pipe_ns, all_ns, "in calls on pipes and sockets");
	fputs("; their other waits are only in sched.out", out);
}

void why_show_did(const struct report *report, struct finding *finding)
{
	const struct why *why = report->why;
	double all_ns = 0;
	char *text = NULL;
	size_t len;
	FILE *out;

	for (uint32_t i = 0; i < why->n_trainers; i++)
		all_ns += (double)(why->trainer[i].end_ns - why->trainer[i].begin_ns);
	if (all_ns <= 0 || !(out = open_memstream(&text, &len)))
		return;
	if (why->has_sums)
		put_sums(why, all_ns, out);
	else
		put_calls(report, all_ns, out);
	fclose(out);
	finding_add(finding, "%s did, of %s: %s",
		    why->n_trainers > 1 ? "what their main threads" : "what its main thread", FMT_NS((uint64_t)all_ns),
		    text);
	free(text);
}
