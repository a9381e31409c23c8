/* SPDX-License-Identifier: BSD-2-Clause */
/* The sched_switch probe: a row for each context switch. */
#include "dlt/sched_switch.h"

#include <bpf/libbpf.h>

#include "kernel/skel.h"
#include "probes/sched/sched.h"
#include "sched_switch.skel.h"
#include "trace/probe.h"

static const struct field_name state_names[] = {
	{ DLT_STATE_R, "R" },      { DLT_STATE_PREEMPTED, "R+" },
	{ DLT_STATE_S, "S" },      { DLT_STATE_D, "D" },
	{ DLT_STATE_I, "I" },      { DLT_STATE_T, "T" },
	{ DLT_STATE_TRACED, "t" }, { DLT_STATE_P, "P" },
	{ DLT_STATE_X, "X" },      { 0, NULL },
};

#define AT(member) offsetof(struct dlt_sched_switch, member)
static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC of the switch, ns", AT(hdr.ts_ns)),
	{ "CPU", "the CPU", FIELD_U32, AT(cpu) },
	{ "PREV_PID", "process that left the CPU; 0: idle", FIELD_U32, AT(hdr.tgid) },
	{ "PREV_TID", "the thread", FIELD_U32, AT(hdr.tid) },
	{ "PREV_COMM", "its name", FIELD_COMM, AT(hdr.comm) },
	{ "PREV_STATE",
	  "why it left: S sleeps, D waits uninterruptibly, R yields, R+ preempted, I a kernel thread without "
	  "work, T stopped, t traced, P parked, X has ended",
	  FIELD_NAME, AT(state), 0, 0, state_names },
	{ "NEXT_PID", "process that got the CPU; 0: idle", FIELD_U32, AT(next_tgid) },
	{ "NEXT_TID", "the thread", FIELD_U32, AT(next_tid) },
	{ "NEXT_COMM", "its name", FIELD_COMM, AT(next_comm) },
	{ "RUN_NS", "how long the thread that left had run, ns; - if it began before the trace", FIELD_S64,
	  AT(run_ns) },
	{ "WAIT_NS", "how long the thread that got the CPU had waited for it, ns; - outside the target", FIELD_S64,
	  AT(wait_ns) },
};
#undef AT

static int sched_switch_open(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int given = sched_state_is_given(kernel), r = given < 0 ? given : SKEL_OPEN(sched_switch, object, cfg, kernel);
	struct sched_switch_bpf *skel;

	if (r < 0)
		return r;
	skel = object->owner;
	skel->rodata->state_is_given = (uint8_t)given;
	r = bpf_map__set_max_entries(skel->maps.cpus, (uint32_t)libbpf_num_possible_cpus());
	return r ? r : bpf_map__set_max_entries(skel->maps.slots, cfg->slot_mask + 1);
}

const struct probe sched_switch_probe = {
	.name = "sched_switch",
	.help = "context switches of the target, one row each: the thread that left the CPU, why, and the thread that "
		"got it",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_sched_switch),
	.flags = PROBE_SELECTABLE | PROBE_ON_DEMAND,
	.open = sched_switch_open,
};
