/* SPDX-License-Identifier: BSD-2-Clause */
/* Who waited for whom: see trace.h. Process 10 is the root, mostly of one second. */
#include "report/path/edges.h"

#include "trace.h"

/* An end as `KIND NAME'. */
static bool is_end(const struct report *r, uint32_t node, const char *text)
{
	const struct path_node *n = &r->path->graph.node[node];
	autofree char *own =
		util_fmt("%s %s", path_node_kinds[n->kind], or_dash(path_name_text(&r->path->names, n->name)));

	return strcmp(own, text) == 0;
}

static const struct path_edge *edge_of(const struct report *r, const char *from, const char *to, const char *means)
{
	for (uint32_t i = 0; i < r->path->graph.n_edges; i++) {
		const struct path_edge *edge = &r->path->graph.edge[i];

		if (is_end(r, edge->from, from) && is_end(r, edge->to, to) &&
		    strcmp(path_means[edge->means], means) == 0)
			return edge;
	}
	fail_msg("%s does not wait for %s by %s", from, to, means);
	return NULL;
}

static void expect_edge(const struct report *r, const char *from, const char *to, const char *means, uint64_t waits,
			uint64_t wait_ms, uint64_t path_ms)
{
	const struct path_edge *edge = edge_of(r, from, to, means);

	assert_int_equal(edge->weight.waits, waits);
	assert_int_equal(edge->weight.wait_ns, wait_ms * MS);
	assert_int_equal(edge->weight.path_ns, path_ms * MS);
}

static void expect_edges(const struct report *r, uint32_t n)
{
	struct path_weight sum = { 0 };

	for (uint32_t i = 0; i < r->path->graph.n_edges; i++) {
		sum.waits += r->path->graph.edge[i].weight.waits;
		sum.wait_ns += r->path->graph.edge[i].weight.wait_ns;
		sum.path_ns += r->path->graph.edge[i].weight.path_ns;
	}
	assert_memory_equal(&sum, &r->path->graph.all, sizeof(sum));
	assert_int_equal(r->path->graph.n_edges, n);
}

/* Two loaders read ahead, each 80 ms a batch, for 30 of which the trainer waits for it. */
static void a_trainer_waits_for_its_loaders_and_these_for_the_disk(void **state)
{
	struct report *r;

	put_workload(10, 1000 * MS);
	put_root(10, "python", 1000 * MS);
	put_process(20, 10, "loader", 0, 1000 * MS);
	put_process(30, 10, "loader", 0, 1000 * MS);
	put(FILES, 0, "8\t0:14\t8\tfifo\tpipefs\t0\tok\tpipe:[8]");
	for (unsigned int i = 0; i < 10; i++) {
		const uint64_t at = 100 * i * MS;

		for (unsigned int pid = 20; pid <= 30; pid += 10)
			put_wait(.pid = pid, .from = at, .to = at + 80 * MS, .call = "pread64", .state = "disk",
				 .by = "disk", .fid = 1, .file = "x.bin");
		put_wait(.pid = 10, .from = at + 60 * MS, .to = at + 90 * MS, .by = "thread", .by_pid = i % 2 ? 20 : 30,
			 .fid = 8, .file = "pipe");
	}
	r = path_loaded();
	expect_edges(r, 2);
	expect_edge(r, "process python", "process loader", "pipe", 10, 300, 300);
	expect_edge(r, "process loader", "storage -", "read", 20, 1600, 200);
	assert_true(r->path->graph.node[0].root);
	assert_int_equal(r->path->graph.node[1].processes, 2);
	assert_int_equal(r->path->graph.node[1].role, PATH_WORKER);
	report_free(r);
}

/* What is not of the job: each has a node of its own, but times, stops and what is not known. */
static void what_is_outside_has_nodes_and_time_has_none(void **state)
{
	struct report *r;

	put_workload(10, 1000 * MS);
	put_root(10, "python", 1000 * MS);
	put(FILES, 0, "8\t0:5\t8\tchr\tdevtmpfs\t0\tok\t/dev/nvidia0");
	put_wait(.pid = 10, .from = 0, .to = 50 * MS, .call = "recvfrom", .by = "net", .peer = "10.0.0.5:9000");
	put_wait(.pid = 10, .from = 100 * MS, .to = 150 * MS, .call = "flock", .by = "thread", .by_pid = 99,
		 .by_comm = "backup");
	put_wait(.pid = 10, .from = 200 * MS, .to = 250 * MS, .call = "read", .by = "thread", .by_pid = 99,
		 .by_comm = "server");
	put_wait(.pid = 10, .from = 300 * MS, .to = 350 * MS, .call = "ioctl", .by = "kernel", .fid = 8,
		 .file = "nvidia0");
	put_wait(.pid = 10, .from = 400 * MS, .to = 450 * MS, .call = "ioctl", .by = "kernel",
		 .by_comm = "kworker/3:1");
	put_wait(.pid = 10, .from = 500 * MS, .to = 550 * MS, .call = "nanosleep", .by = "timer");
	put_wait(.pid = 10, .from = 600 * MS, .to = 650 * MS, .call = "stopped", .by = "signal");
	put_wait(.pid = 10, .from = 700 * MS, .to = 750 * MS, .call = "read", .by = "interrupt");
	put_wait(.pid = 10, .from = 800 * MS, .to = 850 * MS, .call = "-", .state = "runq");
	r = path_loaded();
	expect_edges(r, 5);
	expect_edge(r, "process python", "peer 10.0.0.5:9000", "socket", 1, 50, 50);
	expect_edge(r, "process python", "outside backup", "lock", 1, 50, 50);
	expect_edge(r, "process python", "outside server", "call", 1, 50, 50);
	expect_edge(r, "process python", "device nvidia#", "call", 1, 50, 50);
	expect_edge(r, "process python", "kernel kworker/#:#", "call", 1, 50, 50);
	report_free(r);
}

