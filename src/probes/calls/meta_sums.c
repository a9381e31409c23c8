/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The meta_sums probe: the handlers of meta add up in the kernel (bpf/calls/meta.bpf.c), and each interval what has
 * been added is sent (bpf/calls/meta_sums.bpf.c). drain/rows/folders.c knows the folders' names.
 */
#include <bpf/libbpf.h>

#include "base/util.h"
#include "drain/rows/folders.h"
#include "kernel/object.h"
#include "kernel/skel.h"
#include "meta_sums.skel.h"
#include "probes/calls/meta.h"
#include "trace/probe.h"

/* In the order of meta's table of calls. */
enum {
#define CALL(name, shape, func) CALL_##name,
	META_CALLS(CALL)
#undef CALL
};
static const struct field_name func_names[] = {
#define CALL(name, shape, func) { CALL_##name, #name },
	META_CALLS(CALL)
#undef CALL
		{},
};

#define AT(member) offsetof(struct dlt_meta_sums, member)
static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC of the row, ns", AT(hdr.ts_ns)),
	{ "PID", "process (tgid), as the initial namespace sees it", FIELD_U32, AT(hdr.tgid) },
	{ "COMM", "name of the first thread that made such a call", FIELD_COMM, AT(hdr.comm) },
	{ "FUNC", "the call", FIELD_NAME, AT(key.func), .names = func_names },
	{ "REQUEST", "of ioctl the request, of fcntl the command, in hex if its name is not known", FIELD_FLAGS,
	  AT(key.request), 32, .names = meta_request_names },
	{ "SPAN_NS", "time that the row covers, ns", FIELD_U64, AT(hdr.lat_ns) },
	{ "COUNT", "calls that returned, those of meta.out too", FIELD_U64, AT(count) },
	{ "FAILED", "how many of them failed", FIELD_U64, AT(failed) },
	{ "ERRNO", "of the last one that failed", FIELD_S64, AT(error) },
	{ "TIME_NS", "time in the calls, ns", FIELD_U64, AT(ns) },
	{ "MAX_NS", "the longest one since the trace began, ns", FIELD_U64, AT(max_ns) },
	{ "DIR",
	  "the folder of the path as passed, made absolute, links are not resolved; of a call on a descriptor, that of "
	  "its file, and a folder's own; - none (pipes, sockets), or not known",
	  FIELD_USTR, AT(segs) },
};
#undef AT

/* --- sending ------------------------------------------------------------------------------------ */

static int meta_sums_open(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int r = SKEL_OPEN(meta_sums, object, cfg, kernel);
	struct meta_sums_bpf *skel;

	if (r < 0)
		return r;
	skel = object->owner;
	bpf_program__set_autoattach(skel->progs.meta_sums_send, false);
	return 0;
}

struct sending {
	const struct bpf_program *send;
	bool free_ended; /* a cell of a process that has ended makes room */
};

static int cell_send(void *ctx, const void *arg)
{
	const struct sending *sending = ctx;
	const struct dlt_meta_key *key = arg;

	return object_run(sending->send,
			  (uint64_t[]){ key->folder, key->request, key->tgid, key->func,
					sending->free_ended && util_is_gone((pid_t)key->tgid) },
			  5);
}

static int meta_sums_emit(struct probe_object *object, enum probe_emit when)
{
	struct meta_sums_bpf *skel = object->owner;

	if (when == PROBE_EMIT_BEGIN)
		return 0;
	if (when == PROBE_EMIT_STOP) {
		skel->bss->ended = 1;
		return 0;
	}
	return object_each_key(skel->maps.dlt_meta_cells, cell_send,
			       &(struct sending){ skel->progs.meta_sums_send, when == PROBE_EMIT });
}

const struct probe meta_sums_probe = {
	.name = "meta_sums",
	.help = "the calls of meta, summed per interval: number, failures and time by process, call and folder",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_meta_sums),
	.needs = DLT_meta,
	.flags = PROBE_SELECTABLE,
	.open = meta_sums_open,
	.decode = folders_take,
	.emit = meta_sums_emit,
};
