/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer by the path where samples show how long the job's GPU was idle: see ../path/trace.h for the traces. */
#include <string.h>

#include "../path/trace.h"
#include "report/rules/rules.h"
#include "report/why/why.h"

#define S (1000 * MS)
#define SECONDS 10
#define LIFE (SECONDS * S)

static const struct finding *answer(const struct report *r)
{
	return &r->why->rules->bottleneck;
}

static bool shows(const struct report *r, const char *text)
{
	for (unsigned int i = 0; i < answer(r)->n; i++)
		if (strstr(answer(r)->evidence[i], text))
			return true;
	return false;
}

/* Expects the answer CODE with SHARE percent, and TEXT in what is said of it; frees R. */
static void expect_answer(struct report *r, const char *code, int share, const char *text)
{
	assert_string_equal(answer(r)->rule->code, code);
	assert_int_equal((int)(100 * answer(r)->share + 0.5), share);
	if (!shows(r, text))
		fail_msg("no evidence has %s", text);
	report_free(r);
}

/* A job of ten seconds that reads from a disk for NS of each, and computes. */
static void put_reader(unsigned int pid, uint64_t ns)
{
	for (uint64_t at = 0; ns && at < LIFE; at += S)
		put_wait(.pid = pid, .from = at + 100 * MS, .to = at + 100 * MS + ns, .call = "read", .state = "disk",
			 .by = "disk", .fid = 1, .file = "x.bin");
}

static void put_reading_job(uint64_t ns)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put_file(1, "/data/x.bin");
	put_reader(10, ns);
}

/* The last recent driver's line: PID, which is on GPU NR for SM percent; 0: nobody is. */
static void put_sample(uint64_t at, unsigned int nr, unsigned int pid, unsigned int sm)
{
	if (pid)
		put(GPU, at, "20261121\t01:02:03\t%u\t%u\tC\t%u\t10\t-\t-\t-\t-\t61000\t0\tpython", nr, pid, sm);
	else
		put(GPU, at, "20261121\t01:02:03\t%u\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-", nr);
}

static void put_samples(unsigned int nr, unsigned int pid, unsigned int sm)
{
	for (unsigned int i = 1; i <= SECONDS; i++)
		put_sample(i * S + nr, nr, pid, sm);
}

static void a_gpu_waits_for_reads(void **state)
{
	struct report *r;

	put_reading_job(600 * MS);
	put_samples(0, 10, 40);
	r = path_loaded();
	assert_true(shows(r, "GPU 0, of process 10, was idle for 60.0 % of 10"));
	assert_true(shows(r, "then the job was, by its path: reading from disk 100 %"));
	/* in each second, 600 ms of reads and 600 of idle time have at least 200 in common */
	expect_answer(r, "storage-read", 60, "2.00 s at least, 6.00 s at most");
}

/* A GPU that was given work goes on while its process reads. */
static void reads_while_a_gpu_works_cost_nothing(void **state)
{
	put_reading_job(900 * MS);
	put_samples(0, 10, 97);
	expect_answer(path_loaded(), "gpu-bound", 97, "while it worked the job was, by its path: reading from disk");
}

/* Without reads the job would be shorter by 3 s at most, and not by 6. */
static void reads_cost_what_the_gpu_waits(void **state)
{
	put_reading_job(600 * MS);
	put_samples(0, 10, 70);
	expect_answer(path_loaded(), "storage-read", 30, "3.00 s at most");
}

static void a_gpu_waits_for_its_process(void **state)
{
	put_reading_job(100 * MS);
	put_samples(0, 10, 20);
	expect_answer(path_loaded(), "cpu-bound", 70, "on a CPU 88 %; reading from disk 12 %");
}

static void a_process_that_spins_for_its_gpu_does_not_hide_reads(void **state)
{
	put_reading_job(400 * MS);
	put_samples(0, 10, 60);
	expect_answer(path_loaded(), "storage-read", 40, "then the job was, by its path: reading from disk 100 %");
}

/* Its loader waits for it in each second. */
static void a_gpu_waits_for_a_process_that_loaders_wait_for(void **state)
{
	put_reading_job(0);
	put_process(20, 10, "loader", 0, LIFE);
	for (uint64_t at = 0; at < LIFE; at += S) {
		put_wait(.pid = 10, .from = at, .to = at + 50 * MS, .by = "thread", .by_pid = 20);
		put_wait(.pid = 20, .from = at + 60 * MS, .to = at + 990 * MS, .by = "thread", .by_pid = 10);
	}
	put_samples(0, 10, 20);
	expect_answer(path_loaded(), "trainer-bound", 75, "while its GPU was idle");
}

