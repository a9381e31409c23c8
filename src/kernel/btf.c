/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/btf.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "base/log.h"
#include "base/util.h"
#include "core_types.h" /* generated: the names in our objects' BTF */

/* --- the excerpt ---------------------------------------------------------------------------------- */

struct excerpt {
	const struct btf *from;
	struct btf *to;
	uint32_t *ids; /* by id in FROM: its id in TO, 0: not copied yet */
	int pointer; /* id in TO of the target of all pointers */
};

/* Returns the type that T refers to, if it refers to one; those of members are separate. */
static bool has_one_type(const struct btf_type *t)
{
	return btf_is_mod(t) || btf_is_typedef(t) || btf_is_type_tag(t);
}

static int type_take(struct excerpt *excerpt, uint32_t id, unsigned int depth);

/* Copy the types that TYPE refers to. */
static int parts_take(struct excerpt *excerpt, const struct btf_type *type, unsigned int depth)
{
	int r = 0;

	if (has_one_type(type))
		return type_take(excerpt, type->type, depth);
	if (btf_is_array(type)) {
		r = type_take(excerpt, btf_array(type)->type, depth);
		return r < 0 ? r : type_take(excerpt, btf_array(type)->index_type, depth);
	}
	for (unsigned int i = 0; !r && btf_is_composite(type) && i < btf_vlen(type); i++)
		r = type_take(excerpt, btf_members(type)[i].type, depth);
	return r;
}

/* T is a copy whose references still have their ids of FROM. */
static void parts_rename(const struct excerpt *e, struct btf_type *t)
{
	if (has_one_type(t))
		t->type = e->ids[t->type];
	if (btf_is_array(t)) {
		btf_array(t)->type = e->ids[btf_array(t)->type];
		btf_array(t)->index_type = e->ids[btf_array(t)->index_type];
	}
	for (unsigned int i = 0; btf_is_composite(t) && i < btf_vlen(t); i++)
		btf_members(t)[i].type = e->ids[btf_members(t)[i].type];
}

#define DEPTH_MAX 64 /* a struct cannot contain itself, so this is for broken BTF only */

