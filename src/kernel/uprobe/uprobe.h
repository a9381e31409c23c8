/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe on a function of a file that programs map. Control plane. */
#ifndef KERNEL_UPROBE_UPROBE_H
#define KERNEL_UPROBE_UPROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel/uprobe/prologue.h"

struct bpf_link;
struct bpf_program;

struct uprobe_point {
	uint64_t offset; /* in the file */
	bool not_zero; /* see struct prologue_point */
	char why[160]; /* why it has none, after -ENOTSUP */
};

/*
 * Looks up the function SYMBOL in the ELF file FD: 0 with the instruction of it that may have a probe, or -errno:
 * -ENOENT, it has none of this name; -ENOTSUP, the function must not have a probe, with the reason; -ENOEXEC, it is no
 * ELF file of 64 bits, or one of more sections than programs have. Nothing of the file is believed.
 *
 * From Linux 6.18 on the kernel replaces a probed nop of five bytes (0f 1f 44 00 00) on x86 by a call of a page of its
 * own (arch/x86/kernel/uprobes.c). A child forked without that page dies by SIGSEGV (seen on 6.18.44), and the call
 * overwrites what the function has below its stack pointer (linux-trace-kernel, 2026-05-08).
 */
int uprobe_find(int fd, const char *symbol, const struct prologue_need *need, struct uprobe_point *ret);

/*
 * Attach PROG there, for process PID and the programs that it will execute, -1: for all. FD may have no name any more,
 * or its name may be another file's by now. NULL with errno.
 */
struct uprobe_on {
	int fd;
	uint64_t offset;
	bool returns; /* not at this instruction, but where the function that begins there returns to */
	pid_t pid;
};
struct bpf_link *uprobe_attach(const struct bpf_program *prog, const struct uprobe_on *on);

#endif
