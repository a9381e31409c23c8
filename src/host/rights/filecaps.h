/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Being a program with file capabilities (setcap(8)), run by a plain user: what they are kept for, and
 * what else such a start changes. Who calls the program has not become root by it, nor may the program
 * read or write for them what they could not. Control plane, before any thread.
 */
#ifndef HOST_RIGHTS_FILECAPS_H
#define HOST_RIGHTS_FILECAPS_H

#include <stdbool.h>

/*
 * At the beginning of main(). TRACES: the command loads BPF programs; any other gives up all. 0, or -EPERM
 * after a message: the program is set-user-ID or set-group-ID. Without file capabilities nothing else happens.
 */
int filecaps_begin(char *const *argv, bool traces);

/*
 * The environment that we were called with, where the C library has taken names out of ours because we
 * have capabilities (LD_LIBRARY_PATH, TMPDIR ...): for the workload, which has none. One block. NULL: ours is
 * whole, or no memory.
 */
char **filecaps_environ(void);

#endif
