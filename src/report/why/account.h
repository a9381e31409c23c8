/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the time of a process went: each moment of its main thread counts in one term, and the terms add up to the
 * window of the analysis. Time in calls on files comes from their rows. Time on a CPU, waiting for a CPU, and asleep
 * comes from sched.out, which leaves nothing out. Without sched.out, all time outside of rows is ACCOUNT_OTHER.
 */
#ifndef REPORT_WHY_ACCOUNT_H
#define REPORT_WHY_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

enum account_term {
	ACCOUNT_CPU, /* on a CPU, outside of calls on files */
	ACCOUNT_RUNQ, /* ready to run, waiting for a CPU */
	ACCOUNT_READ, /* in reads of files that fetched from storage */
	ACCOUNT_CACHE, /* in other reads of files */
	ACCOUNT_FAULT, /* asleep in page faults, for pages of mapped files or swap */
	ACCOUNT_OPEN, /* in opens, closes, and calls that make, remove, rename and size files */
	ACCOUNT_METADATA, /* asleep in stat(2), getdents(2) and the like, which have no rows */
	ACCOUNT_WRITE, /* in writes and syncs */
	ACCOUNT_THREADS, /* waited for its other threads, which computed, read, or waited for a CPU */
	ACCOUNT_OTHERS, /* waited for another process, or the network */
	ACCOUNT_DEVICE, /* in ioctl(2): a GPU's driver, mostly */
	ACCOUNT_SLEEP, /* for a time, or a signal */
	ACCOUNT_OTHER, /* asleep in any other call; without sched.out, all time outside of rows */
	ACCOUNT_TERMS,
};

struct account {
	uint64_t pid; /* 0: of N loaders, added up */
	uint32_t n; /* processes that this is the sum of */
	double wall_ns, ns[ACCOUNT_TERMS];
	char awaited[80]; /* the processes that it waited for in ACCOUNT_OTHERS; "": not known */
};

struct report;
/* Returns *N accounts: one of each trainer, then one of all loaders together. NULL when memory is out. */
struct account *account_all(const struct report *report, uint32_t *n);
/* Returns how much of its time is calls on files, and waits for others. */
double account_waited(const struct account *account);

extern const char *const account_names[ACCOUNT_TERMS];

#endif
