/* SPDX-License-Identifier: BSD-2-Clause */
/* See services.h. */
#include "report/whatif/services.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/whatif/storage.h"

#define SEEN_LEAST 4U /* batches, to know what it takes to hand one on */
#define READY_NS 10e6 /* a batch that was ready so long before is taken without a wait */
#define WAITED_NS 1e5
/* Where the epoch does not show it, as measured with torch 1.13 to 2.15: */
#define FETCH_NS 0.7e6
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

static void costs_of_workers(const struct whatif_epoch *epoch, struct whatif_model *model, struct whatif_facts *facts,
			     struct numbers *waited, struct numbers *ready)
{
	for (uint32_t i = 0; model->loader.in_order && i < epoch->n; i++) {
		const struct whatif_span *fetch = &epoch->fetches[i], *made = &epoch->made[i].span;

		if (between(fetch->begin_ns, made->end_ns) > WAITED_NS)
			waited->v[waited->n++] = MAX(0.0, between(made->end_ns, fetch->end_ns));
		else if (between(made->end_ns, fetch->begin_ns) > READY_NS)
			ready->v[ready->n++] = between(fetch->begin_ns, fetch->end_ns);
	}
	facts->fetch_known = ready->n >= SEEN_LEAST;
	facts->deliver_known = waited->n >= SEEN_LEAST;
	model->fetch_ns = facts->fetch_known ? quantile(ready, 0.25) : FETCH_NS;
	facts->fetch_most_ns = 2 * model->fetch_ns;
	facts->deliver_most_ns = DELIVER_MOST_NS;
	model->deliver_ns = DELIVER_NS;
	if (!facts->deliver_known)
		return;
	if (!facts->fetch_known)
		model->fetch_ns = MIN(FETCH_NS, quantile(waited, 0.25) / 2);
	model->deliver_ns = MAX(0.0, quantile(waited, 0.25) - model->fetch_ns);
	facts->fetch_most_ns = MAX(model->fetch_ns, quantile(waited, 0.25));
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
	model->deliver_ns = DELIVER_NS;
	model->fork_ns = FORK_NS;
	model->boot_ns = BOOT_NS;
	facts->fetch_known = true;
	facts->fetch_most_ns = model->fetch_ns;
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

static int costs(const struct whatif_epoch *epoch, struct whatif_model *model, struct whatif_facts *facts)
{
	struct numbers waited = { calloc(epoch->n, sizeof(double)), 0 },
		       ready = { calloc(epoch->n, sizeof(double)), 0 };
	const int res = waited.v && ready.v ? 0 : -ENOMEM;

	if (res == 0 && !model->loader.workers) {
		costs_of_trainer(epoch, model, facts, &ready);
	} else if (res == 0) {
		costs_of_workers(epoch, model, facts, &waited, &ready);
		times_of_workers(epoch, model, &waited);
	}
	free(waited.v);
	free(ready.v);
	return res;
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
	return costs(epoch, model, facts);
}
