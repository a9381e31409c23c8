/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks again and again which pages of the target have been accessed, or written, and clears the bits that show it. A
 * thread of its own, begun by the drain and with the drain's privileges, as reading and clearing wait for locks of the
 * traced processes. What it finds comes back through the rings.
 */
#ifndef DRAIN_MEMORY_ACCESS_PAGES_H
#define DRAIN_MEMORY_ACCESS_PAGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "dlt/dlt.h"
#include "kernel/access/perf_losses.h"
#include "kernel/access/pmu.h"

struct access_counts;
struct access_pages;
struct config;
struct page_tables;
struct tracer;

/* The state of the access probe: how it sees accesses. */
struct access_source {
	struct access_pages *pages; /* by page tables; NULL: by events */
	struct cpu_event
		event[PMU_EVENTS]; /* of watched memory, or of the PMU; or of faults, where these have no tracepoints */
	pthread_mutex_t lock; /* of EVENTS: the drain moves breakpoints */
	struct cpu_events *events[PMU_EVENTS]; /* the same while they are open, else NULL */
	unsigned int n_events;
	struct perf_losses losses; /* of all */
	const __u64 *addressless; /* samples without an address; NULL: there are none */
};

/* TABLES is owned from here on. NULL: no memory, and TABLES is closed. */
struct access_pages *access_pages_new(struct page_tables *tables);
/* A thread that has not come back keeps its memory. NULL is fine. */
void access_pages_free(struct access_pages *pages);

/* The drain begins it. 0 or -errno. */
int access_pages_begin(struct access_pages *pages, const struct config *cfg, const struct tracer *tracer);

/*
 * The control plane: the target's processes are in, and are about to run. RUNS_FD: the map that runs are sent from,
 * SEND_FD the program that sends them, AREA_FD that of a process's mappings, -1: there is none. 0 or -errno.
 * Then: there is one more look, and no more.
 */
int access_pages_go(struct access_pages *a, int runs_fd, int send_fd, int area_fd);
void access_pages_stop(struct access_pages *a);

/* Any thread: what the manifest has of it. */
void access_pages_count(const struct access_pages *a, struct access_counts *ret);

#endif
