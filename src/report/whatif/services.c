/* SPDX-License-Identifier: BSD-2-Clause */
/* See services.h. */
#include "report/whatif/services.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/whatif/storage.h"

#define SHORT_MOST_NS 1e6 /* from here on a wait has a row */
#define SEEN_LEAST 4U /* batches that were waited for, to know what it takes to hand one on */
/* Where the epoch does not show it, as measured with torch 1.13 to 2.15: */
#define DELIVER_NS 1e6
#define DELIVER_MOST_NS 3e6
#define FORK_NS 12e6
#define BOOT_NS 20e6
#define WIDTH_LEAST 0.2 /* of the epoch that the trainer's thread ran, to know how many threads work beside it */

struct numbers {
	double *v;
	uint32_t n;
};

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(struct numbers *numbers, double q)
{
	qsort(numbers->v, numbers->n, sizeof(*numbers->v), by_value);
	return numbers->v[(uint32_t)(q * (numbers->n - 1))];
}

static double between(uint64_t begin_ns, uint64_t end_ns)
{
	return (double)end_ns - (double)begin_ns;
}

/* --- batches and steps ----------------------------------------------------------------------------------------------
 */

static double waits_of(const struct whatif_window *w)
{
	return w->disk_ns + w->remote_ns + w->net_ns + w->sleep_ns + w->short_ns;
}

static void add_batch(struct whatif_batch *batch, const struct whatif_window *w)
{
	*batch = (struct whatif_batch){
		.reads = w->reads,
		.requests = w->requests,
		.disk_ns = w->disk_ns,
		.disk_bytes = w->disk_bytes,
		.remote_ns = w->remote_ns,
		.net_ns = w->net_ns,
		.sleep_ns = w->sleep_ns + w->short_ns,
		.cpu_ns = w->cpu_ns,
	};
}

static void add_step(struct whatif_step *step, const struct whatif_window *w)
{
	if (w->kind == WHATIF_SAVE) {
		step->save_cpu_ns += w->cpu_ns;
		step->save_wait_ns += waits_of(w) + w->sync_ns;
		step->save_bytes += w->written_bytes;
		return;
	}
	step->cpu_ns += w->cpu_ns;
	step->sleep_ns += waits_of(w);
	step->save_wait_ns += w->sync_ns; /* what a program writes it may sync behind torch.save() */
	step->save_bytes += w->sync_ns > 0 ? w->written_bytes : 0;
}

static void add_windows(const struct whatif_thread *thread, struct whatif_model *model, struct whatif_facts *facts)
{
	for (uint32_t i = 0; i < thread->n; i++) {
		const struct whatif_window *w = &thread->windows[i];

		if (w->kind == WHATIF_FETCH)
			continue;
		facts->run_ns += w->cpu_ns;
		facts->queue_ns += w->runq_ns;
		if (w->kind != WHATIF_BATCH) {
			add_step(&model->steps[w->index], w);
			continue;
		}
		add_batch(&model->batches[w->index], w);
		facts->work_ns += waits_of(w) + w->cpu_ns;
		facts->storage_ns += w->disk_ns + w->remote_ns;
		facts->remote_ns += w->remote_ns;
		facts->net_ns += w->net_ns;
	}
}

/* --- what it takes to hand on a batch -------------------------------------------------------------------------------
 */

/* Returns how long the trainer was at work in a fetch, which has no other waits than for its batch and for a CPU. */
static double taking(const struct whatif_window *fetch)
{
	return fetch->cpu_ns + MIN(fetch->short_ns, SHORT_MOST_NS);
}

/* A batch was handed on when the trainer's wait for it ended; where it did not wait, as the others of the epoch were.
 */
static void delivers(const struct whatif_gather *gather, struct whatif_model *model, struct whatif_facts *facts,
		     struct numbers *known)
{
	const struct whatif_epoch *epoch = gather->epoch;
	const struct whatif_thread *trainer = &gather->threads[0];
	double otherwise = DELIVER_NS;

	for (uint32_t i = 0; i < epoch->n; i++)
		model->batches[i].deliver_ns = -1;
	for (uint32_t i = 0; model->loader.in_order && i < trainer->n; i++) {
		const struct whatif_window *fetch = &trainer->windows[i];
		double ns;

		if (fetch->kind != WHATIF_FETCH || !(waits_of(fetch) > fetch->short_ns))
			continue;
		ns = between(epoch->made[fetch->index].span.end_ns, fetch->span.end_ns) - taking(fetch);
		model->batches[fetch->index].deliver_ns = known->v[known->n++] = MAX(0.0, ns);
	}
	facts->deliver_known = known->n >= SEEN_LEAST;
	facts->deliver_most_ns = DELIVER_MOST_NS;
	if (facts->deliver_known)
		otherwise = quantile(known, 0.5);
	model->deliver_idle_ns = MIN(otherwise, DELIVER_NS);
	for (uint32_t i = 0; i < epoch->n; i++)
		if (model->batches[i].deliver_ns < 0)
			model->batches[i].deliver_ns = otherwise;
}

