/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's types. libbpf searches all of them, over 100 000, for each type that an object refers to,
 * and again for each object: half of a load's cost. So objects get an excerpt, and only the ids of types
 * that programs cast to come from the whole.
 */
#ifndef KERNEL_BTF_H
#define KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlt/dlt.h"

struct btf;
struct btf_type;

/* A tracepoint: its name, and the id of the type of its function. */
struct kernel_tp {
	const char *name;
	uint32_t id;
};

struct kernel_btf {
	struct btf *btf; /* all */
	struct dlt_type_ids ids; /* 0: this kernel has none */
	uint32_t kfuncs[DLT_KFUNCS_N]; /* ids of functions, 0 likewise */
	struct kernel_tp *tps;
	unsigned int n_tps;
	bool ambiguous; /* a name in IDS belongs to two types */
	bool casts; /* bpf_rdonly_cast exists, and its type ids are not ambiguous */
	int excerpt_fd;
	char excerpt[32]; /* path of the excerpt, for btf_custom_path; "": there is none, use all types */
};

/* Reads the kernel's BTF. 0 or -errno; to be freed either way. */
int kernel_btf_load(struct kernel_btf *btf);
void kernel_btf_free(struct kernel_btf *k);

/* Looks up the names in k->btf: part of loading, separate for tests. 0 or -errno. */
int kernel_btf_index(struct kernel_btf *btf);

/* Returns the id of tracepoint NAME's type, or of function PREFIX NAME; negative: there is none. */
int kernel_btf_tp(const struct kernel_btf *k, const char *name);
int kernel_btf_func(const struct kernel_btf *k, const char *prefix, const char *name);

/* Sets *RET to the place of per-CPU variable NAME in its section. False: the kernel's BTF does not have it. */
bool kernel_btf_percpu(const struct kernel_btf *k, const char *name, uint32_t *ret);

/* Has the type NAME, a struct, union or enum by KIND (BTF_KIND_*), such a member or value? */
bool btf_has_member(const struct btf *btf, unsigned int kind, const char *name, const char *member);

/*
 * Returns the prototype of tracepoint NAME, whose first parameter is a void * of its own; NULL: there is
 * none.
 */
const struct btf_type *btf_tp_proto(const struct kernel_btf *kernel, const char *name);
/* Returns the type of its argument I; NULL: it has none. */
const struct btf_type *btf_tp_arg(const struct kernel_btf *kernel, const char *name, unsigned int i);

/*
 * The types of a module, on top of the kernel's. PREFIX: only these, as others may be namesakes of the
 * kernel's.
 */
struct kernel_btf_module {
	const char *name, *prefix;
	struct btf *btf; /* NULL: not there */
};

/*
 * Copies from FROM and MODULES the structs, unions and enums named in NAMES (N of them, in the order of
 * strcmp) and the types that they refer to, down to pointers, which point to nothing: all that relocations
 * need. Returns NULL with errno on failure.
 */
struct btf *kernel_btf_excerpt(const struct btf *from, const struct kernel_btf_module *modules, size_t n_modules,
			       const char *const *names, size_t n);

#endif
