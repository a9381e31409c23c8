/* SPDX-License-Identifier: BSD-2-Clause */
/* See replay.h. Time goes from one event to the next; between two, every actor moves at a constant speed. */
#include "report/whatif/replay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/util.h"

#define PIECES_MAX 6U /* a batch reads and computes in turns */
#define NOTHING 1e-3 /* ns, bytes: less than that is over */
#define NEVER INFINITY
#define EVENTS_MOST 200U /* of a batch, or a worker: some 6 * 3 of its pieces, and the trainer's */

enum resource { SLEEP, CPU, DISK };

/* What an actor does now, and how much of it is left: ns of CPU time or of sleep, bytes of a disk. */
struct actor {
	enum resource on;
	double left;
	/* of a batch that it makes */
	uint32_t batch, piece, part;
	bool making;
};

enum trainer_state { STARTS, WAITS, LOADS, TAKES, COMPUTES, SLEEPS, SAVE_WAITS, SAVES, SAVE_SLEEPS, ENDS, OVER };

struct worker {
	struct actor actor;
	bool up; /* it has started */
	uint32_t first, last; /* 1 + index of its queue's ends; 0: it is empty */
	uint32_t held; /* indices that it has not delivered, or whose batches were not taken */
};

struct sim {
	const struct whatif_model *model;
	double clock_ns, tokens;
	struct actor trainer, saver;
	enum trainer_state state;
	double since_ns; /* the trainer's fetch began */
	uint32_t taken; /* batches */
	uint32_t taking; /* the batch that it takes */
	struct worker *workers;
	uint32_t n_workers, put, turn; /* indices put; the worker whose turn it is */
	double *ready_ns; /* of each batch; NEVER: it is not made, or taken */
	uint32_t *next; /* in a worker's queue: 1 + index; 0: none */
	uint32_t *owner; /* worker of each batch */
	double steady_since_ns, first_ns, last_ns, ran_ns, limited_ns; /* first, last: batches were made */
	struct whatif_run run;
};

/* --- a batch, piece by piece ----------------------------------------------------------------------------------- */

static void make(struct actor *actor, uint32_t batch)
{
	*actor = (struct actor){ .batch = batch, .making = true };
}

/* Sets the next stretch of ACTOR's batch that takes any time. Returns false when the batch is made. */
static bool go_on(const struct sim *sim, struct actor *actor)
{
	const struct whatif_batch *batch = &sim->model->batches[actor->batch];
	const bool limited = sim->model->storage.kind == WHATIF_LIMIT && batch->disk_bytes > 0;
	const uint32_t pieces = MAX(1U, MIN(PIECES_MAX, batch->reads));
	const struct {
		enum resource on;
		double amount;
	} parts[] = {
		{ limited ? DISK : SLEEP, limited ? batch->disk_bytes : batch->disk_ns },
		{ SLEEP, batch->remote_ns + batch->net_ns + batch->sleep_ns },
		{ CPU, batch->cpu_ns },
	};

	for (; actor->piece < pieces; actor->piece++, actor->part = 0)
		while (actor->part < ARRAY_SIZE(parts)) {
			const double amount = parts[actor->part].amount / pieces;

			actor->on = parts[actor->part++].on;
			actor->left = amount;
			if (amount > NOTHING)
				return true;
		}
	actor->making = false;
	return false;
}

static void spend(struct actor *actor, enum resource on, double amount)
{
	actor->on = on;
	actor->left = amount;
}

/* --- indices and workers ------------------------------------------------------------------------------------------ */

static uint32_t next_worker(struct sim *sim, uint32_t index)
{
	const struct whatif_loader *loader = &sim->model->loader;

	if (loader->iterable) /* whose samples are their worker's */
		return sim->model->batches[index].worker % sim->n_workers;
	for (uint32_t tries = 0; !loader->in_order && tries < sim->n_workers; tries++) {
		if (sim->workers[sim->turn].held < loader->prefetch)
			break;
		sim->turn = (sim->turn + 1) % sim->n_workers;
	}
	index = sim->turn;
	sim->turn = (sim->turn + 1) % sim->n_workers;
	return index;
}

static void put_index(struct sim *sim)
{
	const uint32_t index = sim->put;
	struct worker *worker;

	if (index == sim->model->n)
		return;
	sim->owner[index] = next_worker(sim, index);
	worker = &sim->workers[sim->owner[index]];
	if (worker->last)
		sim->next[worker->last - 1] = index + 1;
	else
		worker->first = index + 1;
	worker->last = index + 1;
	worker->held++;
	sim->put++;
}

