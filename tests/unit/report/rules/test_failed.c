/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer of a job that failed, each with one that got over it. */
#include <signal.h>

#include "../failed/failed.h"
#include "report/rules/rules.h"
#include "report/why/why.h"

/* A workload that ended with waitpid's STATUS. */
static void put_ended_workload(int status)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "{\"tool\":\"dltraced\",\"workload\":{\"pid\":%u,\"status\":%d,\"end\":{\"monotonic_ns\":%llu}},"
		 "\"start\":{\"monotonic_ns\":%llu},\"end\":{\"monotonic_ns\":%llu}}",
		 JOB, status, BEGIN + LIFE, BEGIN, BEGIN + LIFE);
	tree_put("manifest.json", text);
}

static void ran(uint64_t ns)
{
	put(SCHED, LIFE, "10\t10\tpython\ttarget\t0\t-\t%llu\t1\t0\t%llu\t0\t-\t-\t-\t-\t-\t-\t-\t-", LIFE,
	    (unsigned long long)ns);
}

static void waits(uint64_t from, uint64_t to, const char *call, const char *by)
{
	put_wait_row(&(struct put_wait){ .pid = JOB, .from = from, .to = to, .call = call, .by = by });
}

static void expect(struct report *r, const char *code, const char *text)
{
	const struct finding *answer = &r->why->rules->bottleneck;
	bool has = !text;

	assert_string_equal(answer->rule->code, code);
	for (unsigned int i = 0; text && i < answer->n; i++)
		has |= strstr(answer->evidence[i], text) != NULL;
	if (!has)
		fail_msg("no evidence has %s", text);
	report_free(r);
}

/* Sleeps of 100 ms, each behind a write that FAILED. */
static void put_tries(unsigned int n, bool failed)
{
	ran(LIFE - n * 100 * MS);
	for (unsigned int i = 0; i < n; i++) {
		put_written((i + 1) * 100 * MS, JOB, "write", failed ? -ENOSPC : 4096, 1);
		waits((i + 1) * 100 * MS + MS, (i + 2) * 100 * MS, "clock_nanosleep", "timer");
	}
}

static void a_job_that_tries_again_has_failed(void **state)
{
	put_job();
	put_tries(14, true);
	expect(failed_loaded(), "failed", "write failed 14 times");
}

static void a_job_that_sleeps_on_purpose_is_idle(void **state)
{
	struct report *r;

	put_job();
	put_tries(14, false);
	r = failed_loaded();
	assert_int_equal(r->failed->n, 0);
	assert_string_not_equal(r->why->rules->bottleneck.rule->code, "failed");
	report_free(r);
}

/* One failure, one retry: the sleeps are for something else. */
static void a_job_that_tries_once_more_has_not_failed(void **state)
{
	struct report *r;

	put_job();
	put_written(90 * MS, JOB, "write", -ENOSPC, 1);
	put_tries(14, false);
	r = failed_loaded();
	assert_int_equal(r->failed->n, 1);
	assert_string_not_equal(r->why->rules->bottleneck.rule->code, "failed");
	report_free(r);
}

static void a_job_that_ends_by_its_failure_has_failed(void **state)
{
	put_job();
	ran(LIFE);
	put_written(LIFE - 10 * MS, JOB, "write", -ENOSPC, 1);
	put_ended_workload(1 << 8);
	expect(failed_loaded(), "failed", "ENOSPC");
}

/* What it did until then is a finding, by the path as before, whose size is of the same time as its share. */
static void what_it_did_until_then_stays(void **state)
{
	const struct finding *found = NULL;
	struct report *r;

	put_job();
	ran(400 * MS);
	waits(100 * MS, LIFE - 300 * MS, "recvfrom", "net");
	put_written(LIFE - 10 * MS, JOB, "write", -ENOSPC, 1);
	put_ended_workload(1 << 8);
	r = failed_loaded();
	assert_string_equal(r->why->rules->bottleneck.rule->code, "failed");
	for (unsigned int i = 0; i < r->why->rules->n; i++)
		if (strcmp(r->why->rules->found[i].rule->code, "network-read") == 0)
			found = &r->why->rules->found[i];
	assert_non_null(found);
	assert_true(found->n > 0);
	assert_int_equal((int)(found->size.ns / 1e6 + 0.5), 1600);
	assert_int_equal((int)(100 * found->size.share + 0.5), 80);
	report_free(r);
}

static void one_that_ends_well_has_not(void **state)
{
	struct report *r;

	put_job();
	ran(LIFE);
	put_written(LIFE - 10 * MS, JOB, "write", -ENOSPC, 1);
	put_ended_workload(0);
	r = failed_loaded();
	assert_string_not_equal(r->why->rules->bottleneck.rule->code, "failed");
	report_free(r);
}

/* ^C, and a scheduler that asks it to end. */
static void a_requested_end_is_none(void **state)
{
	static const int requested[] = { SIGINT, SIGTERM, 130 << 8, 124 << 8 };

	for (size_t i = 0; i < ARRAY_SIZE(requested); i++) {
		struct report *r;

		if (i == 0) {
			put_job();
			ran(LIFE);
			put_written(LIFE - 10 * MS, JOB, "write", -ENOSPC, 1);
		}
		put_ended_workload(requested[i]);
		r = failed_loaded();
		assert_string_not_equal(r->why->rules->bottleneck.rule->code, "failed");
		report_free(r);
	}
}

/* A worker is killed, and its parent waits for it until the trace ends. */
static void a_wait_for_a_process_that_is_gone_has_failed(void **state)
{
	put_job();
	ran(200 * MS);
	put_ended(200 * MS, 11, JOB, "worker", SIGKILL, "\\040by=itself\\040by_pid=11\\040limit=0\\040by_comm=worker");
	waits(190 * MS, LIFE, "read", "end");
	expect(failed_loaded(), "failed", "worker (process 11) ended by SIGKILL at 0.20 s, sent by itself");
}

static void a_wait_without_one_has_no_answer(void **state)
{
	put_job();
	ran(200 * MS);
	put_ended(200 * MS, 11, JOB, "worker", SIGTERM, "\\040by=job\\040by_pid=10\\040limit=0\\040by_comm=python");
	waits(190 * MS, LIFE, "read", "end");
	expect(failed_loaded(), "no-answer", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_job_that_tries_again_has_failed),
		IN_TREE(a_job_that_sleeps_on_purpose_is_idle),
		IN_TREE(a_job_that_tries_once_more_has_not_failed),
		IN_TREE(a_job_that_ends_by_its_failure_has_failed),
		IN_TREE(what_it_did_until_then_stays),
		IN_TREE(one_that_ends_well_has_not),
		IN_TREE(a_requested_end_is_none),
		IN_TREE(a_wait_for_a_process_that_is_gone_has_failed),
		IN_TREE(a_wait_without_one_has_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
