/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the root did, by its path, in each sample of a GPU: how much of each leaf. A sample has a mean alone, so it is
 * not known which leaf's time in it was the GPU's idle one: at least what the others leave of it, at most all.
 * Bounded: samples that are too many are joined, and time of leaves that are too many has no sample.
 */
#ifndef REPORT_PATH_SUMS_IDLE_H
#define REPORT_PATH_SUMS_IDLE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/path/sums/sums.h"
#include "stats/table.h"

struct gpu;

struct path_idle {
	const struct gpu *gpu; /* NULL: no GPU of the job has numbers */
	struct path_sample {
		uint64_t begin_ns, end_ns, idle_ns; /* of the GPU, within the root's time */
	} * sample; /* in order of time */
	uint32_t n, at;
	struct table all; /* ns, by sample and leaf */
	struct path_idle_part {
		uint32_t sample, sum; /* indexes in SAMPLE and in the sums */
		uint64_t ns;
	} * part; /* after path_idle_end(), by sample */
	uint32_t n_parts;
};

/* Takes the samples of GPU, which may be NULL, in [BEGIN, END); MAX of them, PARTS_MAX leaves in them. 0 or -ENOMEM. */
int path_idle_init(struct path_idle *idle, const struct gpu *gpu, uint64_t begin_ns, uint64_t end_ns, uint32_t max,
		   uint32_t parts_max);
void path_idle_free(struct path_idle *idle);
/* Adds a piece of the leaf that has number SUM. Pieces come in order of time. */
void path_idle_add(struct path_idle *idle, uint32_t sum, uint64_t begin_ns, uint64_t end_ns);
/* The SUMS have ended. Returns 0 or -ENOMEM. */
int path_idle_end(struct path_idle *idle, const struct path_sums *sums);

#endif
