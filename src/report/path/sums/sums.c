/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/sums/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void path_sums_init(struct path_sums *sums)
{
	const struct path_leaf unknown = { .kind = PATH_UNKNOWN };
	struct path_sum *other;

	table_init(&sums->all, sizeof(struct path_sum), PATH_SUMS_MAX);
	other = table_get(&sums->all, path_leaf_key(&unknown));
	if (other)
		other->leaf = unknown;
}

void path_sums_free(struct path_sums *sums)
{
	table_free(&sums->all);
	free(sums->v);
}

static void add(struct path_sum *sum, bool chain, uint64_t begin_ns, uint64_t end_ns, enum path_when when)
{
	uint64_t *ns = chain ? &sum->chain_ns : &sum->ns;

	*ns += end_ns - begin_ns;
	if (!chain && when < PATH_WHENS)
		sum->when_ns[when] += end_ns - begin_ns;
	sum->first_ns = sum->last_ns ? MIN(sum->first_ns, begin_ns) : begin_ns;
	sum->last_ns = MAX(sum->last_ns, end_ns);
}

uint32_t path_sums_add(struct path_sums *sums, const struct path_leaf *leaf, uint64_t begin_ns, uint64_t end_ns,
		       enum path_when when)
{
	struct path_sum *sum;
	uint32_t n;

	if (begin_ns >= end_ns)
		return 0;
	n = sums->all.n;
	sum = table_get(&sums->all, path_leaf_key(leaf));
	if (!sum && sums->all.n)
		sum = table_at(&sums->all, 0); /* what is not known */
	else if (sum)
		sum->leaf = *leaf;
	if (!sum)
		return 0;
	if (sums->all.n > n)
		sum->number = n;
	add(sum, sums->chain, begin_ns, end_ns, when);
	return sum->number;
}

static int by_time(const void *a, const void *b)
{
	const struct path_sum *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	if (x->chain_ns != y->chain_ns)
		return x->chain_ns < y->chain_ns ? 1 : -1;
	return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

int path_sums_end(struct path_sums *sums)
{
	sums->v = calloc(sums->all.n + 1ULL, sizeof(*sums->v));
	if (!sums->v)
		return -ENOMEM;
	for (uint32_t i = 0; i < sums->all.n; i++) {
		const struct path_sum *sum = table_at(&sums->all, i);

		if (sum->ns || sum->chain_ns)
			sums->v[sums->n++] = *sum;
	}
	qsort(sums->v, sums->n, sizeof(*sums->v), by_time);
	table_free(&sums->all);
	return 0;
}
