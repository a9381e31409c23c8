/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/btf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>

static const char *name_of(const struct btf *btf, const struct btf_type *t)
{
	return btf__name_by_offset(btf, t->name_off);
}

/* Asserts that A in ALL and B in EXCERPT are equal for a reader of fields: kind, size, and all their parts. */
static void assert_same(const struct btf *all, uint32_t a, const struct btf *excerpt, uint32_t b)
{
	const struct btf_type *s = btf__type_by_id(all, a), *t = btf__type_by_id(excerpt, b);

	assert_int_equal(btf_kind(s), btf_kind(t));
	if (btf_is_ptr(s)) {
		assert_int_equal(t->type, 0);
		return;
	}
	assert_string_equal(name_of(all, s), name_of(excerpt, t));
	assert_int_equal(s->info, t->info);
	if (btf_is_composite(s)) {
		assert_int_equal(s->size, t->size);
		for (unsigned int i = 0; i < btf_vlen(s); i++) {
			const struct btf_member *m = &btf_members(s)[i], *n = &btf_members(t)[i];

			assert_string_equal(btf__name_by_offset(all, m->name_off),
					    btf__name_by_offset(excerpt, n->name_off));
			assert_int_equal(m->offset, n->offset);
			assert_same(all, m->type, excerpt, n->type);
		}
	} else if (btf_is_array(s)) {
		assert_int_equal(btf_array(s)->nelems, btf_array(t)->nelems);
		assert_same(all, btf_array(s)->type, excerpt, btf_array(t)->type);
	} else if (btf_is_enum(s)) {
		for (unsigned int i = 0; i < btf_vlen(s); i++) {
			assert_string_equal(btf__name_by_offset(all, btf_enum(s)[i].name_off),
					    btf__name_by_offset(excerpt, btf_enum(t)[i].name_off));
			assert_int_equal(btf_enum(s)[i].val, btf_enum(t)[i].val);
		}
	} else if (btf_is_mod(s) || btf_is_typedef(s)) {
		assert_same(all, s->type, excerpt, t->type);
	} else {
		assert_int_equal(s->size, t->size);
	}
}

static const char *const names[] = { "file", "no_such_struct_dlt", "req_flag_bits", "task_struct" };

/* Returns how often NAME is a struct or an enum; the last one's id is in *ID. */
static unsigned int count(const struct btf *btf, const char *name, uint32_t *id)
{
	unsigned int n = 0;

	for (uint32_t i = 1; i < btf__type_cnt(btf); i++) {
		const struct btf_type *t = btf__type_by_id(btf, i);

		if ((btf_is_composite(t) || btf_is_any_enum(t)) && !strcmp(name_of(btf, t), name)) {
			*id = i;
			n++;
		}
	}
	return n;
}

static void loaded_types_are_those_of_the_kernel(void **state)
{
	struct btf *all = btf__load_vmlinux_btf(), *excerpt;
	uint32_t a, b;

	if (!all)
		skip(); /* no BTF here */
	excerpt = kernel_btf_excerpt(all, NULL, 0, names, sizeof(names) / sizeof(names[0]));
	assert_non_null(excerpt);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		unsigned int n = count(all, names[i], &a);

		assert_int_equal(count(excerpt, names[i], &b), n);
		if (n == 1)
			assert_same(all, a, excerpt, b);
	}
	assert_true(btf__type_cnt(excerpt) < btf__type_cnt(all) / 20);
	btf__free(excerpt);
	btf__free(all);
}

/* Two structs with one name: both are taken, as libbpf decides. */
static void namesakes_are_all_taken(void **state)
{
	static const char *const one[] = { "mount" };
	struct btf *all = btf__new_empty(), *excerpt;
	int num = btf__add_int(all, "int", 4, BTF_INT_SIGNED);
	uint32_t id;

	for (int i = 1; i <= 2; i++) {
		assert_true(btf__add_struct(all, "mount", 4 * i) > 0);
		for (int f = 0; f < i; f++)
			assert_int_equal(btf__add_field(all, f ? "b" : "a", num, 32 * f, 0), 0);
	}
	excerpt = kernel_btf_excerpt(all, NULL, 0, one, 1);
	assert_non_null(excerpt);
	assert_int_equal(count(excerpt, "mount", &id), 2);
	btf__free(excerpt);
	btf__free(all);
}

