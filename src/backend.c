/* SPDX-License-Identifier: BSD-2-Clause */
#include "backend.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "util.h"

#define TRACING(attach) { BPF_PROG_TYPE_TRACING, attach }

/* From the cheapest on. */
const struct backend_kind backend_kinds[BACKENDS] = {
	[BACKEND_FENTRY] = {
		.name = "fentry",
		.form = "fentry",
		.hooks = "fentry and fexit of the calls' functions",
		.enter = "fentry_enter",
		.exit = "fexit_exit",
		.enter_type = TRACING(BPF_TRACE_FENTRY),
		.exit_type = TRACING(BPF_TRACE_FEXIT),
		.by_function = true,
		.exit_by_function = true,
		.skips = true,
	},
	[BACKEND_TP_BTF] = {
		.name = "tracepoint",
		.form = "tp_btf",
		.hooks = "tp_btf/sys_enter and sys_exit",
		.enter = "tp_btf_enter",
		.exit = "tp_btf_exit",
		.enter_type = TRACING(BPF_TRACE_RAW_TP),
		.exit_type = TRACING(BPF_TRACE_RAW_TP),
		.skips = true,
	},
	[BACKEND_KPROBE] = {
		.name = "kprobe",
		.form = "kprobe",
		.hooks = "kprobes of the calls' functions and tp/raw_syscalls/sys_exit",
		.enter = "kprobe_enter",
		.exit = "tp_exit",
		.enter_type = { BPF_PROG_TYPE_KPROBE },
		.exit_type = { BPF_PROG_TYPE_TRACEPOINT },
		.by_function = true,
	},
	[BACKEND_TP] = {
		.name = "tracepoint",
		.form = "tp",
		.hooks = "tp/raw_syscalls/sys_enter and sys_exit",
		.enter = "tp_enter",
		.exit = "tp_exit",
		.enter_type = { BPF_PROG_TYPE_TRACEPOINT },
		.exit_type = { BPF_PROG_TYPE_TRACEPOINT },
	},
};

uint32_t backend_parse(const char *name)
{
	uint32_t mask = 0;

	for (unsigned int b = 0; b < BACKENDS; b++)
		if (!strcmp(name, "auto") || !strcmp(name, backend_kinds[b].name) ||
		    !strcmp(name, backend_kinds[b].form))
			mask |= 1U << b;
	return mask;
}

unsigned int backend_rank(uint32_t mask, bool preemptible, enum backend order[BACKENDS])
{
	unsigned int n = 0;

	for (int behind = 0; behind <= 1; behind++)
		for (unsigned int b = 0; b < BACKENDS; b++)
			if (mask >> b & 1 && (preemptible && backend_kinds[b].skips) == behind)
				order[n++] = b;
	return n;
}

void backend_kinds_of(uint32_t mask, bool *skips_ret, bool *others_ret)
{
	*skips_ret = *others_ret = false;
	for (unsigned int b = 0; b < BACKENDS; b++)
		if (mask >> b & 1)
			*(backend_kinds[b].skips ? skips_ret : others_ret) = true;
}

/* --- trials ------------------------------------------------------------------------------------ */

/* Descriptor of a program that does nothing, or -errno. */
static int nothing_load(const struct backend_type *type, uint32_t btf_id)
{
	/* r0 = 0; exit */
	static const struct bpf_insn insns[] = { { .code = 0xb7 }, { .code = 0x95 } };
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type->attach,
		    .attach_btf_id = btf_id);
	int fd = bpf_prog_load(type->type, "dlt_try", "GPL", insns, ARRAY_SIZE(insns), &opts);

	return fd < 0 ? -errno : fd;
}

static int perf_event(struct perf_event_attr *attr, int prog)
{
	autoclose int fd = (int)syscall(SYS_perf_event_open, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) < 0)
		return -errno;
	return 0;
}

static int number_in(const char *path, uint64_t *ret)
{
	char line[32];
	int r = util_read_line(path, line, sizeof(line));

	*ret = r < 0 ? 0 : strtoull(line, NULL, 10);
	return r;
}

static int try_kprobe(const char *func, char *why, size_t size)
{
	static const struct backend_type type = { BPF_PROG_TYPE_KPROBE };
	struct perf_event_attr attr = { .size = sizeof(attr) };
	autoclose int prog = -1;
	uint64_t pmu;
	int r;

	if (number_in("/sys/bus/event_source/devices/kprobe/type", &pmu) < 0) {
		snprintf(why, size, "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)");
		return -ENOENT;
	}
	prog = nothing_load(&type, 0);
	attr.type = (uint32_t)pmu;
	attr.kprobe_func = (uintptr_t)func;
	r = prog < 0 ? prog : perf_event(&attr, prog);
	if (r < 0)
		snprintf(why, size, "%s: %s", func, strerror(-r));
	return r;
}

static int try_tp(const char *name, char *why, size_t size)
{
	static const char *const tracefs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	static const struct backend_type type = { BPF_PROG_TYPE_TRACEPOINT };
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT };
	autoclose int prog = -1;
	int r = -ENOENT;

	for (size_t i = 0; r < 0 && i < ARRAY_SIZE(tracefs); i++) {
		autofree char *path = util_fmt("%s/events/%s/id", tracefs[i], name);
		uint64_t id = 0;

		r = path ? number_in(path, &id) : -ENOMEM;
		attr.config = id;
	}
	if (r < 0) {
		snprintf(why, size, "tracefs: no %s (mount -t tracefs tracefs /sys/kernel/tracing)", name);
		return r;
	}
	prog = nothing_load(&type, 0);
	r = prog < 0 ? prog : perf_event(&attr, prog);
	if (r < 0)
		snprintf(why, size, "tracepoint %s: %s", name, strerror(-r));
	return r;
}

static int try_tracing(const struct backend_type *type, const char *name, int btf_id, char *why,
		       size_t size)
{
	autoclose int prog = -1, link = -1;
	int r;

	if (btf_id < 0) {
		snprintf(why, size, "%s is not in this kernel's BTF", name);
		return btf_id;
	}
	r = prog = nothing_load(type, (uint32_t)btf_id);
	if (prog >= 0) {
		link = bpf_raw_tracepoint_open(NULL, prog);
		r = link < 0 ? -errno : 0;
	}
	if (r < 0)
		snprintf(why, size, "%s on %s: %s", prog < 0 ? "load" : "attach", name, strerror(-r));
	return r < 0 ? r : 0;
}

int backend_try(enum backend b, const struct btf *btf, const char *func, char *why, size_t size)
{
	const struct backend_kind *kind = &backend_kinds[b];
	int r;

	switch (b) {
	case BACKEND_FENTRY:
		return try_tracing(&kind->enter_type, func,
				   btf__find_by_name_kind(btf, func, BTF_KIND_FUNC), why, size);
	case BACKEND_TP_BTF:
		return try_tracing(&kind->enter_type, "sys_enter",
				   btf__find_by_name_kind(btf, "btf_trace_sys_enter", BTF_KIND_TYPEDEF),
				   why, size);
	case BACKEND_KPROBE:
		r = try_kprobe(func, why, size);
		return r < 0 ? r : try_tp("raw_syscalls/sys_exit", why, size);
	case BACKEND_TP:
		return try_tp("raw_syscalls/sys_enter", why, size);
	default:
		return -EINVAL;
	}
}
