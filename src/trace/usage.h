/* SPDX-License-Identifier: BSD-2-Clause */
/* What a workload used, in its manifest: workload.rusage. docs/traces/manifest.md says of which processes. */
#ifndef TRACE_USAGE_H
#define TRACE_USAGE_H

enum usage {
	USAGE_WALL_NS, /* from the opening of its gate to its end; the others are of wait4(2) */
	USAGE_USER_NS,
	USAGE_SYSTEM_NS,
	USAGE_MAX_RSS_BYTES,
	USAGE_MINOR_FAULTS,
	USAGE_MAJOR_FAULTS,
	USAGE_VOLUNTARY_SWITCHES,
	USAGE_INVOLUNTARY_SWITCHES,
	USAGES,
};

extern const char *const usage_keys[USAGES];

#endif
