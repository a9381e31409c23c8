/* SPDX-License-Identifier: BSD-2-Clause */
/* The sched probe: the kernel side adds up, and sends its sums each interval (bpf/sched.bpf.c). */
#include "dlt/sched.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/util.h"
#include "kernel/object.h"
#include "kernel/skel.h"
#include "probes/sched.h"
#include "sched.skel.h"
#include "trace/probe.h"

static const struct field_name kind_names[] = {
	{ DLT_SCHED_TARGET, "target" }, { DLT_SCHED_KERNEL, "kernel" }, { DLT_SCHED_SELF, "self" },
	{ DLT_SCHED_OTHER, "other" },	{ DLT_SCHED_IDLE, "idle" },	{ 0, NULL },
};

static const struct field_name call_names[] = {
	{ DLT_SCHED_NO_CALL, "-" },
	{ DLT_SCHED_FAULT, "fault" },
	{ DLT_SCHED_WORKER, "worker" },
	{ DLT_SCHED_COMPAT, "compat" },
	{ DLT_SCHED_STOPPED, "stopped" },
#define CALL(name) { __NR_##name, #name },
#include "syscall_names.inc"
#undef CALL
	{ 0, NULL },
};

#define SUM(i) offsetof(struct dlt_sched, sums[DLT_SCHED_##i])
static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_sched),
	{ "KIND", "whose time it is: target, kernel (a thread of it), self (dltraced), other (all processes beside the "
	  "target, as one), idle", FIELD_NAME, offsetof(struct dlt_sched, kind), 0, 0, kind_names },
	{ "CPU", "row of a CPU: which; - in rows of calls", FIELD_S64, offsetof(struct dlt_sched, cpu) },
	{ "CALL", "row of a call: the one that the thread waited in, fault (none: a page fault), stopped (by a "
	  "signal or a debugger, whatever the call), worker (the thread is the kernel's work for the process), compat (a "
	  "32-bit call); - in rows of CPUs",
	  FIELD_NAME, offsetof(struct dlt_sched, call), 0, 0, call_names },
	{ "SPAN_NS", "time since the last such row, which this one is about, ns", FIELD_U64, offsetof(struct dlt_sched, hdr.lat_ns) },
	{ "COUNT", "times that the thread was given the CPU; in a call: that it waited", FIELD_S64, SUM(COUNT) },
	{ "PREEMPTED", "times that the CPU was taken away while it could have run on", FIELD_S64, SUM(PREEMPTED) },
	{ "RUN_NS", "time on the CPU, ns", FIELD_S64, SUM(RUN) },
	{ "RUNQ_NS", "time that it could have run and waited for the CPU, ns", FIELD_S64, SUM(RUNQ) },
	{ "DISK_NS", "time waited for I/O, ns", FIELD_S64, SUM(DISK) },
	{ "BLOCKED_NS", "time waited uninterruptibly for other things, locks of the kernel for one, ns", FIELD_S64, SUM(BLOCKED) },
	{ "SLEEP_NS", "time waited for all else, ns", FIELD_S64, SUM(SLEEP) },
	{ "MAX_NS", "the longest wait, ns", FIELD_S64, offsetof(struct dlt_sched, max_ns) },
};
#undef SUM

/* --- what differs between kernels ------------------------------------------------------------------ */

/* arch/x86/include/asm/page_64_types.h, arch/arm64/include/asm/memory.h, without a sanitizer in the kernel */
#define STACK_BYTES 16384

static int sched_open(struct probe_object *o, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int given = sched_state_is_given(kernel), r = given < 0 ? given : SKEL_OPEN(sched, o, cfg, kernel);
	uint32_t n_cpus = (uint32_t)libbpf_num_possible_cpus();
	struct sched_bpf *skel;

	if (r < 0)
		return r;
	skel = o->owner;
	skel->rodata->state_is_given = (uint8_t)given;
	/* 5.15, commit dd6e10fbd9fb */
	skel->rodata->stack_bytes = btf_has_member(kernel->btf, BTF_KIND_ENUM, "bpf_func_id", "BPF_FUNC_task_pt_regs") ?
		0 : STACK_BYTES;
	bpf_program__set_autoattach(skel->progs.sched_send, false);
	bpf_program__set_autoattach(skel->progs.sched_tasks, false);
	r = bpf_map__set_max_entries(skel->maps.cells, n_cpus * DLT_SCHED_CELLS);
	if (!r)
		r = bpf_map__set_max_entries(skel->maps.cpus, n_cpus);
	if (!r)
		r = bpf_map__set_max_entries(skel->maps.slots, cfg->slot_mask + 1);
	return r;
}

