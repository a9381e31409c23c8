/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The backends: the hooks at a system call's start and end, as data, and whether this kernel allows each.
 * Control plane. Knows no probe.
 */
#ifndef KERNEL_BACKEND_H
#define KERNEL_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

enum backend { BACKEND_FENTRY, BACKEND_TP_BTF, BACKEND_KPROBE, BACKEND_TP, BACKENDS };

/* The type of a BPF program, as the kernel sees it. */
struct backend_type {
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
};

struct backend_kind {
	const char *name; /* in --backend and manifest.json; two share "tracepoint" */
	const char *form; /* in --backend, for one of those two; else NAME */
	const char *hooks; /* in words, for people */
	const char *enter, *exit; /* programs of calls.bpf.c */
	struct backend_type enter_type, exit_type; /* and of the handlers they tail-call */
	bool by_function; /* a hook per call at the start, else one for all */
	bool exit_by_function;
	bool skips; /* preemptible while it runs: the kernel skips other runs of it (see preempt.h) */
};

extern const struct backend_kind backend_kinds[BACKENDS];

/* Parses "auto", a name or a form to a mask of 1 << enum backend, 0: no such name. */
uint32_t backend_parse(const char *name);

/*
 * Sorts those of MASK, the cheapest first, where PREEMPTIBLE those that lose runs after those that do not
 * (docs/design.md has the figures). Returns their number.
 */
unsigned int backend_rank(uint32_t mask, bool preemptible, enum backend order[BACKENDS]);

/* The prefix of the kernel's functions of system calls. */
#if defined(__x86_64__)
#define BACKEND_FUNC_PREFIX "__x64_sys_"
#elif defined(__aarch64__)
#define BACKEND_FUNC_PREFIX "__arm64_sys_"
#else
#define BACKEND_FUNC_PREFIX "__unknown_sys_" /* no function was found: tracepoints remain */
#endif

struct btf;

/*
 * Try it for real (backend_try.c): attach a program and make a call, which it must see; nothing stays
 * attached. BTF: vmlinux's. 0, or -errno with the reason and, if there is one, a remedy in WHY.
 */
int backend_try(enum backend b, const struct btf *btf, char *why, size_t size);

#endif
