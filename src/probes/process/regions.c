/* SPDX-License-Identifier: BSD-2-Clause */
/* regions.out: what programs say of themselves by include/dltraced.h. */
#include "drain/rows/regions.h"

#include <sys/syscall.h>

#include "kernel/skel.h"
#include "regions.skel.h"
#include "trace/probe.h"

static const struct field_name source_names[] = {
	{ DLTRACED_SOURCE_API, "api" },
	{ DLTRACED_SOURCE_TORCH, "torch" },
	{ DLTRACED_SOURCE_NVTX, "nvtx" },
	{ 0, NULL },
};

static const struct field fields[] = {
	FIELDS_HEAD(struct regions_row),
	{ "CAT",
	  "category: the part of the name before its first dot, without ai.; app if there is none; mark: an instant; "
	  "meta: a fact",
	  FIELD_USTR, offsetof(struct regions_row, segs), 0 },
	{ "NAME", "name of the region", FIELD_USTR, offsetof(struct regions_row, segs), 1 },
	{ "LAT_NS", "duration from the start that the program read itself, ns; 0 for an instant", FIELD_U64,
	  offsetof(struct regions_row, hdr.lat_ns) },
	{ "RET", "0; -1: left by an exception; ?: the process or the trace ended within it", FIELD_S64,
	  offsetof(struct regions_row, ret) },
	{ "EPOCH", "as the program passed it", FIELD_S64, offsetof(struct regions_row, epoch) },
	{ "STEP", "as the program passed it", FIELD_S64, offsetof(struct regions_row, step) },
	{ "BYTES", "as the program passed it, of a batch or a checkpoint", FIELD_S64,
	  offsetof(struct regions_row, bytes), .unit = "bytes" },
	{ "LANE",
	  "number of an asyncio task, a stream or a started range of NVTX, whose regions may overlap with others",
	  FIELD_S64, offsetof(struct regions_row, lane) },
	{ "SOURCE", "api torch nvtx", FIELD_NAME, offsetof(struct regions_row, source), 0, 0, source_names },
	{ "ARGS", "further data, key=value separated by \\012; for a fact its value", FIELD_USTR,
	  offsetof(struct regions_row, segs), 2 },
};

static const struct probe_call calls[] = {
	{ "prctl", SYS_prctl, 0, NULL, "regions_entry", .region = true },
};

SKEL_OPENER(regions)

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	regions_take(d, (const struct dlt_regions *)hdr);
}

const struct probe regions_probe = {
	.name = "regions",
	.help = "regions that the job marks by dltraced.h: epochs, steps, fetches, checkpoints",
	PROBE_FIELDS(fields),
	PROBE_CALLS(calls),
	.rec_size = offsetof(struct dlt_regions, msg) + DLT_REGIONS_SHORT,
	.seg_at = offsetof(struct regions_row, text),
	.flags = PROBE_SELECTABLE | PROBE_OF_TARGET,
	.open = regions_open,
	.decode = decode,
};
