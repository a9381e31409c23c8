/* SPDX-License-Identifier: BSD-2-Clause */
/* Which processes train and load: see ../job.h for the traces. */
#include "report/why/why.h"

#include "../job.h"

static void a_job_without_loaders_reads_for_itself(void **state)
{
	struct report *r;

	put(PIDS, BEGIN, "100\t100\t1\tpython\texec\t-\t100\t0\t/\t-\tpython\\000train.py");
	put(PIDS, BEGIN + STEPS * S, "100\t100\t1\tpython\texit\t0\t100\t0\t/\t-\tutime=1000000000\\040stime=0");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	for (unsigned int i = 0; i < STEPS; i++)
		put_rw(100, step(i) + 700 * MS, 600 * MS, 'R', MiB, i * MiB, MiB, 2);
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	report_free(r);
}

#define CONTAINER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/*
 * podman's processes, of which one forks a copy of itself as a trainer does, and the job in the container, which
 * computes less than they live. A helper outside of the container computes most.
 */
static struct report *contained_job(const char *outside, const char *target)
{
	autofree char *manifest = util_fmt(
		"{\"tool\":\"dltraced\",\"schema\":1,\"target\":{\"containers\":[%s]},\"workload\":{\"pid\":50},"
		"\"complete\":true}",
		target);
	const uint64_t end = BEGIN + STEPS * S;

	put(PIDS, BEGIN, "50\t50\t1\tsh\texec\t-\t50\t0\t%s\t-\tsh", outside);
	put(PIDS, BEGIN, "51\t51\t50\tpodman\texec\t-\t51\t0\t%s\t-\tpodman", outside);
	put(PIDS, BEGIN, "52\t52\t51\tconmon\texec\t-\t52\t0\t%s/libpod-conmon-" CONTAINER ".scope\t-\tconmon",
	    outside);
	put(PIDS, BEGIN + 1, "53\t53\t52\tconmon\tfork\t-\t53\t0\t%s/libpod-conmon-" CONTAINER ".scope\t-\t-", outside);
	put(PIDS, BEGIN, "54\t54\t50\tburn\texec\t-\t54\t0\t%s\t-\tburn", outside);
	put(PIDS, BEGIN + 2,
	    "100\t100\t53\tpython3\texec\t-\t1\t0\t%s/libpod-" CONTAINER ".scope/container\t-\tpython3", outside);
	for (unsigned int pid = 50; pid <= 54; pid++)
		put(PIDS, end, "%u\t%u\t1\tx\texit\t0\t%u\t0\t/\t-\tutime=%llu\040stime=0", pid, pid, pid,
		    N(pid == 54 ? 15 * S : MS));
	put(PIDS, end, "100\t100\t53\tpython3\texit\t0\t1\t0\t/\t-\tutime=2000000000\040stime=0");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	for (unsigned int i = 0; i < STEPS; i++) {
		put_rw(100, step(i) + 900 * MS, 800 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_ran(100, i, 100 * MS, 0);
		put_slept(100, 100, i, "read", 800 * MS, 0);
		put_ran(54, i, 950 * MS, 0);
	}
	tree_put("manifest.json", manifest);
	return loaded();
}

static void the_answer_is_that_of_the_container(void **state)
{
	/* in the second case, dltraced is in a container itself */
	static const char *const outside[] = { "/user.slice", "/docker/" CONTAINER };

	for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
		struct report *r = contained_job(outside[i], "\"new\"");

		assert_int_equal(r->why->n_trainers, 1);
		assert_int_equal(r->why->trainer[0].pid, 100);
		is_bottleneck(r, "storage-read");
		report_free(r);
	}
}

/* Without a container among the targets, others may be the job; but not what runs the container. */
static void what_runs_containers_is_not_the_job(void **state)
{
	struct report *r = contained_job("/user.slice", "");

	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->trainer[0].pid, 54);
	report_free(r);
}

