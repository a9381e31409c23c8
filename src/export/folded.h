/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks with weights, for flame graphs. */
#ifndef EXPORT_FOLDED_H
#define EXPORT_FOLDED_H

#include "export/exporter.h"
#include "stats/table.h"

#define FOLDED_STACKS_MAX (1U << 17) /* some 25 MiB; what further stacks weigh goes to (others) */

/*
 * Of the current host's rows of regions.out, as stacks: a thread's name, then its regions from the outermost one on,
 * with the time in which no other region of the thread lies within the last of them. Rows come in the order of their
 * ends.
 */
struct folded_regions {
	struct table lanes; /* threads, and in them what overlaps without being nested */
	size_t n_nodes;
};

struct folded {
	struct table stacks;
	uint64_t others;
	uint64_t last_ns, last_tid; /* of the row before */
	bool of_allocs;
	struct folded_regions regions;
	struct table sites; /* bytes allocated on the current host, by SITE; 0: without a stack */
};

/* Adds WEIGHT to the stack TEXT of LEN bytes. */
void folded_add(struct folded *s, const char *text, size_t len, uint64_t weight);

/*
 * Puts V as a part of a stack at P, before END; returns its end. A semicolon would begin another part, and a line's end
 * another stack: both are replaced.
 */
char *folded_put(struct export *export, char *p, const char *end, struct reader_field v);

/*
 * PROBES: of -P. If it is alloc.out alone, the stacks are those of its blocks. Returns 0, or -ECANCELED after a
 * message: it has other files, too.
 */
int folded_allocs_begin(struct folded *s, const char *probes);
/* Takes N rows of alloc.out. Returns 0. */
int folded_allocs_take(struct folded *folded, const struct export_file *file, const struct reader_row *rows,
		       unsigned int n);
/* Gives the host's sums to the stacks. Returns 0 or -ENOMEM. */
int folded_allocs_host_end(struct export *export);
void folded_allocs_free(struct folded *s);

void folded_regions_init(struct folded_regions *regions);
/* Takes N rows of regions.out. Returns 0 or -ENOMEM. */
int folded_regions_take(struct export *export, const struct export_file *file, const struct reader_row *rows,
			unsigned int n);
/* Gives the host's regions to the stacks. */
void folded_regions_host_end(struct folded *folded);
void folded_regions_free(struct folded_regions *regions);

#endif
