/* SPDX-License-Identifier: BSD-2-Clause */
/* Which waits nobody will end, and near misses: each case is put by hand. */
#include "report/hang/hang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util.h"

static struct report_hang hang;

static int set_up(void **state)
{
	hang = (struct report_hang){ 0 };
	return 0;
}

/* A wait of thread TID of PID, which has THREADS, in CALL on OBJECT. */
static struct open_wait *put(uint64_t pid, uint64_t tid, uint64_t threads, const char *call, const char *object)
{
	struct open_wait *wait = &hang.waits.v[hang.waits.n];

	hang.lasts[hang.waits.n++] = true;
	*wait = (struct open_wait){ .pid = pid, .tid = tid, .threads = threads, .since_ns = 1000 + tid, .known = true };
	snprintf(wait->comm, sizeof(wait->comm), "p%llu", (unsigned long long)pid);
	snprintf(wait->call, sizeof(wait->call), "%s", call);
	snprintf(wait->object, sizeof(wait->object), "%s", object);
	return wait;
}

static struct open_wait_end *put_end(struct open_wait *wait, uint64_t pid, uint64_t threads)
{
	struct open_wait_end *end = &wait->ends[wait->n_ends++];

	*end = (struct open_wait_end){ .pid = pid, .threads = threads, .job = true };
	snprintf(end->comm, sizeof(end->comm), "p%llu", (unsigned long long)pid);
	return end;
}

static bool is_stuck(uint64_t pid)
{
	const struct open_wait *wait;

	hang_find(&hang);
	wait = hang_of(&hang, pid);
	assert_non_null(wait);
	return hang_is_stuck(&hang, wait);
}

static void expect_sentence(uint64_t pid, const char *wanted)
{
	autofree char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	hang_sentence(&hang, hang_of(&hang, pid), out);
	fclose(out);
	assert_string_equal(text, wanted);
}

static void two_that_wait_for_each_other_are_stuck(void **state)
{
	put_end(put(1, 1, 1, "read", "pipe"), 2, 1);
	put_end(put(2, 2, 1, "read", "pipe"), 1, 1);
	assert_true(is_stuck(1));
	assert_true(is_stuck(2));
	assert_int_equal(hang_since(&hang, hang_of(&hang, 1)), 1002);
	expect_sentence(1, "process 1 (p1) waits in read of a pipe for process 2 (p2), which waits in read of a pipe "
			   "for process 1 (p1)");
}

static void one_that_waits_for_such_is_stuck_too(void **state)
{
	put_end(put(3, 3, 1, "wait4", "child"), 1, 1);
	two_that_wait_for_each_other_are_stuck(state);
	assert_true(is_stuck(3));
	expect_sentence(3,
			"process 3 (p3) waits in wait4 for process 1 (p1), which waits in read of a pipe for process "
			"2 (p2), which waits in read of a pipe for process 1 (p1)");
}

/* A worker was killed: its parent has both ends of the queue, and its threads wait for one another. */
static void a_pipe_of_its_own_is_no_answer(void **state)
{
	put_end(put(1, 1, 2, "read", "pipe"), 1, 2);
	put_end(put(1, 9, 2, "futex", "thread"), 1, 2);
	assert_true(is_stuck(1));
	expect_sentence(1, "process 1 (p1) waits in read of a pipe, whose other end no other process has");
}

static void a_stopped_process_ends_nothing(void **state)
{
	put_end(put(1, 1, 1, "read", "socket"), 2, 1)->stopped = true;
	assert_true(is_stuck(1));
	expect_sentence(1, "process 1 (p1) waits in read of a socket for process 2 (p2), which is stopped");
}

/* --- near misses --------------------------------------------------------------------------------------- */

static void a_child_that_computes_will_answer(void **state)
{
	put_end(put(1, 1, 1, "wait4", "child"), 2, 1);
	assert_false(is_stuck(1));
	expect_sentence(1, "process 1 (p1) waits in wait4 for process 2 (p2)");
}

static void another_thread_of_the_peer_may_answer(void **state)
{
	put_end(put(1, 1, 1, "read", "pipe"), 2, 2);
	put_end(put(2, 2, 2, "read", "pipe"), 1, 1);
	assert_false(is_stuck(1));
	assert_false(is_stuck(2));
}

static void a_third_one_may_answer(void **state)
{
	struct open_wait *wait = put(1, 1, 1, "read", "pipe");

	put_end(wait, 2, 1);
	put_end(wait, 3, 1);
	put_end(put(2, 2, 1, "read", "pipe"), 1, 1);
	assert_false(is_stuck(1));
	assert_false(is_stuck(2));
}

static void one_outside_of_the_job_may_answer(void **state)
{
	put_end(put(1, 1, 1, "recvfrom", "socket"), 7, 1)->job = false;
	assert_false(is_stuck(1));
	expect_sentence(1, "process 1 (p1) waits in recvfrom of a socket for process 7 (p7), which is not of the job");
}

static void an_ended_wait_has_its_answer(void **state)
{
	put_end(put(1, 1, 1, "read", "pipe"), 2, 1);
	put_end(put(2, 2, 1, "read", "pipe"), 1, 1);
	hang.lasts[1] = false;
	assert_false(is_stuck(1));
}

static void what_is_not_known_may_answer(void **state)
{
	struct open_wait *wait = put(1, 1, 1, "read", "socket");

	wait->known = false;
	assert_false(is_stuck(1));
	expect_sentence(1, "process 1 (p1) waits in read of a socket (for whom is not known)");
}

static void more_ends_than_there_is_room_for_may_answer(void **state)
{
	struct open_wait *wait = put(1, 1, 1, "read", "pipe");

	put_end(wait, 1, 1);
	wait->n_ends = OPEN_WAIT_ENDS_MAX + 1;
	for (unsigned int i = 1; i < OPEN_WAIT_ENDS_MAX; i++)
		wait->ends[i] = wait->ends[0];
	assert_false(is_stuck(1));
}

static void names_are_escaped(void **state)
{
	struct open_wait *wait = put(1, 1, 1, "read", "pipe");

	memcpy(wait->comm, "\33[2J\n", 6);
	put_end(wait, 1, 1);
	hang_find(&hang);
	expect_sentence(1, "process 1 (\\033[2J\\012) waits in read of a pipe, whose other end no other process has");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(two_that_wait_for_each_other_are_stuck, set_up),
		cmocka_unit_test_setup(one_that_waits_for_such_is_stuck_too, set_up),
		cmocka_unit_test_setup(a_pipe_of_its_own_is_no_answer, set_up),
		cmocka_unit_test_setup(a_stopped_process_ends_nothing, set_up),
		cmocka_unit_test_setup(a_child_that_computes_will_answer, set_up),
		cmocka_unit_test_setup(another_thread_of_the_peer_may_answer, set_up),
		cmocka_unit_test_setup(a_third_one_may_answer, set_up),
		cmocka_unit_test_setup(one_outside_of_the_job_may_answer, set_up),
		cmocka_unit_test_setup(an_ended_wait_has_its_answer, set_up),
		cmocka_unit_test_setup(what_is_not_known_may_answer, set_up),
		cmocka_unit_test_setup(more_ends_than_there_is_room_for_may_answer, set_up),
		cmocka_unit_test_setup(names_are_escaped, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
