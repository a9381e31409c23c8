/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/btf_tp.h"

#include <bpf/btf.h>

#include "kernel/btf.h"

const struct btf_type *btf_tp_proto(const struct kernel_btf *kernel, const char *name)
{
	const struct btf *btf = kernel->btf;
	int id = kernel_btf_tp(kernel, name);
	const struct btf_type *t;

	if (id < 0)
		return NULL;
	t = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
	if (!t || !btf_is_ptr(t))
		return NULL;
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? t : NULL;
}

const struct btf_type *btf_tp_arg(const struct kernel_btf *kernel, const char *name, unsigned int i)
{
	const struct btf_type *t = btf_tp_proto(kernel, name);

	return t && i + 1 < btf_vlen(t) ? btf__type_by_id(kernel->btf, btf_params(t)[i + 1].type) : NULL;
}
