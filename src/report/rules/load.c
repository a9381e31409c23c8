/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of the analysis, and what its parts share. */
#include "report/rules/load.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/rules/rules.h"
#include "report/scan/scan.h"
#include "report/why/account.h"
#include "report/why/calls.h"
#include "report/why/files.h"
#include "report/why/overlap.h"
#include "report/why/reclaims.h"
#include "report/why/why_impl.h"

const char *const why_state_names[WHY_STATES] = {
	[WHY_DISK] = "disk",   [WHY_CACHE] = "cache", [WHY_META] = "open",   [WHY_WRITE] = "write",
	[WHY_CPU] = "cpu",     [WHY_RUNQ] = "runq",   [WHY_QUEUE] = "queue", [WHY_OTHER] = "other",
};

void why_note(struct why *w, const char *fmt, ...)
{
	const struct notes notes = { w->notes, &w->n_notes, WHY_NOTES_MAX };
	va_list ap;

	va_start(ap, fmt);
	notes_vadd(&notes, fmt, ap);
	va_end(ap);
}

void why_begin(struct report *r)
{
	struct why *w = calloc(1, sizeof(*w));

	if (w)
		w->calls = malloc(sizeof(*w->calls));
	if (!w || !w->calls) {
		free(w);
		return;
	}
	r->why = w;
	why_calls_init(w->calls);
	if (why_files_begin(w) < 0 || why_epochs_begin(r) < 0) {
		why_free(w);
		r->why = NULL;
		return;
	}
	table_init_pids(&w->loaders, sizeof(struct why_loader *), WHY_LOADERS_MAX);
	table_init(&w->work, sizeof(struct why_work), WHY_WORK_MAX);
	table_init(&w->output, sizeof(struct why_output), WHY_OUTPUTS_MAX);
	why_read_gpu(r);
	why_find_trainers(r);
}

/*
 * Reads how idle all CPUs were in the trainers' windows, which are known after the rows of calls: the mean of mpstat's
 * lines.
 */
static void read_cpu_idle(struct report *r)
{
	struct scan s = { .report = r };
	struct why *w = r->why;
	uint64_t nr, n = 0;
	double sum = 0, v;

	w->cpu_idle_percent = NAN;
	if (!w->n_trainers || scan_begin(&s, r->folder, "cpu") < 0)
		return;
	while (scan_next(&s) > 0) {
		if (scan_u64(&s, COL_CPU, &nr) && nr < 65536)
			w->n_cpus = MAX(w->n_cpus, (uint32_t)nr + 1);
		if (!scan_is(&s, COL_CPU, "all") || !scan_has_number(&s, COL_TIMESTAMP) || s.time_ns < w->trainer[0].begin_ns ||
		    s.time_ns > w->trainer[0].end_ns + NSEC_PER_SEC || !scan_double(&s, COL_PERCENT_IDLE, &v))
			continue;
		sum += v;
		n++;
	}
	if (n)
		w->cpu_idle_percent = sum / (double)n;
}

/* Notes what the analysis leaves out because of the limits of memory. */
static void note_bounds(struct why *w)
{
	uint64_t glued_ns = 0, unsure_ns = 0;

	for (uint32_t i = 0; i < w->n_trainers; i++)
		glued_ns += w->trainer[i].calls.glued_ns + w->trainer[i].waits.glued_ns +
			    (w->trainer[i].steps ? w->trainer[i].steps->spans[STEP_FETCH].glued_ns + w->trainer[i].steps->spans[STEP_COMPUTE].glued_ns +
						w->trainer[i].io.glued_ns : 0);
	for (uint32_t i = 0; i < w->loaders.n; i++) {
		const struct why_loader *l = *(struct why_loader **)table_at(&w->loaders, i);

		unsure_ns += l ? l->cover.unsure_ns : 0;
	}
	if (glued_ns)
		why_note(w, "there were too many waits to keep each: they may be reported too long by %.3f s in all",
			 (double)glued_ns / NSEC_PER_SEC);
	if (unsure_ns)
		why_note(w, "%.3f s of loaders' calls overlapped too many others, and are counted with these",
			 (double)unsure_ns / NSEC_PER_SEC);
}

static void end_calls(struct why *w)
{
	if (w->calls)
		why_calls_free(w->calls);
	free(w->calls);
	w->calls = NULL;
}

void why_settle(struct report *r)
{
	struct why *w = r->why;

	if (!w)
		return;
	w->begin_ns = r->first_ns;
	w->end_ns = r->last_ns;
	why_drop_launchers(r);
	why_find_loaders(r);
	why_find_sight(r);
	why_find_windows(r);
	why_read_trainer_sched(r);
	why_choose_bases(r);
}

void why_end(struct report *r)
{
	struct why *w = r->why;
	int res;

	if (!w)
		return;
	why_find_saves(r);
	read_cpu_idle(r);
	why_files_end(r);
	why_epochs_settle(r);
	res = w->error < 0 ? w->error : why_walk(r);
	end_calls(w);
	if (res < 0)
		why_note(w, "why the job waited could not be analyzed: %s", strerror(-res));
	else
		why_read_loader_sched(r);
	why_read_reclaims(r);
	w->overlaps = overlap_all(r, &w->n_overlaps);
	w->accounts = account_all(r, &w->n_accounts);
	why_blame(r);
	why_epochs_end(r);
	note_bounds(w);
	w->rules = rules_new(r);
}

uint64_t why_fetched_bytes(const struct report *r, uint32_t i)
{
	return i < r->why->n_files ? r->why->files[i].disk_bytes : 0;
}

bool why_trains_from(const struct report *r, uint64_t *ns)
{
	const struct why *w = r->why;
	uint64_t begin_ns = UINT64_MAX;

	for (uint32_t i = 0; w && w->seen >= WHY_SEEN_LOADERS && i < w->n_trainers; i++)
		begin_ns = MIN(begin_ns, w->trainer[i].begin_ns);
	if (begin_ns < UINT64_MAX) {
		*ns = MAX(begin_ns, r->timeline->data_ns);
		return true;
	}
	/* a job that reads no data, and shows no other sign of training, writes no checkpoint */
	*ns = r->timeline->data_ns ? r->timeline->data_ns : UINT64_MAX;
	return false;
}

void why_free(struct why *w)
{
	if (!w)
		return;
	rules_free(w->rules);
	free(w->accounts);
	free(w->overlaps);
	end_calls(w);
	for (uint32_t i = 0; i < w->loaders.n; i++)
		free(*(void **)table_at(&w->loaders, i));
	for (uint32_t i = 0; i < w->n_trainers; i++) {
		spans_free(&w->trainer[i].calls);
		spans_free(&w->trainer[i].waits);
		spans_free(&w->trainer[i].io);
		spans_free(&w->trainer[i].at_work);
		spans_free(&w->trainer[i].saves);
		free(w->trainer[i].own_samples);
	}
	for (uint32_t i = 0; i < w->n_gpus; i++)
		spans_free(&w->gpu[i].idle);
	for (unsigned int i = 0; i < w->n_notes; i++)
		free(w->notes[i]);
	for (uint32_t i = 0; i < w->n_epochs; i++)
		for (unsigned int k = 0; k < w->epoch[i].n_slow; k++)
			free(w->epoch[i].slow[k].path);
	table_free(&w->loaders);
	free(w->files);
	free(w->files_rest);
	table_free(&w->work);
	table_free(&w->output);
	table_free(&w->faults);
	free(w->places);
	free(w->epoch);
	free(w);
}
