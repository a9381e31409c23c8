/* SPDX-License-Identifier: BSD-2-Clause */
/* The limits of a process (setrlimit(2)) that a trace has: what each is called where. Indexed by enum dlt_rlimit. */
#ifndef TRACE_RLIMITS_H
#define TRACE_RLIMITS_H

#include <stdint.h>

#include "dlt/pids.h"

#define RLIMIT_UNLIMITED UINT64_MAX

struct rlimit_name {
	const char *name; /* as setrlimit(2) */
	const char *key; /* in `allowed' of the manifest, behind "allowed." */
	const char *arg; /* in ARGS of pids.out, with its "=" */
	const char *label; /* in /proc/PID/limits */
	const char *unit; /* of its number, with a blank before it; "": a number of things; NULL: bytes */
};

extern const struct rlimit_name rlimit_names[DLT_RLIMITS];

#endif
