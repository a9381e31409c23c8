/* SPDX-License-Identifier: BSD-2-Clause */
/* The stack of a call as a number, which is defined once by an event of DLT_ALLOC_SITE. */
#ifndef PRELOAD_STACK_H
#define PRELOAD_STACK_H

#include <stdint.h>

/*
 * Returns the number of the stack that begins with the return address at SLOT; 0: there is none, or too many are known.
 * Called while thread.busy.
 */
uint32_t stack_site(const uintptr_t *slot);

/* Frees what is kept for the calling thread. */
void stack_thread_ends(void);

/* The program has closed a library: another one may be loaded to its place. */
void stack_unloaded(void);

/* In a function that the program calls: where its return address is, on x86-64 and in arm64's frame records. */
#define STACK_SLOT() ((const uintptr_t *)__builtin_frame_address(0) + 1)

#endif
