/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the processes that take the same step, as the ranks of a job do: by how much is the slowest behind the mean?
 * The steps of all processes come in order of their ends. One process may be SKEW_STEPS ahead of another. Pure; all
 * times ns.
 */
#ifndef REPORT_PHASES_SKEW_H
#define REPORT_PHASES_SKEW_H

#include <stdint.h>

#define SKEW_STEPS 4096
#define SKEW_PROCESSES_MAX 64

struct skew {
	uint64_t n; /* steps that more than one process took */
	double mean_ns, slowest_ns; /* sums over the steps: of the processes' mean, and of the slowest process */
	double wall_ns; /* sum over the steps of the processes' mean for the whole step */
	uint64_t slowest[SKEW_PROCESSES_MAX]; /* how often each was the slowest */
	struct skew_step *ring;
};

/* A step of one process. */
struct skew_one {
	unsigned int process; /* its number, less than SKEW_PROCESSES_MAX */
	uint64_t process_begin_ns; /* of the process's first step: earlier steps of other processes belong to another
				      run */
	int64_t epoch, number;
	uint64_t end_ns;
	uint64_t own_ns, wall_ns; /* its own work, which is compared; the whole step */
};

void skew_take(struct skew *skew, const struct skew_one *one);
/* To be called after the last step. */
void skew_end(struct skew *s);
void skew_free(struct skew *s);

#endif
