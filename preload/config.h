/* SPDX-License-Identifier: BSD-2-Clause */
/* The settings, which dltraced passes in DLT_ALLOC_VARIABLE. */
#ifndef PRELOAD_CONFIG_H
#define PRELOAD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* Python lines and, where a thread has none, its caller or its native stack: the last two. */
enum sites { SITES_NONE, SITES_CALLER, SITES_NATIVE, SITES_PYTHON, SITES_AUTO };

struct config {
	bool on; /* false before the constructor has run, and where nobody traces */
	bool tsc; /* ticks are the CPU's counter; else ns of CLOCK_MONOTONIC */
	bool check; /* for tests: abort(3) where a stack that was kept is not what a new look finds */
	enum sites sites;
	size_t min; /* blocks of fewer bytes, as the allocator rounds them, are only counted */
};
extern struct config config;

void config_read(void);

#endif
