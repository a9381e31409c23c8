/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the kernel side of a trace, and what its parts, tracer*.c, uring.c and snapshot.c, do for
 * each other; check*.c use it for the plan.
 */
#ifndef KERNEL_TRACER_IMPL_H
#define KERNEL_TRACER_IMPL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "dlt/dlt.h"
#include "dlt/pids.h"
#include "kernel/backend.h"
#include "kernel/btf.h"
#include "kernel/dispatcher.h"
#include "kernel/object.h"
#include "kernel/ring.h"
#include "trace/probe.h"
#include "trace/probe_mask.h"

struct uring;

#define TRACER_DISPATCHERS_MAX 12 /* two prototypes a backend, and more when single probes fall back */

/* The shared maps, by the names that bpf/dlt.bpf.h and file.bpf.h give them. */
enum tracer_map {
	TRACER_RINGS,
	TRACER_STATS,
	TRACER_SHARED,
	TRACER_TARGETS,
	TRACER_CALLS,
	TRACER_OVERFLOW,
	TRACER_SCRATCH,
	TRACER_SEEN,
	TRACER_CGROUPS,
	TRACER_AIOS,
	TRACER_CACHE_CELLS,
	TRACER_CACHE_CHUNKS,
	TRACER_CACHE_READS,
	TRACER_META_CELLS,
	TRACER_META_NEAR,
	TRACER_RW_CELLS,
	TRACER_NET_CELLS,
	TRACER_SOCKETS,
	TRACER_QUERIED,
	TRACER_MAPS,
};

struct tracer {
	struct dlt_config cfg;
	probe_mask probes; /* requested probes */
	probe_mask loaded; /* and those that they depend on */
	int maps[TRACER_MAPS];
	int ring_fds[RINGS_MAX];
	unsigned int n_rings;
	size_t ring_bytes;
	pthread_t rings_thread; /* the thread that makes them while objects are loaded */
	bool rings_begun;
	int rings_error;
	unsigned int n_cpus; /* possible */
	struct {
		void *mem;
		size_t bytes;
	} mapped[TRACER_MAPS]; /* the maps that we read: */
	struct dlt_stats *stats; /* see DLT_STATS_STRIDE */
	struct dlt_shared *shared;
	uint8_t *targets; /* by tgid: DLT_TARGET_* */
	struct dlt_call *calls;
	struct kernel_btf kernel;
	bool returns_call; /* where a function with a probe on its return returns to makes a system call (x86-64, 6.11)
			    */
	struct probe_object objects[DLT_PROBES]; /* of probes with hooks of their own */
	struct object_links links;

	/* system calls */
	enum backend order[BACKENDS]; /* the allowed ones, the best first */
	unsigned int n_order;
	uint32_t tried;
	char *cannot[BACKENDS]; /* why a tried backend cannot be used here; NULL: it can */
	bool enrich; /* fentry can: see dispatcher.h */
	probe_mask may_lack;
	struct call_func *funcs;
	struct dispatcher dispatchers[TRACER_DISPATCHERS_MAX];
	unsigned int n_dispatchers;
	const struct backend_kind *backends[DLT_PROBES]; /* the backend that serves a probe's calls */

	struct uring *uring; /* requests of io_uring; NULL: none are traced, */
	const char *uring_why; /* and the reason; or NULL */
	const char *uring_hooks;

	char *why[DLT_PROBES]; /* why not by a better backend; or, for probes not in PROBES, why not at all */
	char *plain[DLT_PROBES]; /* what a probe that is traced does without, and why; NULL: nothing */
	char error[512]; /* the failure and the remedy, after a failed call */
};

#define TRACER_RING_RESERVE 8 /* the part of a ring that is for rare records: its last 1/8 */
#define TRACER_FILES 512 /* descriptors of all probes, besides the rings', and some to spare */

/* Put "WHAT: text of R" into t->error; returns R. */
int tracer_fail(struct tracer *t, int r, const char *what);

/* How many rings of which size: into t->n_rings and ring_bytes. WANTED: bytes of all, 0: default. */
void tracer_maps_plan(struct tracer *tracer, uint64_t wanted);
/* Make the maps; sizes that the BPF side must know go to t->cfg. 0 or -errno with t->error. */
int tracer_maps_create(struct tracer *tracer);
/* A thread is making the rings meanwhile: wait for it. 0 or -errno with t->error. */
int tracer_maps_wait(struct tracer *t);
void tracer_maps_free(struct tracer *t);

/* Let OBJ, opened and not loaded, use the shared maps that it names, except those of mask BUT. */
int tracer_share_maps(const struct tracer *tracer, struct bpf_object *obj, uint32_t but);

/* Do without PROBE, for the reason WHY. */
void tracer_leave_out(struct tracer *tracer, unsigned int probe, const char *why);

/* tracer_calls.c: look up the kernel's functions of system calls. 0 or -errno. */
int tracer_calls_find(struct tracer *tracer);
/* Put the backends of ALLOWED in order. MASK: the probes of system calls, for the reasons. */
void tracer_calls_rank(struct tracer *tracer, uint32_t allowed, probe_mask mask);
/* Load the probes of MASK, each for the best backend that loads from place PLACE of the order on. 0, or -errno with
 * t->error. */
int tracer_calls_load(struct tracer *tracer, probe_mask mask, unsigned int place);
int tracer_calls_attach(struct tracer *tracer);

#endif