static int type_take(struct excerpt *excerpt, uint32_t id, unsigned int depth)
{
	const struct btf_type *type = btf__type_by_id(excerpt->from, id);
	int r;

	if (!type || depth == DEPTH_MAX)
		return -EINVAL;
	if (!id || excerpt->ids[id] || btf_is_func_proto(type))
		return 0;
	if (btf_is_ptr(type)) {
		excerpt->ids[id] = (uint32_t)excerpt->pointer;
		return 0;
	}
	r = parts_take(excerpt, type, depth + 1);
	if (r < 0)
		return r;
	r = btf__add_type(excerpt->to, excerpt->from, type);
	if (r < 0)
		return r;
	excerpt->ids[id] = (uint32_t)r;
	parts_rename(excerpt, (struct btf_type *)btf__type_by_id(excerpt->to, (uint32_t)r));
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

/* Returns the name of a type that has fields or values, else "". */
static const char *name_of(const struct btf *btf, const struct btf_type *t)
{
	return btf_is_composite(t) || btf_is_any_enum(t) ? btf__name_by_offset(btf, t->name_off) : "";
}

/* Copy from EXCERPT->from, from the type with number FIRST on, the types in NAMES that begin with PREFIX. */
static int names_take(struct excerpt *excerpt, uint32_t first, const char *const *names, size_t n, const char *prefix)
{
	unsigned int types = btf__type_cnt(excerpt->from);
	int r = 0;

	for (uint32_t id = first; !r && id < types; id++) {
		const char *name = name_of(excerpt->from, btf__type_by_id(excerpt->from, id));

		if (name[0] && !strncmp(name, prefix, strlen(prefix)) &&
		    bsearch(name, names, n, sizeof(*names), by_name))
			r = type_take(excerpt, id, 0);
	}
	return r;
}

/* Copy from a module, on top of EXCERPT->from, the types with its prefix. */
static int module_take(struct excerpt *excerpt, const struct kernel_btf_module *module, const char *const *names,
		       size_t n)
{
	unsigned int first = btf__type_cnt(excerpt->from), types = btf__type_cnt(module->btf);
	struct excerpt of_module = *excerpt;

	of_module.from = module->btf;
	of_module.ids = realloc(excerpt->ids, types * sizeof(*excerpt->ids));
	if (!of_module.ids)
		return -ENOMEM;
	excerpt->ids = of_module.ids;
	memset(excerpt->ids + first, 0, (types - first) * sizeof(*excerpt->ids));
	return names_take(&of_module, first, names, n, module->prefix);
}

struct btf *kernel_btf_excerpt(const struct btf *from, const struct kernel_btf_module *modules, size_t n_modules,
			       const char *const *names, size_t n)
{
	struct excerpt e = { .from = from, .to = btf__new_empty() };
	int r;

	e.ids = calloc(btf__type_cnt(from), sizeof(*e.ids));
	e.pointer = e.to && e.ids ? btf__add_ptr(e.to, 0) : -ENOMEM;
	r = e.pointer < 0 ? e.pointer : names_take(&e, 1, names, n, "");
	for (size_t i = 0; !r && i < n_modules; i++)
		if (modules[i].btf)
			r = module_take(&e, &modules[i], names, n);
	free(e.ids);
	if (!r)
		return e.to;
	btf__free(e.to);
	errno = -r;
	return NULL;
}

/* --- ids ------------------------------------------------------------------------------------------ */

static const struct cast_type {
	const char *name;
	size_t at;
} cast_types[] = {
#define X(name) { #name, offsetof(struct dlt_type_ids, name) },
	DLT_CAST_TYPES(X)
#undef X
};

static const char *const kfuncs[DLT_KFUNCS_N] = {
#define X(name) #name,
	DLT_KFUNCS(X)
#undef X
};

static void cast_type_note(struct kernel_btf *k, const char *name, uint32_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(cast_types); i++) {
		uint32_t *known = (uint32_t *)((char *)&k->ids + cast_types[i].at);

		if (strcmp(name, cast_types[i].name))
			continue;
		k->ambiguous |= *known != 0;
		*known = id;
	}
}

static void kfunc_note(struct kernel_btf *k, const char *name, uint32_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(kfuncs); i++)
		if (!strcmp(name, kfuncs[i]))
			k->kfuncs[i] = id;
}

#define TP_PREFIX "btf_trace_" /* of the typedefs that BTF has for tracepoints' functions */

static int tp_note(struct kernel_btf *k, const char *name, uint32_t id)
{
	if (strncmp(name, TP_PREFIX, strlen(TP_PREFIX)))
		return 0;
	if (util_room(&k->tps, k->n_tps, sizeof(*k->tps)) < 0)
		return -ENOMEM;
	k->tps[k->n_tps++] = (struct kernel_tp){ name + strlen(TP_PREFIX), id };
	return 0;
}

int kernel_btf_index(struct kernel_btf *btf)
{
	unsigned int types = btf__type_cnt(btf->btf);
	int r = 0;

	for (uint32_t id = 1; !r && id < types; id++) {
		const struct btf_type *t = btf__type_by_id(btf->btf, id);
		const char *name = btf__name_by_offset(btf->btf, t->name_off);

		if (btf_is_struct(t))
			cast_type_note(btf, name, id);
		else if (btf_is_typedef(t))
			r = tp_note(btf, name, id);
		else if (btf_is_func(t))
			kfunc_note(btf, name, id);
	}
	btf->casts = btf->kfuncs[DLT_KFUNC_bpf_rdonly_cast] && !btf->ambiguous;
	return r;
}

int kernel_btf_tp(const struct kernel_btf *k, const char *name)
{
	for (unsigned int i = 0; i < k->n_tps; i++)
		if (!strcmp(k->tps[i].name, name))
			return (int)k->tps[i].id;
	return -ENOENT;
}

