/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptors that a child must not inherit: they would hold a trace, a pipe or a mount open. glibc has such functions
 * since 2.34, and the portable program runs with 2.28.
 */
#ifndef OS_DESCRIPTORS_H
#define OS_DESCRIPTORS_H

#include <spawn.h>

/* Closes all descriptors from FIRST on. Async-signal-safe: for a child between fork and exec. */
void descriptors_close_from(unsigned int first);

/*
 * Adds to ACTIONS the closing of all descriptors from FIRST on that are open now. Those that other threads open
 * meanwhile are close-on-exec. Returns 0 or an error number, as posix_spawn_file_actions_addclose(3) does.
 */
int descriptors_spawn_close_from(posix_spawn_file_actions_t *actions, unsigned int first);

#endif
