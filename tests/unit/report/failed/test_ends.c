/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends of processes, and those that jobs expect. */
#include <signal.h>

#include "failed.h"

#define STATUS(n) ((n) << 8)
#define BY(sender) "\\040by=" sender "\\040by_pid=77\\040limit=67108864\\040by_comm=slurm\\040d"

static void a_worker_that_the_kernel_kills_has_its_limit(void **state)
{
	put_job();
	put_ended(500 * MS, 11, JOB, "worker", SIGKILL, BY("oom-limit"));
	expect_one(failed_loaded(), 1,
		   "worker (process 11) ended by SIGKILL at 0.50 s, by the kernel's OOM killer: its cgroup was at its "
		   "limit of memory, 64.0 MiB");
}

static void the_machine_may_be_short_of_memory(void **state)
{
	put_job();
	put_ended(500 * MS, 11, JOB, "worker", SIGKILL, BY("oom"));
	expect_one(
		failed_loaded(), 1,
		"worker (process 11) ended by SIGKILL at 0.50 s, by the kernel's OOM killer: the machine's memory was "
		"used up");
}

static void a_signal_from_outside_has_its_sender(void **state)
{
	put_job();
	put_ended(500 * MS, 11, JOB, "worker", SIGTERM, BY("other"));
	put_ended(600 * MS, 12, JOB, "worker", SIGTERM, BY("other"));
	expect_one(failed_loaded(), 2,
		   "worker: 2 processes, process 11 first, ended by SIGTERM from 0.50 s to 0.60 s, sent by process 77 "
		   "(slurm\\040d), which is not the job's");
}

/* What the job sends its own, a terminal's ^C, a reader that has enough, and what was requested for without a sender.
 */
static void requested_ends_are_none(void **state)
{
	put_job();
	put_ended(500 * MS, 11, JOB, "worker", SIGTERM, BY("job"));
	put_ended(500 * MS, 12, JOB, "worker", SIGKILL, BY("job"));
	put_ended(500 * MS, 13, JOB, "worker", SIGINT, BY("itself"));
	put_ended(500 * MS, 14, JOB, "worker", SIGINT, BY("kernel"));
	put_ended(500 * MS, 15, JOB, "yes", SIGPIPE, BY("itself"));
	put_ended(500 * MS, 16, JOB, "worker", SIGTERM, "");
	put_ended(500 * MS, 17, JOB, "worker", 0, "");
	expect_nothing(failed_loaded());
}

/* Older traces have no sender: that is not said then. */
static void an_older_trace_has_no_sender(void **state)
{
	put_job();
	put_ended(500 * MS, 11, JOB, "worker", SIGKILL | 0x80, "");
	expect_one(failed_loaded(), 1, "worker (process 11) ended by SIGKILL at 0.50 s");
}

static void a_status_is_a_failure(void **state)
{
	put_job();
	put_ended(500 * MS, 11, JOB, "preprocess", STATUS(3), "");
	expect_one(failed_loaded(), 1, "preprocess (process 11) ended with status 3 at 0.50 s");
}

static void what_the_job_requested_to_end_has_its_own_status(void **state)
{
	put_job();
	put_ended(500 * MS, 11, JOB, "agent", STATUS(2), "\\040requested=15" BY("job"));
	expect_nothing(failed_loaded());
}

static void one_that_others_request_to_end_is_a_failure(void **state)
{
	put_job();
	put_ended(500 * MS, 11, JOB, "agent", STATUS(2), "\\040requested=15" BY("other"));
	expect_one(failed_loaded(), 1, "agent (process 11) ended with status 2 at 0.50 s");
}

static void a_program_that_answers_by_its_status_is_none(void **state)
{
	put_job();
	put_ended(500 * MS, 11, JOB, "grep", STATUS(1), "");
	put_ended(500 * MS, 12, JOB, "readlink", STATUS(1), "");
	put_ended(500 * MS, 13, JOB, "git", STATUS(128), "");
	expect_nothing(failed_loaded());
}

static void one_that_cannot_answer_is_a_failure(void **state)
{
	put_job();
	put_ended(500 * MS, 11, JOB, "grep", STATUS(2), "");
	expect_one(failed_loaded(), 1, "grep (process 11) ended with status 2 at 0.50 s");
}

