/* SPDX-License-Identifier: BSD-2-Clause */
/* The sched probe: the kernel side adds up, and sends its sums each interval (bpf/sched/sched.bpf.c). */
#include "dlt/sched.h"

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
#include "os/cpus.h"
#include "probes/sched/sched.h"
#include "sched.skel.h"
#include "trace/probe.h"

static const struct field_name kind_names[] = {
	{ DLT_SCHED_TARGET, "target" }, { DLT_SCHED_KERNEL, "kernel" }, { DLT_SCHED_SELF, "self" },
	{ DLT_SCHED_OTHER, "other" },   { DLT_SCHED_IDLE, "idle" },     { 0, NULL },
};

const struct field_name sched_call_names[] = {
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

const struct field_name wait_by_names[] = {
	{ DLT_BY_NOTHING, "-" },     { DLT_BY_THREAD, "thread" }, { DLT_BY_EXIT, "exit" },
	{ DLT_BY_SIGNAL, "signal" }, { DLT_BY_TIMER, "timer" },   { DLT_BY_DISK, "disk" },
	{ DLT_BY_NET, "net" },       { DLT_BY_KERNEL, "kernel" }, { DLT_BY_INTERRUPT, "interrupt" },
	{ DLT_BY_END, "end" },       { DLT_BY_UNKNOWN, "?" },     { 0, NULL },
};

#define SUM(i) offsetof(struct dlt_sched, sums[DLT_SCHED_##i])
static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_sched),
	{ "KIND",
	  "owner of the time: target, kernel (a thread of it), self (dltraced, with --all its helpers, before the "
	  "trace the job's process), other (all processes beside the target, as one), idle (an offline CPU, too)",
	  FIELD_NAME, offsetof(struct dlt_sched, kind), 0, 0, kind_names },
	{ "CPU", "the CPU; - in rows of calls", FIELD_S64, offsetof(struct dlt_sched, cpu) },
	{ "CALL",
	  "the call in which the thread waited, fault (a page fault), stopped (by a signal or a debugger), worker (a "
	  "kernel thread that works for the process), compat (a 32-bit call); - in rows of CPUs",
	  FIELD_NAME, offsetof(struct dlt_sched, call), 0, 0, sched_call_names },
	{ "SPAN_NS", "time that the row covers, ns", FIELD_U64, offsetof(struct dlt_sched, hdr.lat_ns) },
	{ "COUNT", "how often the thread got the CPU, or waited in the call", FIELD_S64, SUM(COUNT) },
	{ "PREEMPTED", "how often it lost the CPU while it could run on", FIELD_S64, SUM(PREEMPTED) },
	{ "RUN_NS", "time on the CPU, ns", FIELD_S64, SUM(RUN) },
	{ "RUNQ_NS", "time ready to run and waiting for the CPU, ns", FIELD_S64, SUM(RUNQ) },
	{ "DISK_NS", "time waiting for I/O, ns", FIELD_S64, SUM(DISK) },
	{ "BLOCKED_NS", "time in other uninterruptible waits (kernel locks), ns", FIELD_S64, SUM(BLOCKED) },
	{ "SLEEP_NS", "time in all other waits, ns", FIELD_S64, SUM(SLEEP) },
	{ "MAX_NS", "the longest wait, ns", FIELD_S64, offsetof(struct dlt_sched, max_ns) },
	{ "BY", "what ended the waits, as in waits.out; - in rows of CPUs", FIELD_NAME, offsetof(struct dlt_sched, by),
	  .names = wait_by_names },
	{ "BY_PID", "process of the thread that ended them; - if none did, or several together", FIELD_S32,
	  offsetof(struct dlt_sched, by_tgid) },
	{ "BY_TID", "that thread", FIELD_S32, offsetof(struct dlt_sched, by_tid) },
	{ "THROTTLED_NS", "the part of RUNQ_NS in which the CPU quota of its cgroup was used up, ns", FIELD_S64,
	  SUM(THROTTLED) },
};
#undef SUM

/* --- what differs between kernels ------------------------------------------------------------------ */

