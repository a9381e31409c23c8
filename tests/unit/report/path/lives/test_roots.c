/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/lives/roots.h"

#include "../trace.h"

/* What is before the program is dltraced's own: it waits at its gate. */
static void the_time_of_a_workload_begins_with_its_program(void **state)
{
	struct report *r;

	put_workload(10, 1200 * MS);
	put_event(0, "fork", 10, 10, 1, "dltraced", NULL);
	put_event(200 * MS, "exec", 10, 10, 1, "sh", NULL);
	put_event(300 * MS, "exec", 10, 10, 1, "python", NULL);
	put_event(1000 * MS, "exit", 10, 10, 1, "python", "0");
	put_wait(.pid = 10, .from = 10 * MS, .to = 190 * MS, .by = "thread", .by_pid = 9, .by_comm = "dltraced");
	put_wait(.pid = 10, .from = 400 * MS, .to = 600 * MS, .call = "nanosleep", .by = "timer");
	r = path_loaded();
	assert_int_equal(r->path->n, 1);
	assert_int_equal(r->path->root[0].pid, 10);
	assert_int_equal(r->path->root[0].begin_ns, BEGIN + 200 * MS);
	assert_int_equal(wall_of(r), 800 * MS);
	expect_part(r, "sleep", "python", NULL, 200 * MS);
	expect_part(r, "outside", "python", NULL, 0);
	report_free(r);
}

/* A workload that outlives the trace: the rest of its waits is not over. */
static void the_time_ends_with_the_trace(void **state)
{
	struct report *r;

	put_workload(10, 700 * MS);
	put_event(0, "exec", 10, 10, 1, "python", NULL);
	put_wait(.pid = 10, .from = 100 * MS, .to = 700 * MS, .call = "wait4", .by = "end");
	r = path_loaded();
	assert_int_equal(wall_of(r), 700 * MS);
	expect_part(r, "unended", "python", "wait4", 600 * MS);
	report_free(r);
}

/* Of a target that ran before, each process whose parent is not of it is a root; the longest is first. */
static void a_trace_without_a_workload_has_several_roots(void **state)
{
	struct report *r;

	put_event(0, "snapshot", 20, 20, 1, "short", NULL);
	put_event(0, "snapshot", 31, 31, 30, "child", NULL);
	put_event(0, "snapshot", 30, 30, 1, "long", NULL);
	put_event(400 * MS, "exit", 20, 20, 1, "short", "0");
	put_event(600 * MS, "exec", 30, 30, 1, "long", NULL);
	put_event(1000 * MS, "exit", 30, 30, 1, "long", "0");
	put_wait(.pid = 30, .from = 100 * MS, .to = 700 * MS, .by = "thread", .by_pid = 31);
	r = path_loaded();
	assert_int_equal(r->path->n, 2);
	assert_int_equal(r->path->root[0].pid, 30);
	assert_int_equal(r->path->root[1].pid, 20);
	assert_int_equal(wall_of(r), 1000 * MS); /* the program that it executes later makes no difference */
	expect_part(r, "cpu", "child", NULL, 600 * MS);
	report_free(r);
}

static void without_waits_nothing_is_known(void **state)
{
	struct report *r;

	put_root(10, "a", 1000 * MS);
	r = path_loaded_with(&(struct report_options){ .timed = false });
	assert_int_equal(r->path->n, 0);
	report_free(r);
}

/* A part of the trace alone. */
static void a_window_has_its_own_path(void **state)
{
	struct report *r;

	put_workload(10, 1000 * MS);
	put_root(10, "a", 1000 * MS);
	put_wait(.pid = 10, .from = 100 * MS, .to = 400 * MS, .call = "nanosleep", .by = "timer");
	put_wait(.pid = 10, .from = 500 * MS, .to = 800 * MS, .by = "net", .peer = "10.0.0.5:80");
	r = path_loaded_with(&(struct report_options){ .window = { BEGIN + 200 * MS, BEGIN + 450 * MS } });
	assert_int_equal(wall_of(r), 250 * MS);
	expect_part(r, "sleep", "a", NULL, 200 * MS);
	expect_part(r, "cpu", "a", NULL, 50 * MS);
	report_free(r);
	/* both waits go on outside of it */
	r = path_loaded_with(&(struct report_options){ .window = { BEGIN + 200 * MS, BEGIN + 700 * MS } });
	assert_int_equal(wall_of(r), 500 * MS);
	expect_part(r, "sleep", "a", NULL, 200 * MS);
	expect_part(r, "network", "a", NULL, 200 * MS);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(the_time_of_a_workload_begins_with_its_program),
		IN_TREE(the_time_ends_with_the_trace),
		IN_TREE(a_trace_without_a_workload_has_several_roots),
		IN_TREE(without_waits_nothing_is_known),
		IN_TREE(a_window_has_its_own_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
