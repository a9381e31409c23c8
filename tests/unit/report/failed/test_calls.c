/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that failed, and those that programs expect to fail. */
#include "failed.h"

static void a_full_disk_is_one_failure(void **state)
{
	put_job();
	put_written(100 * MS, JOB, "write", -ENOSPC, 1);
	put_written(200 * MS, JOB, "write", -ENOSPC, 2);
	put_written(1300 * MS, JOB, "write", -ENOSPC, 2);
	expect_one(failed_loaded(), 3,
		   "python: write failed 3 times from 0.10 s to 1.30 s: no space left (ENOSPC), in /data/out (a.pt)");
}

static void what_fitted_in_before_is_part_of_it(void **state)
{
	put_job();
	put_written(100 * MS, JOB, "write", 4095, 1);
	put_written(101 * MS, JOB, "write", -ENOSPC, 1);
	expect_one(failed_loaded(), 1,
		   "python: write failed once at 0.10 s: no space left (ENOSPC), in /data/out (a.pt)");
}

static void a_short_write_is_a_failure(void **state)
{
	put_job();
	put_written(100 * MS, JOB, "pwrite64", 4095, 1);
	expect_one(failed_loaded(), 1,
		   "python: pwrite64 wrote less than it was given once at 0.10 s, in /data/out (a.pt)");
}

/* A copy ends where its source does; a pipe takes what fits; no write takes 2 GiB at once. */
static void other_short_writes_are_none(void **state)
{
	put_job();
	put(FILES, 0, "3\t0:1\t3\tfifo\tpipefs\t0\tok\tpipe:[1]");
	put_written(100 * MS, JOB, "write", 4096, 1);
	put_written(100 * MS, JOB, "sendfile", 100, 1);
	put_written(101 * MS, JOB, "write", 100, 3);
	put(RW, 102 * MS, "10\t10\tx\tW\twrite\t1000\t4294967296\t2147479552\t0\t0\t5\t-\t1\tf");
	expect_nothing(failed_loaded());
}

static void a_limit_of_open_files_has_no_folder(void **state)
{
	put_job();
	for (unsigned int i = 0; i < 700; i++)
		put_no_open((100 + i) * MS, JOB, EMFILE, "RDONLY", i % 2 ? "/data/a/1" : "2");
	expect_one(failed_loaded(), 700,
		   "python: openat failed 700 times from 0.10 s to 0.80 s: too many open files in the process "
		   "(EMFILE, the limit is RLIMIT_NOFILE)");
}

/* Which the job may have set itself, so that its end shows it. */
static void a_limit_has_its_number(void **state)
{
	put_event(0, "exec", JOB, JOB, 1, "python", NULL);
	put(PIDS, LIFE, "%u\t%u\t1\tpython\texit\t0\t%u\t0\t/\t-\tutime=0\\040minflt=1\\040cpus=2\\040nofile=64", JOB,
	    JOB, JOB);
	put_workload(JOB, LIFE);
	put_no_open(100 * MS, JOB, EMFILE, "RDONLY", "/data/a");
	expect_one(failed_loaded(), 1,
		   "python: openat failed once at 0.10 s: too many open files in the process "
		   "(EMFILE, the limit is RLIMIT_NOFILE, 64 in process 10)");
}

static void searches_and_tries_are_no_failures(void **state)
{
	put_job();
	for (unsigned int i = 0; i < 3000; i++)
		put_no_open((100 + i / 10) * MS, JOB, ENOENT, "RDONLY", "/data/no");
	put_no_open(500 * MS, JOB, EAGAIN, "RDONLY", "/data/a");
	put_no_open(501 * MS, JOB, EINTR, "RDONLY", "/data/a");
	put_no_open(502 * MS, JOB, EEXIST, "RDWR|CREAT", "/data/a");
	put_no_open(503 * MS, JOB, EPERM, "RDONLY|NOATIME", "/data/a");
	put_no_open(504 * MS, JOB, EACCES, "RDONLY", "/etc/shadow");
	put_no_open(505 * MS, JOB, EROFS, "WRONLY|CREAT", "/app/lib/python3.11/x/__pycache__/m.pyc");
	put_no_open(505 * MS, JOB, EACCES, "WRONLY|CREAT", "/.config/matplotlib/x");
	put_no_open(505 * MS, JOB, EACCES, "WRONLY|CREAT", "/home/u/.cache/x");
	put_no_open(505 * MS, JOB, EACCES, "WRONLY|CREAT", ".lock");
	put(RW, 506 * MS, "10\t10\tx\tR\tread\t1000\t4096\t-11\t-\t0\t5\t-\t-\t-");
	put(MMAP, 507 * MS,
	    "10\t10\tx\tmmap\t100\t-12\t0x0\t2097152\tREAD\tPRIVATE|ANONYMOUS|HUGETLB\t-1\t0\t-\t-\t-\t-");
	put(MMAP, 507 * MS, "10\t10\tx\tmmap\t100\t-12\t0x0\t99999999999\t0\tPRIVATE|ANONYMOUS\t-1\t0\t-\t-\t-\t-");
	put(MMAP, 508 * MS, "10\t10\tx\tmadvise\t100\t-12\t0x0\t4096\t-\tDONTNEED\t-\t-\t-\t-\t-\t-");
	expect_nothing(failed_loaded());
}

