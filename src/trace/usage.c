/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/usage.h"

const char *const usage_keys[USAGES] = {
	[USAGE_WALL_NS] = "wall_ns",
	[USAGE_USER_NS] = "user_ns",
	[USAGE_SYSTEM_NS] = "system_ns",
	[USAGE_MAX_RSS_BYTES] = "max_rss_bytes",
	[USAGE_MINOR_FAULTS] = "minor_faults",
	[USAGE_MAJOR_FAULTS] = "major_faults",
	[USAGE_VOLUNTARY_SWITCHES] = "voluntary_switches",
	[USAGE_INVOLUNTARY_SWITCHES] = "involuntary_switches",
};