/* No name shows which process works: of a pipe's two ends it is the one that does not wait for the other. */
static void of_a_pipe_the_answer_names_the_end_that_works(void **state)
{
	struct report *r;

	put(PIDS, BEGIN, "90\t90\t1\tsh\texec\t-\t90\t0\t/\t-\tsh\\000-c\\000tar");
	put_alone("tar", S);
	put(PIDS, BEGIN + 1, "200\t200\t90\tgzip\texec\t-\t200\t0\t/\t-\tgzip");
	put(PIDS, step(STEPS), "200\t200\t90\tgzip\texit\t0\t200\t0\t/\t-\tutime=4000000000\\040stime=0");
	for (unsigned int i = 0; i < STEPS; i++) {
		put_slept(90, 90, i, "wait4", 0, S);
		put_ran(100, i, 50 * MS, 0);
		put_rw(100, step(i) + 900 * MS, 900 * MS, 'R', MiB, i * MiB, MiB, 2);
		put_slept(100, 100, i, "read", 900 * MS, 0);
		put_ran(200, i, 200 * MS, 0);
		put_slept(200, 200, i, "read", 0, 800 * MS);
	}
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->trainer[0].pid, 100);
	report_free(r);
}

/* A script runs programs, also some with its own name, and forks only to write a log: it has no loaders. */
static void helpers_of_a_script_are_no_loaders(void **state)
{
	struct report *r;

	put_alone("python", 19 * S);
	put_file(6, "reg", "ext4", 100, "/home/x/run.log");
	put_file(7, "reg", "ext4", 10000, "/opt/conda/lib/python3.11/json/__init__.pyc");
	put_rw(100, step(1), MS, 'R', MiB, 0, MiB, 2);
	for (unsigned int pid = 101; pid < 116; pid++) {
		put_copy(pid, 100, pid % 3 == 0 ? "python\\000-c\\000import\\040json" : NULL, step(5));
		if (pid % 3 == 0)
			put_rw(pid, step(2), MS, 'R', MiB, 0, MiB, 2);
		put_rw(pid, step(3), MS, 'R', 10000, 0, 0, 7);
		put_rw(pid, step(4), MS, 'W', 100, 0, 0, 6);
	}
	r = loaded();
	assert_int_equal(r->why->loaders.n, 0);
	is_bottleneck(r, "unknown");
	report_free(r);
}

/* The shells of pyenv run before the python that they choose, and together they are busier. */
static void shells_that_choose_the_python_do_not_train(void **state)
{
	struct report *r;

	put(PIDS, BEGIN, "100\t100\t1\tpython3\texec\t-\t100\t0\t/\t-\tpython3\\000train.py");
	put_ran(100, 1, 300 * MS, 0);
	for (unsigned int pid = 101; pid < 121; pid++) {
		put(PIDS, BEGIN + 1, "%u\t%u\t100\tbash\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, pid);
		put_ran(pid, 0, 40 * MS, 0);
		put(PIDS, BEGIN + 50 * MS, "%u\t%u\t100\tbash\texit\t0\t%u\t0\t/\t-\tutime=1000\\040stime=0", pid, pid,
		    pid);
	}
	put(PIDS, BEGIN + STEPS * S, "100\t100\t1\tpython3\texit\t0\t100\t0\t/\t-\tutime=1000\\040stime=0");
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->trainer[0].pid, 100);
	report_free(r);
}

/* Subshells of a script fork, and read data; nothing is loaded. */
static void a_shell_script_has_no_loaders(void **state)
{
	struct report *r;

	put(PIDS, BEGIN, "100\t100\t1\trun.sh\texec\t-\t100\t0\t/\t-\t/bin/sh\\000./run.sh");
	put_file(2, "reg", "ext4", 64 * MiB, "/data/shard.tar");
	for (unsigned int pid = 101; pid < 104; pid++) {
		put(PIDS, BEGIN + 1, "%u\t%u\t100\trun.sh\tfork\t-\t%u\t0\t/\t-\t-", pid, pid, pid);
		put_rw(pid, step(3), MS, 'R', MiB, 0, 0, 2);
	}
	put(PIDS, BEGIN + STEPS * S, "100\t100\t1\trun.sh\texit\t0\t100\t0\t/\t-\tutime=1000\\040stime=0");
	r = loaded();
	assert_int_equal(r->why->loaders.n, 0);
	is_bottleneck(r, "unknown");
	report_free(r);
}

