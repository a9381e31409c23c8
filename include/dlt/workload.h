/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of the workload's output under --log: a record that the daemon itself makes. */
#ifndef DLT_WORKLOAD_H
#define DLT_WORKLOAD_H

#include "dlt/dlt.h"

#define DLT_TEXT_MAX 4096 /* a longer line continues in further rows */

struct dlt_workload {
	struct dlt_hdr hdr;
	struct dlt_segs segs; /* 0: the line, with a NUL in place of its newline */
};

DLT_ASSERT_SIZE(dlt_workload, 56);

#endif
