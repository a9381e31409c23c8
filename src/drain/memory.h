/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of memory.out. Drain thread. */
#ifndef DRAIN_MEMORY_H
#define DRAIN_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct decode;

struct memory {
	int fd; /* /proc/meminfo; -1: the trace has no memory.out, or the file cannot be opened */
	uint64_t interval_ns, next_ns; /* CLOCK_MONOTONIC */
};

/* A row now and each INTERVAL_NS. Logs why the file cannot be opened: there are no rows then. */
void memory_open(struct memory *m, uint64_t interval_ns);
void memory_close(struct memory *m);

/* To be called each second: write a row of NOW_NS if it is due, or if it is the LAST one. */
void memory_tick(struct memory *m, struct decode *d, uint64_t now_ns, bool last);

#endif
