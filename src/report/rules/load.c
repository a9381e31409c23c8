/* SPDX-License-Identifier: BSD-2-Clause */
/* The order of the analysis, and what its parts share. */
#include "report/rules/load.h"

#include <errno.h>
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

void why_note(struct why *w, const char *fmt, ...)
{
	const struct notes notes = { w->notes, &w->n_notes, WHY_NOTES_MAX };
	va_list ap;

	va_start(ap, fmt);
	notes_vadd(&notes, fmt, ap);
	va_end(ap);
}

static void note_gpus(struct why *why)
{
	for (uint32_t i = 0; i < why->gpus->n; i++) {
		const struct gpu *gpu = &why->gpus->v[i];

		if (gpu->pid && !gpu->numbers)
			why_note(why, "GPU %u: gpu.out and gpu_dev.out have no numbers of its use", gpu->nr);
		else if (gpu->by_device)
			why_note(why,
				 "GPU %u: its use is that of all processes, from gpu_dev.out: gpu.out has no numbers",
				 gpu->nr);
	}
}

void why_begin(struct report *report)
{
	struct why *why = calloc(1, sizeof(*why));

	if (why)
		why->calls = malloc(sizeof(*why->calls));
	if (!why || !why->calls) {
		free(why);
		return;
	}
	report->why = why;
	why_calls_init(why->calls);
	if (why_files_begin(why) < 0 || why_epochs_begin(report) < 0) {
		why_free(why);
		report->why = NULL;
		return;
	}
	table_init_pids(&why->loaders, sizeof(struct why_loader *), WHY_LOADERS_MAX);
	table_init(&why->work, sizeof(struct why_work), WHY_WORK_MAX);
	table_init(&why->output, sizeof(struct why_output), WHY_OUTPUTS_MAX);
	why->gpus = report->gpus;
	note_gpus(why);
	why_find_trainers(report);
}

/* Notes what the analysis leaves out because of the limits of memory. */
static void note_bounds(struct why *why)
{
	uint64_t glued_ns = 0, unsure_ns = 0;

	for (uint32_t i = 0; i < why->n_trainers; i++)
		glued_ns += why->trainer[i].calls.glued_ns + why->trainer[i].waits.glued_ns +
			    (why->trainer[i].steps ? why->trainer[i].steps->spans[STEP_FETCH].glued_ns +
							     why->trainer[i].steps->spans[STEP_COMPUTE].glued_ns +
							     why->trainer[i].io.glued_ns :
						     0);
	for (uint32_t i = 0; i < why->loaders.n; i++) {
		const struct why_loader *l = *(struct why_loader **)table_at(&why->loaders, i);

		unsure_ns += l ? l->cover.unsure_ns : 0;
	}
	if (glued_ns)
		why_note(why, "there were too many waits to keep each: they may be reported too long by %.3f s in all",
			 (double)glued_ns / NSEC_PER_SEC);
	if (unsure_ns)
		why_note(why, "%.3f s of loaders' calls overlapped too many others, and are counted with these",
			 (double)unsure_ns / NSEC_PER_SEC);
}

static void end_calls(struct why *w)
{
	if (w->calls)
		why_calls_free(w->calls);
	free(w->calls);
	w->calls = NULL;
}

void why_settle(struct report *report)
{
	struct why *why = report->why;

	if (!why)
		return;
	why->begin_ns = report->first_ns;
	why->end_ns = report->last_ns;
	why_drop_launchers(report);
	why_find_loaders(report);
	why_find_sight(report);
	why_find_windows(report);
	why_read_trainer_sched(report);
	why_choose_bases(report);
}

void why_end(struct report *report)
{
	struct why *why = report->why;
	int res;

	if (!why)
		return;
	why_find_saves(report);
	why_files_end(report);
	why_epochs_settle(report);
	res = why->error < 0 ? why->error : why_walk(report);
	end_calls(why);
	if (res < 0)
		why_note(why, "why the job waited could not be analyzed: %s", strerror(-res));
	why_read_reclaims(report);
	why->overlaps = overlap_all(report, &why->n_overlaps);
	why->accounts = account_all(report, &why->n_accounts);
	why_sum_waits(report);
	why_epochs_end(report);
	note_bounds(why);
	why->rules = rules_new(report);
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

void why_free(struct why *why)
{
	if (!why)
		return;
	rules_free(why->rules);
	free(why->accounts);
	free(why->overlaps);
	end_calls(why);
	for (uint32_t i = 0; i < why->loaders.n; i++)
		free(*(void **)table_at(&why->loaders, i));
	for (uint32_t i = 0; i < why->n_trainers; i++) {
		spans_free(&why->trainer[i].calls);
		spans_free(&why->trainer[i].waits);
		spans_free(&why->trainer[i].io);
		spans_free(&why->trainer[i].saves);
	}
	for (unsigned int i = 0; i < why->n_notes; i++)
		free(why->notes[i]);
	for (uint32_t i = 0; i < why->n_epochs; i++)
		for (unsigned int k = 0; k < why->epoch[i].n_slow; k++)
			free(why->epoch[i].slow[k].path);
	table_free(&why->loaders);
	free(why->files);
	free(why->files_rest);
	table_free(&why->work);
	table_free(&why->output);
	free(why->places);
	free(why->epoch);
	free(why);
}
