/* SPDX-License-Identifier: BSD-2-Clause */
/* See steps.h. */
#include "report/phases/steps.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"
#include "stats/hist.h"

#define THREADS_MAX 4096
#define SUMS_MAX 2048 /* 30 KB each */
#define INTERVALS_MAX 4096U /* regions of one thread in one step that no other region has enclosed yet */
#define SPANS_ROOM (4U << 20) /* of all threads together: 128 MiB */
#define SPANS_LEAST 64 /* of each set, whatever the others have */

struct interval {
	uint64_t begin_ns, end_ns;
};

/* A thread since its last step. */
struct thread {
	struct interval *v; /* what regions have covered: sorted, without overlap */
	uint32_t n, room;
	bool any;
	uint64_t begin_ns; /* of the step */
	uint64_t end_ns; /* of its last region */
	uint64_t part_ns[STEP_PARTS];
	uint64_t save_ns, backward_ns; /* of that time, in checkpoint.save and in compute.backward */
	uint64_t samples; /* of its batches */
	int64_t epoch; /* from other regions than the step's own */
	uint64_t unnumbered_ns; /* the begin of what ended its first step without an epoch; 0: there is none */
	uint64_t steps;
	struct step_region last; /* that ended a step, or will, if nothing around it does; without its texts */
	bool last_waits;
	uint32_t sum, trainer; /* 1 + the places of its last step's sum and of its process; 0: none */
	struct spans spans[STEP_OTHER];
	struct {
		bool any, starts; /* it is dataloader.start: the first fetch is still to come */
		int64_t epoch;
		uint64_t begin_ns, end_ns;
	} first; /* fetch of the epoch */
};

void phase_steps_init(struct phase_steps *s)
{
	table_init(&s->threads, sizeof(struct thread), THREADS_MAX);
	table_init(&s->by_epoch, sizeof(uint32_t), SUMS_MAX);
}

static void threads_free(struct phase_steps *steps)
{
	for (uint32_t i = 0; i < steps->threads.n; i++) {
		struct thread *t = table_at(&steps->threads, i);

		free(t->v);
		for (unsigned int part = 0; part < STEP_OTHER; part++)
			spans_free(&t->spans[part]);
	}
	table_free(&steps->threads);
	table_free(&steps->by_epoch);
}

void phase_steps_free(struct phase_steps *steps)
{
	threads_free(steps);
	for (uint32_t i = 0; i < steps->n_sums; i++)
		free(steps->sums[i].hist);
	free(steps->sums);
	for (uint32_t i = 0; i < steps->n_trainers; i++) {
		free(steps->trainers[i].steady);
		step_times_free(&steps->trainers[i].times);
		for (unsigned int part = 0; part < STEP_OTHER; part++)
			spans_free(&steps->trainers[i].spans[part]);
	}
	free(steps->trainers);
	skew_free(&steps->skew);
}

struct step_trainer *phase_steps_trainer(const struct phase_steps *s, uint64_t pid)
{
	for (uint32_t i = 0; i < s->n_trainers; i++)
		if (s->trainers[i].pid == pid)
			return &s->trainers[i];
	return NULL;
}

/* --- parts ------------------------------------------------------------------------------------------------ */

static bool is(const char *text, uint32_t len, const char *want)
{
	return len == strlen(want) && !memcmp(text, want, len);
}

/* Whether the last word of the region's name, behind a dot if there is one, is WORD, in whatever case. */
static bool ends_in(const struct step_region *region, const char *word)
{
	const size_t len = strlen(word), at = region->name_len - len;

	return region->name_len >= len && !strncasecmp(region->name + at, word, len) &&
	       (!at || region->name[at - 1] == '.');
}

/* Is NAME the region's, or its category's and its own: with "ai." or without? */
static bool is_named(const struct step_region *region, const char *name)
{
	const char *whole = strncasecmp(name, "ai.", 3) ? name : name + 3;

	return ends_in(region, name) ||
	       (strlen(whole) == (size_t)region->cat_len + 1 + region->name_len &&
		!strncasecmp(whole, region->cat, region->cat_len) && whole[region->cat_len] == '.' &&
		!strncasecmp(whole + region->cat_len + 1, region->name, region->name_len));
}