int kernel_btf_func(const struct kernel_btf *k, const char *prefix, const char *name)
{
	char whole[128];

	snprintf(whole, sizeof(whole), "%s%s", prefix, name);
	return btf__find_by_name_kind(k->btf, whole, BTF_KIND_FUNC);
}

bool kernel_btf_percpu(const struct kernel_btf *k, const char *name, uint32_t *ret)
{
	int id = btf__find_by_name_kind(k->btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section = id < 0 ? NULL : btf__type_by_id(k->btf, (__u32)id);

	for (unsigned int i = 0; section && i < btf_vlen(section); i++) {
		const struct btf_var_secinfo *variable = &btf_var_secinfos(section)[i];

		if (strcmp(name_of(k->btf, btf__type_by_id(k->btf, variable->type)), name))
			continue;
		*ret = variable->offset;
		return true;
	}
	return false;
}

bool btf_has_member(const struct btf *btf, unsigned int kind, const char *name, const char *member)
{
	int id = btf__find_by_name_kind(btf, name, kind);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);

	for (unsigned int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_is_composite(t) ? btf_members(t)[i].name_off :
									   btf_enum(t)[i].name_off),
			    member))
			return true;
	return false;
}

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

/* --- both ----------------------------------------------------------------------------------------- */

/*
 * With the file systems whose own types the programs read (bpf/file_id.bpf.h). As modules they have BTF of
 * their own, from 5.11 on and while they are loaded: one that is not there is no error.
 */
static struct btf *excerpt_make(const struct kernel_btf *btf)
{
	struct kernel_btf_module modules[] = {
		{ "btrfs", "btrfs_" }, { "fuse", "fuse_" }, { "nfs", "nfs_" }, { "overlay", "ovl_" }
	};
	struct btf *excerpt;

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		autofree char *path = util_fmt("/sys/kernel/btf/%s", modules[i].name);

		if (path && access(path, R_OK) == 0)
			modules[i].btf = btf__parse_split(path, btf->btf);
	}
	excerpt = kernel_btf_excerpt(btf->btf, modules, ARRAY_SIZE(modules), core_types, ARRAY_SIZE(core_types));
	for (size_t i = 0; i < ARRAY_SIZE(modules); i++)
		btf__free(modules[i].btf);
	return excerpt;
}

/* Written to memory, under a path that libbpf can open. */
static int excerpt_put(struct kernel_btf *kernel_btf)
{
	struct btf *btf = excerpt_make(kernel_btf);
	const void *data;
	uint32_t size = 0;
	int r = -errno;

	if (!btf)
		return r;
	data = btf__raw_data(btf, &size);
	kernel_btf->excerpt_fd = memfd_create("dltraced-btf", MFD_CLOEXEC);
	if (!data)
		r = -ENOMEM;
	else if (kernel_btf->excerpt_fd < 0)
		r = -errno;
	else
		r = util_write_all(kernel_btf->excerpt_fd, data, size);
	btf__free(btf);
	return r;
}

int kernel_btf_load(struct kernel_btf *btf)
{
	int r;

	*btf = (struct kernel_btf){ .btf = btf__load_vmlinux_btf(), .excerpt_fd = -1 };
	if (!btf->btf)
		return -errno;
	r = kernel_btf_index(btf);
	if (r < 0)
		return r;
	r = excerpt_put(btf);
	if (r < 0)
		log_debug("no excerpt of the kernel's BTF: %s", strerror(-r)); /* only slower */
	else
		snprintf(btf->excerpt, sizeof(btf->excerpt), "/proc/self/fd/%d", btf->excerpt_fd);
	return 0;
}

void kernel_btf_free(struct kernel_btf *k)
{
	btf__free(TAKE_PTR(k->btf));
	free(TAKE_PTR(k->tps));
	k->n_tps = 0;
	util_close(&k->excerpt_fd);
	k->excerpt[0] = '\0';
}
