/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a trace to predictions. The trace is of a job whose schedule this test computes by itself, by recurrences: what
 * it would be with a change is computed in the same way, and must be what is predicted.
 */
#include "report/whatif/whatif.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../job.h"

#define BATCHES 60U
#define TRAINER 100U

/* A job: batches of PEER_MS that wait for a server and CPU_MS, steps of STEP_MS. */
struct job {
	unsigned int workers, prefetch;
	double peer_ms, cpu_ms, step_ms;
	unsigned int slow_every; /* so many batches take ten times as long; 0: none does */
	unsigned int late; /* this batch is begun a second late; 0: none is */
	double names_ms; /* of a batch: it waits in stat(2) for a file server */
	double deliver_ms; /* from a batch's end until the trainer has it */
};

struct schedule {
	double begin[BATCHES], end[BATCHES]; /* of batches, ms */
	double fetched[BATCHES], taken[BATCHES]; /* a fetch began, and ended */
	double total;
};

static double peer_ms(const struct job *job, unsigned int i)
{
	return job->peer_ms * (job->slow_every && i % job->slow_every == job->slow_every - 1 ? 10 : 1);
}

/* What PyTorch does with JOB, where nothing takes time but batches and steps. */
static struct schedule schedule_of(const struct job *job)
{
	static struct schedule s;
	double now = 0;

	for (unsigned int i = 0; i < BATCHES; i++) {
		const unsigned int w = job->workers, ahead = w * job->prefetch;
		double begin = now;

		if (w) {
			begin = i >= w ? s.end[i - w] : 0;
			begin = i >= ahead ? MAX(begin, s.taken[i - ahead]) : begin;
		}
		s.begin[i] = begin + (job->late && i == job->late ? 1000 : 0);
		s.end[i] = s.begin[i] + peer_ms(job, i) + job->names_ms + job->cpu_ms;
		s.fetched[i] = now;
		s.taken[i] = MAX(now, s.end[i] + job->deliver_ms);
		now = s.taken[i] + job->step_ms;
	}
	s.total = now;
	return s;
}

static uint64_t at(double ms)
{
	return BEGIN + S + (uint64_t)(ms * MS);
}

static void put_span(unsigned int pid, const char *cat, const char *name, double begin_ms, double end_ms,
		     const char *args)
{
	put(REGIONS, at(end_ms), "%u\t%u\tpython\t%s\t%s\t%llu\t0\t0\t-\t-\t-\ttorch\t%s", pid, pid, cat, name,
	    N(at(end_ms) - at(begin_ms)), args);
}

static void put_batch(const struct job *job, const struct schedule *s, unsigned int i)
{
	const unsigned int pid = job->workers ? TRAINER + 1 + i % job->workers : TRAINER;
	char args[32] = "-";

	if (job->workers)
		snprintf(args, sizeof(args), "worker=%u", i % job->workers);
	put_span(pid, "data", "batch", s->begin[i], s->end[i], args);
	put(WAITS, at(s->begin[i] + peer_ms(job, i)),
	    "%u\t%u\tpython\trecvfrom\tsleep\t%llu\t0\tnet\t-\t-\t-\t10.0.0.1:80\t-\t-\t0", pid, pid,
	    N(peer_ms(job, i) * MS));
}

static void put_names(const struct job *job, const struct schedule *s, unsigned int i)
{
	const unsigned int pid = job->workers ? TRAINER + 1 + i % job->workers : TRAINER;

	put(WAITS, at(s->begin[i] + peer_ms(job, i) + job->names_ms),
	    "%u\t%u\tpython\tnewfstatat\tsleep\t%llu\t0\tthread\t9\t9\tserver\t-\t-\t-\t0", pid, pid,
	    N(job->names_ms * MS));
}

static void put_cpu(unsigned int pid, const struct schedule *s, double ran_ms)
{
	put(SCHED, at(s->total), "%u\t%u\tpython\ttarget\t0\t-\t%llu\t9\t0\t%llu\t0\t-\t-\t-\t-", pid, pid,
	    N(s->total * MS), N(ran_ms * MS));
}

static void put_trace(const struct job *job)
{
	const struct schedule s = schedule_of(job);
	char args[96];

	snprintf(args, sizeof(args), "workers=%u\\012prefetch=%u\\012in_order=1\\012iterable=0", job->workers,
		 job->prefetch);
	put_span(TRAINER, "dataloader", "start", 0, 0, args);
	for (unsigned int i = 0; i < BATCHES; i++) {
		put_batch(job, &s, i);
		if (job->names_ms > 0)
			put_names(job, &s, i);
		put_span(TRAINER, "dataloader", "fetch", s.fetched[i], s.taken[i], "-");
		if (job->workers && s.taken[i] - s.fetched[i] >= 1)
			put(WAITS, at(s.taken[i]),
			    "100\t100\tpython\tpoll\tsleep\t%llu\t0\tthread\t-\t-\t-\t-\t-\t-\t0",
			    N(at(s.taken[i]) - at(s.fetched[i])));
		put(WAITS, at(s.taken[i] + job->step_ms),
		    "100\t100\tpython\tpoll\tsleep\t%llu\t0\ttimer\t-\t-\t-\t-\t-\t-\t0", N(job->step_ms * MS));
	}
	put_span(TRAINER, "dataloader", "fetch", s.total, s.total, "end=1");
	put_cpu(TRAINER, &s, job->workers ? 0 : BATCHES * job->cpu_ms);
	for (unsigned int w = 0; w < job->workers; w++) {
		unsigned int own = 0;

		for (unsigned int i = w; i < BATCHES; i += job->workers)
			own++;
		put_cpu(TRAINER + 1 + w, &s, own * job->cpu_ms);
	}
	tree_put("manifest.json", "{\"tool\": \"dltraced\", \"machine\": {\"cpus\": 64}}");
}

