/* SPDX-License-Identifier: BSD-2-Clause */
/* rollup.out: rows made by src/drain/rows/rollup.c; nothing in the kernel. */
#include "dlt/rollup.h"

#include "trace/probe.h"

#define AT(member) offsetof(struct dlt_rollup, member)

static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC of the last row in the sum, ns", AT(hdr.ts_ns)),
	{ "MINUTE", "beginning of the minute of the rows, UTC", FIELD_WORD, AT(minute),
	  .arg = sizeof(((struct dlt_rollup *)0)->minute) },
	{ "PROBE", "trace file of the rows", FIELD_WORD, AT(file), .arg = DLT_COMM_LEN },
	{ "PID", "process of the rows; - if they have none", FIELD_S64, AT(pid) },
	{ "COMM", "name of one of its threads", FIELD_COMM, AT(hdr.comm) },
	{ "RW", "of vfs_rw: RW; of bio: T", FIELD_WORD, AT(rw), .arg = sizeof(((struct dlt_rollup *)0)->rw) },
	{ "ROWS", "how many rows", FIELD_U64, AT(rows) },
	{ "FAILED", "how many of them failed", FIELD_U64, AT(failed) },
	{ "BYTES", "sum of RETURNED (vfs_rw) or BYTES (bio) of the others", FIELD_U64, AT(bytes), .unit = "bytes" },
	{ "LAT_NS", "sum of LAT_NS, ns", FIELD_U64, AT(lat_ns) },
	{ "MAX_LAT_NS", "the longest LAT_NS, ns", FIELD_U64, AT(max_lat_ns) },
	{ "SEGMENT", "the segment that --keep dropped; - with --keep sums", FIELD_S64, AT(segment) },
};

const struct probe rollup_probe = {
	.name = "rollup",
	.help = "sums of rows that are not kept, per minute, file and process (--keep)",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_rollup),
	.flags = PROBE_NEVER_PAUSED,
	.when = WHEN_SUMS,
	.ahead_bytes = 256U << 10,
};
