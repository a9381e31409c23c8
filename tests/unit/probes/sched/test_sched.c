/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/sched/sched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bpf/btf.h>
#include <cmocka.h>

#include "kernel/btf.h"

/* Tests a kernel whose tracepoint sched_switch has ARGS after its own arguments: p is a pointer, i a number. */
static int given_by(const char *args)
{
	struct kernel_btf k = { .btf = btf__new_empty(), .excerpt_fd = -1 };
	int num, ptr, proto, r;

	assert_non_null(k.btf);
	num = btf__add_int(k.btf, "int", 4, BTF_INT_SIGNED);
	ptr = btf__add_ptr(k.btf, num);
	if (args) {
		proto = btf__add_func_proto(k.btf, 0);
		assert_int_equal(btf__add_func_param(k.btf, "__data", ptr), 0);
		for (; *args; args++)
			assert_int_equal(btf__add_func_param(k.btf, "arg", *args == 'p' ? ptr : num), 0);
		assert_true(btf__add_typedef(k.btf, "btf_trace_sched_switch", btf__add_ptr(k.btf, proto)) > 0);
	}
	assert_int_equal(kernel_btf_index(&k), 0);
	r = sched_state_is_given(&k);
	kernel_btf_free(&k);
	return r;
}

static void the_state_is_taken_from_where_it_is(void **state)
{
	assert_int_equal(given_by("ipp"), 0);
	assert_int_equal(given_by("ippi"), 1);
	assert_int_equal(given_by("iipp"), -EOPNOTSUPP); /* 5.18 without the commit that moved it */
	assert_int_equal(given_by(NULL), -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_state_is_taken_from_where_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