/* Lets WORKER, which has nothing to do, begin with its next index. Returns whether it does. */
static bool begin_next(struct sim *sim, struct worker *worker)
{
	const uint32_t index = worker->first;

	if (!index)
		return false;
	worker->first = sim->next[index - 1];
	if (!worker->first)
		worker->last = 0;
	sim->first_ns = MIN(sim->first_ns, sim->clock_ns);
	make(&worker->actor, index - 1);
	return true;
}

/* Returns how long it takes to hand on the batch that WORKER has made. */
static double deliver_ns(const struct sim *sim, const struct worker *worker)
{
	const double ns = sim->model->batches[worker->actor.batch].deliver_ns;

	return worker->first ? ns : MIN(ns, sim->model->deliver_idle_ns);
}

/* Moves WORKER on, whose stretch is over. Returns whether anything has changed. */
static bool worker_next(struct sim *sim, struct worker *worker)
{
	if (!worker->actor.making)
		return worker->up ? begin_next(sim, worker) : (worker->up = true);
	if (go_on(sim, &worker->actor))
		return true;
	sim->last_ns = sim->clock_ns;
	sim->ready_ns[worker->actor.batch] = sim->clock_ns + deliver_ns(sim, worker);
	spend(&worker->actor, SLEEP, sim->model->gap_ns);
	return true;
}

/* --- the trainer ---------------------------------------------------------------------------------------------------
 */

/* Returns the batch that the trainer takes next, if it is ready at *AT_NS, or will be then; NEVER: not known yet. */
static uint32_t next_batch(const struct sim *sim, double *at_ns)
{
	uint32_t found = sim->taken;

	if (sim->model->loader.in_order || sim->model->loader.iterable || !sim->n_workers) {
		*at_ns = sim->ready_ns[found];
		return found;
	}
	*at_ns = NEVER;
	for (uint32_t i = 0; i < sim->put; i++)
		if (sim->ready_ns[i] < *at_ns) {
			found = i;
			*at_ns = sim->ready_ns[i];
		}
	return found;
}

/* Returns how many batches are made ahead of the trainer. */
static uint64_t ahead(const struct sim *sim)
{
	return (uint64_t)sim->n_workers * sim->model->loader.prefetch;
}

static void fetch(struct sim *sim)
{
	if (sim->taken == sim->model->n) {
		sim->since_ns = sim->clock_ns;
		sim->state = ENDS;
		spend(&sim->trainer, SLEEP, sim->model->last_ns);
		return;
	}
	sim->since_ns = sim->clock_ns;
	sim->state = sim->n_workers ? WAITS : LOADS;
	if (!sim->n_workers)
		make(&sim->trainer, sim->taken);
}

static void take(struct sim *sim)
{
	double at_ns;

	sim->taking = next_batch(sim, &at_ns);
	sim->ready_ns[sim->taking] = NEVER;
	sim->workers[sim->owner[sim->taking]].held--;
	put_index(sim);
	sim->state = TAKES;
	spend(&sim->trainer, CPU, sim->model->fetch_ns);
}

static const struct whatif_step *step_of(const struct sim *sim)
{
	return &sim->model->steps[sim->taken - 1];
}

static void step(struct sim *sim)
{
	sim->run.exposed_ns += sim->clock_ns - sim->since_ns;
	sim->taken++;
	sim->state = COMPUTES;
	spend(&sim->trainer, CPU, step_of(sim)->cpu_ns);
	if (sim->taken == MIN(ahead(sim), sim->model->n)) {
		sim->steady_since_ns = sim->clock_ns;
		sim->run.steady_exposed_ns = -sim->run.exposed_ns;
	}
}

/* The trainer saves, or copies what is to be saved. */
static void save(struct sim *sim)
{
	const struct whatif_step *s = step_of(sim);

	sim->state = SAVES;
	spend(&sim->trainer, CPU, sim->model->async_saves ? s->save_bytes / WHATIF_COPY_BYTES_PER_NS : s->save_cpu_ns);
}

/* The trainer waits for the disk, or leaves the copy to the saver. */
static void save_on(struct sim *sim)
{
	const struct whatif_step *s = step_of(sim);

	sim->state = SAVE_SLEEPS;
	if (sim->model->async_saves)
		sim->saver =
			(struct actor){ .on = CPU, .left = s->save_cpu_ns, .making = true, .batch = sim->taken - 1 };
	else
		spend(&sim->trainer, SLEEP, s->save_wait_ns);
}