/* Loaders wait for room in their queue, as the GPU is busy. */
static void loaders_that_wait_for_a_busy_gpu_are_no_cause(void **state)
{
	put_reading_job(0);
	put_process(20, 10, "loader", 0, LIFE);
	for (uint64_t at = 0; at < LIFE; at += S) {
		put_wait(.pid = 10, .from = at, .to = at + 50 * MS, .by = "thread", .by_pid = 20);
		put_wait(.pid = 20, .from = at + 60 * MS, .to = at + 990 * MS, .by = "thread", .by_pid = 10);
	}
	put_samples(0, 10, 95);
	expect_answer(path_loaded(), "gpu-bound", 95, "GPU 0, of process 10");
}

static void a_gpu_that_others_use_says_nothing(void **state)
{
	struct report *r;

	put_reading_job(600 * MS);
	put_samples(0, 999, 99);
	put_samples(1, 0, 0);
	r = path_loaded();
	assert_false(shows(r, "GPU"));
	expect_answer(r, "storage-read", 60, "6.00 s of the 10");
}

/* In its first half the job reads, and has not come to its GPU. */
static void a_gpu_is_idle_before_it_is_used(void **state)
{
	put_reading_job(0);
	for (uint64_t at = 0; at < 5 * S; at += S)
		put_wait(.pid = 10, .from = at + 50 * MS, .to = at + 950 * MS, .call = "read", .state = "disk",
			 .by = "disk", .fid = 1, .file = "x.bin");
	for (unsigned int i = 1; i <= SECONDS; i++)
		put_sample(i * S, 0, i > 5 ? 10 : 0, 100);
	expect_answer(path_loaded(), "storage-read", 45, "was idle for 50.0 %");
}

static void a_few_samples_say_nothing(void **state)
{
	struct report *r;

	put_reading_job(600 * MS);
	for (unsigned int i = 1; i <= 4; i++)
		put_sample(i * S, 0, 10, 100);
	r = path_loaded();
	assert_false(shows(r, "GPU"));
	expect_answer(r, "storage-read", 60, "6.00 s of the 10");
}

/* The other rank's GPU waits for the first one in a collective. */
static void the_gpu_that_others_wait_for_decides(void **state)
{
	put_reading_job(600 * MS);
	put_process(20, 10, "rank", 0, LIFE);
	put_samples(0, 10, 40);
	put_samples(1, 20, 100);
	expect_answer(path_loaded(), "storage-read", 60, "job's 2 GPUs was idle for longest, GPU 1 of process 20");
}

static void a_gpu_that_hardly_works_has_no_part(void **state)
{
	put_reading_job(600 * MS);
	put_samples(0, 10, 97);
	put_samples(1, 10, 0);
	expect_answer(path_loaded(), "gpu-bound", 97, "GPU 0, of process 10, was idle for 3.0 %");
}

/* A fifth of the time nobody knows what it did, while its GPU was idle: so it is not known what sets the pace. */
static void a_gpu_that_waits_for_what_is_not_known_is_no_bound(void **state)
{
	struct report *r;

	put_reading_job(0);
	for (uint64_t at = 0; at < LIFE; at += S)
		put_wait(.pid = 10, .from = at + 100 * MS, .to = at + 300 * MS);
	put_samples(0, 10, 75);
	r = path_loaded();
	assert_string_not_equal(answer(r)->rule->code, "gpu-bound");
	report_free(r);
}

/* Reads for 150 ms, and writes for 90, of each second: both are too little for an answer by themselves, or nearly. */
static void a_second_cause_has_its_own_name(void **state)
{
	put_reading_job(150 * MS);
	for (uint64_t at = 0; at < LIFE; at += S)
		put_wait(.pid = 10, .from = at + 500 * MS, .to = at + 590 * MS, .call = "write", .state = "disk",
			 .by = "disk", .fid = 1, .file = "x.bin");
	put_samples(0, 10, 76);
	expect_answer(path_loaded(), "storage-read", 15, "another cause is about as large: checkpoint-write, 9.0 %");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_gpu_waits_for_reads),
		IN_TREE(reads_while_a_gpu_works_cost_nothing),
		IN_TREE(reads_cost_what_the_gpu_waits),
		IN_TREE(a_gpu_waits_for_its_process),
		IN_TREE(a_process_that_spins_for_its_gpu_does_not_hide_reads),
		IN_TREE(a_gpu_waits_for_a_process_that_loaders_wait_for),
		IN_TREE(loaders_that_wait_for_a_busy_gpu_are_no_cause),
		IN_TREE(a_gpu_that_others_use_says_nothing),
		IN_TREE(a_gpu_is_idle_before_it_is_used),
		IN_TREE(a_few_samples_say_nothing),
		IN_TREE(the_gpu_that_others_wait_for_decides),
		IN_TREE(a_gpu_that_hardly_works_has_no_part),
		IN_TREE(a_gpu_that_waits_for_what_is_not_known_is_no_bound),
		IN_TREE(a_second_cause_has_its_own_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
