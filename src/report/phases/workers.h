/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds generations of worker processes in pids.out: processes that one process forks together, and that end together,
 * as data loaders do in each epoch. Those of the process with the most generations are kept.
 */
#ifndef REPORT_PHASES_WORKERS_H
#define REPORT_PHASES_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PHASE_GENERATIONS_MAX 4096

/* Whether COMM is the name that PyTorch gives to loaders' processes (torch/utils/data/_utils/worker.py). */
static inline bool phase_is_worker_name(const char *comm, size_t len)
{
	static const char name[] = "pt_data_worker";

	return len >= sizeof(name) - 1 && memcmp(comm, name, sizeof(name) - 1) == 0;
}

struct phase_generation {
	uint64_t begin_ns, end_ns;
	uint32_t workers;
	bool minor; /* the shorter or smaller one of two that alternate: a validation's */
};

struct phase_workers {
	struct phase_generation *v; /* in the order of their begins */
	uint32_t n;
	uint32_t minors;
	bool attached; /* processes existed before the trace */
};

/* One process that may be a worker. */
struct phase_worker {
	uint64_t parent, begin_ns, end_ns;
};

/* Finds the generations of the N LIVES, which it sorts. Returns 0 or -ENOMEM. */
int phase_workers_of(struct phase_workers *workers, struct phase_worker *lives, uint32_t n);
/*
 * Reads them from the folder DIRFD, whose trace ended at END_NS (0: not known); none without pids.out. Returns 0 or
 * -ENOMEM.
 */
int phase_workers_read(struct phase_workers *phase_workers, int dirfd, uint64_t end_ns);
void phase_workers_free(struct phase_workers *w);

/* Returns the time between BEGIN_NS and END_NS in which workers lived. */
uint64_t phase_workers_within(const struct phase_workers *w, uint64_t begin_ns, uint64_t end_ns);

#endif
