/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/backend.h"

#include <string.h>

#define TRACING(attach)                       \
	{                                     \
		BPF_PROG_TYPE_TRACING, attach \
	}

/* The cheapest first. */
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