/* Calls whose first argument is a descriptor, and that may wait. */
static const int calls_on_fd[] = {
	SYS_read,
	SYS_write,
	SYS_close,
	SYS_fstat,
	SYS_ioctl,
	SYS_pread64,
	SYS_pwrite64,
	SYS_readv,
	SYS_writev,
	SYS_preadv,
	SYS_pwritev,
	SYS_preadv2,
	SYS_pwritev2,
	SYS_sendfile,
	SYS_splice,
	SYS_tee,
	SYS_vmsplice,
	SYS_connect,
	SYS_accept,
	SYS_accept4,
	SYS_sendto,
	SYS_recvfrom,
	SYS_sendmsg,
	SYS_recvmsg,
	SYS_sendmmsg,
	SYS_recvmmsg,
	SYS_fcntl,
	SYS_flock,
	SYS_fsync,
	SYS_fdatasync,
	SYS_syncfs,
	SYS_ftruncate,
	SYS_fallocate,
	SYS_getdents64,
	SYS_fadvise64,
	SYS_readahead,
	SYS_copy_file_range,
#ifdef SYS_getdents
	SYS_getdents,
#endif
#ifdef SYS_sync_file_range
	SYS_sync_file_range,
#endif
};

/* Those that wait for the thread's own requests, whose ends are interrupts. */
static const int calls_for_disk[] = { SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter };

/* Where the count of a CPU's interrupts is: see bpf/sched/sched_waker.bpf.h. */
static void count_find(struct sched_bpf *skel, const struct kernel_btf *kernel)
{
	uint32_t queue, count;

	if (!kernel_btf_percpu(kernel, "runqueues", &queue) ||
	    (!kernel_btf_percpu(kernel, "__preempt_count", &count) && !kernel_btf_percpu(kernel, "pcpu_hot", &count)))
		return;
	skel->rodata->count_from_queue = (int64_t)count - (int64_t)queue;
	skel->rodata->count_known = 1;
}

/* Whether only the queue of a thread shows that its cgroup's quota is used up: bpf/sched/sched_quota.bpf.h. */
static bool queues_throttle(const struct kernel_btf *kernel)
{
	return btf_has_member(kernel->btf, BTF_KIND_STRUCT, "cfs_rq", "throttle_count") &&
	       !btf_has_member(kernel->btf, BTF_KIND_STRUCT, "task_struct", "throttled");
}

/* What ends waits is looked at if they have rows, or sums. */
static void wakers_choose(struct sched_bpf *skel, const struct kernel_btf *kernel)
{
	bool irqs;

	count_find(skel, kernel);
	irqs = !skel->rodata->count_known;
	for (size_t i = 0; i < ARRAY_SIZE(calls_on_fd); i++)
		skel->rodata->calls_on_fd[calls_on_fd[i] / 64] |= 1ULL << (calls_on_fd[i] & 63);
	for (size_t i = 0; i < ARRAY_SIZE(calls_for_disk); i++)
		skel->rodata->calls_for_disk[i] = (uint32_t)calls_for_disk[i];
	bpf_program__set_autoload(skel->progs.sched_sock, kernel_btf_tp(kernel, "sk_data_ready") >= 0);
	bpf_program__set_autoload(skel->progs.sched_queued, queues_throttle(kernel));
	bpf_program__set_autoload(skel->progs.sched_irq_begins, irqs);
	bpf_program__set_autoload(skel->progs.sched_irq_ends, irqs);
	bpf_program__set_autoload(skel->progs.sched_softirq_begins, irqs);
	bpf_program__set_autoload(skel->progs.sched_softirq_ends, irqs);
}

