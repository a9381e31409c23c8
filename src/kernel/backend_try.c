/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Can a backend be used on this kernel? To be attached is not enough: with ftrace or kprobes switched off
 * (sysctl kernel.ftrace_enabled, debugfs kprobes/enabled) some kernels attach programs that never run. So
 * the trial's program notes that it has run, and we make a call.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "base/util.h"
#include "kernel/backend.h"
#include "os/thread.h"

#define ENOTSUPP 524 /* include/linux/errno.h, of the kernel alone */

/* The call of the trial: close(-1) does no harm. */
#define FUNC BACKEND_FUNC_PREFIX "close"

struct trial {
	int ran; /* a map of one value: 1 once a program has run */
	int prog, hook;
	char *why;
	size_t size;
};

/* Loads a program that notes that it has run; 0 or -errno. */
static int program_load(struct trial *trial, const struct backend_type *type, int btf_id)
{
	const struct bpf_insn insns[] = {
		/* r1 = &value; *(u64 *)r1 = 1; r0 = 0; exit */
		/* NOLINTNEXTLINE(misc-redundant-expression): two of them are 0 */
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = trial->ran },
		{ 0 },
		{ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 1, .imm = 1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type->attach, .attach_btf_id = (uint32_t)btf_id);

	trial->prog = bpf_prog_load(type->type, "dlt_try", "GPL", insns, ARRAY_SIZE(insns), &opts);
	return trial->prog < 0 ? -errno : 0;
}

/* NAME is hooked: does a call run the program? */
static int call_is_seen(struct trial *trial, const char *name)
{
	uint32_t zero = 0;
	uint64_t ran = 0;

	syscall(SYS_close, -1);
	if (bpf_map_lookup_elem(trial->ran, &zero, &ran) == 0 && ran)
		return 0;
	snprintf(trial->why, trial->size,
		 "%s: attached, but never run (see sysctl kernel.ftrace_enabled and "
		 "/sys/kernel/debug/kprobes/enabled)",
		 name);
	return -ENOTSUP;
}

static int number_in(const char *path, uint64_t *ret)
{
	char line[32];
	int r = util_read_line(path, line, sizeof(line));

	*ret = r < 0 ? 0 : strtoull(line, NULL, 10);
	return r;
}

/* By perf's event ATTR; GROUP and NAME are for the message. */
static int try_perf(struct trial *trial, const struct backend_type *type, struct perf_event_attr *attr,
		    const char *group, const char *name)
{
	int r = program_load(trial, type, 0);

	if (!r) {
		trial->hook = (int)syscall(SYS_perf_event_open, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
		r = trial->hook < 0 || ioctl(trial->hook, PERF_EVENT_IOC_SET_BPF, trial->prog) < 0 ? -errno : 0;
	}
	if (r < 0)
		snprintf(trial->why, trial->size, "%s%s: %s", group, name, strerror(-r));
	return r < 0 ? r : call_is_seen(trial, name);
}

static int try_kprobe(struct trial *trial, const struct backend_type *type, const char *func)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .kprobe_func = (uintptr_t)func };
	uint64_t pmu;

	if (number_in("/sys/bus/event_source/devices/kprobe/type", &pmu) < 0) {
		snprintf(trial->why, trial->size, "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
		return -ENOENT;
	}
	attr.type = (uint32_t)pmu;
	return try_perf(trial, type, &attr, "", func);
}

static int try_tp(struct trial *trial, const struct backend_type *type, const char *name)
{
	static const char *const tracefs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT };
	int r = -ENOENT;

	for (size_t i = 0; r < 0 && i < ARRAY_SIZE(tracefs); i++) {
		autofree char *path = util_fmt("%s/events/raw_syscalls/%s/id", tracefs[i], name);
		uint64_t id = 0;

		r = path ? number_in(path, &id) : -ENOMEM;
		attr.config = id;
	}
	if (r < 0) {
		snprintf(trial->why, trial->size,
			 "tracefs: no raw_syscalls/%s (mount -t tracefs tracefs /sys/kernel/tracing)", name);
		return r;
	}
	return try_perf(trial, type, &attr, "raw_syscalls/", name);
}