/* A part of a shell that has executed nothing, and a wrapper that passes a status or a signal on. */
static void what_is_passed_on_counts_once(void **state)
{
	put_job();
	put_event(400 * MS, "fork", 20, 20, JOB, "bash", NULL);
	put_event(401 * MS, "exit", 20, 20, JOB, "bash", "256");
	put_ended(500 * MS, 12, 11, "python3", STATUS(3), "");
	put_ended(501 * MS, 11, JOB, "sh", STATUS(3), "");
	expect_one(failed_loaded(), 1, "python3 (process 12) ended with status 3 at 0.50 s");
}

static void a_shell_passes_on_a_signal(void **state)
{
	put_job();
	put_ended(500 * MS, 12, 11, "python3", SIGSEGV, BY("kernel"));
	put_ended(501 * MS, 11, JOB, "sh", STATUS(128 + SIGSEGV), "");
	expect_one(failed_loaded(), 1, "python3 (process 12) ended by SIGSEGV at 0.50 s, sent by the kernel");
}

/* The job's own status is that of the job, which the screen has anyway. */
static void the_jobs_status_is_no_helpers(void **state)
{
	put_event(0, "exec", JOB, JOB, 1, "python", NULL);
	put_event(LIFE, "exit", JOB, JOB, 1, "python", "256");
	put_workload(JOB, LIFE);
	expect_nothing(failed_loaded());
}

static void forged_statuses_are_none(void **state)
{
	put_job();
	put_event(500 * MS, "exit", 11, 11, JOB, "x", "-1");
	put_event(500 * MS, "exit", 12, 12, JOB, "x", "18446744073709551615");
	put_event(500 * MS, "exit", 13, 13, JOB, "x", "?");
	put_ended(500 * MS, 14, JOB, "x", 0x7f, BY("other"));
	expect_nothing(failed_loaded());
}

static void put_killed(unsigned int pid, const char *usage)
{
	put_event(100 * MS, "fork", pid, pid, JOB, "python", NULL);
	put_event(101 * MS, "exec", pid, pid, JOB, "python", NULL);
	put(PIDS, 1900 * MS,
	    "%u\t%u\t10\tpython\texit\t9\t%u\t0\t/\t-\t%s\\040by=itself\\040by_pid=%u\\040limit=0\\040by_comm=python",
	    pid, pid, pid, usage, pid);
}

/* SIGKILL at the hard limit of CPU time is sent in a tick of the process. */
static void a_process_at_its_limit_of_cpu_time_is_ended_by_the_kernel(void **state)
{
	put_job();
	put_killed(11, "utime=900000000\\040stime=110000000\\040cpus=2\\040cpu_s=1\\040nofile=64");
	expect_one(
		failed_loaded(), 1,
		"python (process 11) ended by SIGKILL at 1.90 s, by the kernel: its CPU time was used up, the limit is "
		"RLIMIT_CPU, 1 s in process 11");
}

static void one_far_from_its_limit_has_ended_itself(void **state)
{
	put_job();
	put_killed(11, "utime=900000000\\040stime=0\\040cpus=2\\040cpu_s=1");
	expect_one(failed_loaded(), 1, "python (process 11) ended by SIGKILL at 1.90 s, sent by itself");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_worker_that_the_kernel_kills_has_its_limit),
		IN_TREE(the_machine_may_be_short_of_memory),
		IN_TREE(a_process_at_its_limit_of_cpu_time_is_ended_by_the_kernel),
		IN_TREE(one_far_from_its_limit_has_ended_itself),
		IN_TREE(a_signal_from_outside_has_its_sender),
		IN_TREE(requested_ends_are_none),
		IN_TREE(an_older_trace_has_no_sender),
		IN_TREE(a_status_is_a_failure),
		IN_TREE(what_the_job_requested_to_end_has_its_own_status),
		IN_TREE(one_that_others_request_to_end_is_a_failure),
		IN_TREE(a_program_that_answers_by_its_status_is_none),
		IN_TREE(one_that_cannot_answer_is_a_failure),
		IN_TREE(what_is_passed_on_counts_once),
		IN_TREE(a_shell_passes_on_a_signal),
		IN_TREE(the_jobs_status_is_no_helpers),
		IN_TREE(forged_statuses_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