/* A script sleeps most of the time; its short commands wait for a CPU. */
static void a_script_is_not_its_short_commands(void **state)
{
	struct report *r;

	put_alone("sh", 20 * MS);
	for (unsigned int i = 0; i < STEPS; i++) {
		put(PIDS, step(i) + 1, "%u\t%u\t100\tcat\texec\t-\t300\t0\t/\t-\tcat", 300 + i, 300 + i);
		put(PIDS, step(i) + 90 * MS, "%u\t%u\t100\tcat\texit\t0\t300\t0\t/\t-\tutime=9000\\040stime=0", 300 + i,
		    300 + i);
		put_ran(300 + i, i, 30 * MS, 60 * MS);
		put_ran(100, i, MS, 0);
		put_slept(100, 100, i, "wait4", 0, 90 * MS);
		put_slept(100, 100, i, "clock_nanosleep", 0, 909 * MS);
	}
	tree_put("manifest.json", "{\"tool\":\"dltraced\",\"schema\":1,\"workload\":{\"pid\":100},\"complete\":true}");
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->trainer[0].pid, 100);
	expect_near(is_bottleneck(r, "idle")->share, 0.909);
	report_free(r);
}

/* Workers without a name: forked; spawned; forked by a spawned server; started before the trace began. */
static void loaders_are_known_by_how_they_began_and_what_they_read(void **state)
{
	static const char server[] = "python\\000-c\\000from\\040multiprocessing.forkserver\\040import\\040main";
	static const char spawned[] = "python\\000-c\\000from\\040multiprocessing.spawn\\040import\\040spawn_main";
	static const char tracker[] = "python\\000-c\\000from\\040multiprocessing.resource_tracker\\040import\\040main";
	struct report *r;

	put_alone("python", 19 * S);
	put_copy(101, 100, NULL, step(STEPS));
	put_copy(102, 100, spawned, step(STEPS));
	put_copy(103, 100, server, step(STEPS));
	put_copy(104, 103, NULL, step(STEPS));
	put(PIDS, BEGIN + 1, "105\t105\t100\tpython\tsnapshot\t-\t105\t0\t/\t-\tpython");
	put_copy(106, 100, tracker, step(STEPS));
	for (unsigned int pid = 101; pid <= 106; pid++)
		if (pid != 103)
			put_rw(pid, step(3), MS, 'R', MiB, 0, 0, 2);
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->trainer[0].pid, 100);
	assert_int_equal(r->why->loaders.n, 4);
	assert_int_equal(r->why->seen, WHY_SEEN_LOADERS);
	assert_null(why_find(r, 103));
	assert_null(why_find(r, 106));
	report_free(r);
}

/* As above, but they send what they read to it: they load, and it has little to do because it waits for them. */
static void a_process_that_gets_its_data_from_its_copies_trains(void **state)
{
	struct report *r;

	put_alone("python", 3 * S);
	put_file(1, "fifo", "pipefs", 0, "pipe:[1]");
	put_waits(800 * MS);
	for (unsigned int pid = 101; pid <= 102; pid++) {
		put_fork(pid, 100, 18 * S);
		for (unsigned int i = 0; i < STEPS; i++) {
			put_rw(pid, step(i) + 700 * MS, 690 * MS, 'R', MiB, i * MiB, 0, 2);
			put_work(pid, i, 800 * MS);
		}
	}
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->loaders.n, 2);
	expect_near(r->why->waited_ns / r->why->window_ns, 0.8);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_job_without_loaders_reads_for_itself),
		IN_TREE(the_answer_is_that_of_the_container),
		IN_TREE(what_runs_containers_is_not_the_job),
		IN_TREE(of_a_pipe_the_answer_names_the_end_that_works),
		IN_TREE(helpers_of_a_script_are_no_loaders),
		IN_TREE(a_shell_script_has_no_loaders),
		IN_TREE(shells_that_choose_the_python_do_not_train),
		IN_TREE(a_script_is_not_its_short_commands),
		IN_TREE(loaders_are_known_by_how_they_began_and_what_they_read),
		IN_TREE(a_process_that_gets_its_data_from_its_copies_trains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
