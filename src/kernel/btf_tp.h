/* SPDX-License-Identifier: BSD-2-Clause */
/* Tracepoints as the kernel's BTF knows them. */
#ifndef KERNEL_BTF_TP_H
#define KERNEL_BTF_TP_H

struct btf_type;
struct kernel_btf;

/* The prototype of tracepoint NAME, whose first parameter is a void * of its own; NULL: there is none. */
const struct btf_type *btf_tp_proto(const struct kernel_btf *kernel, const char *name);
/* The type of its argument I; NULL: it has none. */
const struct btf_type *btf_tp_arg(const struct kernel_btf *kernel, const char *name, unsigned int i);

#endif
