// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* hooks: the least that hooks on every system call's begin and end can cost: two empty programs. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/sys_enter")
int sys_enter(void *ctx)
{
	return 0;
}

SEC("tp_btf/sys_exit")
int sys_exit(void *ctx)
{
	return 0;
}