static void data_that_may_not_be_read_is_a_failure(void **state)
{
	put_job();
	put_no_open(100 * MS, JOB, EACCES, "RDONLY", "/data/train/1.jpg");
	put_no_open(101 * MS, JOB, EACCES, "RDONLY", "/data/train/2.jpg");
	expect_one(
		failed_loaded(), 2,
		"python: openat failed 2 times from 0.10 s to 0.10 s: no permission (EACCES), in /data/train (1.jpg)");
}

static void a_terminal_that_is_gone_is_none(void **state)
{
	put_job();
	put(FILES, 0, "3\t0:1\t3\tchr\tdevpts\t0\tok\t/dev/pts/1");
	put_written(100 * MS, JOB, "write", -EIO, 3);
	expect_nothing(failed_loaded());
}

static void a_dropped_connection_is_a_failure(void **state)
{
	put_job();
	put(FILES, 0, "3\t0:1\t3\tsock\tsockfs\t0\tok\tsocket:[1]");
	put(RW, 100 * MS, "10\t10\tx\tR\trecvfrom\t1000\t4096\t-104\t-\t0\t5\t-\t3\tsocket:[1]");
	expect_one(failed_loaded(), 1,
		   "python: recvfrom failed once at 0.10 s: the other end has dropped the connection (ECONNRESET)");
}

static void memory_that_is_not_there_is_a_failure(void **state)
{
	put_job();
	put(MMAP, 100 * MS, "10\t10\tx\tmmap\t100\t-12\t0x0\t1048576\tREAD\tPRIVATE|ANONYMOUS\t-1\t0\t-\t-\t-\t-");
	expect_one(failed_loaded(), 1, "python: mmap failed once at 0.10 s: no memory (ENOMEM)");
}

/* Who could not make a thread waits then, and tries again; who makes them is no failure. */
static void a_limit_of_processes_is_a_failure(void **state)
{
	put_job();
	put_event(50 * MS, "thread", JOB, 11, 1, "python", NULL);
	put_event(100 * MS, "refused", JOB, 11, 1, "python", "-11");
	put_event(300 * MS, "refused", JOB, JOB, 1, "python", "-11");
	put_wait(.pid = JOB, .from = 301 * MS, .to = 401 * MS, .call = "clock_nanosleep", .by = "timer");
	expect_one(failed_loaded(), 2,
		   "python: clone failed 2 times from 0.10 s to 0.30 s: no more processes or threads (EAGAIN, the "
		   "limit is RLIMIT_NPROC or pids.max); it slept 100 ms right after");
}

/* A lock of memory that is refused, by its name in ARGS, and a mapping that is to be locked. */
static void locks_are_of_their_limit(void **state)
{
	put_job();
	put(PIDS, 100 * MS, "10\t10\t1\tpython\trefused\t-12\t10\t0\t/\t-\tcall=mlock");
	expect_one(failed_loaded(), 1,
		   "python: mlock failed once at 0.10 s: it may lock no more memory (ENOMEM, the limit is "
		   "RLIMIT_MEMLOCK)");
}

static void a_mapping_that_may_not_be_locked_is_a_failure(void **state)
{
	put_job();
	put(MMAP, 100 * MS,
	    "10\t10\tx\tmmap\t100\t-11\t0x0\t1048576\tREAD\tPRIVATE|ANONYMOUS|LOCKED\t-1\t0\t-\t-\t-\t-");
	put(MMAP, 101 * MS, "10\t10\tx\tmmap\t100\t-11\t0x0\t1048576\tREAD\tPRIVATE|ANONYMOUS\t-1\t0\t-\t-\t-\t-");
	expect_one(
		failed_loaded(), 1,
		"python: mmap failed once at 0.10 s: it may lock no more memory (EAGAIN, the limit is RLIMIT_MEMLOCK)");
}

