/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Being a program with file capabilities (setcap(8)), run by a plain user: why they are kept, and the other
 * effects of such a start. The caller has not become root by it, nor may the program read or write files
 * for the caller that the caller could not. Control plane, before any thread.
 */
#ifndef HOST_RIGHTS_FILECAPS_H
#define HOST_RIGHTS_FILECAPS_H

#include <stdbool.h>

/*
 * Call at the beginning of main(). TRACES: the command loads BPF programs; any other gives up all
 * capabilities. 0, or -EPERM after a message: the program is set-user-ID or set-group-ID. Does nothing else
 * without file capabilities.
 */
int filecaps_begin(char *const *argv, bool traces);

/*
 * Returns the environment that we were called with, where the C library has removed names from ours because
 * we have capabilities (LD_LIBRARY_PATH, TMPDIR ...): for the workload, which has none. One block. NULL:
 * ours is whole, or no memory.
 */
char **filecaps_environ(void);

#endif
