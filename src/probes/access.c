/* SPDX-License-Identifier: BSD-2-Clause */
/* The access probe: which memory the target touches, as its page faults show it. */
#include "dlt/access.h"

#include <linux/perf_event.h>

#include <bpf/libbpf.h>

#include "access.skel.h"
#include "drain/access.h"
#include "drain/access_runs.h"
#include "kernel/cpu_events.h"
#include "kernel/skel.h"
#include "trace/probe.h"

static const struct field_name source_names[] = { { DLT_ACCESS_FAULTS, "faults" }, { 0, NULL } };
static const struct field_name kind_names[] = {
	{ DLT_ACCESS_UNKNOWN, "-" }, { DLT_ACCESS_HEAP, "heap" }, { DLT_ACCESS_ANON, "anon" },
	{ DLT_ACCESS_STACK, "stack" }, { DLT_ACCESS_FILE, "file" }, { 0, NULL },
};

#define AT(member) offsetof(struct access_row, member)
static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC at the end of the interval, ns", AT(hdr.ts_ns)),
	{ "PID", "process (tgid), as the initial namespace sees it", FIELD_U32, AT(hdr.tgid) },
	{ "SOURCE", "how the accesses were seen: faults (page faults: first accesses of pages, not each access)", FIELD_NAME,
	  AT(source), 0, 0, source_names },
	{ "SPAN_NS", "the interval before TIMESTAMP that they lie in, ns", FIELD_U64, AT(hdr.lat_ns) },
	{ "ADDR", "begin of the first block; where COUNT is 1, the accessed address", FIELD_HEX, AT(addr) },
	{ "BYTES", "of all blocks, each with an equal share of touched bytes; where COUNT is 1, of the page that ADDR is in", FIELD_U64,
	  AT(bytes), .unit = "bytes" },
	{ "TOUCHED", "of them in pages that were accessed", FIELD_U64, AT(touched), .unit = "bytes" },
	{ "WRITTEN", "of them in pages that were written; - if that is not known", FIELD_S64, AT(written), .unit = "bytes" },
	{ "COUNT", "faults", FIELD_S64, AT(count) },
	{ "HUGE", "of TOUCHED in huge pages; - if that is not known", FIELD_S64, AT(huge), .unit = "bytes" },
	{ "NODE", "NUMA node; - if that is not known", FIELD_S64, AT(node) },
	{ "TID", "where COUNT is 1: thread", FIELD_S64, AT(tid) },
	{ "IP", "where COUNT is 1: address of the instruction; - in the kernel", FIELD_ADDR, AT(ip) },
	{ "KIND", "heap, anon (other memory of no file), stack (of the main thread), file; - if that is not known", FIELD_NAME, AT(kind), 0, 0,
	  kind_names },
	FIELD_FID_OF(struct access_row, id),
	{ "OFFSET", "of the first block in the file; - if there is none", FIELD_S64, AT(offset), .unit = "bytes" },
	{ "SITE", "stack of the allocation that has ADDR: joins sites.out; - if that is not known", FIELD_S64, AT(site) },
};
#undef AT

static void decode(struct decode *d, const struct dlt_hdr *hdr)
{
	access_take(d, (const struct dlt_access *)hdr);
}

static int access_open(struct probe_object *o, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	const bool tp = kernel_btf_tp(kernel, "page_fault_user") >= 0, perf = cfg->perf & DLT_PERF_TP;
	int r = tp ? 0 : cpu_events_check(PERF_COUNT_SW_PAGE_FAULTS);
	struct access_bpf *skel;

	if (!r)
		r = SKEL_OPEN(access, o, cfg, kernel);
	if (r < 0)
		return r;
	skel = o->owner;
	bpf_program__set_autoload(skel->progs.access_user, tp && !perf);
	bpf_program__set_autoload(skel->progs.access_kernel, tp && !perf);
	bpf_program__set_autoload(skel->progs.access_user_perf, tp && perf);
	bpf_program__set_autoload(skel->progs.access_kernel_perf, tp && perf);
	bpf_program__set_autoload(skel->progs.access_event, !tp);
	bpf_program__set_autoattach(skel->progs.access_event, false);
	return 0;
}

static void events_free(void *events)
{
	cpu_events_close(events);
}

/* The software event follows the CPUs; tracepoints need nothing. */
static int access_emit(struct probe_object *o, enum probe_emit when)
{
	const struct access_bpf *skel = o->owner;
	struct cpu_events *events = NULL;
	int r = 0;

	if (!bpf_program__autoload(skel->progs.access_event))
		return 0;
	if (when == PROBE_EMIT_BEGIN) {
		r = cpu_events_open(&events, PERF_COUNT_SW_PAGE_FAULTS, bpf_program__fd(skel->progs.access_event));
		o->state = events;
		o->state_free = events_free;
	} else if (when == PROBE_EMIT) {
		cpu_events_follow(o->state); /* a CPU's that fails is tried again */
	} else if (when == PROBE_EMIT_STOP) {
		cpu_events_close(o->state);
		o->state = NULL;
	}
	return r;
}

const struct probe access_probe = {
	.name = "access",
	.help = "which memory is touched: pages with page faults, by block and interval",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_access),
	.seg_at = sizeof(struct access_row), /* which the table describes; there are no strings */
	.flags = PROBE_SELECTABLE | PROBE_ON_DEMAND,
	.open = access_open,
	.decode = decode,
	.emit = access_emit,
};
