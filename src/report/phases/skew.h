/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same step of several processes, as the ranks of a job take it: by how much the slowest is behind the mean. Steps come
 * in order of their ends, of all processes mixed. One process may be SKEW_STEPS ahead of another. Pure; all times ns.
 */
#ifndef REPORT_PHASES_SKEW_H
#define REPORT_PHASES_SKEW_H

#include <stdint.h>

#define SKEW_STEPS 4096
#define SKEW_PROCESSES_MAX 64

struct skew {
	uint64_t n;			  /* steps that more than one process took */
	double mean_ns, slowest_ns;	  /* sums of these: of the mean of the processes, of the slowest one */
	double wall_ns;			  /* sum of the mean of their whole steps */
	uint64_t slowest[SKEW_PROCESSES_MAX]; /* how often each was the slowest */
	struct skew_step *ring;
};

/* A step of one process. */
struct skew_one {
	unsigned int process;	   /* its number, less than SKEW_PROCESSES_MAX */
	uint64_t process_begin_ns; /* of the process's first step: what another one took before then is another run's */
	int64_t epoch, number;
	uint64_t end_ns;
	uint64_t own_ns, wall_ns; /* what it did itself, which is compared; all of the step */
};

void skew_take(struct skew *s, const struct skew_one *one);
/* All steps have been taken. */
void skew_end(struct skew *s);
void skew_free(struct skew *s);

#endif
