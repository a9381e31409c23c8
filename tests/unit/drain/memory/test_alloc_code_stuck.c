/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that cannot be read for long: the others are read by another thread, and after some of these nothing is. */
#define alloc_map_read map_of_test
#define async_call_busy_ns busy_of_test
#include "drain/memory/alloc_code.c"
#undef alloc_map_read
#undef async_call_busy_ns

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define HANGS 1000 /* processes from here on cannot be read until they are let go */
#define WAIT_MS 20000

static struct alloc_code code;
static sem_t hangs, go;
static unsigned int reads_of_hanging; /* atomic */
static uint64_t busy_ns;

struct alloc_map *map_of_test(pid_t pid, const struct alloc_map *before)
{
	if (pid >= HANGS) {
		__atomic_fetch_add(&reads_of_hanging, 1, __ATOMIC_RELAXED);
		sem_post(&hangs);
		sem_wait(&go);
	}
	return calloc(1, sizeof(struct alloc_map));
}

uint64_t busy_of_test(const struct async_call *c)
{
	return c->busy ? busy_ns : 0;
}

static int begin(void **state)
{
	code = (struct alloc_code){ .stuck = 0 };
	busy_ns = reads_of_hanging = 0;
	return 0;
}

static int end(void **state)
{
	alloc_code_free(&code);
	return 0;
}

static void hear(uint32_t tgid)
{
	alloc_code_heard(&code, tgid, clock_now_ns(CLOCK_MONOTONIC));
}

/* Process TGID is new, and its reader is in it by now. */
static void hang(uint32_t tgid)
{
	hear(tgid);
	sem_wait(&hangs);
}

/* A new process of its number has nothing of it. */
static void what_ends_meanwhile_is_not_known(void **state)
{
	hang(HANGS);
	sem_post(&go);
	alloc_code_update(&code, WAIT_MS);
	assert_true(alloc_code_known(&code, HANGS));
	code.processes[0].read_ns -= NSEC_PER_SEC;
	hear(HANGS);
	alloc_code_update(&code, 0);
	sem_wait(&hangs);
	alloc_code_forget(&code, HANGS);
	hear(HANGS);
	sem_post(&go);
	assert_true(reader_end(&code, WAIT_MS));
	assert_false(alloc_code_known(&code, HANGS));
}

static void what_hangs_is_not_read_again(void **state)
{
	hear(1);
	alloc_code_update(&code, WAIT_MS);
	assert_true(alloc_code_known(&code, 1));
	code.processes[0].read_ns -= NSEC_PER_SEC;
	hear(1);
	hang(HANGS); /* both by one thread */
	alloc_code_update(&code, 0);
	assert_int_equal(code.stuck, 0);
	busy_ns = STUCK_NS + 1;
	alloc_code_update(&code, 0);
	assert_int_equal(code.stuck, 1);
	assert_false(alloc_code_known(&code, 1)); /* the reader has what it had */
	busy_ns = 0;
	hear(HANGS);
	alloc_code_update(&code, WAIT_MS);
	assert_true(alloc_code_known(&code, 1));
	assert_false(alloc_code_known(&code, HANGS));
	assert_int_equal(reads_of_hanging, 1);
}

static void after_some_nothing_is_read(void **state)
{
	busy_ns = STUCK_NS + 1;
	for (unsigned int i = 0; i < STUCK_MAX; i++) {
		hang(HANGS + i);
		alloc_code_update(&code, 0);
	}
	assert_int_equal(code.stuck, STUCK_MAX);
	busy_ns = 0;
	hear(1);
	alloc_code_update(&code, WAIT_MS);
	assert_null(code.reader);
	assert_false(alloc_code_known(&code, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* the threads of the others hang on */
		cmocka_unit_test_setup_teardown(what_ends_meanwhile_is_not_known, begin, end),
		cmocka_unit_test_setup_teardown(what_hangs_is_not_read_again, begin, end),
		cmocka_unit_test_setup_teardown(after_some_nothing_is_read, begin, end),
	};

	if (sem_init(&hangs, 0, 0) < 0 || sem_init(&go, 0, 0) < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
