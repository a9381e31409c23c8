/* SPDX-License-Identifier: BSD-2-Clause */
/* The sudo that started us: what it was called with and does not hand on. */
#ifndef HOST_RIGHTS_SUDO_H
#define HOST_RIGHTS_SUDO_H

#include <stdbool.h>
#include <sys/types.h>

/* The nearest sudo above us: the one that was called, not its monitor. 0: none. */
pid_t sudo_find(void);

/*
 * The environment that SUDO was called with, and over it what its command line set for us, as in
 * `sudo CUDA_VISIBLE_DEVICES=0 dltraced ...` or `sudo env PATH=... dltraced ...`: every NAME=VALUE
 * in it that is also in our environment, just so. One block, the caller's to free. 0 or -errno.
 */
int sudo_environ(pid_t sudo, char ***ret);

/* The umask of the process that called SUDO, while that process is there. */
bool sudo_caller_umask(pid_t sudo, mode_t *ret);

#endif
