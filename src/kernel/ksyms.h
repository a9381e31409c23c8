/* SPDX-License-Identifier: BSD-2-Clause */
/* The addresses of the kernel's functions, its modules' included, for programs that compare pointers. */
#ifndef KERNEL_KSYMS_H
#define KERNEL_KSYMS_H

#include <stdint.h>
#include <stdio.h>

typedef void (*ksyms_fn)(void *ctx, const char *name, uint64_t addr);

/*
 * Calls FN for each function in /proc/kallsyms. Returns 0, or -errno: it cannot be read, or shows no addresses
 * (-EPERM: sysctl kernel.kptr_restrict=2).
 */
int ksyms_each(ksyms_fn fn, void *ctx);

/* The same, from the file IO_FILE: separate for tests. */
int ksyms_read(FILE *IO_FILE, ksyms_fn fn, void *ctx);

#endif