/* --- sending ---------------------------------------------------------------------------------------- */

/* The first two cells of each CPU have fixed owners. */
static int cpu_begin(const struct sched_bpf *skel, uint32_t cpu, bool online, uint64_t now_ns)
{
	struct dlt_sched_cell idle = { .kind = DLT_SCHED_IDLE, .call = DLT_SCHED_NO_CALL, .sent_ns = now_ns };
	struct dlt_sched_cell other = { .kind = DLT_SCHED_OTHER, .call = DLT_SCHED_NO_CALL, .sent_ns = now_ns };
	uint32_t first = cpu * DLT_SCHED_CELLS, idles = first + DLT_SCHED_CELL_IDLE, others = first + DLT_SCHED_CELL_OTHER;
	struct dlt_sched_cpu c = { .online = online };
	int cells = bpf_map__fd(skel->maps.cells);

	snprintf(idle.comm, sizeof(idle.comm), "swapper/%u", cpu); /* as the kernel calls them */
	if (bpf_map_update_elem(cells, &idles, &idle, BPF_ANY) < 0 ||
	    bpf_map_update_elem(cells, &others, &other, BPF_ANY) < 0 ||
	    bpf_map_update_elem(bpf_map__fd(skel->maps.cpus), &cpu, &c, BPF_ANY) < 0)
		return -errno;
	return 0;
}

void sched_cpus_in(const char *list, bool *in, unsigned int n)
{
	char *at = (char *)list;

	memset(in, 0, n * sizeof(*in));
	while (isdigit((unsigned char)*at)) {
		unsigned long first = strtoul(at, &at, 10), last = *at == '-' ? strtoul(at + 1, &at, 10) : first;

		for (; first <= last && first < n; first++)
			in[first] = true;
		at += *at == ',';
	}
}

static void cpus_online(bool *online, unsigned int n)
{
	char list[4096];

	if (util_read_line("/sys/devices/system/cpu/online", list, sizeof(list)) == 0)
		sched_cpus_in(list, online, n);
	else
		memset(online, true, n * sizeof(*online));
}

static int cpus_begin(const struct sched_bpf *skel, uint64_t now_ns)
{
	unsigned int n = bpf_map__max_entries(skel->maps.cpus);
	bool online[n];
	int r = 0;

	cpus_online(online, n);
	for (unsigned int cpu = 0; !r && cpu < n; cpu++)
		r = cpu_begin(skel, cpu, online[cpu], now_ns);
	return r;
}

/*
 * The end is set a little ahead, and waited for: each switch is before it or after, and none is counted
 * half. The hooks check it, so it does not matter how long they take to detach.
 */
static void clock_stop(volatile struct dlt_sched_clock *clock)
{
	uint64_t end_ns = clock_now_ns(CLOCK_MONOTONIC) + 500000;
	struct timespec at = { .tv_sec = (time_t)(end_ns / 1000000000), .tv_nsec = (long)(end_ns % 1000000000) };

	clock->end_ns = end_ns;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static int sched_send_sums(struct probe_object *o, enum probe_tell when)
{
	struct sched_bpf *skel = o->owner;
	volatile struct dlt_sched_clock *clock = &skel->bss->sched_clock;
	int r = 0;

	switch (when) {
	case PROBE_TELL_BEGIN:
		r = cpus_begin(skel, clock_now_ns(CLOCK_MONOTONIC));
		if (!r)
			r = object_iterate(skel->progs.sched_tasks, 0, -1);
		clock->begin_ns = clock_now_ns(CLOCK_MONOTONIC);
		return r;
	case PROBE_TELL_STOP:
		clock_stop(clock);
		return 0;
	case PROBE_TELL_END:
		r = object_iterate(skel->progs.sched_tasks, 0, -1);
		break;
	case PROBE_TELL:
		break;
	}
	return r ? r : object_iterate(skel->progs.sched_send, 0, bpf_map__fd(skel->maps.cells));
}

const struct probe sched_probe = {
	.name = "sched",
	.help = "CPU scheduling, summed up per interval: who had which CPU, who waited for one, for a disk, in which call",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_sched),
	.flags = PROBE_SELECTABLE | PROBE_SCHED_SUMS | PROBE_SCHED_TIMELINE,
	.open = sched_open,
	.tell = sched_send_sums,
};
