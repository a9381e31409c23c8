/* SPDX-License-Identifier: BSD-2-Clause */
/* A stretch of time cut in proportion to several amounts, to the ns: the pieces add up to the stretch. Pure. */
#ifndef REPORT_PATH_CUT_H
#define REPORT_PATH_CUT_H

#include <stdint.h>

#include "base/util.h"

struct path_cut {
	uint64_t begin_ns, end_ns; /* of the stretch */
	uint64_t whole; /* the sum of all amounts */
	uint64_t sum; /* of those before */
};

/* Returns where the piece for AMOUNT ends; it begins where the one before it has ended, the first one at BEGIN. */
static inline uint64_t path_cut_next(struct path_cut *cut, uint64_t amount)
{
	const double length = (double)(cut->end_ns - cut->begin_ns);

	cut->sum += amount;
	if (cut->sum >= cut->whole)
		return cut->end_ns;
	return MIN(cut->begin_ns + (uint64_t)(length * ((double)cut->sum / (double)cut->whole)), cut->end_ns);
}

#endif
