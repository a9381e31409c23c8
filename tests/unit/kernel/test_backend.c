/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BIT(b) (1U << (b))

static void names_and_forms_are_known(void **state)
{
	assert_int_equal(backend_parse("auto"), BIT(BACKENDS) - 1);
	assert_int_equal(backend_parse("fentry"), BIT(BACKEND_FENTRY));
	assert_int_equal(backend_parse("kprobe"), BIT(BACKEND_KPROBE));
	assert_int_equal(backend_parse("tracepoint"), BIT(BACKEND_TP_BTF) | BIT(BACKEND_TP));
	assert_int_equal(backend_parse("tp_btf"), BIT(BACKEND_TP_BTF));
	assert_int_equal(backend_parse("tp"), BIT(BACKEND_TP));
	assert_int_equal(backend_parse(""), 0);
	assert_int_equal(backend_parse("Fentry"), 0);
}

static void cheapest_comes_first(void **state)
{
	enum backend order[BACKENDS];

	assert_int_equal(backend_rank(UINT32_MAX, false, order), BACKENDS);
	for (unsigned int i = 0; i < BACKENDS; i++)
		assert_int_equal(order[i], i);
}

static void what_skips_runs_comes_last_where_it_can(void **state)
{
	static const enum backend expected[] = { BACKEND_KPROBE, BACKEND_TP, BACKEND_FENTRY, BACKEND_TP_BTF };
	enum backend order[BACKENDS];

	assert_int_equal(backend_rank(UINT32_MAX, true, order), BACKENDS);
	assert_memory_equal(order, expected, sizeof(order));
}

static void only_what_is_allowed_is_ranked(void **state)
{
	uint32_t mask = backend_parse("tracepoint");
	enum backend order[BACKENDS];

	assert_int_equal(backend_rank(mask, true, order), 2);
	assert_int_equal(order[0], BACKEND_TP);
	assert_int_equal(order[1], BACKEND_TP_BTF);
	assert_int_equal(backend_rank(0, true, order), 0);
}

static void each_has_what_the_dispatcher_needs(void **state)
{
	for (unsigned int b = 0; b < BACKENDS; b++) {
		const struct backend_kind *k = &backend_kinds[b];

		assert_non_null(k->name);
		assert_non_null(k->form);
		assert_non_null(k->hooks);
		assert_non_null(k->enter);
		assert_non_null(k->exit);
		assert_true(k->enter_type.type && k->exit_type.type);
		/* each form means one backend */
		assert_int_equal(backend_parse(k->form), BIT(b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_forms_are_known),
		cmocka_unit_test(cheapest_comes_first),
		cmocka_unit_test(what_skips_runs_comes_last_where_it_can),
		cmocka_unit_test(only_what_is_allowed_is_ranked),
		cmocka_unit_test(each_has_what_the_dispatcher_needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
