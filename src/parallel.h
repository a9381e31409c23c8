/* SPDX-License-Identifier: BSD-2-Clause */
/* A few independent jobs at once, for work that waits on nobody but takes a CPU. */
#ifndef PARALLEL_H
#define PARALLEL_H

/* Call FN(CTX, 0) to FN(CTX, N - 1), in any order, by up to THREADS threads; returns when all have. */
void parallel_run(void (*fn)(void *ctx, unsigned int i), void *ctx, unsigned int n, unsigned int threads);

#endif
