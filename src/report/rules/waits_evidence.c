/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/rules/waits_evidence.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/scan/lookup.h"
#include "report/scan/model.h"
#include "report/why/reclaims.h"

#define TEXT_MAX 256
#define LEAST_STATES 0.02 /* of the windows: the causes of fewer waits are not shown */

double waits_share(const struct report *r, double ns)
{
	return r->why->window_ns > 0 ? ns / r->why->window_ns : 0;
}

double waits_part(const struct report *r, enum why_state s)
{
	return waits_share(r, r->why->blame_ns[s]);
}

static const char *const basis_texts[WHY_BASES] = {
	[WHY_BY_GPU] = "by gpu.out: the part of the time in which their GPUs did nothing",
	[WHY_BY_REGIONS] =
		"by regions.out: the time in which they fetched their next batch, and wrote files, within their steps",
	[WHY_BY_SUMS] = "by sched.out and the rows of calls",
	[WHY_BY_CALLS] = "by calls on pipes, sockets and files; poll(2) and futex(2) are only in sched.out",
	[WHY_BY_NOTHING] = "not known",
	[WHY_BY_SEVERAL] = "measured in different ways",
};

/* Returns the begin of the first window. */
static uint64_t why_begin_ns(const struct why *w)
{
	uint64_t ns = UINT64_MAX;

	for (uint32_t i = 0; i < w->n_trainers; i++)
		if (why_knows_waits(&w->trainer[i]))
			ns = MIN(ns, w->trainer[i].begin_ns);
	return ns;
}

static uint64_t why_end_ns(const struct why *w)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < w->n_trainers; i++)
		if (why_knows_waits(&w->trainer[i]))
			ns = MAX(ns, w->trainer[i].end_ns);
	return ns;
}

/* Trainers whose waits are known by one source, or by none. */
struct alike {
	uint32_t n;
	uint64_t pid; /* the first trainer */
	double waited_ns, window_ns;
};

static struct alike alike(const struct why *why, enum why_basis basis)
{
	struct alike a = { 0 };

	for (uint32_t i = 0; i < why->n_trainers; i++) {
		const struct why_trainer *t = &why->trainer[i];

		if (t->basis != basis)
			continue;
		a.pid = a.n++ ? a.pid : t->pid;
		a.waited_ns += (double)t->waited_ns;
		a.window_ns += (double)(t->end_ns - t->begin_ns);
	}
	return a;
}

static const char *why_comm(const struct report *r, uint64_t pid)
{
	const struct report_proc *p = table_find(&r->procs, pid);

	return p ? p->comm : "-";
}

static void put_basis(const struct why *w, enum why_basis basis, FILE *out)
{
	fputs(basis_texts[basis], out);
	if (basis == WHY_BY_GPU)
		fprintf(out, ", sampled every %.2f s", (double)w->gpus->sample_ns / NSEC_PER_SEC);
}

/* Shows which trainers' waits are known by which source, where they differ. */
static void show_bases(const struct why *why, struct finding *finding)
{
	const char *before = "";
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (enum why_basis b = 0; out && b <= WHY_BY_NOTHING; b++) {
		struct alike a = alike(why, b);

		if (!a.n || (why->basis != WHY_BY_SEVERAL && b != WHY_BY_NOTHING))
			continue;
		fprintf(out, "%s%u of them (process %u%s) ", before, a.n, (unsigned int)a.pid,
			a.n > 1 ? " and others" : "");
		if (b == WHY_BY_NOTHING) {
			fputs("left out: there are no numbers of its GPU", out);
		} else {
			fprintf(out, "%.1f %%, ", rules_percent(a.waited_ns, a.window_ns));
			put_basis(why, b, out);
		}
		before = "; ";
	}
	if (out)
		fclose(out);
	if (text && text[0])
		finding_add(finding, "%s", text);
	free(text);
}

