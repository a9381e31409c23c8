/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of this process: ulimit -s bounds the main thread's, and the C library takes it for the size of those of
 * other threads, too. No function may need much of one: -Wframe-larger-than in the Makefile.
 */
#ifndef OS_STACK_H
#define OS_STACK_H

#include <stdbool.h>
#include <stdint.h>

#define STACK_NEED_BYTES (128UL << 10) /* of the main thread, below main() */

/* Gives threads that are made from now on at least 1 MiB, of which only what they touch takes memory. */
void stack_of_threads(void);
/* Whether ulimit -s leaves main(), which calls this, STACK_NEED_BYTES; *LIMIT_RET becomes the limit. */
bool stack_suffices(uint64_t *limit_ret);

#endif
