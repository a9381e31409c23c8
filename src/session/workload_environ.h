/* SPDX-License-Identifier: BSD-2-Clause */
/* What options put into the workload's environment. */
#ifndef SESSION_WORKLOAD_ENVIRON_H
#define SESSION_WORKLOAD_ENVIRON_H

struct config;
struct workload_user;

/* All that CFG's options need in it. Returns 0, or -errno, which has been logged. */
int workload_environ_set(const struct config *cfg, struct workload_user *u);

#endif
