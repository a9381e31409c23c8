/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that only start the trainers: see ../job.h for the traces. */
#include "report/why/why.h"

#include "../job.h"

/* The process that starts the training has forked, too, for a moment; another one used the CPU. */
static void a_launcher_is_no_trainer_for_a_moments_fork(void **state)
{
	struct report *r;

	put_alone("python", MS);
	put_copy(101, 100, NULL, step(0) + 10 * MS);
	put(PIDS, BEGIN + 1, "200\t200\t100\tpython\tfork\t-\t200\t0\t/\t-\t-");
	put(PIDS, BEGIN + 2, "200\t200\t100\tpython\texec\t-\t200\t0\t/\t-\tpython\\000train.py");
	put(PIDS, step(STEPS), "200\t200\t100\tpython\texit\t0\t200\t0\t/\t-\tutime=8000000000\\040stime=0");
	for (unsigned int i = 0; i < STEPS; i++)
		put_rw(200, step(i) + 700 * MS, 600 * MS, 'R', MiB, i * MiB, MiB, 2);
	r = loaded();
	assert_int_equal(r->why->n_trainers, 1);
	assert_int_equal(r->why->trainer[0].pid, 200);
	report_free(r);
}

/*
 * mp.spawn without GPU, loaders and epochs: the process that started them only waits, and looks like a trainer with
 * loaders.
 */
static void a_process_that_only_waits_for_its_copies_does_not_train(void **state)
{
	struct report *r;

	put_alone("python", 3 * S);
	for (unsigned int pid = 101; pid <= 104; pid++) {
		put_fork(pid, 100, 18 * S);
		for (unsigned int i = 0; i < STEPS; i++)
			put_rw(pid, step(i) + 700 * MS, 300 * MS, 'R', MiB, i * MiB, MiB, 2);
	}
	put_fork(105, 100, 10 * MS); /* it only cleans up */
	put_pipe(100, step(STEPS) - 10, 5, 'R');
	r = loaded();
	assert_int_equal(r->why->n_trainers, 4);
	assert_int_equal(r->why->loaders.n, 0);
	for (unsigned int pid = 101; pid <= 104; pid++)
		assert_non_null(why_trainer_of(r, pid));
	assert_non_null(strstr(r->why->notes[0], "process 100 (python) only waited for 5"));
	report_free(r);
}

/* Its server forks them, and outlives it. */
static void so_is_one_whose_server_forks_them(void **state)
{
	static const char server[] = "python\\000-c\\000from\\040multiprocessing.forkserver\\040import\\040main";
	struct report *r;

	put_alone("python", 3 * S);
	put(PIDS, BEGIN + 1, "103\t103\t100\tpython\tfork\t-\t103\t0\t/\t-\t-");
	put(PIDS, BEGIN + 2, "103\t103\t100\tpython\texec\t-\t103\t0\t/\t-\t%s", server);
	for (unsigned int pid = 104; pid <= 105; pid++) {
		put_fork(pid, 103, 18 * S);
		for (unsigned int i = 0; i < STEPS; i++)
			put_rw(pid, step(i) + 700 * MS, 300 * MS, 'R', MiB, i * MiB, MiB, 2);
	}
	r = loaded();
	assert_int_equal(r->why->n_trainers, 2);
	assert_int_equal(r->why->loaders.n, 0);
	assert_non_null(why_trainer_of(r, 104));
	report_free(r);
}

/* A launcher, two ranks that wait for their loaders, and the loaders, all with one name. */
static void ranks_of_a_launcher_may_have_loaders(void **state)
{
	struct report *r;

	put_alone("python", 1 * S);
	put_file(1, "fifo", "pipefs", 0, "pipe:[1]");
	for (unsigned int rank = 101; rank <= 102; rank++) {
		put_fork(rank, 100, 4 * S);
		for (unsigned int i = 0; i < STEPS; i++)
			put_pipe(rank, step(i) + 800 * MS, 800 * MS, 'R');
		for (unsigned int pid = 10 * rank; pid < 10 * rank + 2; pid++) {
			put_fork(pid, rank, 18 * S);
			for (unsigned int i = 0; i < STEPS; i++) {
				put_rw(pid, step(i) + 700 * MS, 690 * MS, 'R', MiB, i * MiB, MiB, 2);
				put_work(pid, i, 800 * MS);
			}
		}
	}
	r = loaded();
	assert_int_equal(r->why->n_trainers, 2);
	assert_int_equal(why_trainer_of(r, 101)->loaders, 2);
	assert_int_equal(why_trainer_of(r, 102)->loaders, 2);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_launcher_is_no_trainer_for_a_moments_fork),
		IN_TREE(a_process_that_only_waits_for_its_copies_does_not_train),
		IN_TREE(so_is_one_whose_server_forks_them),
		IN_TREE(ranks_of_a_launcher_may_have_loaders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
