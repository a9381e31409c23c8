/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer where the job hardly waited, or where its waits have no known cause: see ../job.h for the traces. */
#include "report/rules/rules.h"

#include <math.h>

#include "../job.h"

static void is_unknown_without_scheduling(struct report *r)
{
	const struct finding *b = is_bottleneck(r, "unknown");

	assert_true(isnan(b->share));
	assert_true(shows(b, "neither waits.out nor CPU scheduling"));
	assert_int_equal(r->why->seen, WHY_SEEN_NOT);
	report_free(r);
}

/* Sleeping, copying, compiling, listing: without CPU scheduling the cause of their waits is not known. */
static void what_does_not_train_is_bound_by_nothing(void **state)
{
	put_alone("sleep", MS);
	put_rw(100, step(1), MS, 'R', 832, 0, 0, 4);
	is_unknown_without_scheduling(loaded());
	put_alone("cp", MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_rw(100, step(i) + 700 * MS, 600 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_rw(100, step(i) + 900 * MS, 100 * MS, 'W', MiB, i * MiB, 0, 3);
	}
	is_unknown_without_scheduling(loaded());
	put_alone("cc1", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++)
		put_rw(100, step(i) + 700 * MS, 200 * MS, 'R', MiB, i * MiB, MiB, 4);
	is_unknown_without_scheduling(loaded());
	put_alone("ls", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++)
		put_open(100, step(i) + 700 * MS, 400 * MS, 5);
	is_unknown_without_scheduling(loaded());
}

/* A process that reads data and shows no training has waited for its reads, and nothing proves that it trains. */
static void a_job_that_only_reads_is_not_bound_by_training(void **state)
{
	const struct finding *b;
	struct report *r;

	put_alone("python", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++)
		put_rw(100, step(i) + 700 * MS, 50 * MS, 'R', MiB, i * MiB, MiB, 2);
	r = loaded();
	b = is_bottleneck(r, "unknown");
	assert_true(shows(b, "neither waits.out nor CPU scheduling"));
	report_free(r);
}

/* Puts LIFE of a job that reads from storage all of the time, and its MANIFEST, and loads it. */
static struct report *job_of(const char *manifest, uint64_t life)
{
	put(PIDS, BEGIN, "100\t100\t1\tcat\texec\t-\t100\t0\t/\t-\tcat");
	put(PIDS, BEGIN + life, "100\t100\t1\tcat\texit\t0\t100\t0\t/\t-\tutime=1\040stime=0");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	put_rw(100, BEGIN + life - MS, life - 2 * MS, 'R', 64 * MiB, 0, 64 * MiB, 2);
	put(SCHED, BEGIN + life, "100\t100\tcat\ttarget\t-\tread\t%llu\t1\t-\t-\t-\t%llu\t0\t0\t1", N(life),
	    N(life - 2 * MS));
	tree_put("manifest.json", manifest);
	return loaded();
}

/* As job_of(), of a job that has ended after LIFE, with its wait(2) STATUS. */
static struct report *ended_job(const char *status, uint64_t life)
{
	autofree char *manifest =
		util_fmt("{\"tool\":\"dltraced\",\"schema\":1,\"workload\":{\"pid\":100,\"status\":%s,"
			 "\"rusage\":{\"wall_ns\":%llu}},\"complete\":true}",
			 status, N(life));

	return job_of(manifest, life);
}

/* Only the code and what the report begins with: no cause, no advice, no other finding. */
static void expect_none(struct report *r, const char *code, const char *title, const char *evidence)
{
	const struct finding *b = is_bottleneck(r, code);
	autofree char *sentence = sentence_of(r), *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	report_screen(r, 80, out);
	assert_int_equal(fclose(out), 0);
	assert_null(strstr(text, "=>"));
	assert_non_null(strstr(sentence, title));
	assert_null(strchr(sentence, '%'));
	assert_null(b->rule->advice);
	assert_true(shows(b, evidence));
	assert_int_equal(r->why->rules->n + r->why->rules->n_facts + r->why->rules->n_missing, 0);
	report_free(r);
}

static void expect_no_answer(const char *status, uint64_t life, const char *code, const char *title,
			     const char *evidence)
{
	expect_none(ended_job(status, life), code, title, evidence);
}

static void a_job_that_is_too_short_or_failed_has_no_answer(void **state)
{
	struct report *r;

	expect_no_answer("0", 499 * MS, "too-short", "too short to say", "it ended with status 0 after 499 ms");
	expect_no_answer("256", 499 * MS, "failed", "The job failed within 0.5 s",
			 "it ended with status 1 after 499 ms");
	expect_no_answer("11", 499 * MS, "failed", "The job failed within 0.5 s", "after 499 ms");
	expect_no_answer("32512", 20 * S, "failed", "was not found", "it ended with status 127 after 20.0 s");
	expect_no_answer("32256", 20 * S, "failed", "could not be executed", "it ended with status 126 after 20.0 s");
	/* a little longer, or an error after it has worked: what it waited for is known */
	r = ended_job("0", 501 * MS);
	is_bottleneck(r, "storage-read");
	report_free(r);
	r = ended_job("256", 20 * S);
	is_bottleneck(r, "storage-read");
	report_free(r);
}

/* Of a job that still runs, or went on after the trace, nobody may say that it ran for so long, or failed so early. */
static void a_trace_that_is_too_short_says_nothing_of_the_job(void **state)
{
#define MANIFEST "{\"tool\":\"dltraced\",\"schema\":1,\"workload\":{\"pid\":100,\"status\":"
	static const char title[] = "The trace has less than 0.5 s of the job: too short to say";

	expect_none(job_of(MANIFEST "null}}", 400 * MS), "too-short", title, "to its last one so far it has 400 ms");
	expect_none(job_of(MANIFEST "null},\"complete\":true}", 400 * MS), "too-short", title,
		    "to its end it has 400 ms");
	expect_none(job_of(MANIFEST "256,\"rusage\":{\"wall_ns\":20000000000}},\"complete\":true}", 400 * MS),
		    "too-short", title, "400 ms");
}

static void a_trace_without_processes_has_no_answer(void **state)
{
	struct report *r;

	tree_put("manifest.json",
		 "{\"tool\":\"dltraced\",\"schema\":1,\"target\":{\"containers\":[\"train\"]},\"complete\":true}");
	r = loaded();
	assert_true(shows(is_bottleneck(r, "untraced"), "(train) never appeared"));
	report_free(r);
}

static void without_anybody_nothing_is_known(void **state)
{
	struct report *r;

	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	put_rw(100, step(1), MS, 'R', MiB, 0, MiB, 2);
	r = loaded();
	is_bottleneck(r, "unknown");
	assert_true(isnan(r->why->rules->bottleneck.measure));
	assert_true(r->why->rules->n_missing > 0);
	report_free(r);
}

/* It hardly fetches: the time goes to training, which its regions distinguish from decoding. */
static void a_trainer_that_computes(void **state)
{
	struct report *r;

	put_alone("python", 19 * S);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_step(100, i, 20 * MS);
		put_rw(100, step(i) + 10 * MS, MS, 'R', MiB, i * MiB, 0, 2);
		put_ran(100, i, 950 * MS, 0);
	}
	r = loaded_with(true);
	expect_near(is_bottleneck(r, "trainer-bound")->share, 0.98);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(what_does_not_train_is_bound_by_nothing),
		IN_TREE(a_job_that_only_reads_is_not_bound_by_training),
		IN_TREE(a_job_that_is_too_short_or_failed_has_no_answer),
		IN_TREE(a_trace_that_is_too_short_says_nothing_of_the_job),
		IN_TREE(a_trace_without_processes_has_no_answer),
		IN_TREE(without_anybody_nothing_is_known),
		IN_TREE(a_trainer_that_computes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
