/* SPDX-License-Identifier: BSD-2-Clause */
#include "thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "util.h"

static bool enough;

static void *works(void *ctx)
{
	while (!__atomic_load_n(&enough, __ATOMIC_RELAXED))
		;
	return NULL;
}

/* Held up in the kernel, as by a file system that does not answer. */
static void *waits(void *ctx)
{
	int *ends = ctx;
	char c = 'x';

	(void)!write(ends[3], &c, 1);
	return read(ends[0], &c, 1) == 1 ? ctx : NULL;
}

static void one_that_works_is_seen_to(void **state)
{
	struct thread_work w = { 0 };
	uint64_t now = 1;
	pthread_t t;

	assert_int_equal(thread_start(&t, works, NULL), 0);
	assert_int_equal(thread_look(&w, t, now), 0); /* since when is not known yet */
	for (unsigned int times = 0; times < 2; times += thread_look(&w, t, now) == now) {
		usleep(1000);
		now++;
	}
	__atomic_store_n(&enough, true, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
}

static void one_that_is_held_up_is_not(void **state)
{
	struct thread_work w = { 0 };
	uint64_t seen, now = 1;
	int ends[4];
	pthread_t t;
	void *r;
	char c;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(ends + 2), 0);
	assert_int_equal(thread_start(&t, waits, ends), 0);
	assert_int_equal(read(ends[2], &c, 1), 1);
	thread_look(&w, t, now);
	/* it is on its way into its wait, and then it stays there */
	do {
		usleep(1000);
		now++;
		seen = thread_look(&w, t, now);
	} while (now - seen < 20);
	assert_int_equal(write(ends[1], "x", 1), 1);
	pthread_join(t, &r);
	assert_ptr_equal(r, ends);
	for (unsigned int i = 0; i < 4; i++)
		close(ends[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_works_is_seen_to),
		cmocka_unit_test(one_that_is_held_up_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
