/* SPDX-License-Identifier: BSD-2-Clause */
/* A summary of rows that are not kept: a record that the daemon itself makes. */
#ifndef DLT_ROLLUP_H
#define DLT_ROLLUP_H

#include "dlt/dlt.h"

struct dlt_rollup {
	struct dlt_hdr hdr; /* ts_ns: the last row in it */
	char minute[24];
	char file[DLT_COMM_LEN];
	char rw[8];
	__s64 pid; /* DLT_NONE: rows of no process */
	__u64 rows, failed, bytes, lat_ns, max_lat_ns;
	__s64 segment; /* DLT_NONE: never written as rows */
};

DLT_ASSERT_SIZE(dlt_rollup, 152);

#endif
