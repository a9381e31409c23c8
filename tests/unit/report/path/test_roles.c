/* SPDX-License-Identifier: BSD-2-Clause */
/* See trace.h: process 10 is the root, of one second. */
#include "report/path/roles.h"

#include "trace.h"

#define LIFE (1000 * MS)

/* Expects that all of OWNER's part of the path has ROLE, and that it has one. */
static void expect_role(const struct report *r, const char *owner, enum path_role role)
{
	const struct path_sums *sums = &r->path->root[0].sums;
	unsigned int n = 0;

	for (uint32_t i = 0; i < sums->n; i++) {
		if (strcmp(or_dash(path_name_text(&r->path->names, sums->v[i].leaf.process)), owner) != 0)
			continue;
		if (sums->v[i].leaf.role != role)
			fail_msg("%s has the role %s", owner, path_roles[sums->v[i].leaf.role]);
		n++;
	}
	assert_true(n > 0);
}

/* --- workers ------------------------------------------------------------------------------------------------ */

/* A loader, 20, hands N batches over, and waits with the trainer for its end. */
static void put_batches(unsigned int n)
{
	put_root(10, "trainer", LIFE);
	put_process(20, 10, "loader", 0, 900 * MS);
	for (unsigned int i = 0; i < n; i++)
		put_wait(.pid = 10, .from = 100 * (i + 1) * MS, .to = (100 * (i + 1) + 50) * MS, .by = "thread",
			 .by_pid = 20);
	put_wait(.pid = 10, .from = 800 * MS, .to = 900 * MS, .call = "wait4", .by = "exit", .by_pid = 20);
}

static void a_loader_that_ends_three_waits_is_a_worker(void **state)
{
	struct report *r;

	put_batches(3);
	r = path_loaded();
	expect_role(r, "loader", PATH_WORKER);
	expect_role(r, "trainer", PATH_OWN);
	report_free(r);
}

/* A rank hands over a result at its end, and ends. */
static void a_process_that_ends_two_waits_and_its_life_is_in_charge(void **state)
{
	struct report *r;

	put_batches(2);
	r = path_loaded();
	expect_role(r, "loader", PATH_OWN);
	report_free(r);
}

/* A launcher's store answers its ranks: each call of one ends a wait. What a rank forks inherits its number. */
static void a_rank_serves_no_launcher(void **state)
{
	struct report *r;

	put_root(10, "torchrun", LIFE);
	put_launched(20, 10, "rank", 0, 900 * MS, 0);
	put(PIDS, MS, "30\t30\t20\tloader\tfork\t-\t30\t0\t/\t0\t-");
	put_event(890 * MS, "exit", 30, 30, 20, "loader", "0");
	for (unsigned int i = 0; i < 8; i++) {
		put_wait(.pid = 10, .from = 100 * i * MS, .to = (100 * i + 50) * MS, .by = "thread", .by_pid = 20);
		put_wait(.pid = 20, .from = (100 * i + 10) * MS, .to = (100 * i + 30) * MS, .by = "thread",
			 .by_pid = 30);
	}
	r = path_loaded();
	expect_role(r, "rank", PATH_OWN);
	expect_role(r, "loader", PATH_WORKER);
	report_free(r);
}

/* A trainer that waits COUNT times for the loader, too shortly for rows, or with TWO of them that have rows. */
static struct report *short_waits(unsigned int count, bool two)
{
	put_root(10, "trainer", LIFE);
	put_process(20, 10, "loader", 0, 900 * MS);
	put_wait(.pid = 10, .from = 800 * MS, .to = 900 * MS, .call = "wait4", .by = "exit", .by_pid = 20);
	for (unsigned int i = 0; two && i < 2; i++)
		put_wait(.pid = 10, .from = (300 * i + 100) * MS, .to = (300 * i + 200) * MS, .by = "thread",
			 .by_pid = 20);
	put(SCHED, LIFE, "10\t10\tx\ttarget\t0\t-\t%llu\t900\t0\t600000000\t0\t-\t-\t-\t-\t-\t-\t-\t-", LIFE);
	put(SCHED, LIFE, "10\t10\tx\ttarget\t-\tread\t%llu\t%u\t-\t-\t-\t0\t0\t300000000\t9\tthread\t20\t20\t-", LIFE,
	    count);
	return path_loaded();
}

