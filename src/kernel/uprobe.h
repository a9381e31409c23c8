/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe on an instruction of a file that programs map: whoever maps it meets it. Control plane. */
#ifndef KERNEL_UPROBE_H
#define KERNEL_UPROBE_H

#include <stddef.h>
#include <stdint.h>

struct bpf_link;
struct bpf_program;

/*
 * Looks up the function SYMBOL in the ELF file PATH: 0 with its place in the file, or -errno: -ENOENT, it has none;
 * -ENOTSUP, its first instruction must not have a probe, with the reason in WHY.
 *
 * From Linux 6.18 on the kernel replaces a probed nop of five bytes (0f 1f 44 00 00) on x86 by a call of a page of its own
 * (arch/x86/kernel/uprobes.c). A child forked without that page dies by SIGSEGV (seen on 6.18.44), and the call overwrites
 * what the function has below its stack pointer (linux-trace-kernel, 2026-05-08).
 */
int uprobe_find(const char *path, const char *symbol, uint64_t *offset_ret, char *why, size_t size);

/* Attach PROG there, for all processes. NULL with errno. */
struct bpf_link *uprobe_attach(const struct bpf_program *prog, const char *path, uint64_t offset);

#endif
