/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our BPF objects and the kernel's BTF. For programs that attach by a BTF id (tp_btf, fentry, fexit, iter)
 * or call kernel functions, libbpf reads and parses all of it, 10 ms for each object and a quarter of the
 * time that a start takes. So these ids are looked up here, in the one copy that we have.
 */
#ifndef KERNEL_OBJECT_H
#define KERNEL_OBJECT_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_link;
struct bpf_map;
struct bpf_object;
struct bpf_object_skeleton;
struct bpf_program;
struct kernel_btf;

/* Registers with libbpf, before the first object is opened. 0 or -errno. */
int object_sections_register(void);

/*
 * Returns the BTF id that PROG is to be attached to: for programs whose section does not name it. CTX: the
 * caller's. Negative: there is none.
 */
typedef int (*object_target_fn)(const void *ctx, const struct bpf_program *prog);

/* Load SKEL's programs and make its maps; TARGET may be NULL. 0 or -errno. */
int object_load(struct bpf_object_skeleton *skel, const struct kernel_btf *kernel, object_target_fn target,
		const void *ctx);

/* Sets the type of PROG, whose section does not give one; ATTACH: 0 where the type has no attach type. */
void object_program_type(struct bpf_program *prog, enum bpf_prog_type type, enum bpf_attach_type attach);

#define OBJECT_LINKS_MAX 64
struct object_links {
	struct bpf_link *v[OBJECT_LINKS_MAX];
	unsigned int n;
};
/*
 * Attach OBJ's loaded programs to the hooks that their sections name, unless that has been switched off. 0,
 * or -errno with NAME.
 */
int object_attach(struct object_links *links, const struct bpf_object *obj, const char **name_ret);
/* The last attached is detached first. */
void object_detach(struct object_links *l);

/* Runs of a program that the kernel skipped (recursion_misses, 5.12); of OBJ's except BUT, both may be NULL. */
uint64_t object_program_skipped(int prog_fd);
uint64_t object_skipped(const struct bpf_object *obj, const char *but);

/*
 * Run PROG, an iterator without output, over the tasks of process PID, all for 0. 0 or -errno; -E2BIG: this
 * kernel's iterators take no process.
 */
int object_iterate(const struct bpf_program *prog, uint32_t pid);
int object_iterate_fd(int prog_fd, uint32_t pid);

/*
 * Call FN with each record, of SIZE bytes, that the iterator of LINK_FD writes; that PROG_FD writes for thread TID
 * alone. 0 or -errno; -E2BIG as above.
 */
int object_records(int link_fd, size_t size, void (*fn)(void *ctx, const void *record), void *ctx);
int object_records_of(int prog_fd, uint32_t tid, size_t size, void (*fn)(void *ctx, const void *record), void *ctx);

/*
 * Run PROG of the section raw_tp once, on this CPU, with the N numbers ARGS as its context (5.10, commit
 * 1b4d60ec162f). 0 or -errno. So a probe sends what its maps hold: an iterator over the elements of a map
 * would do as well, but some machines refuse that one (lists of allowed programs leave it out, as it reads
 * any map of the machine).
 */
int object_run(const struct bpf_program *prog, const uint64_t *args, size_t n);
int object_run_fd(int prog_fd, const uint64_t *args, size_t n);
/* Likewise has CPU run it, with interrupts off; -ENXIO where that is offline. */
int object_run_on(const struct bpf_program *prog, unsigned int cpu, const uint64_t *args, size_t n);

/*
 * Call FN with each key of MAP, a hash, of at most OBJECT_KEY_MAX bytes; FN may delete it. What is wanted of the
 * elements is left to programs: while bpf(2) is at an element, or at a batch of them and of empty buckets, kprobes and
 * perf's tracepoints run no program on that CPU, however long it is preempted there (bpf_disable_instrumentation,
 * linux/bpf.h). At a key it is not. 0, or the first other value of FN.
 */
#define OBJECT_KEY_MAX 32
int object_each_key(const struct bpf_map *map, int (*fn)(void *ctx, const void *key), void *ctx);

#endif
