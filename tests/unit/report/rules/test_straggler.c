/* SPDX-License-Identifier: BSD-2-Clause */
/* A loader that is slower than the others, and jobs in which none is: see ../path/trace.h for the traces. */
#include <string.h>

#include "../path/trace.h"
#include "report/rules/rules.h"
#include "report/why/why.h"

#define LIFE (2000 * MS)
#define BATCHES 10

/* A loader that decodes for RUN, and waits for its next order for the rest of its life, by CALL. */
static void put_loader(unsigned int pid, uint64_t run, const char *call)
{
	put_event(2 * MS, "fork", pid, pid, 10, "python", NULL);
	put_event(3 * MS, "rename", pid, pid, 10, "pt_data_worker", NULL);
	put_read(.from = 5 * MS, .to = 6 * MS, .pid = pid, .bytes = 4096, .fid = 1, .file = "a.bin");
	put_event(LIFE - MS, "exit", pid, pid, 10, "pt_data_worker", "0");
	put(SCHED, LIFE - MS, "%u\t%u\tpt_data_worker\ttarget\t0\t-\t%llu\t1\t0\t%llu\t0\t-\t-\t-\t-\t-\t-\t-\t-", pid,
	    pid, LIFE, (unsigned long long)run);
	put(SCHED, LIFE - MS,
	    "%u\t%u\tpt_data_worker\ttarget\t-\t%s\t%llu\t9\t-\t-\t-\t0\t0\t%llu\t9\tthread\t10\t10\t-", pid, pid, call,
	    LIFE, (unsigned long long)(LIFE - run));
}

/* A trainer that takes batches from two loaders in turn: each time it waits for FIRST for 160 ms. */
static struct report *trained(uint64_t first_ran, uint64_t second_ran, const char *call)
{
	put_file(1, "/data/a.bin");
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put(SCHED, LIFE, "10\t10\tpython\ttarget\t0\t-\t%llu\t1\t0\t%llu\t0\t-\t-\t-\t-\t-\t-\t-\t-", LIFE, 380 * MS);
	put_loader(20, first_ran, call);
	put_loader(21, second_ran, call);
	for (uint64_t i = 0; i < BATCHES; i++) {
		const uint64_t begin = i * LIFE / BATCHES;

		put_wait(.pid = 10, .from = begin + 20 * MS, .to = begin + 180 * MS, .call = "poll", .by = "thread",
			 .by_pid = 20);
		put_wait(.pid = 10, .from = begin + 181 * MS, .to = begin + 183 * MS, .call = "poll", .by = "thread",
			 .by_pid = 21);
	}
	return path_loaded();
}

static void expect_answer(struct report *r, const char *code, double share)
{
	const struct finding *answer = &r->why->rules->bottleneck;

	assert_string_equal(answer->rule->code, code);
	assert_true(answer->share > share - 0.02 && answer->share < share + 0.02);
	report_free(r);
}

static bool has_evidence(const struct finding *answer, const char *text)
{
	for (unsigned int i = 0; i < answer->n; i++)
		if (strstr(answer->evidence[i], text))
			return true;
	return false;
}

static void the_others_wait_for_orders_meanwhile(void **state)
{
	struct report *r = trained(1900 * MS, 190 * MS, "poll");

	assert_true(has_evidence(&r->why->rules->bottleneck, "process 20, loader 1 of those that ran at that time"));
	assert_true(has_evidence(&r->why->rules->bottleneck, "was busy for 95 % of that, the others for 9 %"));
	/* nine tenths of its 1.6 s of 2 s */
	expect_answer(r, "straggler-worker", 0.8 * 0.9);
}

/* Its batch comes first in each round, and the other one's is ready then. */
static void the_first_of_equal_loaders_is_no_straggler(void **state)
{
	expect_answer(trained(1900 * MS, 1900 * MS, "poll"), "decode-cpu", 0.81);
}

static void nor_is_one_with_twice_the_work(void **state)
{
	expect_answer(trained(1900 * MS, 900 * MS, "poll"), "decode-cpu", 0.81);
}

/* As one does that waits for its turn at a server: that is no wait for orders. */
static void a_loader_that_sleeps_is_busy(void **state)
{
	expect_answer(trained(1900 * MS, 190 * MS, "clock_nanosleep"), "decode-cpu", 0.81);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(the_others_wait_for_orders_meanwhile),
		IN_TREE(the_first_of_equal_loaders_is_no_straggler),
		IN_TREE(nor_is_one_with_twice_the_work),
		IN_TREE(a_loader_that_sleeps_is_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
