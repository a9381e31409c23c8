/* SPDX-License-Identifier: BSD-2-Clause */
/* The syscalls probe: the kernel side adds up, and sends its sums each interval (bpf/calls/syscalls.bpf.c). */
#include "dlt/syscalls.h"

#include <sys/syscall.h>

#include <bpf/libbpf.h>

#include "base/util.h"
#include "kernel/object.h"
#include "kernel/skel.h"
#include "syscalls.skel.h"
#include "trace/probe.h"

static const struct field_name call_names[] = {
	{ DLT_SYSCALLS_COMPAT, "compat" },
#define CALL(name) { __NR_##name, #name },
#include "syscall_names.inc"
#undef CALL
	{ 0, NULL },
};

#define AT(member) offsetof(struct dlt_syscalls, member)
static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC of the row, ns", AT(hdr.ts_ns)),
	{ "PID", "process (tgid), as the initial namespace sees it", FIELD_U32, AT(hdr.tgid) },
	{ "COMM", "name of the first thread that made the call", FIELD_COMM, AT(hdr.comm) },
	{ "CALL", "the system call; compat: all 32-bit ones", FIELD_NAME, AT(nr), 0, 0, call_names },
	{ "SPAN_NS", "time that the row covers, ns", FIELD_U64, AT(hdr.lat_ns) },
	{ "COUNT", "calls that returned", FIELD_U64, AT(count) },
	{ "FAILED", "how many of them failed, also those that a signal interrupts and the kernel restarts", FIELD_U64,
	  AT(failed) },
	{ "TIME_NS", "time in the calls, ns", FIELD_U64, AT(ns) },
	{ "MAX_NS", "the longest one since the trace began, ns", FIELD_U64, AT(max_ns) },
};
#undef AT

static int syscalls_open(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int r = SKEL_OPEN(syscalls, object, cfg, kernel);
	bool perf = cfg->perf & DLT_PERF_TP;
	struct syscalls_bpf *skel;

	if (r < 0)
		return r;
	skel = object->owner;
	skel->rodata->sigreturn_nr = __NR_rt_sigreturn;
	skel->rodata->exit_nr = __NR_exit;
	skel->rodata->exit_group_nr = __NR_exit_group;
	bpf_program__set_autoattach(skel->progs.syscalls_send, false);
	bpf_program__set_autoload(skel->progs.syscalls_enter, !perf);
	bpf_program__set_autoload(skel->progs.syscalls_exit, !perf);
	bpf_program__set_autoload(skel->progs.syscalls_enter_perf, perf);
	bpf_program__set_autoload(skel->progs.syscalls_exit_perf, perf);
	return bpf_map__set_max_entries(skel->maps.starts, cfg->slot_mask + 1);
}

struct sending {
	const struct bpf_program *send;
	bool free_ended; /* a cell of a process that has ended makes room, once all of its sums have been sent */
};

static int cell_send(void *ctx, const void *arg)
{
	const struct sending *sending = ctx;
	const struct dlt_syscalls_key *key = arg;

	return object_run(sending->send,
			  (uint64_t[]){ key->tgid, key->nr, sending->free_ended && util_is_gone((pid_t)key->tgid) }, 3);
}

static int syscalls_send_sums(struct probe_object *object, enum probe_emit when)
{
	struct syscalls_bpf *skel = object->owner;

	if (when == PROBE_EMIT_BEGIN)
		return 0;
	if (when == PROBE_EMIT_STOP) {
		skel->bss->ended = 1;
		return 0;
	}
	return object_each_key(skel->maps.cells, cell_send,
			       &(struct sending){ skel->progs.syscalls_send, when == PROBE_EMIT });
}

const struct probe syscalls_probe = {
	.name = "syscalls",
	.help = "all system calls, summed per interval: number, failures and time by process and call",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_syscalls),
	.flags = PROBE_SELECTABLE | PROBE_ON_DEMAND,
	.open = syscalls_open,
	.emit = syscalls_send_sums,
};
