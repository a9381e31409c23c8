/* SPDX-License-Identifier: BSD-2-Clause */
/* printed.out: text that bpf/calls/printed.bpf.h sees in vfs_rw's calls; src/drain/rows/printed.c puts lines together.
 */
#include "dlt/printed.h"

#include "drain/rows/decode.h"
#include "drain/rows/printed.h"
#include "trace/probe.h"

static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC when its last byte was written, ns", offsetof(struct dlt_printed, hdr.ts_ns)),
	{ "PID", "process that wrote it", FIELD_U32, offsetof(struct dlt_printed, hdr.tgid) },
	{ "TID", "thread", FIELD_U32, offsetof(struct dlt_printed, hdr.tid) },
	{ "COMM", "name of the thread", FIELD_COMM, offsetof(struct dlt_printed, hdr.comm) },
	{ "FD", "1, stdout, or 2, stderr", FIELD_U32, offsetof(struct dlt_printed, fd) },
	{ "TEXT", "a line about an epoch or another phase, without escape sequences, up to 2048 bytes", FIELD_USTR,
	  offsetof(struct dlt_printed, segs) },
};

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	const struct dlt_printed *rec = (const void *)hdr;

	printed_take(d, rec, hdr->size - (uint32_t)sizeof(*rec));
}

const struct probe printed_probe = {
	.name = "printed",
	.help = "lines about epochs and other phases that the job prints; not with --log, which keeps all lines",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_printed),
	.flags = PROBE_SELECTABLE | PROBE_REFERENCE,
	.needs = DLT_vfs_rw,
	.decode = decode,
};
