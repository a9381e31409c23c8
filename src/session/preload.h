/* SPDX-License-Identifier: BSD-2-Clause */
/* The workload's LD_PRELOAD, through which its programs load our library, which records their allocations. */
#ifndef SESSION_PRELOAD_H
#define SESSION_PRELOAD_H

struct config;
struct workload_user;

/*
 * Puts our library in front of LD_PRELOAD in USER's environment, with its settings, where CFG asks for alloc, and has
 * programs with AddressSanitizer accept that. Returns 0, or -errno, which it has logged.
 */
int preload_set(const struct config *cfg, struct workload_user *user);

#endif