static int sched_open(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int given = sched_state_is_given(kernel), r = given < 0 ? given : SKEL_OPEN(sched, object, cfg, kernel);
	uint32_t n_cpus = (uint32_t)libbpf_num_possible_cpus();
	struct sched_bpf *skel;

	if (r < 0)
		return r;
	skel = object->owner;
	skel->rodata->state_is_given = (uint8_t)given;
	/* 5.15, commit dd6e10fbd9fb */
	skel->rodata->by_stack = !btf_has_member(kernel->btf, BTF_KIND_ENUM, "bpf_func_id", "BPF_FUNC_task_pt_regs");
	wakers_choose(skel, kernel);
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
	uint32_t first = cpu * DLT_SCHED_CELLS, idles = first + DLT_SCHED_CELL_IDLE,
		 others = first + DLT_SCHED_CELL_OTHER;
	struct dlt_sched_cpu c = { .online = online };
	int cells = bpf_map__fd(skel->maps.cells);

	snprintf(idle.comm, sizeof(idle.comm), "swapper/%u", cpu); /* as the kernel calls them */
	if (bpf_map_update_elem(cells, &idles, &idle, BPF_ANY) < 0 ||
	    bpf_map_update_elem(cells, &others, &other, BPF_ANY) < 0 ||
	    bpf_map_update_elem(bpf_map__fd(skel->maps.cpus), &cpu, &c, BPF_ANY) < 0)
		return -errno;
	return 0;
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

#define HOOKS_WAIT_MS 2000

/*
 * Waits for hooks that were running when the trace ended: on a virtual machine a CPU may stand still within one. Those
 * that begin later change nothing. Returns the end, which is later than END_NS where hooks have counted a later switch:
 * it had passed before clock_stop() came to set it.
 */
static uint64_t hooks_wait(const struct sched_bpf *skel, uint64_t end_ns)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	uint32_t n = bpf_map__max_entries(skel->maps.cpus);
	unsigned int waited_ms = 0;

	for (uint32_t cpu = 0; cpu < n; cpu++) {
		struct dlt_sched_cpu c = {};

		while (bpf_map_lookup_elem(bpf_map__fd(skel->maps.cpus), &cpu, &c) == 0 && c.seq & 1 &&
		       waited_ms < HOOKS_WAIT_MS) {
			nanosleep(&nap, NULL);
			waited_ms++;
		}
		end_ns = MAX(end_ns, c.since_ns);
	}
	return end_ns;
}

/* Have the rows of all cells sent, some at a time: the CPU does nothing else meanwhile. */
static int cells_send(const struct sched_bpf *skel)
{
	uint32_t n_cpus = bpf_map__max_entries(skel->maps.cpus);
	bool online[n_cpus];
	int r = 0;

	cpus_online(online, n_cpus);
	for (uint32_t first = 0; !r && first < n_cpus * DLT_SCHED_CELLS; first += DLT_SCHED_SENDS)
		r = object_run(skel->progs.sched_send, (uint64_t[]){ first, online[first / DLT_SCHED_CELLS] }, 2);
	return r;
}

static int sched_send_sums(struct probe_object *object, enum probe_emit when)
{
	struct sched_bpf *skel = object->owner;
	volatile struct dlt_sched_clock *clock = &skel->bss->sched_clock;
	int r = 0;

	switch (when) {
	case PROBE_EMIT_BEGIN:
		r = cpus_begin(skel, clock_now_ns(CLOCK_MONOTONIC));
		if (!r)
			r = object_iterate(skel->progs.sched_tasks, 0);
		clock->begin_ns = clock_now_ns(CLOCK_MONOTONIC);
		return r;
	case PROBE_EMIT_STOP:
		clock_stop(clock);
		return 0;
	case PROBE_EMIT_END:
		clock->end_ns = hooks_wait(skel, clock->end_ns);
		r = object_iterate(skel->progs.sched_tasks, 0);
		break;
	case PROBE_EMIT:
		break;
	}
	return r ? r : cells_send(skel);
}

const struct probe sched_probe = {
	.name = "sched",
	.help = "CPU scheduling, summed per interval: time on each CPU, and waits for a CPU, for a disk, and in each "
		"call",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_sched),
	.flags = PROBE_SELECTABLE | PROBE_MAY_LACK | PROBE_OWN_SCRATCH,
	.open = sched_open,
	.emit = sched_send_sums,
};
