/* SPDX-License-Identifier: BSD-2-Clause */
/* What the programs here begin with: the end at a failure, and clocks. */
#ifndef WORKLOADS_DIE_H
#define WORKLOADS_DIE_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Prints the program, the message and errno, and ends the process. */
static inline void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, ": %s\n", strerror(err));
	va_end(ap);
	exit(1);
}

static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline int64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
