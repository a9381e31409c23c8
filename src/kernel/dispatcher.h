/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One backend in use: calls.bpf.c loaded for it, the handlers of the probes that use it, and the hooks.
 * Control plane. The caller decides which probe uses which backend.
 *
 * Tail calls go between programs of one type and, for fexit from 6.12 on (commit 28ead3eaabc1), of
 * functions with one prototype: so there is a dispatcher per backend and prototype. BTF has two or three
 * for our f(const struct pt_regs *): the parameter's name differs in a call without arguments (sync) and in
 * the stub of a call that a kernel may be built without (COND_SYSCALL).
 */
#ifndef KERNEL_DISPATCHER_H
#define KERNEL_DISPATCHER_H

#include "dlt/dlt.h"
#include "kernel/backend.h"
#include "trace/probe.h"
#include "trace/probe_mask.h"

struct bpf_link;
struct calls_bpf;

/* The kernel's function of a system call, by number. */
struct call_func {
	char name[48]; /* "": this kernel has none */
	int id, proto; /* BTF ids of it and of its prototype */
	bool opaque; /* where BTF has the stub, struct pt_regs may be a forward declaration: no typed loads */
};

/* One of our programs on a kernel hook. */
struct hook {
	unsigned int probe; /* 0: of all probes */
	int nr; /* -1: of all calls */
	bool enter; /* of the start of calls */
	bool spare; /* optional: it adds to rows, and no row depends on it */
	struct bpf_program *prog;
	int prog_fd; /* a copy where fentry or fexit name the function, else the object's */
	bool own_fd;
	int link_fd; /* -1: not attached, or LINK is in use */
	struct bpf_link *link;
};

struct dispatcher {
	unsigned int number;
	enum backend backend;
	int proto; /* BTF id of the functions' prototype, 0 where it does not matter */
	bool enrich; /* with the probes' fentry and fexit programs on functions inside the calls */
	const struct call_func *funcs; /* DLT_SYSCALLS of them */
	struct dlt_config cfg;
	const struct kernel_btf *kernel;
	/* for the dispatcher itself */
	bool opaque; /* its functions are */
	const struct call_func *load_for; /* the one that programs by function are loaded for */
	struct calls_bpf *skel;
	probe_mask probes; /* the probes that it serves */
	struct probe_object objects[DLT_PROBES];
	struct hook *hooks;
	unsigned int n_hooks;
	char error[256]; /* the reason of the last failure */
};

/* Gives its objects the trace's maps: 0 or -errno. */
typedef int (*dispatcher_share_fn)(void *ctx, struct bpf_object *obj);

/* Sets D to the caller's values, and zeros elsewhere. */
void dispatcher_init(struct dispatcher *d);

/* Load PROBE's handlers, if it serves any of its calls: 0, or -errno, and then nothing of the probe stays. */
int dispatcher_add(struct dispatcher *dispatcher, unsigned int probe, dispatcher_share_fn share, void *ctx);

/* Load the hooks' programs for the calls of all added probes, and register the handlers. */
int dispatcher_load(struct dispatcher *dispatcher, dispatcher_share_fn share, void *ctx);

/* Attach the hooks of all calls (PROBE 0), or of PROBE's; the ends of calls first. */
int dispatcher_attach(struct dispatcher *d, unsigned int probe);

/* Detach PROBE's hooks and unload its handlers. */
void dispatcher_remove(struct dispatcher *d, unsigned int probe);

/* Detach, the starts of calls first. */
void dispatcher_detach_all(struct dispatcher *d);
void dispatcher_free(struct dispatcher *dispatcher);

/* Adds the runs that the kernel skipped, by probe; [0]: of hooks for all calls of the machine. */
void dispatcher_skipped(const struct dispatcher *dispatcher, uint64_t skipped[DLT_PROBES]);

#endif
