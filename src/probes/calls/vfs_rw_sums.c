/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The vfs_rw_sums probe: with --min-latency, vfs_rw adds short reads and writes up in the kernel
 * (bpf/calls/rw_add.bpf.h), and each interval every CPU sends its sums (bpf/calls/vfs_rw_sums.bpf.c).
 */
#include "dlt/vfs_rw_sums.h"

#include <errno.h>

#include <bpf/libbpf.h>

#include "base/util.h"
#include "drain/rows/decode.h"
#include "kernel/object.h"
#include "kernel/skel.h"
#include "trace/probe.h"
#include "vfs_rw_sums.skel.h"

static const struct field_name dir_names[] = { { DLT_RW_R, "R" }, { DLT_RW_W, "W" }, {} };

#define AT(member) offsetof(struct dlt_vfs_rw_sums, member)
static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC of the row, ns", AT(hdr.ts_ns)),
	{ "PID", "process (tgid), as the initial namespace sees it", FIELD_U32, AT(hdr.tgid) },
	{ "COMM", "name of the thread that made the first of the calls", FIELD_COMM, AT(hdr.comm) },
	{ "RW", "R or W", FIELD_NAME, AT(dir), .names = dir_names },
	{ "FUNC", "the call, as in vfs_rw.out", FIELD_FUNC, AT(hdr.func), .arg = DLT_vfs_rw },
	{ "SPAN_NS", "time from the begin of the first of the calls to the row, ns", FIELD_U64, AT(hdr.lat_ns) },
	{ "COUNT", "calls, none of which has a row in vfs_rw.out", FIELD_U64, AT(sum.count) },
	{ "EMPTY", "how many of them moved nothing, as at the end of a file", FIELD_U64, AT(sum.empty) },
	{ "BYTES", "that they moved", FIELD_U64, AT(sum.bytes), .unit = "bytes" },
	{ "TIME_NS", "time in the calls, ns", FIELD_U64, AT(sum.ns) },
	{ "MAX_NS", "the longest one, ns", FIELD_U64, AT(sum.max_ns) },
	{ "TIMES", "calls by duration: 1024=7 are 7 of 1024 ns to less than twice that", FIELD_LOG2, AT(sum.bucket),
	  DLT_RW_BUCKETS },
	FIELD_FID_OF(struct dlt_vfs_rw_sums, id),
	FIELD_FILE_OF(struct dlt_vfs_rw_sums, id),
};
#undef AT

static int vfs_rw_sums_open(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int r = SKEL_OPEN(vfs_rw_sums, object, cfg, kernel);
	struct vfs_rw_sums_bpf *skel;

	if (r < 0)
		return r;
	skel = object->owner;
	bpf_program__set_autoattach(skel->progs.vfs_rw_sums_send, false);
	return 0;
}

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	decode_rw_sums(d, (const void *)hdr);
}

/* What a CPU has that is offline waits for the end, when any CPU may send it, as nobody adds to it. */
static int vfs_rw_sums_emit(struct probe_object *object, enum probe_emit when)
{
	struct vfs_rw_sums_bpf *skel = object->owner;
	const unsigned int cells = bpf_map__max_entries(skel->maps.dlt_rw_cells);
	int r = 0;

	if (when == PROBE_EMIT_BEGIN)
		return 0;
	if (when == PROBE_EMIT_STOP) {
		skel->bss->ended = 1;
		return 0;
	}
	for (unsigned int cpu = 0; !r && cpu < cells / DLT_RW_CELLS; cpu++) {
		const uint64_t args[] = { cpu };

		if (when == PROBE_EMIT_END)
			r = object_run(skel->progs.vfs_rw_sums_send, args, 1);
		else
			r = object_run_on(skel->progs.vfs_rw_sums_send, cpu, args, 1);
		r = r == -ENXIO ? 0 : r;
	}
	return r;
}

const struct probe vfs_rw_sums_probe = {
	.name = "vfs_rw_sums",
	.help = "the shorter reads and writes that needed no disk, summed per interval by process, call and file",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_vfs_rw_sums),
	.needs = DLT_vfs_rw,
	.flags = PROBE_SELECTABLE | PROBE_ON_DEMAND,
	.option = "--min-latency T",
	.open = vfs_rw_sums_open,
	.decode = decode,
	.emit = vfs_rw_sums_emit,
};
