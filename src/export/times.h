/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times that --from, --to and --phase leave: of each host intervals of its CLOCK_MONOTONIC, in order and apart from each
 * other, from their begin up to but not at their end. Zero is when the first of the hosts began to trace.
 */
#ifndef EXPORT_TIMES_H
#define EXPORT_TIMES_H

#include <stdbool.h>
#include <stdint.h>

struct times_options {
	const char *phase; /* a phase of the job, or all of a name or kind; NULL: all times */
	uint64_t from_ns, to_ns; /* since the first host began; TO_NS 0: to the end */
};

struct time_span {
	uint64_t begin_ns, end_ns;
};

struct host_times {
	struct time_span *v;
	unsigned int n;
};

struct export_times {
	struct host_times *host; /* NULL: all times */
	unsigned int n_hosts;
};

/*
 * Sets T by O for the N folders DIRS. Returns 0; -ENODATA: no folder has such a phase, or it is not known when one began,
 * after a message; or another -errno.
 */
int times_init(struct export_times *t, const struct times_options *o, char *const *dirs, unsigned int n);
void times_free(struct export_times *t);

/* Whether rows of the file NAME are cut by time: those of files, of processes and of clocks stay, as other rows need them. */
bool times_cut(const struct export_times *t, const char *name);
/* Whether NS is in the times of host I. */
bool times_have(const struct export_times *t, unsigned int i, uint64_t ns);
/* Whether any of BEGIN_NS to END_NS, both included, is. */
bool times_overlap(const struct export_times *t, unsigned int i, uint64_t begin_ns, uint64_t end_ns);

/* Puts the N intervals V in order and joins those that touch; empty ones go. Returns how many are left. */
unsigned int times_join(struct time_span *v, unsigned int n);

#endif
