/* SPDX-License-Identifier: BSD-2-Clause */
/* Compares with qsort(3): the largest, in order; equal ones stay in the order in which they came. */
#include "stats/top.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TOP 7
#define MANY 500

struct entry {
	uint64_t key;
	unsigned int came;
};

static int larger(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->came > y->came) - (x->came < y->came);
}

static void it_is_the_begin_of_all_in_order(void **state)
{
	for (unsigned int n = 0; n <= MANY; n = n < 20 ? n + 1 : n + 97) {
		struct entry all[MANY], top[TOP];
		unsigned int kept = 0;

		srand(n + 1);
		for (unsigned int i = 0; i < n; i++) {
			struct entry *at;

			all[i] = (struct entry){ (uint64_t)rand() % 40, i };
			at = TOP_PLACE(top, kept, TOP, e, e->key, all[i].key);
			if (at)
				*at = all[i];
		}
		qsort(all, n, sizeof(all[0]), larger);
		assert_int_equal(kept, n < TOP ? n : TOP);
		for (unsigned int i = 0; i < kept; i++) {
			assert_int_equal(top[i].key, all[i].key);
			assert_int_equal(top[i].came, all[i].came);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(it_is_the_begin_of_all_in_order) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
