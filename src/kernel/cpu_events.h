/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A software event of the kernel on every CPU that is online, with a BPF program that runs at each. An event
 * does not survive its CPU's going offline. Control plane.
 */
#ifndef KERNEL_CPU_EVENTS_H
#define KERNEL_CPU_EVENTS_H

#include <stdint.h>

struct cpu_events;

/* May this process have event CONFIG (PERF_COUNT_SW_*), of all processes? 0 or -errno. */
int cpu_events_check(uint64_t config);

/* Events CONFIG that run the program PROG_FD. 0 or -errno. */
int cpu_events_open(struct cpu_events **ret, uint64_t config, int prog_fd);

/* Events for CPUs that have come since, none for those that have gone. 0, or -errno of the first that failed. */
int cpu_events_follow(struct cpu_events *e);

/* NULL is fine. */
void cpu_events_close(struct cpu_events *e);

#endif