static void costs_of_workers(const struct whatif_gather *gather, struct whatif_model *model, struct whatif_facts *facts,
			     struct numbers *numbers)
{
	const struct whatif_thread *trainer = &gather->threads[0];

	for (uint32_t i = 0; i < trainer->n; i++)
		if (trainer->windows[i].kind == WHATIF_FETCH)
			numbers->v[numbers->n++] = taking(&trainer->windows[i]);
	if (numbers->n)
		model->fetch_ns = quantile(numbers, 0.25);
	numbers->n = 0;
	delivers(gather, model, facts, numbers);
}

static void costs_of_trainer(const struct whatif_epoch *epoch, struct whatif_model *model, struct whatif_facts *facts,
			     struct numbers *ready)
{
	for (uint32_t i = 0; i < epoch->n; i++) {
		const struct whatif_span *fetch = &epoch->fetches[i], *made = &epoch->made[i].span;

		ready->v[ready->n++] =
			MAX(0.0, between(fetch->begin_ns, fetch->end_ns) - between(made->begin_ns, made->end_ns));
	}
	model->fetch_ns = quantile(ready, 0.25);
	for (uint32_t i = 0; i < epoch->n; i++)
		model->batches[i].deliver_ns = DELIVER_NS;
	model->deliver_idle_ns = DELIVER_NS;
	model->fork_ns = FORK_NS;
	model->boot_ns = BOOT_NS;
	facts->deliver_most_ns = DELIVER_MOST_NS;
}

/* The start of the workers, and the time between two batches of one that has more to do. */
static void times_of_workers(const struct whatif_epoch *epoch, struct whatif_model *model, struct numbers *gaps)
{
	const uint32_t workers = model->loader.workers;
	uint64_t last_ns[WHATIF_WORKERS_MAX] = { 0 };

	model->fork_ns = between(epoch->start.begin_ns, epoch->start.end_ns) / workers;
	gaps->n = 0;
	for (uint32_t i = 0; i < epoch->n; i++) {
		const struct whatif_made *made = &epoch->made[i];
		uint64_t *last = &last_ns[made->worker];

		if (*last && made->span.begin_ns >= *last)
			gaps->v[gaps->n++] = between(*last, made->span.begin_ns);
		else if (!*last && made->worker == workers - 1)
			model->boot_ns = MAX(0.0, between(epoch->start.end_ns, made->span.begin_ns));
		*last = made->span.end_ns;
	}
	model->gap_ns = gaps->n ? quantile(gaps, 0.1) : 0;
}

static int costs(const struct whatif_gather *gather, struct whatif_model *model, struct whatif_facts *facts)
{
	struct numbers numbers = { calloc(gather->epoch->n, sizeof(double)), 0 };

	if (!numbers.v)
		return -ENOMEM;
	if (model->loader.workers) {
		costs_of_workers(gather, model, facts, &numbers);
		times_of_workers(gather->epoch, model, &numbers);
	} else {
		costs_of_trainer(gather->epoch, model, facts, &numbers);
	}
	free(numbers.v);
	return 0;
}

int whatif_services(const struct whatif_gather *gather, double cpus, struct whatif_model *model,
		    struct whatif_facts *facts)
{
	const struct whatif_epoch *epoch = gather->epoch;
	const uint64_t end_ns = epoch->last.end_ns ?: epoch->until_ns;
	const double span_ns = between(epoch->whole.begin_ns, end_ns), ran_ns = gather->threads[0].run_ns;

	*facts = (struct whatif_facts){ .measured_ns = span_ns };
	*model = (struct whatif_model){
		.loader = epoch->loader,
		.batches = calloc(epoch->n, sizeof(*model->batches)),
		.steps = calloc(epoch->n, sizeof(*model->steps)),
		.n = epoch->n,
		.cpus = cpus,
		.width = 1,
		.stretch = 1,
		.last_ns = between(epoch->last.begin_ns, epoch->last.end_ns),
	};
	if (!model->batches || !model->steps)
		return -ENOMEM;
	for (uint32_t i = 0; i < gather->n; i++)
		add_windows(&gather->threads[i], model, facts);
	for (uint32_t i = 0; i < epoch->n; i++) {
		model->batches[i].worker = model->loader.workers ? epoch->made[i].worker : 0;
		facts->save_ns += model->steps[i].save_cpu_ns + model->steps[i].save_wait_ns;
	}
	if (ran_ns > WIDTH_LEAST * span_ns && gather->trainer_run_ns > ran_ns)
		model->width = gather->trainer_run_ns / ran_ns;
	model->storage = whatif_storage_find(gather->reads, gather->n_reads, span_ns);
	return costs(gather, model, facts);
}
