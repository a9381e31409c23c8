/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One way to system calls in use: calls.bpf.c loaded for a backend, the handlers of the probes that
 * take this way, and the hooks. Control plane. Which backend is for which probe the caller decides.
 *
 * Tail calls go between programs of one type and, for fexit from 6.12 on (commit 28ead3eaabc1), of
 * functions with one prototype: so there is a dispatcher per backend and prototype. BTF has two or
 * three for our f(const struct pt_regs *): the parameter's name differs in a call without arguments
 * (sync) and in the stand-in of a call that a kernel may be built without (COND_SYSCALL).
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
	bool opaque;   /* where BTF took the stand-in, struct pt_regs may be a forward: no typed loads */
};

/* A program of ours on something of the kernel's. */
struct hook {
	unsigned int probe; /* 0: of all */
	int nr;		    /* -1: of all */
	bool enter;  /* of the start of calls */
	bool spare;  /* it makes rows richer, and no row depends on it */
	struct bpf_program *prog;
	int prog_fd; /* of its own where fentry or fexit name the function, else the object's */
	bool own_fd;
	int link_fd; /* -1: not attached, or LINK is */
	struct bpf_link *link;
};

struct dispatcher {
	unsigned int number;
	enum backend backend;
	int proto; /* BTF id of the functions' prototype, 0 where they do not matter */
	bool enrich; /* with the probes' fentry and fexit programs on functions inside the calls */
	const struct call_func *funcs; /* DLT_SYSCALLS of them */
	struct dlt_config cfg;
	const struct kernel_btf *kernel;
	/* for the dispatcher itself */
	bool opaque; /* its functions are */
	const struct call_func *load_for; /* the one that programs by function are loaded for */
	struct calls_bpf *skel;
	probe_mask probes; /* whose calls it serves */
	struct probe_object objects[DLT_PROBES];
	struct hook *hooks;
	unsigned int n_hooks;
	char error[256]; /* what failed in the last call that failed */
};

/* How its objects get at the trace's maps: 0 or -errno. */
typedef int (*dispatcher_share_fn)(void *ctx, struct bpf_object *obj);

/* D has what the caller says, and zeros else. */
void dispatcher_init(struct dispatcher *d);

/* Does it serve CALL? By function: if the kernel has it, with this prototype. */
bool dispatcher_takes(const struct dispatcher *d, const struct probe_call *call);

/* Load PROBE's handlers, if it serves any of its calls: 0, or -errno, and then nothing of the probe is left. */
int dispatcher_add(struct dispatcher *d, unsigned int probe, dispatcher_share_fn share, void *ctx);

/* Load the hooks' programs for the calls of all probes added, and enter the handlers. */
int dispatcher_load(struct dispatcher *d, dispatcher_share_fn share, void *ctx);

/* Attach what is for all calls (PROBE 0), or for those of one; the ends of calls first. */
int dispatcher_attach(struct dispatcher *d, unsigned int probe);

/* Detach PROBE's hooks and unload its handlers. */
void dispatcher_remove(struct dispatcher *d, unsigned int probe);

/* Detach, the starts of calls first. */
void dispatcher_detach_all(struct dispatcher *d);
void dispatcher_free(struct dispatcher *d);

/* Runs that the kernel skipped, by probe; [0]: of hooks for all calls of the machine. Adds. */
void dispatcher_skipped(const struct dispatcher *d, uint64_t skipped[DLT_PROBES]);

#endif
