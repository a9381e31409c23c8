/* SPDX-License-Identifier: BSD-2-Clause */
/* The waits probe: long waits, and what ended each. The programs of sched send them (bpf/sched/waits.bpf.h). */
#include "dlt/waits.h"

#include "dlt/sched.h"
#include "probes/sched/sched.h"
#include "trace/probe.h"

static const struct field_name state_names[] = {
	{ DLT_SCHED_RUNQ, "runq" },       { DLT_WAITS_THROTTLED, "throttled" }, { DLT_SCHED_DISK, "disk" },
	{ DLT_SCHED_BLOCKED, "blocked" }, { DLT_SCHED_SLEEP, "sleep" },         { 0, NULL },
};

#define AT(member) offsetof(struct dlt_waits, member)
static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_waits),
	{ "CALL", "the call in which the thread waited, as in sched.out; - if it could run", FIELD_NAME, AT(call),
	  .names = sched_call_names },
	{ "STATE",
	  "runq (it could run, and another had the CPU), throttled (it could run, but for the CPU quota of its "
	  "cgroup), disk (it waited for I/O), blocked (uninterruptibly for something else), sleep",
	  FIELD_NAME, AT(state), .names = state_names },
	{ "LAT_NS", "time off the CPU, ns", FIELD_U64, AT(hdr.lat_ns) },
	{ "RUNQ_NS", "the last part of it, in which the thread could run and waited for the CPU, ns", FIELD_S64,
	  AT(runq_ns) },
	{ "BY",
	  "what ended it: thread, exit (a thread that was ending), signal, timer, disk (a request was done), net (a "
	  "packet), kernel (a kernel thread), interrupt (any other), end (the trace ended), ? (not seen); - nothing "
	  "had to",
	  FIELD_NAME, AT(by), .names = wait_by_names },
	{ "BY_PID", "process of the thread that ended it; - if none did", FIELD_S32, AT(by_tgid) },
	{ "BY_TID", "that thread", FIELD_S32, AT(by_tid) },
	{ "BY_COMM", "its name", FIELD_COMM, AT(by_comm) },
	{ "PEER", "remote address and port of the socket", FIELD_PEER, AT(peer) },
	FIELD_FID_OF(struct dlt_waits, id),
	FIELD_FILE_OF(struct dlt_waits, id),
	{ "THROTTLED_NS", "the first part of RUNQ_NS, due to the CPU quota of its cgroup, ns", FIELD_S64,
	  AT(throttled_ns) },
	{ "BY_CALL", "the call in which that thread ended it; - if none did, or in none", FIELD_NAME, AT(by_call),
	  .names = sched_call_names },
};
#undef AT

const struct probe waits_probe = {
	.name = "waits",
	.help = "each wait of 1 ms and more: in which call, how long, and what ended it",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_waits),
	.flags = PROBE_SELECTABLE | PROBE_MAY_LACK,
	.needs = DLT_sched,
};