static bool has_save(const struct whatif_step *s)
{
	return s->save_cpu_ns + s->save_wait_ns > 0;
}

static bool saver_is_busy(const struct sim *sim)
{
	return sim->saver.making || sim->saver.left > 0;
}

/* Moves the trainer on, whose stretch is over. Returns whether anything has changed. */
static bool trainer_next(struct sim *sim)
{
	double at_ns;

	switch (sim->state) {
	case STARTS:
		for (uint64_t i = 0; i < ahead(sim) && sim->put < sim->model->n; i++)
			put_index(sim);
		fetch(sim);
		return true;
	case WAITS:
		next_batch(sim, &at_ns);
		if (at_ns > sim->clock_ns + NOTHING)
			return false;
		take(sim);
		return true;
	case LOADS:
		if (go_on(sim, &sim->trainer))
			return true;
		sim->state = TAKES;
		spend(&sim->trainer, CPU, sim->model->fetch_ns);
		return true;
	case TAKES:
		step(sim);
		return true;
	case COMPUTES:
		sim->state = SLEEPS;
		spend(&sim->trainer, SLEEP, step_of(sim)->sleep_ns);
		return true;
	case SLEEPS:
		if (has_save(step_of(sim)))
			sim->state = SAVE_WAITS;
		else
			fetch(sim);
		return true;
	case SAVE_WAITS: /* for the save before, if that is still being written */
		if (saver_is_busy(sim))
			return false;
		save(sim);
		return true;
	case SAVES:
		save_on(sim);
		return true;
	case SAVE_SLEEPS:
		fetch(sim);
		return true;
	case ENDS:
		sim->run.exposed_ns += sim->clock_ns - sim->since_ns;
		sim->state = OVER;
		return true;
	case OVER:
		break;
	}
	return false;
}

static bool saver_next(struct sim *sim)
{
	if (!sim->saver.making)
		return false;
	sim->saver.making = false;
	spend(&sim->saver, SLEEP, sim->model->steps[sim->saver.batch].save_wait_ns);
	return true;
}

/* Moves on all whose stretch is over, until nothing changes at this instant. */
static void settle(struct sim *sim)
{
	bool moved = true;

	while (moved) {
		moved = sim->trainer.left <= 0 && trainer_next(sim);
		moved |= sim->saver.left <= 0 && saver_next(sim);
		for (uint32_t i = 0; i < sim->n_workers; i++)
			if (sim->workers[i].actor.left <= 0)
				moved |= worker_next(sim, &sim->workers[i]);
	}
}

/* --- time ------------------------------------------------------------------------------------------------------------
 */

/* Actors by number: the trainer, the saver, the workers. */
static struct actor *actor_at(struct sim *sim, uint32_t i)
{
	if (i >= 2)
		return &sim->workers[i - 2].actor;
	return i ? &sim->saver : &sim->trainer;
}

static uint32_t actors(const struct sim *sim)
{
	return sim->n_workers + 2;
}

struct speeds {
	double cpu, disk; /* of each actor: ns of CPU time a ns; bytes a ns */
	double wanted; /* CPUs */
	double threads; /* that want one */
	uint32_t readers;
};

static struct speeds speeds_of(struct sim *sim)
{
	const struct whatif_model *model = sim->model;
	struct speeds speeds = { .cpu = 1, .disk = 1 };

	for (uint32_t i = 0; i < actors(sim); i++) {
		const struct actor *actor = actor_at(sim, i);

		if (actor->left <= 0)
			continue;
		speeds.readers += actor->on == DISK;
		if (actor->on != CPU)
			continue;
		speeds.wanted += i ? 1 : model->width;
		speeds.threads++;
	}
	if (speeds.threads > 0)
		speeds.cpu = MIN(1.0, model->cpus / speeds.wanted) / model->stretch;
	if (speeds.readers)
		speeds.disk = (sim->tokens > 1 ? MAX(model->storage.fast, model->storage.rate) : model->storage.rate) /
			      speeds.readers;
	return speeds;
}

static double speed_on(const struct speeds *speeds, enum resource on)
{
	if (on == SLEEP)
		return 1;
	return on == CPU ? speeds->cpu : speeds->disk;
}

