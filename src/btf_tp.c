/* SPDX-License-Identifier: BSD-2-Clause */
#include "btf_tp.h"

#include <stdio.h>

#include <bpf/btf.h>

const struct btf_type *btf_tp_proto(const struct btf *btf, const char *name)
{
	const struct btf_type *t;
	char type_name[64];
	int id;

	snprintf(type_name, sizeof(type_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type_name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return NULL;
	t = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
	if (!t || !btf_is_ptr(t))
		return NULL;
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? t : NULL;
}

const struct btf_type *btf_tp_arg(const struct btf *btf, const char *name, unsigned int i)
{
	const struct btf_type *t = btf_tp_proto(btf, name);

	return t && i + 1 < btf_vlen(t) ? btf__type_by_id(btf, btf_params(t)[i + 1].type) : NULL;
}
