/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Generations of worker processes, by pids.out alone: those that a process forks together and that end together, as
 * data loaders do for each epoch. Of the process that has the most generations.
 */
#ifndef REPORT_PHASES_WORKERS_H
#define REPORT_PHASES_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#define PHASE_GENERATIONS_MAX 4096

struct phase_generation {
	uint64_t begin_ns, end_ns;
	uint32_t workers;
	bool minor; /* of those that come in turns the shorter or smaller ones: a validation's */
};

struct phase_workers {
	struct phase_generation *v; /* by their begins */
	uint32_t n;
	uint32_t minors;
	bool attached; /* processes were there before the trace */
};

/* One process that may be a worker. */
struct phase_worker {
	uint64_t parent, begin_ns, end_ns;
};

/* Of the N of LIVES, which it puts in order. 0 or -ENOMEM. */
int phase_workers_of(struct phase_workers *w, struct phase_worker *lives, uint32_t n);
/* Of the trace in the folder DIRFD, which ended at END_NS (0: not known). No pids.out: none. 0 or -ENOMEM. */
int phase_workers_read(struct phase_workers *w, int dirfd, uint64_t end_ns);
void phase_workers_free(struct phase_workers *w);

/* The time from BEGIN_NS to END_NS in which there were workers. */
uint64_t phase_workers_within(const struct phase_workers *w, uint64_t begin_ns, uint64_t end_ns);

#endif
