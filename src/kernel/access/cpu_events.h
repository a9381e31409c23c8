/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A perf event on every CPU that is online and has it, of all processes, with a BPF program that runs each time that it
 * happens, or is sampled. An event does not survive its CPU's going offline. One thread at a time.
 */
#ifndef KERNEL_ACCESS_CPU_EVENTS_H
#define KERNEL_ACCESS_CPU_EVENTS_H

#include <linux/perf_event.h>
#include <stdint.h>

struct cpu_events;
struct perf_losses;

struct cpu_event {
	const char *name; /* for people; may be NULL */
	struct perf_event_attr
		attr; /* the size is set here, and a period of 1 where there is neither one nor a frequency */
	uint64_t beside; /* config of an event of the same type that has to count at the same time; 0: none */
};

/* May this process have all N of EVENTS at the same time on any CPU? 0 or -errno. */
int cpu_events_check(const struct cpu_event *events, unsigned int n);

/* Events that run the program PROG_FD. 0 or -errno. */
int cpu_events_open(struct cpu_events **ret, const struct cpu_event *event, int prog_fd);

/* Events for CPUs that have come since, none for those that have gone. 0, or -errno of the first that failed. */
int cpu_events_follow(struct cpu_events *events);

/*
 * EVENT, another breakpoint, instead of the one before: of the same length, elsewhere, or disabled. Needs no
 * privileges. 0, or -errno of the first CPU's that failed.
 */
int cpu_events_change(struct cpu_events *e, const struct cpu_event *event);

/* Adds to SUM what the kernel has reported to be lost of samples since the last call. */
void cpu_events_losses(struct cpu_events *e, struct perf_losses *sum);

/* NULL is fine. */
void cpu_events_close(struct cpu_events *e);

#endif
