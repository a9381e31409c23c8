/* SPDX-License-Identifier: BSD-2-Clause */
/* See region_sums.h. */
#include "report/phases/region_sums.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "stats/hist.h"

#define THREADS_MAX 16384 /* with their lanes */
#define PAIRS_MAX (1U << 18) /* of a name and a process */
#define CLOSED_MAX 4096U /* regions of a thread that no other region has enclosed yet */
#define SPANS_ROOM (2U << 20) /* of all names together: 64 MiB */
#define SPANS_LEAST 64 /* of each set, whatever the others have */

/* A region that has ended, or several one behind the other. */
struct closed {
	uint64_t begin_ns; /* of the first */
	uint64_t total_ns; /* of all */
};

struct thread {
	struct closed *v; /* in order, none within another */
	uint32_t n, room;
};

void region_sums_init(struct region_sums *sums)
{
	table_init(&sums->by_name, sizeof(uint32_t), REGION_SUMS_MAX);
	table_init(&sums->processes, sizeof(bool), PAIRS_MAX);
	table_init(&sums->threads, sizeof(struct thread), THREADS_MAX);
}

static void tables_free(struct region_sums *sums)
{
	for (uint32_t i = 0; i < sums->threads.n; i++)
		free(((struct thread *)table_at(&sums->threads, i))->v);
	table_free(&sums->threads);
	table_free(&sums->processes);
	table_free(&sums->by_name);
}

void region_sums_free(struct region_sums *sums)
{
	tables_free(sums);
	for (uint32_t i = 0; i < sums->n; i++) {
		free(sums->v[i].cat);
		free(sums->v[i].name);
		free(sums->v[i].hist);
		spans_free(&sums->v[i].spans);
	}
	free(sums->v);
}

/* --- names ------------------------------------------------------------------------------------------------ */

/* Returns a key of the name: its category counts without case. */
static uint64_t key_of(const struct step_region *region)
{
	uint64_t key = table_key("", 0);

	for (uint32_t i = 0; i < region->cat_len; i++) {
		const char c = (char)tolower((unsigned char)region->cat[i]);

		key = table_key_more(key, &c, 1);
	}
	return table_key_more(table_key_more(key, "", 1), region->name, region->name_len);
}

/* Adds a name. Returns it; NULL: there is no memory. */
static struct region_sum *new_sum(struct region_sums *sums, const struct step_region *region)
{
	struct region_sum made = {
		.cat = strndup(region->cat, region->cat_len),
		.name = strndup(region->name, region->name_len),
		.hist = calloc(1, sizeof(*made.hist)),
	};

	if (!sums->v)
		sums->v = calloc(REGION_SUMS_MAX, sizeof(*sums->v));
	if (!sums->v || !made.cat || !made.name || !made.hist) {
		free(made.cat);
		free(made.name);
		free(made.hist);
		return NULL;
	}
	sums->v[sums->n] = made;
	return &sums->v[sums->n++];
}

static struct region_sum *sum_of(struct region_sums *sums, const struct step_region *region, uint64_t key)
{
	uint32_t *place = table_get(&sums->by_name, key);
	struct region_sum *sum;

	if (!place)
		return NULL;
	if (*place)
		return &sums->v[*place - 1];
	sum = sums->n < REGION_SUMS_MAX ? new_sum(sums, region) : NULL;
	if (sum)
		*place = sums->n;
	return sum;
}

/* --- regions within others --------------------------------------------------------------------------------- */

/*
 * Joins those that begin close to each other, so that at most about half are left: a region that begins between such
 * two has that much more or less within it. Begins increase, so that they do not all lie within one such stretch.
 */