/* What is said of the limit of open files of a job whose first process began with SOFT, and ended with 64. */
static void expect_setter(unsigned int soft, const char *setter)
{
	char text[512];

	put_event(0, "exec", JOB, JOB, 1, "python", NULL);
	put(PIDS, LIFE, "%u\t%u\t1\tpython\texit\t0\t%u\t0\t/\t-\tutime=0\\040cpus=2\\040nofile=64", JOB, JOB, JOB);
	snprintf(text, sizeof(text),
		 "{\"tool\":\"dltraced\",\"workload\":{\"pid\":%u},\"start\":{\"monotonic_ns\":%llu},"
		 "\"end\":{\"monotonic_ns\":%llu},\"allowed\":{\"n_cpus\":2,\"nofile\":{\"soft\":%u,\"hard\":4096}}}",
		 JOB, BEGIN, (unsigned long long)(BEGIN + LIFE), soft);
	tree_put("manifest.json", text);
	put_no_open(100 * MS, JOB, EMFILE, "RDONLY", "/data/a");
	snprintf(text, sizeof(text),
		 "python: openat failed once at 0.10 s: too many open files in the process (EMFILE, the limit is "
		 "RLIMIT_NOFILE, 64 in process 10, %s)",
		 setter);
	expect_one(failed_loaded(), 1, text);
}

static void a_limit_that_the_job_began_with_is_inherited(void **state)
{
	expect_setter(64, "which the job has inherited");
}

static void a_limit_that_the_job_has_set_is_its_own(void **state)
{
	expect_setter(1024, "set since the job began, with 1024");
}

static void numbers_that_are_none_are_none(void **state)
{
	put_job();
	put_no_open(100 * MS, JOB, 0, "RDONLY", "/data/a");
	put(OPEN, 101 * MS, "10\t10\tx\topenat\t1\t-\t-28x\tRDONLY\t-\t-\t-\t/data/a\t-");
	put(OPEN, 102 * MS, "10\t10\tx\topenat\t1\t-\t-99999999999999999999928\tRDONLY\t-\t-\t-\t/data/a\t-");
	expect_nothing(failed_loaded());
}

/* Of ten thousand folders the first ones have lines, the others share one, and none is lost. */
static void many_places_are_bounded(void **state)
{
	struct report *r;
	uint64_t n = 0;
	char path[64];

	put_job();
	for (unsigned int i = 0; i < 5000; i++) {
		snprintf(path, sizeof(path), "/data/%u/x", i);
		put_no_open((100 + i / 10) * MS, JOB, ENOSPC, "WRONLY|CREAT", path);
	}
	r = failed_loaded();
	assert_true(r->failed->n <= FAILURES_MAX);
	for (uint32_t i = 0; i < r->failed->n; i++)
		n += r->failed->v[i].n;
	assert_int_equal(n, 5000);
	assert_null(r->failed->v[0].folder);
	assert_int_equal(r->failed->left_out, 0);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_full_disk_is_one_failure),
		IN_TREE(what_fitted_in_before_is_part_of_it),
		IN_TREE(a_short_write_is_a_failure),
		IN_TREE(other_short_writes_are_none),
		IN_TREE(a_limit_of_open_files_has_no_folder),
		IN_TREE(a_limit_has_its_number),
		IN_TREE(a_limit_that_the_job_began_with_is_inherited),
		IN_TREE(a_mapping_that_may_not_be_locked_is_a_failure),
		IN_TREE(a_limit_that_the_job_has_set_is_its_own),
		IN_TREE(locks_are_of_their_limit),
		IN_TREE(searches_and_tries_are_no_failures),
		IN_TREE(data_that_may_not_be_read_is_a_failure),
		IN_TREE(a_terminal_that_is_gone_is_none),
		IN_TREE(a_dropped_connection_is_a_failure),
		IN_TREE(a_limit_of_processes_is_a_failure),
		IN_TREE(memory_that_is_not_there_is_a_failure),
		IN_TREE(numbers_that_are_none_are_none),
		IN_TREE(many_places_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
