/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/access_areas.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/util.h"
#include "kernel/access/page_tables.h"
#include "kernel/object.h"

#define AGE_NS NSEC_PER_SEC /* what has changed without a change of the sums is seen after that */

static void append(struct access_areas *a, struct dlt_access_area area)
{
	const uint64_t last = a->n ? a->v[a->n - 1].end : 0;

	/* mappings that have changed while they were read must not come twice */
	area.begin = MAX(area.begin, last);
	if (area.begin < area.end && util_room(&a->v, a->n, sizeof(a->v[0])) == 0)
		a->v[a->n++] = area;
}

static void add(void *ctx, const void *area)
{
	append(ctx, *(const struct dlt_access_area *)area);
}

static void heap_and_stack(struct access_areas *a, const struct dlt_memory_of *of)
{
	append(a, (struct dlt_access_area){ .begin = of->start_brk, .end = of->brk, .kind = DLT_ACCESS_HEAP });
	append(a, (struct dlt_access_area){ .begin = of->start_stack - MIN(of->start_stack, DLT_STACK_GAP),
					    .end = of->env_end,
					    .kind = DLT_ACCESS_STACK });
}

void access_areas_update(struct access_areas *areas, int prog_fd, const struct dlt_memory_of *of)
{
	const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

	if (areas->read_ns && now_ns - areas->read_ns < AGE_NS && areas->total_vm == of->total_vm &&
	    areas->mappings == of->mappings)
		return;
	areas->n = 0;
	if (prog_fd >= 0 && object_records_of(prog_fd, of->tid, sizeof(struct dlt_access_area), add, areas) == 0 &&
	    areas->n) {
		areas->read_ns = now_ns;
	} else { /* or its thread has ended since it was listed */
		areas->n = 0;
		areas->read_ns = 0;
		heap_and_stack(areas, of);
	}
	areas->total_vm = of->total_vm;
	areas->mappings = of->mappings;
}

void access_areas_free(struct access_areas *a)
{
	free(a->v);
	*a = (struct access_areas){ 0 };
}

int access_areas_find(const struct access_areas *areas, uint64_t addr, uint64_t *end)
{
	unsigned int from = 0, to = areas->n;

	while (from < to) { /* the first that ends behind ADDR */
		const unsigned int middle = from + (to - from) / 2;

		if (areas->v[middle].end > addr)
			to = middle;
		else
			from = middle + 1;
	}
	if (from == areas->n)
		*end = 1ULL << 63;
	else if (areas->v[from].begin <= addr)
		*end = areas->v[from].end;
	else
		*end = areas->v[from].begin;
	return from < areas->n && areas->v[from].begin <= addr ? (int)from : -1;
}
