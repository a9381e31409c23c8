/* SPDX-License-Identifier: BSD-2-Clause */
/* A call as it is kept for the second pass (calls.h). */
#ifndef REPORT_WHY_CALL_H
#define REPORT_WHY_CALL_H

#include "report/scan/callstore.h"
#include "report/scan/model.h"
#include "report/why/why.h"

enum why_call_flag {
	WHY_CALL_STATE = 7, /* these bits are an enum why_state */
	WHY_CALL_FILE =
		8, /* FILE is an index into the report's table of files; if not set, a FID that it lacks, or 0 */
	WHY_CALL_ON_FILE = 16,
	WHY_CALL_RECEIVES = 32, /* reads from a pipe or the like */
	WHY_CALL_SENDS = 64,
	WHY_CALL_SAMPLE = 128, /* an open for reading of a file on a disk or network */
	WHY_CALL_SOFTWARE = 256, /* on a program, a package or a file of the system */
	WHY_CALL_SHARED = 512, /* makes, sizes or removes a file of shared memory */
};

_Static_assert(WHY_STATES <= WHY_CALL_STATE + 1 && WHY_CALL_SHARED >> CALLSTORE_FLAGS_BITS == 0,
	       "flags have room for all");

struct why_calls {
	struct callstore store;
	struct callstore_part part[REPORT_KINDS];
};

struct why_call_row {
	struct callstore_row kept;
	uint64_t begin_ns;
};

static inline bool why_call_is(const struct why_call_row *row, enum why_call_flag flag)
{
	return row->kept.flags & flag;
}

static inline enum why_state why_call_state(const struct why_call_row *row)
{
	return (enum why_state)(row->kept.flags & WHY_CALL_STATE);
}

#endif
