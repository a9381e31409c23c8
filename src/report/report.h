/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a trace folder to a struct report: every file is streamed once. Offline: knows nothing of BPF, needs no root, and
 * trusts no byte of the folder.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "report/scan/model.h"

struct phases_options;
struct report_cpu_options;
struct report_options {
	bool timed; /* with phases and a timeline, */
	uint64_t begin_ns; /* from here on, CLOCK_MONOTONIC; 0: the trace's begin */
	const char *path; /* absolute; of calls only those on files that it is, or that are below it. NULL: all */
	const struct report_cpu_options *cpu; /* with CPU time, where the trace has any. NULL: without */
	const struct phases_options *phases; /* how to find them; NULL: as the folder has them */
};

/*
 * Sum up the folder DIR and, but with a path, say why the job waited. 0; -ENOTDIR or -errno;
 * -ENODATA when it is no trace; -EINVAL: that is no path.
 */
int report_load(struct report **ret, const char *dir, const struct report_options *o);
/* The folder DIRFD likewise, whatever DIR, which is shown, is by now. */
int report_load_at(struct report **ret, const char *dir, int dirfd, const struct report_options *o);
void report_free(struct report *r);

#endif