/* Does the region end a step? A program that says "step" or "compute", in whatever category, means that. */
static bool ends_step(const struct phase_steps *steps, const struct step_region *region)
{
	static const char *const usual[] = { "step", "compute" };
	const char *const *names = steps->n_names ? steps->names : usual;
	const size_t n = steps->n_names ? steps->n_names : ARRAY_SIZE(usual);

	for (size_t i = 0; i < n; i++)
		if (steps->n_names ? is_named(region, names[i]) : ends_in(region, names[i]))
			return true;
	return false;
}

enum step_part phase_steps_part(const struct phase_steps *steps, const struct step_region *region)
{
	static const struct {
		const char *cat;
		enum step_part part;
	} parts[] = {
		{ "dataloader", STEP_FETCH },      { "data", STEP_FETCH },
		{ "compute", STEP_COMPUTE },       { "device", STEP_COMPUTE },
		{ "checkpoint", STEP_CHECKPOINT }, { "comm", STEP_COMM },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (region->cat_len == strlen(parts[i].cat) && !strncasecmp(region->cat, parts[i].cat, region->cat_len))
			return parts[i].part;
	if (ends_step(steps, region))
		return STEP_COMPUTE;
	return ends_in(region, "iter") ? STEP_FETCH : STEP_OTHER; /* DFTracer's iter(): the wait for an item */
}

static bool room_for_one(struct thread *thread)
{
	uint32_t room = thread->room ? 2 * thread->room : 16;
	struct interval *interval;

	if (thread->n < thread->room)
		return true;
	if (thread->room == INTERVALS_MAX) { /* joins the earlier half: only a region around all of it still needs it */
		memmove(thread->v, thread->v + thread->n / 2, (thread->n - thread->n / 2) * sizeof(*thread->v));
		thread->n -= thread->n / 2;
		return true;
	}
	interval = reallocarray(thread->v, room, sizeof(*interval));
	if (!interval)
		return false;
	thread->v = interval;
	thread->room = room;
	return true;
}

/*
 * Covers [BEGIN, END), a region that ends no earlier than all before it. Returns how much of it was not covered.
 * Regions within it have ended before and are there already, so the rest is the region's own time.
 */
static uint64_t cover(struct thread *thread, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t covered_ns = 0, from_ns = begin_ns;

	while (thread->n && thread->v[thread->n - 1].end_ns > begin_ns) {
		const struct interval *last = &thread->v[thread->n - 1];

		covered_ns += last->end_ns - MAX(last->begin_ns, begin_ns);
		from_ns = MIN(from_ns, last->begin_ns);
		thread->n--;
	}
	if (end_ns > from_ns && room_for_one(thread))
		thread->v[thread->n++] = (struct interval){ from_ns, end_ns };
	return end_ns - begin_ns - covered_ns;
}

/* Adds a span. A set grows as long as all sets together have room. */
static void add_span(struct phase_steps *s, struct spans *to, uint64_t begin_ns, uint64_t end_ns)
{
	size_t had = to->room;

	to->max = MAX(had + (SPANS_ROOM - MIN(s->spans_room, SPANS_ROOM)), SPANS_LEAST);
	spans_add(to, begin_ns, end_ns);
	s->spans_room += to->room - had;
}

/*
 * Keeps the first fetch of each epoch. If a fetch is within another, the outer one counts, which ends later. If the
 * start of the loader is a region, the fetch begins with that.
 */
static void note_fetch(struct thread *thread, const struct step_region *region, uint64_t begin_ns)
{
	const bool starts =
		is(region->cat, region->cat_len, "dataloader") && is(region->name, region->name_len, "start");

	if (thread->first.starts && !starts && begin_ns > thread->first.begin_ns) {
		thread->first.end_ns = region->end_ns;
		thread->first.starts = !is(region->cat, region->cat_len, "dataloader");
		return;
	}
	if (thread->first.any && (region->epoch < 0 || region->epoch == thread->first.epoch) &&
	    begin_ns > thread->first.begin_ns)
		return;
	thread->first.any = true;
	thread->first.starts = starts;
	thread->first.epoch = region->epoch;
	thread->first.begin_ns = begin_ns;
	thread->first.end_ns = region->end_ns;
}

/* --- trainers --------------------------------------------------------------------------------------------- */

/*
 * Returns the process of thread THREAD, of which this is the first thread with steps; NULL: another one is, or there is
 * no room.
 */
static struct step_trainer *trainer_of(struct phase_steps *steps, struct thread *thread,
				       const struct step_region *region)
{
	struct step_trainer *of;

	if (thread->trainer)
		return &steps->trainers[thread->trainer - 1];
	if (thread->steps || phase_steps_trainer(steps, region->pid) || steps->n_trainers == STEPS_TRAINERS_MAX)
		return NULL;
	if (!steps->trainers)
		steps->trainers = calloc(STEPS_TRAINERS_MAX, sizeof(*steps->trainers));
	if (!steps->trainers)
		return NULL;
	of = &steps->trainers[steps->n_trainers];
	of->steady = calloc(1, sizeof(struct hist));
	if (!of->steady)
		return NULL;
	of->pid = region->pid;
	of->tid = region->tid;
	of->begin_ns = thread->begin_ns;
	thread->trainer = ++steps->n_trainers;
	return of;
}

/* Adds a step to its process. FIRST: it is its epoch's first one, so it also has what is done between epochs. */
static void add_to_trainer(struct phase_steps *steps, struct thread *thread, const struct step_region *region,
			   const struct step *step, bool first)
{
	struct step_trainer *of = trainer_of(steps, thread, region);
	uint64_t with_others_ns = step->part_ns[STEP_COMM] + step->part_ns[STEP_CHECKPOINT] + thread->backward_ns;

	if (!of)
		return;
	of->n++;
	of->wall_ns += step->wall_ns;
	of->save_ns += thread->save_ns;
	of->end_ns = region->end_ns;
	step_times_add(&of->times, step->begin_ns, region->end_ns);
	if (first)
		return;
	hist_add(of->steady, step->wall_ns - MIN(step->part_ns[STEP_CHECKPOINT], step->wall_ns));
	/*
	 * left out: in collectives and, with DistributedDataParallel, in backward, ranks wait for the slowest; one
	 * saves for all
	 */
	skew_take(&steps->skew, &(struct skew_one){
					.process = thread->trainer - 1,
					.process_begin_ns = of->begin_ns,
					.epoch = step->epoch,
					.number = step->number >= 0 ? step->number : (int64_t)thread->steps,
					.end_ns = region->end_ns,
					.own_ns = step->wall_ns - MIN(with_others_ns, step->wall_ns),
					.wall_ns = step->wall_ns,
				});
}

/* --- steps ------------------------------------------------------------------------------------------------ */

static uint64_t sum_key(uint64_t pid, int64_t epoch)
{
	const uint64_t key[2] = { pid, (uint64_t)epoch };

	return table_key((const char *)key, sizeof(key));
}

static struct step_sum *sum_of(struct phase_steps *steps, uint64_t pid, int64_t epoch)
{
	uint32_t *at = table_get(&steps->by_epoch, sum_key(pid, epoch));
	struct step_sum *sum;