/* One row of sums has all of them. */
static void many_short_waits_make_a_worker(void **state)
{
	struct report *r = short_waits(900, false);

	expect_role(r, "loader", PATH_WORKER);
	report_free(r);
}

static void two_short_waits_make_no_worker(void **state)
{
	struct report *r = short_waits(2, false);

	expect_role(r, "loader", PATH_OWN);
	report_free(r);
}

/* Sums have the waits that have rows, too: these are two in all. */
static void waits_with_rows_count_once(void **state)
{
	struct report *r = short_waits(2, true);

	expect_role(r, "loader", PATH_OWN);
	report_free(r);
}

/* A child of the loader decodes for it: the trainer waits for the loader, and the loader for its child's end. */
static void what_a_worker_starts_is_a_worker(void **state)
{
	struct report *r;

	put_batches(3);
	put_process(30, 20, "decoder", 100 * MS, 140 * MS);
	put_wait(.pid = 20, .from = 100 * MS, .to = 140 * MS, .call = "wait4", .by = "exit", .by_pid = 30);
	r = path_loaded();
	expect_role(r, "decoder", PATH_WORKER);
	expect_role(r, "loader", PATH_WORKER);
	report_free(r);
}

/* The manager ends none of the trainer's waits: its child does. */
static void one_between_a_worker_and_its_master_is_a_worker(void **state)
{
	struct report *r;

	put_root(10, "trainer", LIFE);
	put_process(20, 10, "manager", 0, LIFE);
	put_process(30, 20, "loader", 0, LIFE);
	for (unsigned int i = 0; i < 3; i++)
		put_wait(.pid = 10, .from = (200 * i + 100) * MS, .to = (200 * i + 200) * MS, .by = "thread",
			 .by_pid = 30);
	put_wait(.pid = 30, .from = 120 * MS, .to = 180 * MS, .by = "thread", .by_pid = 20);
	r = path_loaded();
	expect_role(r, "loader", PATH_WORKER);
	expect_role(r, "manager", PATH_WORKER);
	report_free(r);
}

/* A trainer serves none of those below it: that it gives its loader work makes it no worker. */
static void work_from_above_is_no_service(void **state)
{
	struct report *r;

	put_batches(3);
	for (unsigned int i = 0; i < 5; i++)
		put_wait(.pid = 20, .from = (100 * i + 160) * MS, .to = (100 * i + 170) * MS, .by = "thread",
			 .by_pid = 10);
	r = path_loaded();
	expect_role(r, "trainer", PATH_OWN);
	report_free(r);
}

/* One beside it is not above it: so are ranks that wait for each other. */
static void ranks_are_no_workers_of_each_other(void **state)
{
	struct report *r;

	put_root(10, "torchrun", LIFE);
	put_process(20, 10, "one", 0, LIFE);
	put_process(30, 10, "two", 0, LIFE);
	for (unsigned int i = 0; i < 5; i++)
		put_wait(.pid = 20, .from = (100 * i + 100) * MS, .to = (100 * i + 150) * MS, .by = "thread",
			 .by_pid = 30);
	put_wait(.pid = 10, .from = 10 * MS, .to = LIFE, .call = "wait4", .by = "exit", .by_pid = 20);
	r = path_loaded();
	expect_role(r, "two", PATH_OWN);
	report_free(r);
}

/* --- children ------------------------------------------------------------------------------------------------ */

static void the_only_child_of_a_shell_is_in_charge(void **state)
{
	struct report *r;

	put_root(10, "sh", LIFE);
	put_process(20, 10, "python", 10 * MS, 900 * MS);
	put_wait(.pid = 10, .from = 10 * MS, .to = 900 * MS, .call = "wait4", .by = "exit", .by_pid = 20);
	r = path_loaded();
	expect_role(r, "python", PATH_OWN);
	report_free(r);
}

/* N children of NS each execute PROGRAM, and hand over three pieces each by a pipe. */
static void put_decoders(unsigned int n, uint64_t ns, const char *program)
{
	put_root(10, "python", LIFE);
	for (unsigned int i = 0; i < n; i++) {
		const uint64_t at = (100 + 120 * i) * MS;

		put_event(at, "fork", 20 + i, 20 + i, 10, "python", NULL);
		put_event(at + MS, "exec", 20 + i, 20 + i, 10, program, NULL);
		put_event(at + 2 * MS, "rename", 20 + i, 20 + i, 10, "decoder", NULL);
		put_event(at + ns, "exit", 20 + i, 20 + i, 10, "decoder", "0");
		for (unsigned int piece = 1; piece < 4; piece++)
			put_wait(.pid = 10, .from = at + piece * 10 * MS, .to = at + (piece * 10 + 8) * MS,
				 .call = "read", .by = "thread", .by_pid = 20 + i);
	}
}

