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
 * The kernel makes a probed nop of five bytes (0f 1f 44 00 00) on x86 a call of a page of its own, from Linux 6.18 on
 * (arch/x86/kernel/uprobes.c, commit ba2bfc97b462). A child forked without that page dies by SIGSEGV: seen on 6.18.44.
 */
int uprobe_find(const char *path, const char *symbol, uint64_t *offset_ret, char *why, size_t size);

/* Attach PROG there, for all processes. NULL with errno. */
struct bpf_link *uprobe_attach(const struct bpf_program *prog, const char *path, uint64_t offset);

#endif