static void show_window(struct report *report, struct finding *finding)
{
	const struct why *why = report->why;
	char *basis = NULL;
	size_t len;
	FILE *out = open_memstream(&basis, &len);

	if (!out)
		return;
	put_basis(why, why->basis, out);
	fclose(out);
	if (why->n_trainers == 1)
		finding_add(finding, "process %u (%s) waited %.1f %% of the time from %.3f s to %.3f s, %s",
			    (unsigned int)why->trainer[0].pid, why_comm(report, why->trainer[0].pid),
			    rules_percent(why->waited_ns, why->window_ns), rules_seconds(report, why_begin_ns(why)),
			    rules_seconds(report, why_end_ns(why)), basis);
	else
		finding_add(finding, "%u processes (%s%s) waited %.1f %% of the time from %.3f s to %.3f s, %s",
			    why->n_trainers, why_comm(report, why->trainer[0].pid),
			    why->seen < WHY_SEEN_PHASES ? "" : ", which train",
			    rules_percent(why->waited_ns, why->window_ns), rules_seconds(report, why_begin_ns(why)),
			    rules_seconds(report, why_end_ns(why)), basis);
	free(basis);
	show_bases(why, finding);
	if (rules_percent(why->unseen_ns, why->window_ns) >= 1)
		finding_add(finding, "for another %.1f %% of the time it is not known whether they waited",
			    rules_percent(why->unseen_ns, why->window_ns));
}

const char *const waits_state_texts[WHY_STATES] = {
	[WHY_DISK] = "reading from storage",       [WHY_CACHE] = "reading from the page cache",
	[WHY_META] = "opening files and metadata", [WHY_WRITE] = "writing files",
	[WHY_CPU] = "computing (decoding)",        [WHY_RUNQ] = "waiting for a CPU",
	[WHY_QUEUE] = "idle (batches were ready)", [WHY_OTHER] = "not known",
};

/* Shows the causes of the waits, unless the trainers hardly waited. */
static void show_states(struct report *report, struct finding *finding)
{
	const struct why *why = report->why;
	double sum_ns = why->waited_ns;
	char text[TEXT_MAX * 2] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < WHY_STATES && len < sizeof(text); i++)
		if (rules_percent(why->blame_ns[i], sum_ns) >= 1)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %.0f %%", len ? ", " : "",
						waits_state_texts[i],
						MIN(rules_percent(why->blame_ns[i], sum_ns), 100));
	if (why->straggler_ns > 0 && len < sizeof(text))
		snprintf(text + len, sizeof(text) - len, "%sone loader that was slower than the others %.0f %%",
			 len ? ", " : "", rules_percent(why->straggler_ns, sum_ns));
	if (!text[0] || waits_share(report, sum_ns) < LEAST_STATES)
		return;
	if (why->loaders.n)
		finding_add(finding, "what %u loader%s and the main thread did during these waits: %s", why->loaders.n,
			    why->loaders.n == 1 ? "" : "s", text);
	else
		finding_add(finding, "these waits: %s", text);
}

void waits_show_longest(struct report *report, struct finding *finding, enum why_state s, const char *what)
{
	const struct why_longest *top = &report->why->longest[s];

	for (unsigned int i = 0; i < MIN(top->n, 2U); i++) {
		const struct why_call *c = &top->call[i];
		autofree char *path = c->fid ? report_path_of(report, c->fid, NULL, 0) : NULL;

		finding_add(finding, "%s: %s from %.3f s on, process %u, %s", i ? "then" : what, FMT_NS(c->lat_ns),
			    rules_seconds(report, c->end_ns - c->lat_ns), c->pid, path ? path : "no file");
	}
}

/* Shows that the work was also to free memory, where rows show it. */
static void show_reclaims(const struct why *w, struct finding *f)
{
	const double own = why_trainers_reclaim(&w->reclaims), loaders = why_loaders_reclaim(&w->reclaims);

	if (MAX(own, loaders) >= RECLAIMS_MATTER)
		finding_add(f,
			    "memory was short: the main processes freed some in %.1f %% of their time, loaders in %.1f "
			    "%% of theirs",
			    100 * own, 100 * loaders);
}

void waits_show(struct report *report, struct finding *finding)
{
	const struct why *why = report->why;

	if (finding->is_bottleneck) {
		show_window(report, finding);
		show_states(report, finding);
		show_reclaims(report->why, finding);
		return;
	}
	finding_add(finding, "%.1f %% of the waits, from %.3f s to %.3f s",
		    rules_percent(finding->measure * why->window_ns, why->waited_ns),
		    rules_seconds(report, why_begin_ns(why)), rules_seconds(report, why_end_ns(why)));
}

void waits_show_dataset(const struct report *report, struct finding *finding, const char *what, enum dataset_by by)
{
	const struct dataset *dataset = report_dataset_most(report, by);
	char *text = NULL;
	size_t len;
	FILE *out = dataset ? open_memstream(&text, &len) : NULL;

	if (!out)
		return;
	report_dataset_print(dataset, by, out);
	fclose(out);
	if (text)
		finding_add(finding, "%s: %s", what, text);
	free(text);
}