static struct whatif_wanted wanted;

static void want(const char *text)
{
	char why[256];

	assert_null(whatif_change_parse(&wanted.change[wanted.n++], text, why, sizeof(why)));
}

static struct report *reported(void)
{
	struct report *r = NULL;

	write_rows();
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true, .what_if = &wanted }), 0);
	assert_non_null(r->whatif);
	return r;
}

static int set_up(void **state)
{
	wanted.n = 0;
	return tree_make(state);
}

/* Checks that the prediction of row I is what JOB takes. Handing on a batch takes a little in the replay. */
static void expect(const struct report *r, unsigned int i, const struct job *job)
{
	const struct whatif_prediction *row = &r->whatif->row[i];
	const double ms = schedule_of(job).total;

	if (row->refused)
		fail_msg("%s: %s", row->change, row->refused);
	if (fabs(row->ns / MS / ms - 1) > 0.03)
		fail_msg("%s: %.3f ms, not %.3f", row->change, row->ns / MS, ms);
	assert_true(row->low_ns <= ms * MS && ms * MS <= row->high_ns);
}

/* --- predictions
 * ------------------------------------------------------------------------------------------------------ */

static void workers_and_prefetch_are_predicted(void **state)
{
	static const struct job job = { .workers = 2, .prefetch = 2, .peer_ms = 40, .cpu_ms = 10, .step_ms = 15 };
	struct job one = job, four = job, eight = job;
	struct report *r;

	put_trace(&job);
	want("workers=4");
	want("workers=1");
	want("workers=8,prefetch=4");
	r = reported();
	assert_null(r->whatif->refused);
	assert_true(fabs(r->whatif->base_error) < 0.02);
	four.workers = 4;
	one.workers = 1;
	eight.workers = 8;
	eight.prefetch = 4;
	expect(r, 0, &four);
	expect(r, 1, &one);
	expect(r, 2, &eight);
	assert_string_equal(r->whatif->row[1].limited_by, "the loaders: peers' latency");
	report_free(r);
}

static void stragglers_and_times_are_predicted(void **state)
{
	static const struct job job = {
		.workers = 4, .prefetch = 2, .peer_ms = 30, .cpu_ms = 6, .step_ms = 12, .slow_every = 9
	};
	struct job decode = job, prefetch = job, latency = job;
	struct report *r;

	put_trace(&job);
	want("decode=2x");
	want("prefetch=6");
	want("latency=5ms");
	r = reported();
	decode.cpu_ms = 3;
	prefetch.prefetch = 6;
	latency.peer_ms = 5;
	latency.slow_every = 0;
	expect(r, 0, &decode);
	expect(r, 1, &prefetch);
	expect(r, 2, &latency);
	assert_string_equal(r->whatif->row[2].limited_by, "the trainer");
	report_free(r);
}

static void without_workers_all_is_the_trainers(void **state)
{
	static const struct job job = { .workers = 0, .prefetch = 2, .peer_ms = 40, .cpu_ms = 10, .step_ms = 30 };
	struct job faster = job;
	struct report *r;

	put_trace(&job);
	want("decode=2x");
	want("ready");
	r = reported();
	assert_null(r->whatif->refused);
	faster.cpu_ms = 5;
	expect(r, 0, &faster);
	assert_true(fabs(r->whatif->row[1].ns / MS - BATCHES * 30) < 20);
	report_free(r);
}

/* Batches come 25 ms after their end, as where a worker's threads fight for Python's lock: no step is longer for it. */
static void late_deliveries_are_no_steps(void **state)
{
	static const struct job job = {
		.workers = 1, .prefetch = 2, .peer_ms = 30, .cpu_ms = 20, .step_ms = 15, .deliver_ms = 25
	};
	struct job two = job, none = job;
	struct report *r;

	put_trace(&job);
	want("workers=2");
	want("ready");
	r = reported();
	assert_null(r->whatif->refused);
	two.workers = 2;
	none.workers = none.peer_ms = none.cpu_ms = none.deliver_ms = 0;
	expect(r, 0, &two);
	expect(r, 1, &none);
	report_free(r);
}

