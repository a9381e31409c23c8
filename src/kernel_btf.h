/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's types. libbpf looks through all of them, over 100 000, for each type that an object
 * refers to, again for each object: half of what a load costs. So objects are given an excerpt, and
 * only the ids of types that programs cast to come from the whole.
 */
#ifndef KERNEL_BTF_H
#define KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>

#include "dlt/dlt.h"

struct btf;

struct kernel_btf {
	struct btf *btf; /* all */
	struct dlt_type_ids ids; /* 0: this kernel has none */
	bool casts; /* bpf_rdonly_cast is there, and no two types have one of the names */
	int excerpt_fd;
	char excerpt[32]; /* path of the excerpt, for btf_custom_path; "": there is none, take all */
};

/* Read them. 0 or -errno; to be freed either way. */
int kernel_btf_load(struct kernel_btf *k);
void kernel_btf_free(struct kernel_btf *k);

/*
 * Of FROM, the structs, unions and enums named in NAMES (N of them, in the order of strcmp) and what
 * they are made of, down to pointers, which point to nothing: what relocations can ask for. NULL with
 * errno.
 */
struct btf *kernel_btf_excerpt(const struct btf *from, const char *const *names, size_t n);

#endif
