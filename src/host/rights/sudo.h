/* SPDX-License-Identifier: BSD-2-Clause */
/* The sudo that started us: the part of its caller's environment that it does not pass on. */
#ifndef HOST_RIGHTS_SUDO_H
#define HOST_RIGHTS_SUDO_H

#include <stdbool.h>
#include <sys/types.h>

/* Returns the nearest sudo above us: the one that was called, not its monitor. 0: none. */
pid_t sudo_find(void);

/*
 * Returns the environment that SUDO was called with, overridden by the settings of its command line, as in
 * `sudo CUDA_VISIBLE_DEVICES=0 dltraced ...` or `sudo env PATH=... dltraced ...`: every NAME=VALUE in it
 * that our environment has unchanged. One block, freed by the caller. 0 or -errno.
 */
int sudo_environ(pid_t sudo, char ***ret);

/* The umask of SUDO's caller, while that process exists. */
bool sudo_caller_umask(pid_t sudo, mode_t *ret);

#endif
