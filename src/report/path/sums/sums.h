/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a path: its pieces added up by leaf. Bounded: what finds no room is one part that is not known. */
#ifndef REPORT_PATH_SUMS_SUMS_H
#define REPORT_PATH_SUMS_SUMS_H

#include "report/path/sums/epochs.h"
#include "report/path/sums/leaf.h"
#include "stats/table.h"

#define PATH_SUMS_MAX (1U << 16)

struct path_sum {
	struct path_leaf leaf;
	uint64_t ns, chain_ns; /* on the path as the root saw it, on the chain */
	uint64_t when_ns[PATH_WHENS]; /* of NS, in each part of the training */
	uint64_t first_ns, last_ns; /* begin of its first piece, end of its last one */
	uint32_t number; /* in the order of first pieces, from 0 */
};

struct path_sums {
	struct table all; /* struct path_sum, by path_leaf_key() */
	bool chain; /* the next pieces are of the chain */
	struct path_sum *v; /* after path_sums_end(), the largest first */
	uint32_t n;
};

void path_sums_init(struct path_sums *sums);
void path_sums_free(struct path_sums *sums);
/* Adds a piece; WHEN may be PATH_WHENS. Returns the number of its sum. */
uint32_t path_sums_add(struct path_sums *sums, const struct path_leaf *leaf, uint64_t begin_ns, uint64_t end_ns,
		       enum path_when when);
/* Sorts them; no piece follows. Returns 0 or -ENOMEM. */
int path_sums_end(struct path_sums *sums);

#endif
