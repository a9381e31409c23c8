/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel side of a trace holds: for tracer*.c, uring.c and snapshot.c, which are its parts. */
#ifndef KERNEL_TRACER_PARTS_H
#define KERNEL_TRACER_PARTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "dlt/dlt.h"
#include "dlt/pids.h"
#include "kernel/backend.h"
#include "kernel/btf.h"
#include "kernel/dispatcher.h"
#include "kernel/ring.h"
#include "trace/probe.h"
#include "trace/probe_mask.h"

struct bpf_link;
struct uring;

#define TRACER_LINKS_MAX 64
#define TRACER_DISPATCHERS_MAX 12 /* two prototypes a backend, and more when probes fall back one by one */

/* The shared maps, by the names that bpf/dlt.bpf.h and file.bpf.h give them. */
enum tracer_map {
	TRACER_RINGS, TRACER_STATS, TRACER_SHARED, TRACER_TARGETS, TRACER_CALLS, TRACER_OVERFLOW, TRACER_SCRATCH, TRACER_SEEN,
	TRACER_CGROUPS, TRACER_AIOS, TRACER_MAPS,
};

struct tracer {
	struct dlt_config cfg;
	probe_mask probes; /* mask asked for */
	probe_mask loaded; /* and what those need */
	int maps[TRACER_MAPS];
	int ring_fds[RINGS_MAX];
	unsigned int n_rings;
	size_t ring_bytes;
	pthread_t rings_thread; /* makes them while objects are loaded */
	bool rings_begun;
	int rings_error;
	unsigned int n_cpus; /* possible */
	struct dlt_stats *stats; /* see DLT_STATS_STRIDE */
	size_t stats_bytes;
	struct dlt_shared *shared;
	uint8_t *targets; /* by tgid: DLT_TARGET_* */
	size_t targets_bytes;
	struct dlt_call *calls;
	size_t calls_bytes;
	struct kernel_btf kernel;
	struct probe_object objects[DLT_PROBES]; /* of probes with hooks of their own */
	struct bpf_link *links[TRACER_LINKS_MAX];
	unsigned int n_links;

	/* system calls */
	enum backend order[BACKENDS]; /* those allowed, the best first */
	unsigned int n_order;
	uint32_t tried;
	char *cannot[BACKENDS]; /* why one that was tried cannot be used here; NULL: it can */
	bool enrich; /* fentry can: see dispatcher.h */
	bool best_effort;
	struct call_func *funcs;
	struct dispatcher dispatchers[TRACER_DISPATCHERS_MAX];
	unsigned int n_dispatchers;
	const struct backend_kind *backends[DLT_PROBES]; /* what a probe's calls are seen by */

	struct uring *uring; /* requests of io_uring; NULL: none are traced, */
	const char *uring_why; /* and why not; or NULL */
	const char *uring_hooks;

	char *why[DLT_PROBES]; /* why not by a better backend; or, out of PROBES, why not at all */
	char error[512]; /* what failed and what would help, after a failed call */
};

#endif
