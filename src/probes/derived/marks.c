/* SPDX-License-Identifier: BSD-2-Clause */
/* marks.out: rows made by drain_mark() of src/drain/drain.c; nothing in the kernel. */
#include "dlt/marks.h"

#include "trace/probe.h"

static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC when the mark arrived, ns", offsetof(struct dlt_marks, hdr.ts_ns)),
	{ "PID", "the process that set it", FIELD_U32, offsetof(struct dlt_marks, hdr.tgid) },
	{ "TEXT", "the mark", FIELD_USTR, offsetof(struct dlt_marks, segs) },
};

const struct probe marks_probe = {
	.name = "marks",
	.help = "the texts given to `dltraced mark' while the job ran",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_marks),
	.flags = PROBE_REFERENCE,
	.when = WHEN_ALWAYS,
};
