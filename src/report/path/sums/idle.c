/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/sums/idle.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/gpu/gpus.h"

#define SUM_BITS 16

_Static_assert(PATH_SUMS_MAX <= 1U << SUM_BITS, "a key has a sample and a sum");

/* --- samples ------------------------------------------------------------------------------------------------------ */

struct taking {
	struct path_idle *idle;
	uint64_t begin_ns, end_ns; /* of the root */
	size_t joined, join; /* samples in the last one; that become one */
};

/* Adds a sample; one that lies behind a gap joins none. */
static void take(struct taking *taking, const struct span *span)
{
	struct path_idle *idle = taking->idle;
	struct path_sample *last = idle->n ? &idle->sample[idle->n - 1] : NULL;
	const uint64_t begin_ns = MAX(MAX(span->begin_ns, taking->begin_ns), last ? last->end_ns : 0),
		       end_ns = MIN(span->end_ns, taking->end_ns);
	uint64_t idle_ns;

	if (begin_ns >= end_ns)
		return;
	idle_ns = MIN((uint64_t)((double)(end_ns - begin_ns) * (double)span->weight), end_ns - begin_ns);
	if (last && taking->joined < taking->join && last->end_ns == begin_ns) {
		last->end_ns = end_ns;
		last->idle_ns += idle_ns;
		taking->joined++;
		return;
	}
	idle->sample[idle->n++] = (struct path_sample){ begin_ns, end_ns, idle_ns };
	taking->joined = 1;
}

int path_idle_init(struct path_idle *idle, const struct gpu *gpu, uint64_t begin_ns, uint64_t end_ns, uint32_t max,
		   uint32_t parts_max)
{
	struct taking taking = { idle, begin_ns, end_ns, 0, 1 };
	size_t n, i = 0, k = 0;

	*idle = (struct path_idle){ .gpu = gpu };
	table_init(&idle->all, sizeof(uint64_t), parts_max);
	if (!gpu)
		return 0;
	n = gpu->idle.n + gpu->unused.n;
	taking.join = n / max + 1;
	idle->sample = calloc(n + 1, sizeof(*idle->sample));
	if (!idle->sample)
		return -ENOMEM;
	while (i < gpu->idle.n || k < gpu->unused.n) {
		const bool used =
			k == gpu->unused.n || (i < gpu->idle.n && gpu->idle.v[i].begin_ns <= gpu->unused.v[k].begin_ns);

		take(&taking, used ? &gpu->idle.v[i++] : &gpu->unused.v[k++]);
	}
	return 0;
}

void path_idle_free(struct path_idle *idle)
{
	table_free(&idle->all);
	free(idle->sample);
	free(idle->part);
	*idle = (struct path_idle){ .gpu = NULL };
}

/* --- leaves in them ----------------------------------------------------------------------------------------------- */

void path_idle_add(struct path_idle *idle, uint32_t sum, uint64_t begin_ns, uint64_t end_ns)
{
	while (idle->at < idle->n && idle->sample[idle->at].end_ns <= begin_ns)
		idle->at++;
	for (uint32_t i = idle->at; i < idle->n && idle->sample[i].begin_ns < end_ns; i++) {
		const struct path_sample *sample = &idle->sample[i];
		uint64_t *ns = table_get(&idle->all, 1 + ((uint64_t)i << SUM_BITS | sum));

		if (ns)
			*ns += MIN(end_ns, sample->end_ns) - MAX(begin_ns, sample->begin_ns);
	}
}

static int by_sample(const void *a, const void *b)
{
	const struct path_idle_part *x = a, *y = b;

	if (x->sample != y->sample)
		return x->sample < y->sample ? -1 : 1;
	return (x->sum > y->sum) - (x->sum < y->sum);
}

int path_idle_end(struct path_idle *idle, const struct path_sums *sums)
{
	autofree uint32_t *of = calloc(PATH_SUMS_MAX, sizeof(*of));

	idle->part = calloc(idle->all.n + 1ULL, sizeof(*idle->part));
	if (!of || !idle->part)
		return -ENOMEM;
	for (uint32_t i = 0; i < sums->n; i++)
		of[sums->v[i].number] = i;
	for (uint32_t i = 0; i < idle->all.n; i++) {
		const uint64_t key = table_key_at(&idle->all, i) - 1;

		idle->part[idle->n_parts++] = (struct path_idle_part){
			.sample = (uint32_t)(key >> SUM_BITS),
			.sum = of[key & ((1U << SUM_BITS) - 1)],
			.ns = *(uint64_t *)table_at(&idle->all, i),
		};
	}
	table_free(&idle->all);
	qsort(idle->part, idle->n_parts, sizeof(*idle->part), by_sample);
	return 0;
}