/* What a kernel lacks that refuses a hook of this type by ERR; "": it is not known. */
static const char *lack_of(const struct backend_type *type, int err)
{
#ifdef __aarch64__
	/* the calls into a program from a function came with commit 2aa6ac03516d */
	if (type->attach != BPF_TRACE_RAW_TP && err == -ENOTSUPP)
		return " (arm64 has it from Linux 6.4 on)";
#endif
	return "";
}

static int try_tracing(struct trial *trial, const struct backend_type *type, const char *name, int btf_id)
{
	int r;

	if (btf_id < 0) {
		snprintf(trial->why, trial->size, "%s is not in this kernel's BTF", name);
		return btf_id;
	}
	r = program_load(trial, type, btf_id);
	if (!r) {
		trial->hook = bpf_raw_tracepoint_open(NULL, trial->prog);
		r = trial->hook < 0 ? -errno : 0;
	}
	if (r < 0)
		snprintf(trial->why, trial->size, "%s on %s: %s%s", trial->prog < 0 ? "load" : "attach", name,
			 r == -ENOTSUPP ? "this kernel cannot" : strerror(-r), lack_of(type, r));
	return r < 0 ? r : call_is_seen(trial, name);
}

/* The hook at the start of calls, or at their end. */
static int try_hook(struct trial *trial, enum backend b, bool enter, const struct btf *btf)
{
	const struct backend_type *type = enter ? &backend_kinds[b].enter_type : &backend_kinds[b].exit_type;

	if (type->type == BPF_PROG_TYPE_KPROBE)
		return try_kprobe(trial, type, FUNC);
	if (type->type == BPF_PROG_TYPE_TRACEPOINT)
		return try_tp(trial, type, enter ? "sys_enter" : "sys_exit");
	if (type->attach != BPF_TRACE_RAW_TP)
		return try_tracing(trial, type, FUNC, btf__find_by_name_kind(btf, FUNC, BTF_KIND_FUNC));
	return try_tracing(trial, type, enter ? "sys_enter" : "sys_exit",
			   btf__find_by_name_kind(btf, enter ? "btf_trace_sys_enter" : "btf_trace_sys_exit",
						  BTF_KIND_TYPEDEF));
}

static void *hook_close(void *fd)
{
	close((int)(intptr_t)fd);
	return NULL;
}

/* The kernel releases perf's hooks after 75 ms, when nothing can be running in them: nothing to wait for. */
static void hook_drop(int *fd, const struct backend_type *type)
{
	if (*fd >= 0 && type->type != BPF_PROG_TYPE_TRACING && !thread_start(NULL, hook_close, (void *)(intptr_t)*fd))
		*fd = -1;
	util_close(fd);
}

int backend_try(enum backend b, const struct btf *btf, char *why, size_t size)
{
	/* the end's hook is of the start's kind, unless it has one of its own */
	bool both = backend_kinds[b].enter_type.type != backend_kinds[b].exit_type.type;
	int r = 0;

	for (int enter = 1, last = both ? 0 : 1; !r && enter >= last; enter--) {
		struct trial t = { .prog = -1, .hook = -1, .why = why, .size = size };

		t.ran = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dlt_try", sizeof(uint32_t), sizeof(uint64_t), 1, NULL);
		if (t.ran < 0) {
			r = -errno;
			snprintf(why, size, "a BPF map: %s", strerror(errno));
		} else {
			r = try_hook(&t, b, enter, btf);
		}
		hook_drop(&t.hook, enter ? &backend_kinds[b].enter_type : &backend_kinds[b].exit_type);
		util_close(&t.prog);
		util_close(&t.ran);
	}
	return r;
}
