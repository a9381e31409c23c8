/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct value {
	uint64_t key;
	char pad[40];
};

static void keeps_its_entries_while_it_grows(void **state)
{
	struct table t;
	uint64_t key = 1;

	table_init(&t, sizeof(struct value), 1 << 20);
	assert_null(table_find(&t, 1));
	for (int i = 0; i < 20000; i++, key = key * 6364136223846793005ULL + 1442695040888963407ULL) {
		struct value *v = table_get(&t, key);

		assert_non_null(v);
		assert_int_equal(v->key, 0); /* new ones are zero */
		v->key = key;
		memset(v->pad, 0xff, sizeof(v->pad));
	}
	assert_int_equal(t.n, 20000);
	key = 1;
	for (int i = 0; i < 20000; i++, key = key * 6364136223846793005ULL + 1442695040888963407ULL) {
		assert_int_equal(((struct value *)table_find(&t, key))->key, key);
		assert_int_equal(((struct value *)table_at(&t, i))->key, key);
		assert_ptr_equal(table_get(&t, key), table_find(&t, key));
	}
	assert_null(table_find(&t, 2));
	table_free(&t);
	assert_null(table_find(&t, 1));
}

/* Keys that count from 1, which need no search as long as they do; and others among and after them. */
static void numbers_in_order_are_found_as_all_other_keys(void **state)
{
	static const uint64_t others[] = { 0, 502, 501, 503, 1000, UINT64_MAX, 1ULL << 32 };
	const size_t n_others = sizeof(others) / sizeof(others[0]);
	struct table t;

	table_init(&t, sizeof(struct value), 1 << 20);
	for (uint64_t key = 1; key <= 500; key++)
		((struct value *)table_get(&t, key))->key = key;
	for (size_t i = 0; i < n_others; i++) {
		assert_null(table_find(&t, others[i]));
		((struct value *)table_get(&t, others[i]))->key = others[i];
	}
	assert_int_equal(t.n, 500 + n_others);
	for (uint32_t i = 0; i < t.n; i++) {
		uint64_t key = i < 500 ? i + 1 : others[i - 500];

		assert_true(table_key_at(&t, i) == key && t.keys[i] == key);
		assert_ptr_equal(table_find(&t, key), table_at(&t, i));
		assert_ptr_equal(table_get(&t, key), table_at(&t, i));
		assert_true(((struct value *)table_at(&t, i))->key == key);
		table_expect(&t, key);
		table_expect_entry(&t, key);
	}
	assert_null(table_find(&t, 504));
	table_free(&t);
	assert_null(table_find(&t, 1));
}

static void takes_no_more_than_its_cap(void **state)
{
	struct table t;

	table_init(&t, 8, 100);
	for (uint64_t key = 0; key < 100; key++)
		assert_non_null(table_get(&t, key << 32));
	assert_null(table_get(&t, 12345));
	assert_non_null(table_get(&t, 99ULL << 32));
	assert_int_equal(t.n, 100);
	table_free(&t);
}

/* PIDs, and numbers that cannot be one, in any order. */
static void pids_are_found_as_all_other_keys(void **state)
{
	static const uint64_t keys[] = {
		TABLE_PIDS - 1, 0, TABLE_PIDS, 1, UINT64_MAX, 4000000, 2, TABLE_PIDS + 1ULL, 32768, 1ULL << 32,
	};
	const uint32_t n = sizeof(keys) / sizeof(keys[0]);
	struct table t;

	table_init_pids(&t, sizeof(uint64_t), 1000 + n);
	assert_non_null(t.pids);
	assert_null(table_find(&t, 2));
	for (uint32_t i = 0; i < n; i++) {
		assert_null(table_find(&t, keys[i]));
		table_expect(&t, keys[i]);
		table_expect_entry(&t, keys[i]);
		*(uint64_t *)table_get(&t, keys[i]) = keys[i];
	}
	for (uint64_t pid = 100; pid < 1100; pid++) /* it grows */
		*(uint64_t *)table_get(&t, pid) = pid;
	assert_int_equal(t.n, 1000 + n);
	for (uint32_t i = 0; i < t.n; i++) {
		assert_int_equal(*(uint64_t *)table_find(&t, t.keys[i]), t.keys[i]);
		assert_ptr_equal(table_get(&t, t.keys[i]), table_at(&t, i));
		table_expect(&t, t.keys[i]);
		table_expect_entry(&t, t.keys[i]);
	}
	assert_null(table_get(&t, 50)); /* full */
	table_free(&t);
	assert_null(table_find(&t, 1));
}

static void names_have_keys_of_their_own(void **state)
{
	assert_int_equal(table_key("", 0), 0xcbf29ce484222325ULL);
	assert_int_equal(table_key("a", 1), 0xaf63dc4c8601ec8cULL); /* draft-eastlake-fnv, 6 */
	assert_int_not_equal(table_key("sda", 3), table_key("sdb", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_its_entries_while_it_grows),
		cmocka_unit_test(pids_are_found_as_all_other_keys),
		cmocka_unit_test(names_have_keys_of_their_own),
		cmocka_unit_test(numbers_in_order_are_found_as_all_other_keys),
		cmocka_unit_test(takes_no_more_than_its_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