/* Another process with the root's name is another node, and its other threads are one. */
static void the_root_is_apart_from_others_of_its_name(void **state)
{
	struct report *r;

	put_workload(10, 1000 * MS);
	put_root(10, "python", 1000 * MS);
	put_process(20, 10, "python", 0, 900 * MS);
	put_event(0, "thread", 20, 21, 10, "python", NULL);
	put_wait(.pid = 10, .from = 100 * MS, .to = 900 * MS, .call = "wait4", .by = "exit", .by_pid = 20);
	put_wait(.pid = 20, .from = 200 * MS, .to = 300 * MS, .call = "futex", .by = "thread", .by_pid = 20,
		 .by_tid = 21);
	r = path_loaded();
	expect_edges(r, 2);
	expect_edge(r, "process python", "process python", "child", 1, 800, 800);
	expect_edge(r, "process python", "threads python", "futex", 1, 100, 100);
	assert_true(r->path->graph.node[0].root && !r->path->graph.node[1].root);
	report_free(r);
}

/* The trainer looks every 10 ms, for 400 ms; its loader reads then. Nobody says so: it is inferred. */
static void a_poll_is_an_edge_to_a_thread_that_works(void **state)
{
	struct report *r;

	put_workload(10, 1000 * MS);
	put_root(10, "python", 1000 * MS);
	put_process(20, 10, "loader", 0, 1000 * MS);
	put_wait(.pid = 20, .from = 100 * MS, .to = 500 * MS, .call = "read", .state = "disk", .by = "disk");
	put_wait(.pid = 20, .from = 500 * MS, .to = 1000 * MS, .call = "read", .by = "end");
	for (unsigned int i = 0; i < 40; i++)
		put_wait(.pid = 10, .from = (100 + 10 * i) * MS, .to = (110 + 10 * i) * MS, .call = "nanosleep",
			 .by = "timer");
	r = path_loaded();
	expect_edges(r, 2);
	expect_edge(r, "process python", "process loader", "poll", 0, 400, 400);
	expect_edge(r, "process loader", "storage -", "read", 1, 400, 400);
	report_free(r);
}

/* Waits that began before the root's time, or that sched.out counts alone, in an interval that ends a bit later. */
static void only_the_time_of_the_root_counts_and_short_waits_count_too(void **state)
{
	struct report *r;

	put_workload(10, 1000 * MS);
	put_event(0, "fork", 10, 10, 1, "dltraced", NULL);
	put_event(100 * MS, "exec", 10, 10, 1, "python", NULL);
	put_event(1000 * MS, "exit", 10, 10, 1, "python", "0");
	put_process(20, 10, "loader", 0, 1000 * MS);
	put_wait(.pid = 20, .from = 50 * MS, .to = 150 * MS, .call = "read", .state = "disk", .by = "disk");
	put(SCHED, 1000 * MS + 10, "10\t10\tx\ttarget\t0\t-\t%llu\t900\t0\t600000000\t0\t-\t-\t-\t-\t-\t-\t-\t-",
	    900 * MS);
	put(SCHED, 1000 * MS + 10,
	    "10\t10\tx\ttarget\t-\tread\t%llu\t900\t-\t-\t-\t0\t0\t300000000\t9\tthread\t20\t20\t-", 900 * MS);
	r = path_loaded();
	expect_edges(r, 2);
	expect_edge(r, "process loader", "storage -", "read", 1, 50, 0);
	expect_edge(r, "process python", "process loader", "call", 900, 300, 300);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_trainer_waits_for_its_loaders_and_these_for_the_disk),
		IN_TREE(what_is_outside_has_nodes_and_time_has_none),
		IN_TREE(the_root_is_apart_from_others_of_its_name),
		IN_TREE(a_poll_is_an_edge_to_a_thread_that_works),
		IN_TREE(only_the_time_of_the_root_counts_and_short_waits_count_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
