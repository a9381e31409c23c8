/* SPDX-License-Identifier: BSD-2-Clause */
/* A region of the program, as its row in regions.out has it. */
#ifndef REPORT_PHASES_STEP_REGION_H
#define REPORT_PHASES_STEP_REGION_H

#include <stdint.h>

struct step_region {
	const char *cat, *name;
	uint32_t cat_len, name_len;
	uint64_t pid, tid, begin_ns, end_ns;
	uint64_t lane; /* what overlaps without being nested has lanes of its own; 0: none was given */
	int64_t epoch, number; /* -1: not given */
	uint64_t samples; /* 0: not given */
	int64_t bytes; /* -1: not given */
};

#endif