	if (!at || *at)
		return at ? &steps->sums[*at - 1] : NULL;
	sum = reallocarray(steps->sums, steps->n_sums + 1, sizeof(*sum));
	if (!sum)
		return NULL;
	steps->sums = sum;
	sum[steps->n_sums] = (struct step_sum){ .pid = pid, .epoch = epoch, .hist = calloc(1, sizeof(struct hist)) };
	if (!sum[steps->n_sums].hist)
		return NULL;
	*at = ++steps->n_sums;
	return &sum[*at - 1];
}

static void put_slowest(struct phase_steps *steps, const struct step *step)
{
	uint32_t at = steps->n_slowest;

	if (at == STEPS_SLOWEST && step->wall_ns <= steps->slowest[at - 1].wall_ns)
		return;
	if (at < STEPS_SLOWEST)
		steps->n_slowest++;
	else
		at--;
	for (; at && steps->slowest[at - 1].wall_ns < step->wall_ns; at--)
		steps->slowest[at] = steps->slowest[at - 1];
	steps->slowest[at] = *step;
}

void phase_steps_io(struct phase_steps *s, struct step_trainer *of, enum step_io what, uint64_t begin_ns,
		    uint64_t end_ns)
{
	for (uint32_t i = 0; i < s->n_slowest; i++) {
		struct step *step = &s->slowest[i];
		const uint64_t step_end_ns = step->begin_ns + step->wall_ns;

		if (step->pid == of->pid && begin_ns < step_end_ns && step->begin_ns < end_ns)
			step->io_ns[what] += spans_within(&of->spans[STEP_FETCH], MAX(begin_ns, step->begin_ns),
							  MIN(end_ns, step_end_ns));
	}
}

/* Puts all time of T since BEGIN_NS, up to END_NS, into PART_NS. */
static void parts_until(const struct thread *t, uint64_t end_ns, uint64_t part_ns[STEP_PARTS])
{
	uint64_t known_ns = 0, wall_ns = end_ns - t->begin_ns;

	for (unsigned int i = 0; i < STEP_OTHER; i++)
		known_ns += part_ns[i] = t->part_ns[i];
	part_ns[STEP_OTHER] = wall_ns - MIN(known_ns, wall_ns);
}

static void add_to_sum(struct step_sum *sum, uint64_t end_ns, uint64_t wall_ns, const uint64_t part_ns[STEP_PARTS])
{
	sum->end_ns = MAX(sum->end_ns, end_ns);
	sum->wall_ns += wall_ns;
	for (unsigned int i = 0; i < STEP_PARTS; i++)
		sum->part_ns[i] += part_ns[i];
}

static void step_end(struct phase_steps *steps, struct thread *thread, const struct step_region *region)
{
	struct step step = {
		.pid = region->pid,
		.number = region->number,
		.epoch = region->epoch >= 0 ? region->epoch : thread->epoch,
		.begin_ns = thread->begin_ns,
		.wall_ns = region->end_ns - thread->begin_ns,
	};
	struct step_sum *sum = sum_of(steps, step.pid, step.epoch);

	parts_until(thread, region->end_ns, step.part_ns);
	if (!sum) {
		steps->left_out++;
		return;
	}
	if (step.epoch < 0 && !thread->unnumbered_ns)
		thread->unnumbered_ns = region->begin_ns;
	add_to_trainer(steps, thread, region, &step, !sum->n);
	if (!sum->n) {
		sum->begin_ns = step.begin_ns;
		sum->first_fetch_ns = thread->first.any ? thread->first.end_ns - thread->first.begin_ns : 0;
	}
	sum->n++;
	sum->samples += thread->samples;
	add_to_sum(sum, region->end_ns, step.wall_ns, step.part_ns);
	hist_add(sum->hist, step.wall_ns);
	put_slowest(steps, &step);
	thread->sum = (uint32_t)(sum - steps->sums) + 1;
}

/* The region that waits ends a step: what has come after it is not around it. */
static void last_ends(struct phase_steps *steps, struct thread *thread)
{
	if (!thread->last_waits)
		return;
	thread->last_waits = false;
	step_end(steps, thread, &thread->last);
	thread->steps++;
	thread->begin_ns = thread->last.end_ns;
	thread->n = 0;
	thread->save_ns = thread->backward_ns = thread->samples = 0;
	memset(thread->part_ns, 0, sizeof(thread->part_ns));
}

/* Adds what THREAD did after its last step to that step's epoch. */
static void end_thread(struct phase_steps *steps, struct thread *thread)
{
	uint64_t part_ns[STEP_PARTS],
		wall_ns = thread->end_ns > thread->begin_ns ? thread->end_ns - thread->begin_ns : 0;
	struct step_trainer *of = thread->trainer ? &steps->trainers[thread->trainer - 1] : NULL;

	if (thread->sum && wall_ns) {
		parts_until(thread, thread->end_ns, part_ns);
		add_to_sum(&steps->sums[thread->sum - 1], thread->end_ns, wall_ns, part_ns);
	}
	if (!of)
		return;
	of->end_ns = MAX(of->end_ns, thread->end_ns);
	of->wall_ns += wall_ns;
	of->save_ns += thread->save_ns;
	for (unsigned int part = 0; part < STEP_OTHER; part++) {
		of->spans[part] = thread->spans[part];
		thread->spans[part] = (struct spans){ 0 };
		spans_close(&of->spans[part]);
	}
	of->steady_p50_ns = hist_quantile(of->steady, 500);
	of->steady_p99_ns = hist_quantile(of->steady, 990);
}

/* Gives the epoch that has ended the steps within it that have no epoch of their own. */
static void epoch_end(struct phase_steps *steps, const struct step_region *region)
{
	uint32_t *at = table_find(&steps->by_epoch, sum_key(region->pid, -1));

	if (!at || !*at || region->epoch < 0)
		return;
	steps->sums[*at - 1].epoch = region->epoch;
	*at = 0;
	for (uint32_t i = 0; i < steps->n_slowest; i++)
		if (steps->slowest[i].pid == region->pid && steps->slowest[i].epoch < 0)
			steps->slowest[i].epoch = region->epoch;
}

/* Whether the region has the epoch of the steps within it, which have none, as DLIO's training has. */
static bool is_around(const struct thread *thread, const struct step_region *region)
{
	return region->epoch >= 0 && thread->unnumbered_ns && region->begin_ns <= thread->unnumbered_ns;
}

void phase_steps_take(struct phase_steps *steps, const struct step_region *region)
{
	struct thread *thread = table_get(&steps->threads, region->pid << 32 | (uint32_t)region->tid);
	enum step_part part = phase_steps_part(steps, region);
	bool is_step = ends_step(steps, region), around;
	uint64_t begin_ns, own_ns;

	steps->named |= is_step;
	if (!thread) {
		steps->left_out += is_step;
		return;
	}
	around = is_step && thread->last.end_ns && region->begin_ns <= thread->last.begin_ns;
	if (!around)
		last_ends(steps, thread);
	is_step &= !around || thread->last_waits;
	if (is(region->cat, region->cat_len, "pipeline") && is(region->name, region->name_len, "epoch")) {
		epoch_end(steps, region);
		thread->first.any = thread->first.starts = false;
	} else if (part == STEP_OTHER && is_around(thread, region)) {
		epoch_end(steps, region);
		thread->unnumbered_ns = 0;
	}
	if (part == STEP_OTHER) /* regions around steps, such as an epoch, and those that are no part of a step */
		return;
	if (!thread->any) {
		thread->any = true;
		thread->epoch = -1;
		thread->begin_ns = region->begin_ns;
	}
	if (!thread->steps) /* the first step begins with the first of the regions in it */
		thread->begin_ns = MIN(thread->begin_ns, region->begin_ns);
	begin_ns = MAX(region->begin_ns, thread->begin_ns);
	if (region->end_ns < begin_ns)
		return;
	own_ns = cover(thread, begin_ns, region->end_ns);
	thread->end_ns = MAX(thread->end_ns, region->end_ns);
	thread->part_ns[part] += own_ns;
	if (part == STEP_FETCH)
		note_fetch(thread, region, begin_ns);
	add_span(steps, &thread->spans[part], begin_ns, region->end_ns);
	if (part == STEP_CHECKPOINT && is(region->name, region->name_len, "save"))
		thread->save_ns += own_ns;
	if (part == STEP_COMPUTE && is(region->name, region->name_len, "backward"))
		thread->backward_ns += own_ns;
	if (part == STEP_COMPUTE)
		thread->samples += region->samples;
	if (region->epoch >= 0 && part != STEP_CHECKPOINT) /* which may be of the epoch before */
		thread->epoch = region->epoch;
	if (!is_step)
		return;
	thread->last = *region;
	thread->last.cat = thread->last.name = NULL;
	thread->last_waits = true;
}

bool phase_steps_any(struct phase_steps *steps)
{
	for (uint32_t i = 0; i < steps->threads.n; i++)
		last_ends(steps, table_at(&steps->threads, i));
	return steps->n_sums;
}

void phase_steps_end(struct phase_steps *steps)
{
	phase_steps_any(steps);
	for (uint32_t i = 0; i < steps->threads.n; i++)
		end_thread(steps, table_at(&steps->threads, i));
	skew_end(&steps->skew);
	for (uint32_t i = 0; i < steps->n_sums; i++) {
		struct step_sum *sum = &steps->sums[i];

		sum->p50_ns = hist_quantile(sum->hist, 500);
		sum->p99_ns = hist_quantile(sum->hist, 990);
		sum->max_ns = sum->hist->max;
		free(sum->hist);
		sum->hist = NULL;
	}
	threads_free(steps);
	table_init(&steps->threads, sizeof(struct thread), THREADS_MAX);
	table_init(&steps->by_epoch, sizeof(uint32_t), SUMS_MAX);
}
