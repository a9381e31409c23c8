/* SPDX-License-Identifier: BSD-2-Clause */
/* The workload's NVTX_INJECTION64_PATH, through which NVTX loads our library and passes it the ranges of programs. */
#ifndef JOB_NVTX_H
#define JOB_NVTX_H

struct config;
struct workload_user;

/*
 * Puts our library into that variable of USER's environment where CFG has --regions nvtx. Returns 0, or -errno, which
 * it has logged: -ENOENT where the library is not installed beside this program, -EEXIST where another one is in the
 * variable.
 */
int nvtx_set(const struct config *cfg, struct workload_user *user);

#endif