static void programs_whose_results_come_by_a_pipe_are_children(void **state)
{
	struct report *r;

	put_decoders(5, 50 * MS, "gzip");
	r = path_loaded();
	expect_role(r, "decoder", PATH_CHILD);
	report_free(r);
}

/* Loaders that are spawned for each epoch execute the program of their parent, whatever they are called afterwards. */
static void short_loaders_are_workers(void **state)
{
	struct report *r;

	put_decoders(5, 50 * MS, "python");
	r = path_loaded();
	expect_role(r, "decoder", PATH_WORKER);
	report_free(r);
}

static void four_programs_that_serve_are_workers(void **state)
{
	struct report *r;

	put_decoders(4, 50 * MS, "gzip");
	r = path_loaded();
	expect_role(r, "decoder", PATH_WORKER);
	report_free(r);
}

/* A shell runs N programs of NS each, one after the other. */
static void put_programs(unsigned int n, uint64_t ns)
{
	put_root(10, "sh", LIFE);
	for (unsigned int i = 0; i < n; i++) {
		const uint64_t at = (100 + 120 * i) * MS;

		put_process(20 + i, 10, "gzip", at, at + ns);
		put_wait(.pid = 10, .from = at, .to = at + ns, .call = "wait4", .by = "exit", .by_pid = 20 + i);
	}
}

static void five_short_programs_are_children(void **state)
{
	struct report *r;

	put_programs(5, 50 * MS);
	r = path_loaded();
	expect_role(r, "gzip", PATH_CHILD);
	expect_role(r, "sh", PATH_OWN);
	report_free(r);
}

static void four_short_programs_are_in_charge(void **state)
{
	struct report *r;

	put_programs(4, 50 * MS);
	r = path_loaded();
	expect_role(r, "gzip", PATH_OWN);
	report_free(r);
}

/* Each has more than a 20th of the time. */
static void five_long_programs_are_in_charge(void **state)
{
	struct report *r;

	put_programs(5, 51 * MS);
	r = path_loaded();
	expect_role(r, "gzip", PATH_OWN);
	report_free(r);
}

/* Beside its short programs the shell runs a long one, which is none of them; and what a short one starts is one. */
static void a_long_program_beside_short_ones_is_in_charge(void **state)
{
	struct report *r;

	put_programs(5, 50 * MS);
	put_process(30, 20, "part", 110 * MS, 140 * MS);
	put_wait(.pid = 20, .from = 110 * MS, .to = 140 * MS, .call = "wait4", .by = "exit", .by_pid = 30);
	put_process(40, 10, "python", 800 * MS, 900 * MS);
	put_wait(.pid = 10, .from = 800 * MS, .to = 900 * MS, .call = "wait4", .by = "exit", .by_pid = 40);
	r = path_loaded();
	expect_role(r, "python", PATH_OWN);
	expect_role(r, "gzip", PATH_CHILD);
	expect_role(r, "part", PATH_CHILD);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_loader_that_ends_three_waits_is_a_worker),
		IN_TREE(a_rank_serves_no_launcher),
		IN_TREE(a_process_that_ends_two_waits_and_its_life_is_in_charge),
		IN_TREE(many_short_waits_make_a_worker),
		IN_TREE(two_short_waits_make_no_worker),
		IN_TREE(waits_with_rows_count_once),
		IN_TREE(what_a_worker_starts_is_a_worker),
		IN_TREE(one_between_a_worker_and_its_master_is_a_worker),
		IN_TREE(work_from_above_is_no_service),
		IN_TREE(ranks_are_no_workers_of_each_other),
		IN_TREE(programs_whose_results_come_by_a_pipe_are_children),
		IN_TREE(short_loaders_are_workers),
		IN_TREE(four_programs_that_serve_are_workers),
		IN_TREE(the_only_child_of_a_shell_is_in_charge),
		IN_TREE(five_short_programs_are_children),
		IN_TREE(four_short_programs_are_in_charge),
		IN_TREE(five_long_programs_are_in_charge),
		IN_TREE(a_long_program_beside_short_ones_is_in_charge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
