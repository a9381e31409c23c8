/* SPDX-License-Identifier: BSD-2-Clause */
/* Between tracer.c (objects), tracer_maps.c and tracer_state.c; check*.c ask for the plan. */
#ifndef TRACER_IMPL_H
#define TRACER_IMPL_H

#include "tracer.h"

#define TRACER_RING_RESERVE 8 /* the part of a ring that is for rare records: its last 1/8 */

/* Put "WHAT: text of R" into t->error; returns R. */
int tracer_fail(struct tracer *t, int r, const char *what);

/* How many rings of which size: into t->n_rings and ring_bytes. ASKED: bytes of all, 0: default. */
void tracer_maps_plan(struct tracer *t, uint64_t asked);
/* Make them; sizes that the BPF side must know go to t->cfg. 0 or -errno with t->error. */
int tracer_maps_create(struct tracer *t);
/* The rings are made in a thread meanwhile: wait for them. The same. */
int tracer_maps_wait(struct tracer *t);
void tracer_maps_free(struct tracer *t);

#endif
