/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time of threads by sched.out: on a CPU, waiting for a CPU, and asleep by kind of call. The BPF programs add it up
 * for each interval, so it has all of a thread's time.
 */
#ifndef REPORT_WHY_SLEEPS_H
#define REPORT_WHY_SLEEPS_H

#include <stdbool.h>

#include "trace/reader.h"

/* Kinds of calls by what a thread waits for in them. */
enum sleep_kind {
	SLEEP_READ, /* read and its like, on files and on pipes; results of io_uring and libaio */
	SLEEP_WRITE, /* write and its like, on files and on pipes; syncs */
	SLEEP_OPEN, /* open, close; execve, which opens a program */
	SLEEP_NAMES, /* making, removing, renaming and sizing files */
	SLEEP_STAT, /* stat, getdents and what else asks for names and attributes: calls that have no rows */
	SLEEP_FAULT, /* page faults, and calls that fill pages ahead */
	SLEEP_DEVICE, /* ioctl: a GPU's driver, mostly */
	SLEEP_THREAD, /* futex: for another thread, mostly of the same process */
	SLEEP_CHILD, /* for a process to end */
	SLEEP_POLL, /* for any of several descriptors */
	SLEEP_SOCKET, /* accept, connect, and what sends and receives */
	SLEEP_TIMER, /* for a time, or a signal */
	SLEEP_OTHER,
	SLEEP_KINDS,
};

struct sleeps {
	double run_ns, runq_ns;
	double ns[SLEEP_KINDS];
};

/* Returns the time that other processes may have to wait for: all but sleep and waits for others. */
double sleeps_busy_ns(const struct sleeps *s);

struct sleep_call {
	const char *name;
	enum sleep_kind kind;
	bool for_others; /* a thread asleep in it waits for another thread or process, as in reads and writes of pipes
			  */
};

/* CALL is one of sched.out's names, or is of SLEEP_OTHER. */
const struct sleep_call *sleep_call_of(struct reader_field call);

#endif
