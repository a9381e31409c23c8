/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_uring requests: the BPF object that makes rows of them, for the probes of the equivalent system calls.
 * A kernel that has no io_uring, or refuses it, is no failure. Control plane.
 */
#ifndef KERNEL_URING_H
#define KERNEL_URING_H

#include <stdint.h>

#include "dlt/dlt.h"

struct tracer;
struct uring;

/*
 * Load it for the probes of TRACER, unless none of them has requests. 0 with *RET NULL and the reason in
 * TRACER->uring_why where this kernel cannot.
 */
int uring_open(struct uring **ret, struct tracer *tracer);

/* The ends first. 0, or the reason in T->uring_why: nothing is attached then. */
int uring_attach(struct uring *u, struct tracer *t);
/* No new requests, then no ends. */
void uring_detach(struct uring *u);

/*
 * Requests in flight, once detached: as calls, or as records of NOW_NS where paths are kept for them.
 * Before that at most MAX, some of them perhaps twice.
 */
void uring_in_flight(const struct uring *uring, uint64_t now_ns, unsigned int max,
		     void (*call)(void *ctx, const struct dlt_call *call),
		     void (*rec)(void *ctx, const struct dlt_hdr *rec), void *ctx);

/* Runs of its programs that the kernel skipped. */
uint64_t uring_skipped(const struct uring *u);

void uring_close(struct uring *u);

#endif