/* Returns how long it is until the next stretch is over, ns; NEVER: nothing moves. */
static double until_next(struct sim *sim, const struct speeds *speeds)
{
	const double drain = speeds->disk * speeds->readers - sim->model->storage.rate;
	double ns = NEVER, at_ns;

	for (uint32_t i = 0; i < actors(sim); i++) {
		const struct actor *actor = actor_at(sim, i);

		if (actor->left > 0)
			ns = MIN(ns, actor->left / speed_on(speeds, actor->on));
	}
	if (speeds->readers && sim->tokens > 1 && drain > 0)
		ns = MIN(ns, sim->tokens / drain);
	if (sim->state == WAITS) {
		next_batch(sim, &at_ns);
		if (at_ns < NEVER)
			ns = MIN(ns, MAX(0.0, at_ns - sim->clock_ns));
	}
	return ns;
}

static void count(struct sim *sim, const struct speeds *speeds, double ns)
{
	const struct whatif_model *model = sim->model;

	for (uint32_t i = 0; i < sim->n_workers; i++)
		sim->run.worked_ns += sim->workers[i].actor.making ? ns : 0;
	sim->ran_ns += ns * MIN(speeds->wanted * model->stretch, model->cpus);
	sim->run.queued_ns += ns * speeds->threads * (1 - speeds->cpu * model->stretch);
	if (speeds->readers && sim->tokens <= 1)
		sim->limited_ns += ns;
}

static void pass(struct sim *sim, const struct speeds *speeds, double ns)
{
	const struct whatif_storage *storage = &sim->model->storage;

	count(sim, speeds, ns);
	sim->tokens += ns * (storage->rate - (speeds->readers ? speeds->disk * speeds->readers : 0));
	sim->tokens = MAX(0.0, MIN(storage->depth, sim->tokens));
	for (uint32_t i = 0; i < actors(sim); i++) {
		struct actor *actor = actor_at(sim, i);

		if (actor->left <= 0)
			continue;
		actor->left -= ns * speed_on(speeds, actor->on);
		if (actor->left < NOTHING)
			actor->left = 0;
	}
	sim->clock_ns += ns;
}

static void start(struct sim *sim)
{
	const struct whatif_model *model = sim->model;

	sim->tokens = model->storage.depth;
	spend(&sim->trainer, SLEEP, model->fork_ns * sim->n_workers);
	for (uint32_t i = 0; i < sim->n_workers; i++)
		spend(&sim->workers[i].actor, SLEEP, model->fork_ns * (i + 1) + model->boot_ns);
	for (uint32_t i = 0; i < model->n; i++)
		sim->ready_ns[i] = NEVER;
}

/* Returns 0, or -EINVAL for a model in which nothing moves, or never enough. */
static int go(struct sim *sim)
{
	uint64_t left = EVENTS_MOST * ((uint64_t)sim->model->n + sim->n_workers);

	for (settle(sim); sim->state != OVER; settle(sim)) {
		const struct speeds speeds = speeds_of(sim);
		const double ns = until_next(sim, &speeds);

		if (!(ns < NEVER) || !left--)
			return -EINVAL;
		pass(sim, &speeds, ns);
	}
	return 0;
}

static void finish(struct sim *sim)
{
	const struct whatif_model *model = sim->model;
	struct whatif_run *run = &sim->run;

	run->total_ns = sim->clock_ns;
	run->steady_ns = sim->clock_ns - sim->steady_since_ns;
	run->steady_exposed_ns += run->exposed_ns;
	if (!(run->total_ns > 0))
		return;
	if (sim->last_ns > sim->first_ns)
		run->workers_busy = run->worked_ns / (sim->last_ns - sim->first_ns) / sim->n_workers;
	run->cpus_busy = model->cpus > 0 ? sim->ran_ns / run->total_ns / model->cpus : 0;
	run->storage_busy = sim->limited_ns / run->total_ns;
}

int whatif_replay(const struct whatif_model *model, struct whatif_run *run)
{
	const uint32_t workers = model->loader.workers;
	struct sim sim = { .model = model, .n_workers = workers, .first_ns = NEVER };
	int r = -ENOMEM;

	if (!model->n || workers > WHATIF_WORKERS_MAX || (workers && !model->loader.prefetch) || !(model->cpus > 0))
		return -EINVAL;
	sim.workers = calloc(MAX(1U, workers), sizeof(*sim.workers));
	sim.ready_ns = calloc(model->n, sizeof(*sim.ready_ns));
	sim.next = calloc(model->n, sizeof(*sim.next));
	sim.owner = calloc(model->n, sizeof(*sim.owner));
	if (sim.workers && sim.ready_ns && sim.next && sim.owner) {
		start(&sim);
		r = go(&sim);
	}
	if (r == 0) {
		finish(&sim);
		*run = sim.run;
	}
	free(sim.workers);
	free(sim.ready_ns);
	free(sim.next);
	free(sim.owner);
	return r;
}