/* Types of modules build on the kernel's; types with other names are not looked up. */
static void types_of_modules_are_taken(void **state)
{
	static const char *const wanted[] = { "file", "fs_inode", "inode" };
	struct btf *kernel = btf__new_empty(), *excerpt;
	struct kernel_btf_module modules[] = { { "absent", "fs_", NULL }, { "fs", "fs_", NULL } };
	int num = btf__add_int(kernel, "int", 4, BTF_INT_SIGNED), inode = btf__add_struct(kernel, "inode", 4);
	const struct btf_type *t;
	uint32_t id;

	assert_int_equal(btf__add_field(kernel, "i_ino", num, 0, 0), 0);
	modules[1].btf = btf__new_empty_split(kernel);
	assert_true(btf__add_struct(modules[1].btf, "file", 4) > 0); /* another struct of that name */
	assert_true(btf__add_struct(modules[1].btf, "fs_inode", 8) > 0);
	assert_int_equal(btf__add_field(modules[1].btf, "id", num, 0, 0), 0);
	assert_int_equal(btf__add_field(modules[1].btf, "vfs_inode", inode, 32, 0), 0);
	excerpt = kernel_btf_excerpt(kernel, modules, 2, wanted, 3);
	assert_non_null(excerpt);
	assert_int_equal(count(excerpt, "file", &id), 0);
	assert_int_equal(count(excerpt, "inode", &id), 1);
	assert_int_equal(count(excerpt, "fs_inode", &id), 1);
	t = btf__type_by_id(excerpt, id);
	assert_int_equal(btf_vlen(t), 2);
	assert_int_equal(btf_members(t)[1].offset, 32);
	t = btf__type_by_id(excerpt, btf_members(t)[1].type);
	assert_string_equal(name_of(excerpt, t), "inode");
	assert_string_equal(btf__name_by_offset(excerpt, btf_members(t)[0].name_off), "i_ino");
	btf__free(excerpt);
	btf__free(modules[1].btf);
	btf__free(kernel);
}

static void ids_are_those_of_the_kernel(void **state)
{
	struct kernel_btf k;
	struct btf *read;

	if (kernel_btf_load(&k) < 0)
		skip(); /* no BTF here */
	assert_string_equal(name_of(k.btf, btf__type_by_id(k.btf, k.ids.task_struct)), "task_struct");
	assert_string_equal(name_of(k.btf, btf__type_by_id(k.btf, k.ids.vfsmount)), "vfsmount");
	read = btf__parse(k.excerpt, NULL);
	assert_non_null(read);
	assert_true(btf__find_by_name_kind(read, "task_struct", BTF_KIND_STRUCT) > 0);
	assert_true(btf__find_by_name_kind(read, "bio", BTF_KIND_STRUCT) > 0);
	btf__free(read);
	kernel_btf_free(&k);
	assert_null(k.btf);
}

static void hooks_and_functions_are_found_as_libbpf_finds_them(void **state)
{
	struct kernel_btf k;

	if (kernel_btf_load(&k) < 0)
		skip(); /* no BTF here */
	assert_int_equal(kernel_btf_tp(&k, "sys_enter"),
			 btf__find_by_name_kind(k.btf, "btf_trace_sys_enter", BTF_KIND_TYPEDEF));
	assert_int_equal(kernel_btf_tp(&k, "sched_process_exit"),
			 btf__find_by_name_kind(k.btf, "btf_trace_sched_process_exit", BTF_KIND_TYPEDEF));
	assert_true(kernel_btf_tp(&k, "sys_ente") < 0);
	assert_int_equal(kernel_btf_func(&k, "bpf_iter_", "task"),
			 btf__find_by_name_kind(k.btf, "bpf_iter_task", BTF_KIND_FUNC));
	assert_true(kernel_btf_func(&k, "", "no_such_function_dlt") < 0);
	if (k.casts)
		assert_int_equal(k.kfuncs[DLT_KFUNC_bpf_rdonly_cast],
				 btf__find_by_name_kind(k.btf, "bpf_rdonly_cast", BTF_KIND_FUNC));
	kernel_btf_free(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loaded_types_are_those_of_the_kernel),
		cmocka_unit_test(namesakes_are_all_taken),
		cmocka_unit_test(types_of_modules_are_taken),
		cmocka_unit_test(ids_are_those_of_the_kernel),
		cmocka_unit_test(hooks_and_functions_are_found_as_libbpf_finds_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
