/* SPDX-License-Identifier: BSD-2-Clause */
/* See steps.h. */
#include "report/phases/steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "stats/hist.h"

#define THREADS_MAX 4096
#define SUMS_MAX 2048	    /* 30 KB each */
#define INTERVALS_MAX 4096U /* regions of one thread in one step that no other region has enclosed yet */
#define SPANS_ROOM (4U << 20) /* of all threads together: 128 MiB */
#define SPANS_LEAST 64	      /* of each set, whatever the others have */

struct interval {
	uint64_t begin_ns, end_ns;
};

/* A thread since its last step. */
struct thread {
	struct interval *v; /* what regions have covered: sorted, without overlap */
	uint32_t n, room;
	bool any;
	uint64_t begin_ns; /* of the step */
	uint64_t end_ns;   /* of its last region */
	uint64_t part_ns[STEP_PARTS];
	uint64_t save_ns, backward_ns; /* of that time, in checkpoint.save and in compute.backward */
	uint64_t samples;	       /* of its batches */
	int64_t epoch; /* from other regions than the step's own */
	uint64_t steps;
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

static void threads_free(struct phase_steps *s)
{
	for (uint32_t i = 0; i < s->threads.n; i++) {
		struct thread *t = table_at(&s->threads, i);

		free(t->v);
		for (unsigned int part = 0; part < STEP_OTHER; part++)
			spans_free(&t->spans[part]);
	}
	table_free(&s->threads);
	table_free(&s->by_epoch);
}

void phase_steps_free(struct phase_steps *s)
{
	threads_free(s);
	for (uint32_t i = 0; i < s->n_sums; i++)
		free(s->sums[i].hist);
	free(s->sums);
	for (uint32_t i = 0; i < s->n_trainers; i++) {
		free(s->trainers[i].steady);
		step_times_free(&s->trainers[i].times);
		for (unsigned int part = 0; part < STEP_OTHER; part++)
			spans_free(&s->trainers[i].spans[part]);
	}
	free(s->trainers);
	skew_free(&s->skew);
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

static enum step_part part_of(const struct step_region *r)
{
	static const struct {
		const char *cat;
		enum step_part part;
	} parts[] = {
		{ "dataloader", STEP_FETCH }, { "data", STEP_FETCH },		  { "compute", STEP_COMPUTE },
		{ "device", STEP_COMPUTE },   { "checkpoint", STEP_CHECKPOINT }, { "comm", STEP_COMM },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (is(r->cat, r->cat_len, parts[i].cat))
			return parts[i].part;
	return STEP_OTHER;
}

static bool room_for_one(struct thread *t)
{
	uint32_t room = t->room ? 2 * t->room : 16;
	struct interval *v;

	if (t->n < t->room)
		return true;
	if (t->room == INTERVALS_MAX) { /* joins the earlier half: only a region around all of it still needs it */
		memmove(t->v, t->v + t->n / 2, (t->n - t->n / 2) * sizeof(*t->v));
		t->n -= t->n / 2;
		return true;
	}
	v = reallocarray(t->v, room, sizeof(*v));
	if (!v)
		return false;
	t->v = v;
	t->room = room;
	return true;
}

/*
 * Covers [BEGIN, END), a region that ends no earlier than all before it. Returns how much of it was not covered. Regions
 * within it have ended before and are there already, so the rest is the region's own time.
 */
static uint64_t cover(struct thread *t, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t covered_ns = 0, from_ns = begin_ns;

	while (t->n && t->v[t->n - 1].end_ns > begin_ns) {
		const struct interval *last = &t->v[t->n - 1];

		covered_ns += last->end_ns - MAX(last->begin_ns, begin_ns);
		from_ns = MIN(from_ns, last->begin_ns);
		t->n--;
	}
	if (end_ns > from_ns && room_for_one(t))
		t->v[t->n++] = (struct interval){ from_ns, end_ns };
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
 * Keeps the first fetch of each epoch. If a fetch is within another, the outer one counts, which ends later. If the start of
 * the loader is a region, the fetch begins with that.
 */
static void note_fetch(struct thread *t, const struct step_region *r, uint64_t begin_ns)
{
	const bool starts = is(r->cat, r->cat_len, "dataloader") && is(r->name, r->name_len, "start");

	if (t->first.starts && !starts && begin_ns > t->first.begin_ns) {
		t->first.end_ns = r->end_ns;
		t->first.starts = !is(r->cat, r->cat_len, "dataloader");
		return;
	}
	if (t->first.any && (r->epoch < 0 || r->epoch == t->first.epoch) && begin_ns > t->first.begin_ns)
		return;
	t->first.any = true;
	t->first.starts = starts;
	t->first.epoch = r->epoch;
	t->first.begin_ns = begin_ns;
	t->first.end_ns = r->end_ns;
}

/* --- trainers --------------------------------------------------------------------------------------------- */

/*
 * Returns the process of thread T, of which this is the first thread with steps; NULL: another one is, or there is no room.
 */
static struct step_trainer *trainer_of(struct phase_steps *s, struct thread *t, const struct step_region *r)
{
	struct step_trainer *of;

	if (t->trainer)
		return &s->trainers[t->trainer - 1];
	if (t->steps || phase_steps_trainer(s, r->pid) || s->n_trainers == STEPS_TRAINERS_MAX)
		return NULL;
	if (!s->trainers)
		s->trainers = calloc(STEPS_TRAINERS_MAX, sizeof(*s->trainers));
	if (!s->trainers)
		return NULL;
	of = &s->trainers[s->n_trainers];
	of->steady = calloc(1, sizeof(struct hist));
	if (!of->steady)
		return NULL;
	of->pid = r->pid;
	of->tid = r->tid;
	of->begin_ns = t->begin_ns;
	t->trainer = ++s->n_trainers;
	return of;
}

/* Adds a step to its process. FIRST: it is its epoch's first one, so it also has what is done between epochs. */
static void add_to_trainer(struct phase_steps *s, struct thread *t, const struct step_region *r, const struct step *step, bool first)
{
	struct step_trainer *of = trainer_of(s, t, r);
	uint64_t with_others_ns = step->part_ns[STEP_COMM] + step->part_ns[STEP_CHECKPOINT] + t->backward_ns;

	if (!of)
		return;
	of->n++;
	of->wall_ns += step->wall_ns;
	of->save_ns += t->save_ns;
	of->end_ns = r->end_ns;
	step_times_add(&of->times, step->begin_ns, r->end_ns);
	if (first)
		return;
	hist_add(of->steady, step->wall_ns - MIN(step->part_ns[STEP_CHECKPOINT], step->wall_ns));
	/*
	 * left out: in collectives and, with DistributedDataParallel, in backward, ranks wait for the slowest; one saves for
	 * all
	 */
	skew_take(&s->skew, &(struct skew_one){
		.process = t->trainer - 1, .process_begin_ns = of->begin_ns, .epoch = step->epoch,
		.number = step->number >= 0 ? step->number : (int64_t)t->steps, .end_ns = r->end_ns,
		.own_ns = step->wall_ns - MIN(with_others_ns, step->wall_ns), .wall_ns = step->wall_ns,
	});
}

/* --- steps ------------------------------------------------------------------------------------------------ */

static uint64_t sum_key(uint64_t pid, int64_t epoch)
{
	const uint64_t key[2] = { pid, (uint64_t)epoch };

	return table_key((const char *)key, sizeof(key));
}

static struct step_sum *sum_of(struct phase_steps *s, uint64_t pid, int64_t epoch)
{
	uint32_t *at = table_get(&s->by_epoch, sum_key(pid, epoch));
	struct step_sum *v;

	if (!at || *at)
		return at ? &s->sums[*at - 1] : NULL;
	v = reallocarray(s->sums, s->n_sums + 1, sizeof(*v));
	if (!v)
		return NULL;
	s->sums = v;
	v[s->n_sums] = (struct step_sum){ .pid = pid, .epoch = epoch, .hist = calloc(1, sizeof(struct hist)) };
	if (!v[s->n_sums].hist)
		return NULL;
	*at = ++s->n_sums;
	return &v[*at - 1];
}

static void put_slowest(struct phase_steps *s, const struct step *step)
{
	uint32_t at = s->n_slowest;

	if (at == STEPS_SLOWEST && step->wall_ns <= s->slowest[at - 1].wall_ns)
		return;
	if (at < STEPS_SLOWEST)
		s->n_slowest++;
	else
		at--;
	for (; at && s->slowest[at - 1].wall_ns < step->wall_ns; at--)
		s->slowest[at] = s->slowest[at - 1];
	s->slowest[at] = *step;
}

void phase_steps_io(struct phase_steps *s, struct step_trainer *of, enum step_io what, uint64_t begin_ns, uint64_t end_ns)
{
	for (uint32_t i = 0; i < s->n_slowest; i++) {
		struct step *step = &s->slowest[i];
		const uint64_t step_end_ns = step->begin_ns + step->wall_ns;

		if (step->pid == of->pid && begin_ns < step_end_ns && step->begin_ns < end_ns)
			step->io_ns[what] += spans_within(&of->spans[STEP_FETCH], MAX(begin_ns, step->begin_ns), MIN(end_ns, step_end_ns));
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

static void step_end(struct phase_steps *s, struct thread *t, const struct step_region *r)
{
	struct step step = {
		.pid = r->pid, .number = r->number, .epoch = r->epoch >= 0 ? r->epoch : t->epoch,
		.begin_ns = t->begin_ns, .wall_ns = r->end_ns - t->begin_ns,
	};
	struct step_sum *sum = sum_of(s, step.pid, step.epoch);

	parts_until(t, r->end_ns, step.part_ns);
	if (!sum) {
		s->left_out++;
		return;
	}
	add_to_trainer(s, t, r, &step, !sum->n);
	if (!sum->n) {
		sum->begin_ns = step.begin_ns;
		sum->first_fetch_ns = t->first.any ? t->first.end_ns - t->first.begin_ns : 0;
	}
	sum->n++;
	sum->samples += t->samples;
	add_to_sum(sum, r->end_ns, step.wall_ns, step.part_ns);
	hist_add(sum->hist, step.wall_ns);
	put_slowest(s, &step);
	t->sum = (uint32_t)(sum - s->sums) + 1;
}

/* Adds what T did after its last step to that step's epoch. */
static void end_thread(struct phase_steps *s, struct thread *t)
{
	uint64_t part_ns[STEP_PARTS], wall_ns = t->end_ns > t->begin_ns ? t->end_ns - t->begin_ns : 0;
	struct step_trainer *of = t->trainer ? &s->trainers[t->trainer - 1] : NULL;

	if (t->sum && wall_ns) {
		parts_until(t, t->end_ns, part_ns);
		add_to_sum(&s->sums[t->sum - 1], t->end_ns, wall_ns, part_ns);
	}
	if (!of)
		return;
	of->end_ns = MAX(of->end_ns, t->end_ns);
	of->wall_ns += wall_ns;
	of->save_ns += t->save_ns;
	for (unsigned int part = 0; part < STEP_OTHER; part++) {
		of->spans[part] = t->spans[part];
		t->spans[part] = (struct spans){ 0 };
		spans_close(&of->spans[part]);
	}
	of->steady_p50_ns = hist_quantile(of->steady, 500);
	of->steady_p99_ns = hist_quantile(of->steady, 990);
}

/* Gives the epoch that has ended the steps within it that have no epoch of their own. */
static void epoch_end(struct phase_steps *s, const struct step_region *r)
{
	uint32_t *at = table_find(&s->by_epoch, sum_key(r->pid, -1));

	if (!at || !*at || r->epoch < 0)
		return;
	s->sums[*at - 1].epoch = r->epoch;
	*at = 0;
	for (uint32_t i = 0; i < s->n_slowest; i++)
		if (s->slowest[i].pid == r->pid && s->slowest[i].epoch < 0)
			s->slowest[i].epoch = r->epoch;
}

void phase_steps_take(struct phase_steps *s, const struct step_region *r)
{
	struct thread *t = table_get(&s->threads, r->pid << 32 | (uint32_t)r->tid);
	enum step_part part = part_of(r);
	bool is_step = part == STEP_COMPUTE && is(r->name, r->name_len, "step");
	uint64_t begin_ns, own_ns;

	if (!t) {
		s->left_out += is_step;
		return;
	}
	if (is(r->cat, r->cat_len, "pipeline") && is(r->name, r->name_len, "epoch")) {
		epoch_end(s, r);
		t->first.any = t->first.starts = false;
	}
	if (part == STEP_OTHER) /* regions around steps, such as an epoch, and those that are no part of a step */
		return;
	if (!t->any) {
		t->any = true;
		t->epoch = -1;
		t->begin_ns = r->begin_ns;
	}
	if (!t->steps) /* the first step begins with the first of the regions in it */
		t->begin_ns = MIN(t->begin_ns, r->begin_ns);
	begin_ns = MAX(r->begin_ns, t->begin_ns);
	if (r->end_ns < begin_ns)
		return;
	own_ns = cover(t, begin_ns, r->end_ns);
	t->end_ns = MAX(t->end_ns, r->end_ns);
	t->part_ns[part] += own_ns;
	if (part == STEP_FETCH)
		note_fetch(t, r, begin_ns);
	add_span(s, &t->spans[part], begin_ns, r->end_ns);
	if (part == STEP_CHECKPOINT && is(r->name, r->name_len, "save"))
		t->save_ns += own_ns;
	if (part == STEP_COMPUTE && is(r->name, r->name_len, "backward"))
		t->backward_ns += own_ns;
	if (part == STEP_COMPUTE)
		t->samples += r->samples;
	if (r->epoch >= 0)
		t->epoch = r->epoch;
	if (!is_step)
		return;
	step_end(s, t, r);
	t->steps++;
	t->begin_ns = r->end_ns;
	t->n = 0;
	t->save_ns = t->backward_ns = t->samples = 0;
	memset(t->part_ns, 0, sizeof(t->part_ns));
}

void phase_steps_end(struct phase_steps *s)
{
	for (uint32_t i = 0; i < s->threads.n; i++)
		end_thread(s, table_at(&s->threads, i));
	skew_end(&s->skew);
	for (uint32_t i = 0; i < s->n_sums; i++) {
		struct step_sum *sum = &s->sums[i];

		sum->p50_ns = hist_quantile(sum->hist, 500);
		sum->p99_ns = hist_quantile(sum->hist, 990);
		sum->max_ns = sum->hist->max;
		free(sum->hist);
		sum->hist = NULL;
	}
	threads_free(s);
	table_init(&s->threads, sizeof(struct thread), THREADS_MAX);
	table_init(&s->by_epoch, sizeof(uint32_t), SUMS_MAX);
}
