/* SPDX-License-Identifier: BSD-2-Clause */
/* CPUs by number. */
#ifndef OS_CPUS_H
#define OS_CPUS_H

#include <stdbool.h>

/* Which of N CPUs are in LIST, in the kernel's form ("0-3,8"), up to the first error in it. */
void cpus_in(const char *list, bool *in, unsigned int n);

/* Which of N CPUs are online now; all of them where the kernel does not list them. */
void cpus_online(bool *online, unsigned int n);

#endif
