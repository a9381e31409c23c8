/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the time of a process went: each moment of its main thread is in one term, and the terms add up to the time that is
 * looked at. How long calls on files took is by their rows; what is on a CPU, waits for one or sleeps is by sched.out, which
 * leaves nothing out. Without sched.out what is in no row is ACCOUNT_OTHER.
 */
#ifndef REPORT_WHY_ACCOUNT_H
#define REPORT_WHY_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

enum account_term {
	ACCOUNT_CPU,	  /* on a CPU, but for what it did in calls on files */
	ACCOUNT_RUNQ,	  /* could run, and waited for a CPU */
	ACCOUNT_READ,	  /* in reads of files that fetched from storage */
	ACCOUNT_CACHE,	  /* in other reads of files */
	ACCOUNT_FAULT,	  /* in page faults that waited, which is for pages of mapped files, or for swap */
	ACCOUNT_OPEN,	  /* in opens, closes, and calls that make, remove and rename files */
	ACCOUNT_METADATA, /* asleep in stat(2), getdents(2) and the like, which have no rows */
	ACCOUNT_WRITE,	  /* in writes and syncs */
	ACCOUNT_THREADS,  /* waited for its other threads, which computed, read, or waited for a CPU */
	ACCOUNT_OTHERS,	  /* waited for another process, or the network */
	ACCOUNT_DEVICE,	  /* in ioctl(2): a GPU's driver, mostly */
	ACCOUNT_SLEEP,	  /* for a time, or a signal */
	ACCOUNT_OTHER,	  /* asleep in any other call; without sched.out all that is in no row */
	ACCOUNT_TERMS,
};

struct account {
	uint64_t pid; /* 0: of N loaders, added up */
	uint32_t n;   /* processes that this is the sum of */
	double wall_ns, ns[ACCOUNT_TERMS];
	char awaited[80]; /* whom it waited for in ACCOUNT_OTHERS; "": not known */
};

struct report;
/* Of trainer I, and behind these of all loaders together: *N of them. NULL: no memory. */
struct account *account_all(const struct report *r, uint32_t *n);

extern const char *const account_names[ACCOUNT_TERMS];

#endif
