/* SPDX-License-Identifier: BSD-2-Clause */
/* How much a path keeps in memory at most, in rows; tests have smaller limits. */
#ifndef REPORT_PATH_LIMITS_H
#define REPORT_PATH_LIMITS_H

#include <stdint.h>

struct path_limits {
	uint32_t waits; /* beyond, the path is not known */
	uint32_t shorts; /* of sums of shorter waits; later ones count as time on a CPU */
	uint32_t doings; /* of regions; nothing is known of later ones */
	uint32_t pieces; /* of each way; later ones count whole, in no phase */
	uint32_t samples, idle; /* of a GPU, which are joined; of leaves in them, later ones have no sample */
};

extern const struct path_limits path_limits_usual;

#endif