static void names_are_of_the_file_server(void **state)
{
	static const struct job job = {
		.workers = 2, .prefetch = 2, .peer_ms = 10, .names_ms = 40, .cpu_ms = 10, .step_ms = 5
	};
	struct job half = job, cached = job, slow = job;
	struct report *r;

	put_trace(&job);
	want("storage=2x");
	want("cached");
	want("storage=0.5x");
	r = reported();
	half.names_ms = 20;
	cached.names_ms = 0;
	slow.names_ms = 80;
	expect(r, 0, &half);
	expect(r, 1, &cached);
	expect(r, 2, &slow);
	assert_string_equal(r->whatif->row[2].limited_by, "the loaders: storage's latency");
	report_free(r);
}

/* The advice is what the schedules say: 4 workers are the fewest whose batches keep up with steps of 15 ms. */
static void the_fewest_workers_are_found(void **state)
{
	static const struct job job = { .workers = 2, .prefetch = 2, .peer_ms = 40, .cpu_ms = 10, .step_ms = 15 };
	struct report *r;

	put_trace(&job);
	r = reported();
	assert_true(r->whatif->enough);
	assert_string_equal(r->whatif->workers.change, "workers=4");
	assert_true(fabs(r->whatif->ready.ns / MS - BATCHES * 15) < 0.02 * BATCHES * 15);
	report_free(r);
}

/* --- refusals
 * ---------------------------------------------------------------------------------------------------------- */

static const struct job plain = { .workers = 2, .prefetch = 2, .peer_ms = 40, .cpu_ms = 10, .step_ms = 15 };

static void expect_refused(const char *text)
{
	struct report *r = reported();

	assert_true(r->whatif->present);
	assert_non_null(r->whatif->refused);
	if (!strstr(r->whatif->refused, text))
		fail_msg("%s", r->whatif->refused);
	report_free(r);
}

static void few_batches_are_refused(void **state)
{
	put_span(TRAINER, "dataloader", "start", 0, 0, "workers=0");
	for (unsigned int i = 0; i < WHATIF_BATCHES_LEAST - 1; i++)
		put_span(TRAINER, "dataloader", "fetch", i, i + 0.5, "-");
	tree_put("manifest.json", "{\"tool\": \"dltraced\"}");
	expect_refused("fewer than 20 batches");
}

static void losses_are_refused(void **state)
{
	put_trace(&plain);
	tree_put("manifest.json",
		 "{\"tool\": \"dltraced\", \"probes\": [{\"name\": \"waits\", \"rows\": 1, \"lost\": 3}]}");
	expect_refused("waits.out lacks rows");
}

static void several_trainers_are_refused(void **state)
{
	put_trace(&plain);
	put_span(200, "dataloader", "fetch", 100, 120, "-");
	expect_refused("several trainers");
}

static void a_second_loader_is_refused(void **state)
{
	put_trace(&plain);
	put_span(300, "data", "batch", 500, 520, "worker=1");
	expect_refused("several DataLoaders");
}

/* A worker that did not begin with its next batch for a second, whatever held it up. */
static void a_base_that_is_off_is_refused(void **state)
{
	struct job job = plain;

	job.late = 30;
	put_trace(&job);
	expect_refused("replayed, takes -");
}

static void no_sums_are_refused(void **state)
{
	put_trace(&plain);
	for (unsigned int i = 0; i < n_rows; i++)
		if (rows[i].file == SCHED)
			rows[i].file = RECLAIM;
	expect_refused("no sched.out");
}

static void a_trace_without_a_loader_has_nothing(void **state)
{
	struct report *r;

	put_job(S);
	tree_put("manifest.json", "{\"tool\": \"dltraced\"}");
	r = reported();
	assert_false(r->whatif->present);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(workers_and_prefetch_are_predicted, set_up, tree_remove),
		cmocka_unit_test_setup_teardown(stragglers_and_times_are_predicted, set_up, tree_remove),
		cmocka_unit_test_setup_teardown(without_workers_all_is_the_trainers, set_up, tree_remove),
		cmocka_unit_test_setup_teardown(the_fewest_workers_are_found, set_up, tree_remove),
		cmocka_unit_test_setup_teardown(names_are_of_the_file_server, set_up, tree_remove),
		cmocka_unit_test_setup_teardown(late_deliveries_are_no_steps, set_up, tree_remove),
		cmocka_unit_test_setup_teardown(few_batches_are_refused, set_up, tree_remove),
		cmocka_unit_test_setup_teardown(losses_are_refused, set_up, tree_remove),
		cmocka_unit_test_setup_teardown(several_trainers_are_refused, set_up, tree_remove),
		cmocka_unit_test_setup_teardown(a_second_loader_is_refused, set_up, tree_remove),
		cmocka_unit_test_setup_teardown(a_base_that_is_off_is_refused, set_up, tree_remove),
		cmocka_unit_test_setup_teardown(no_sums_are_refused, set_up, tree_remove),
		cmocka_unit_test_setup_teardown(a_trace_without_a_loader_has_nothing, set_up, tree_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
