/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A perf event on every CPU that is online, of all processes, with a BPF program that runs each time that it happens. An event
 * does not survive its CPU's going offline. Control plane.
 */
#ifndef KERNEL_CPU_EVENTS_H
#define KERNEL_CPU_EVENTS_H

struct cpu_events;
struct perf_event_attr;

/* May this process have EVENT, whose size and period are set here? 0 or -errno. */
int cpu_events_check(const struct perf_event_attr *event);

/* Events that run the program PROG_FD. 0 or -errno. */
int cpu_events_open(struct cpu_events **ret, const struct perf_event_attr *event, int prog_fd);

/* Events for CPUs that have come since, none for those that have gone. 0, or -errno of the first that failed. */
int cpu_events_follow(struct cpu_events *e);

/* NULL is fine. */
void cpu_events_close(struct cpu_events *e);

#endif
