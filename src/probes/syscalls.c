/* SPDX-License-Identifier: BSD-2-Clause */
/* The syscalls probe: the kernel side adds up, and sends its sums each interval (bpf/calls/syscalls.bpf.c). */
#include "dlt/syscalls.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
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

/* A cell of a process that has ended makes room, once all of its sums have been sent. */
static void cell_free(int fd, const struct dlt_syscalls_key *key)
{
	struct dlt_syscalls_cell cell;

	if (kill((pid_t)key->tgid, 0) < 0 && errno == ESRCH && bpf_map_lookup_elem(fd, key, &cell) == 0 &&
	    cell.count == cell.sent_count)
		bpf_map_delete_elem(fd, key);
}

/* Have the rows of all cells sent. */
static int cells_send(const struct syscalls_bpf *skel, bool free)
{
	int fd = bpf_map__fd(skel->maps.cells), r = 0, more;
	struct dlt_syscalls_key key, next;

	more = bpf_map_get_next_key(fd, NULL, &next);
	while (r == 0 && more == 0) {
		uint64_t args[] = { next.tgid, next.nr };

		key = next;
		r = object_run(skel->progs.syscalls_send, args, ARRAY_SIZE(args));
		more = bpf_map_get_next_key(fd, &key,
					    &next); /* before KEY goes: without it the iteration would start over */
		if (free)
			cell_free(fd, &key);
	}
	return r;
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
	return cells_send(skel, when == PROBE_EMIT);
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
