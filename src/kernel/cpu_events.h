/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A software event of the kernel, or a hardware breakpoint, on every CPU that is online, with a BPF program that runs at each. An event
 * does not survive its CPU's going offline. Control plane.
 */
#ifndef KERNEL_CPU_EVENTS_H
#define KERNEL_CPU_EVENTS_H

#include <stdint.h>

struct cpu_events;

/* Of all processes. */
struct cpu_event {
	uint64_t config; /* PERF_COUNT_SW_*, unless LEN: */
	uint64_t addr, len; /* each access of these bytes: 1, 2, 4 or 8, and ADDR a multiple of that */
};

/* May this process have EVENT? 0 or -errno. */
int cpu_events_check(const struct cpu_event *event);

/* Events that run the program PROG_FD. 0 or -errno. */
int cpu_events_open(struct cpu_events **ret, const struct cpu_event *event, int prog_fd);

/* Events for CPUs that have come since, none for those that have gone. 0, or -errno of the first that failed. */
int cpu_events_follow(struct cpu_events *e);

/* NULL is fine. */
void cpu_events_close(struct cpu_events *e);

#endif
