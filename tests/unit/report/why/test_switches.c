/* SPDX-License-Identifier: BSD-2-Clause */
/* Page faults by sched_switch.out: see ../job.h for the traces. */
#include "report/why/why.h"

#include "../job.h"

/* SWITCH rows: an uninterruptible wait from BEGIN to END. */
static void put_fault(unsigned int pid, uint64_t begin, uint64_t end)
{
	put(SWITCH, begin, "0\t%u\t%u\tx\tD\t0\t0\tidle\t1000\t-", pid, pid);
	put(SWITCH, end, "0\t0\t0\tidle\tR\t%u\t%u\tx\t-\t0", pid, pid);
	put(SWITCH, end + MS, "0\t%u\t%u\tx\tS\t0\t0\tidle\t1000\t-", pid, pid);
}

/* Switches do not show calls: an uninterruptible wait is a page fault if no call around it ends. */
static void switches_show_page_faults(void **state)
{
	const struct why_loader *l;
	struct report *r;

	put_job(0);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_run(100, step(i) + 800 * MS, step(i) + 990 * MS, 0);
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_fault(pid, step(i) + 10 * MS, step(i) + 410 * MS);
			put_map(pid, step(i) + 430 * MS);
			put_rw(pid, step(i) + 430 * MS, 1000, 'R', MiB, 0, 0, 2);
			put_fault(pid, step(i) + 510 * MS, step(i) + 590 * MS);
			put(SYNC, step(i) + 600 * MS, "%u\t%u\tx\tfsync\t%llu\t0\t5\t-\t-\t3\tckpt.pt", pid, pid,
			    N(100 * MS));
			put_run(pid, step(i) + 600 * MS, step(i) + 610 * MS, 0);
		}
	}
	r = loaded();
	assert_int_equal(r->why->basis, WHY_BY_SWITCHES);
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.4);
	l = why_find(r, 101) ? *(struct why_loader **)why_find(r, 101) : NULL;
	assert_non_null(l);
	expect_near(l->ns[WHY_WRITE] / S, STEPS * 0.099); /* it had a CPU for the rest */
	report_free(r);
}

/* Without mapped files these waits are something else. */
static void a_process_that_maps_no_data_does_not_fault_for_them(void **state)
{
	struct report *r;

	put_job(0);
	put(MMAP, BEGIN + S, "100\t100\tx\tmmap\t1000\t0x7f0000000000\t0x0\t4096\tREAD\tPRIVATE\t-\t0\t-\t-\t-\t-");
	for (unsigned int i = 0; i < STEPS; i++) {
		put_run(100, step(i) + 800 * MS, step(i) + 990 * MS, 0);
		for (unsigned int pid = 101; pid <= 102; pid++) {
			put_fault(pid, step(i) + 10 * MS, step(i) + 410 * MS);
			put_rw(pid, step(i) + 500 * MS, 1000, 'R', MiB, 0, 0, 2);
		}
	}
	r = loaded();
	is_bottleneck(r, "unknown");
	assert_null(found(r, "storage-read"));
	report_free(r);
}

/* A trainer that loads by itself from mapped data waits in its own faults, by switches and by sums. */
static void faults_of_a_trainer_without_loaders_are_its_own(void **state)
{
	struct report *r;

	put_alone("python", 8 * S);
	put_rw(100, step(0) + 2000, 1000, 'R', 2 * MiB, 0, 0, 2);
	for (unsigned int i = 0; i < STEPS; i++) {
		put_map(100, step(i) + 1000);
		put_fault(100, step(i) + 200 * MS, step(i) + 800 * MS);
	}
	r = loaded();
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.6);
	report_free(r);
	put_alone("python", 8 * S);
	put_rw(100, step(0) + 2000, 1000, 'R', 2 * MiB, 0, 0, 2);
	for (unsigned int i = 0; i < STEPS; i++)
		put(SCHED, step(i) + S, "100\t100\tx\ttarget\t-\tfault\t%llu\t9\t-\t-\t-\t%llu\t0\t0\t%llu", N(S),
		    N(600 * MS), N(S));
	r = loaded();
	expect_near(is_bottleneck(r, "storage-read")->measure, 0.6);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(switches_show_page_faults),
		IN_TREE(a_process_that_maps_no_data_does_not_fault_for_them),
		IN_TREE(faults_of_a_trainer_without_loaders_are_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
