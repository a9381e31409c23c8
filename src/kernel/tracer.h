/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel side of one trace: shared maps, one BPF object per probe, the dispatcher of system
 * calls, attachment and the counters. Control plane. Only tracer*.c, snapshot.c, check/bpf.c and
 * probes/ use libbpf.
 */
#ifndef KERNEL_TRACER_H
#define KERNEL_TRACER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/tracer_impl.h"
#include "trace/probe.h"
#include "trace/probe_mask.h"

struct tracer_options {
	probe_mask probes;
	uint64_t buffer_bytes; /* of all rings; 0: default */
	bool all, no_args, cgroups, new_containers;
	bool net_rows; /* each call on a socket has a row */
	bool net_names; /* what names the peers of sockets is sent, too */
	bool functions; /* processes run already: see functions.h */
	uint8_t frames; /* that calls of these functions have: 0, 1 or DLT_ALLOC_FRAMES */
	bool owned; /* the trace is OWNER's, a user without rights: it shows this user's processes alone */
	uid_t owner;
	uint32_t backends; /* mask of 1 << enum backend; 0: all */
	probe_mask may_lack; /* optional ones, left out where they fail, with the reason in t->why */
	uint32_t disks[DLT_MAX_DISKS]; /* the kernel's dev_t: major << 20 | minor */
	unsigned int n_disks;
	uint8_t access; /* enum config_access */
	uint32_t access_hz;
	bool meta_all; /* a row for each call of meta */
	uint64_t brief_ns; /* shorter reads and writes that needed no disk are only in sums; 0: none */
	struct dlt_watch watch[DLT_WATCHES];
};

/* Can BPF be used here? 0, or -errno with the reason and the remedy in ERROR. */
int tracer_check(char *error, size_t size);

/* Create the maps, load every object. 0 or -errno with t->error. */
int tracer_load(struct tracer *tracer, const struct tracer_options *options);

/*
 * For --delay: attach process life alone, so that the target follows its forks. There are no rows before
 * tracer_attach(). 0 or -errno with t->error.
 */
int tracer_follow(struct tracer *t);

/* Attach process life first, then the rest, the entries of system calls last. */
int tracer_attach(struct tracer *tracer);

/* Probes that add up in the kernel: send their rows. 0 or -errno with t->error. */
int tracer_emit(struct tracer *t, enum probe_emit when);
bool tracer_has_sums(const struct tracer *t); /* whether there is such a probe */
/* Likewise what cannot wait for the end of the interval. */
int tracer_emit_due(struct tracer *t);
bool tracer_may_be_due(const struct tracer *t); /* whether there is such a probe */

/* No new calls, then no ends of calls: the entries left in t->calls are in flight. */
void tracer_detach(struct tracer *t);
void tracer_free(struct tracer *tracer);

/* Add a process to the target; its later children follow. */
void tracer_target_add(struct tracer *t, pid_t tgid);
void tracer_target_remove(struct tracer *t, pid_t tgid);
/*
 * The process TGID, which waits at its gate, runs dltraced's code: until it is released, it is not in the target, and
 * its time is dltraced's. Both under --all, too.
 */
void tracer_target_hold(struct tracer *t, pid_t tgid);
void tracer_target_release(struct tracer *t, pid_t tgid);
/* --all: PID is one of our helpers, or ourselves. */
void tracer_exclude(struct tracer *t, pid_t tgid);
bool tracer_target_has(const struct tracer *t, pid_t tgid);

/*
 * Add processes that move into the cgroup KEY from now on; or into one that will be made at PATH, for the option of
 * number NR; 0: for none.
 */
int tracer_cgroup_add(struct tracer *t, const struct dlt_cgroup_key *key);
int tracer_cgroup_await(struct tracer *t, const struct dlt_cgroup_path *path, uint8_t nr);
/* Whether a cgroup was made that option NR awaits; how many containers' cgroups were made, with --container new. */
bool tracer_cgroup_came(const struct tracer *t, uint8_t nr);
uint32_t tracer_new_containers(const struct tracer *t);

/* Processes in the target that have not ended. */
uint64_t tracer_live(const struct tracer *t);

/* Calls FN for each of them. */
void tracer_each_live(const struct tracer *tracer, void (*fn)(void *ctx, pid_t tgid), void *ctx);

/* Sums over the CPUs. */
void tracer_stats(const struct tracer *tracer, struct dlt_stats stats[DLT_PROBES]);

/*
 * Runs of our programs that the kernel skipped because the same program was running on that CPU
 * (recursion_misses, 5.12), by probe; [0]: of the dispatcher, which serves all calls of the machine.
 */
void tracer_skipped(const struct tracer *t, uint64_t skipped[DLT_PROBES]);

/*
 * Calls FN for the calls in flight: one may end, and another begin in its place, while FN looks at it.
 * After tracer_detach() they are those still in flight.
 */
void tracer_running(const struct tracer *tracer, void (*fn)(void *ctx, const struct dlt_call *call), void *ctx);

/*
 * tracer_calls_each() for requests: io_uring, libaio and disks. As calls, or as records of NOW_NS; before
 * tracer_detach() at most MAX are looked at of each kind, some of them perhaps twice.
 */
void tracer_requests(struct tracer *tracer, uint64_t now_ns, unsigned int max,
		     void (*call)(void *ctx, const struct dlt_call *call),
		     void (*rec)(void *ctx, const struct dlt_hdr *rec), void *ctx);

/* Whether the trace may show REC: see tracer_options.owned. */
static inline bool tracer_may_show(const struct tracer *t, const struct dlt_hdr *rec)
{
	return !t->cfg.owned || !probes[rec->probe]->is_owned || probes[rec->probe]->is_owned(rec);
}

#endif