static void join(struct thread *thread)
{
	const uint64_t close_ns = (thread->v[thread->n - 1].begin_ns - thread->v[0].begin_ns) / (CLOSED_MAX / 4);
	uint32_t n = 1;

	for (uint32_t i = 1; i < thread->n; i++) {
		struct closed *last = &thread->v[n - 1];

		if (thread->v[i].begin_ns - last->begin_ns <= close_ns)
			last->total_ns += thread->v[i].total_ns;
		else
			thread->v[n++] = thread->v[i];
	}
	thread->n = n;
}

static bool room_for_one(struct thread *thread)
{
	const uint32_t room = thread->room ? 2 * thread->room : 16;
	struct closed *v;

	if (thread->n < thread->room)
		return true;
	if (thread->room == CLOSED_MAX) {
		join(thread);
		return true;
	}
	v = reallocarray(thread->v, room, sizeof(*v));
	if (!v)
		return false;
	thread->v = v;
	thread->room = room;
	return true;
}

/* Returns how much of the region lies in others of its thread within it: these have ended before it. */
static uint64_t enclose(struct region_sums *sums, const struct step_region *region)
{
	const uint64_t lane[] = { region->pid, region->tid, region->lane };
	const uint64_t length_ns = region->end_ns - region->begin_ns;
	struct thread *thread = table_get(&sums->threads, table_key((const char *)lane, sizeof(lane)));
	uint64_t within_ns = 0;

	if (!thread)
		return 0;
	while (thread->n && thread->v[thread->n - 1].begin_ns >= region->begin_ns)
		within_ns += thread->v[--thread->n].total_ns;
	if (room_for_one(thread))
		thread->v[thread->n++] = (struct closed){ region->begin_ns, length_ns };
	return MIN(within_ns, length_ns);
}

/* --- sums --------------------------------------------------------------------------------------------------- */

/* Adds a span. A set grows as long as all sets together have room. */
static void add_span(struct region_sums *sums, struct spans *to, uint64_t begin_ns, uint64_t end_ns)
{
	const size_t had = to->room;

	to->max = MAX(had + (SPANS_ROOM - MIN(sums->spans_room, SPANS_ROOM)), SPANS_LEAST);
	spans_add(to, begin_ns, end_ns);
	sums->spans_room += to->room - had;
}

void region_sums_take(struct region_sums *sums, const struct step_region *region)
{
	const uint64_t key = key_of(region), ns = region->end_ns - region->begin_ns;
	const uint64_t pair[] = { key, region->pid }, within_ns = enclose(sums, region);
	struct region_sum *sum = sum_of(sums, region, key);
	bool *known;

	if (!sum) {
		sums->left_out++;
		return;
	}
	known = table_get(&sums->processes, table_key((const char *)pair, sizeof(pair)));
	if (known && !*known) {
		*known = true;
		sum->processes++;
	}
	sum->n++;
	sum->total_ns += ns;
	sum->own_ns += ns - within_ns;
	if (region->bytes >= 0) {
		sum->bytes += (uint64_t)region->bytes;
		sum->with_bytes++;
	}
	hist_add(sum->hist, ns);
	add_span(sums, &sum->spans, region->begin_ns, region->end_ns);
}

static void end(struct region_sum *sum)
{
	sum->nested_ns = sum->total_ns - sum->own_ns;
	sum->min_ns = hist_min(sum->hist);
	sum->p25_ns = hist_quantile(sum->hist, 250);
	sum->p50_ns = hist_quantile(sum->hist, 500);
	sum->p75_ns = hist_quantile(sum->hist, 750);
	sum->p99_ns = hist_quantile(sum->hist, 990);
	sum->max_ns = sum->hist->max;
	spans_close(&sum->spans);
	sum->covered_ns = sum->spans.total_ns - MIN(sum->spans.glued_ns, sum->spans.total_ns);
	spans_free(&sum->spans);
	free(sum->hist);
	sum->hist = NULL;
}

void region_sums_end(struct region_sums *sums)
{
	tables_free(sums);
	for (uint32_t i = 0; i < sums->n; i++)
		end(&sums->v[i]);
}
