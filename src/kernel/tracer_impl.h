/* SPDX-License-Identifier: BSD-2-Clause */
/* Between tracer.c (objects), tracer_calls.c, tracer_maps.c and tracer_state.c; check*.c ask for the plan. */
#ifndef KERNEL_TRACER_IMPL_H
#define KERNEL_TRACER_IMPL_H

#include "kernel/tracer_parts.h"
#include "trace/probe_mask.h"

#define TRACER_RING_RESERVE 8 /* the part of a ring that is for rare records: its last 1/8 */
#define TRACER_FILES 512 /* descriptors that all probes take, beside the rings', and some to spare */

/* Put "WHAT: text of R" into t->error; returns R. */
int tracer_fail(struct tracer *t, int r, const char *what);

/* How many rings of which size: into t->n_rings and ring_bytes. WANTED: bytes of all, 0: default. */
void tracer_maps_plan(struct tracer *t, uint64_t wanted);
/* Make them; sizes that the BPF side must know go to t->cfg. 0 or -errno with t->error. */
int tracer_maps_create(struct tracer *t);
/* The rings are made in a thread meanwhile: wait for them. The same. */
int tracer_maps_wait(struct tracer *t);
void tracer_maps_free(struct tracer *t);

/* Let OBJ, opened and not loaded, use the shared maps that it names, but not those of mask BUT. */
int tracer_share_maps(const struct tracer *t, struct bpf_object *obj, uint32_t but);

/* Runs of OBJ's programs, but for BUT, that the kernel skipped; both may be NULL. */
uint64_t tracer_object_skipped(const struct bpf_object *obj, const char *but);

/* Do without PROBE, because of WHY. */
void tracer_leave_out(struct tracer *t, unsigned int probe, const char *why);

/* tracer_calls.c: look up the kernel's functions of system calls. 0 or -errno. */
int tracer_calls_find(struct tracer *t);
/* Put the backends of ALLOWED in order. MASK: the probes of system calls, to be told. */
void tracer_calls_rank(struct tracer *t, uint32_t allowed, probe_mask mask);
/* Load the probes of MASK, each for the best backend that loads; attach them. 0, or -errno with t->error. */
int tracer_calls_load(struct tracer *t, probe_mask mask);
int tracer_calls_attach(struct tracer *t);

#endif
