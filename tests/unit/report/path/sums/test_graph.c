/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/sums/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define NAMED(text) (&(struct path_node){ .kind = PATH_NODE_PROCESS, .name = (text) })

static void add(struct path_links *links, uint32_t from, uint32_t to, enum path_means means, struct path_weight weight)
{
	path_links_add(links, path_links_edge(links, from, to, means), weight);
}

static struct path_graph made(struct path_links *links, uint32_t first)
{
	struct path_graph graph;

	assert_int_equal(path_graph_make(&graph, links, first), 0);
	path_links_free(links);
	return graph;
}

/* Whatever was added: the edges are whole, and their ends are there. */
static void expect_whole(const struct path_graph *graph, struct path_weight all)
{
	struct path_weight sum = { 0 };

	assert_true(graph->n_nodes <= PATH_NODES_MAX && graph->n_edges <= PATH_EDGES_MAX);
	for (uint32_t i = 0; i < graph->n_edges; i++) {
		const struct path_edge *edge = &graph->edge[i];

		assert_true(edge->from < graph->n_nodes && edge->to < graph->n_nodes);
		sum.waits += edge->weight.waits;
		sum.wait_ns += edge->weight.wait_ns;
		sum.path_ns += edge->weight.path_ns;
	}
	assert_memory_equal(&sum, &all, sizeof(sum));
	assert_memory_equal(&graph->all, &all, sizeof(all));
}

static void waits_with_the_same_ends_and_means_are_one_edge(void **state)
{
	struct path_links links;
	struct path_graph graph;
	uint32_t a, b;

	path_links_init(&links);
	a = path_links_node(&links, NAMED(1));
	b = path_links_node(&links, NAMED(2));
	assert_int_equal(path_links_node(&links, NAMED(1)), a);
	assert_int_not_equal(path_links_node(&links, &(struct path_node){ .kind = PATH_NODE_THREADS, .name = 1 }), a);
	add(&links, a, b, PATH_MEANS_PIPE, (struct path_weight){ 1, 10, 5 });
	add(&links, a, b, PATH_MEANS_PIPE, (struct path_weight){ 2, 20, 0 });
	add(&links, a, b, PATH_MEANS_SOCKET, (struct path_weight){ 1, 7, 7 });
	add(&links, b, a, PATH_MEANS_PIPE, (struct path_weight){ 1, 90, 0 });
	graph = made(&links, b);
	expect_whole(&graph, (struct path_weight){ 5, 127, 12 });
	/* the first one comes first, and a node without edges is none */
	assert_int_equal(graph.n_nodes, 2);
	assert_int_equal(graph.node[0].name, 2);
	assert_int_equal(graph.n_edges, 3);
	assert_int_equal(graph.edge[0].means, PATH_MEANS_SOCKET);
	assert_int_equal(graph.edge[1].weight.wait_ns, 30);
	assert_int_equal(graph.edge[2].from, 0);
}

/* A hub waits for N others, the last of which have most time. */
static struct path_graph star(uint32_t n)
{
	struct path_links links;
	uint32_t hub;

	path_links_init(&links);
	hub = path_links_node(&links, NAMED(1));
	for (uint32_t i = 1; i <= n; i++) {
		const uint32_t to = path_links_node(&links, NAMED(i + 1));

		path_links_process(&links, to);
		add(&links, hub, to, PATH_MEANS_CHILD, (struct path_weight){ 1, i, i / 2 });
	}
	return made(&links, hub);
}

static void a_dozen_nodes_have_no_others(void **state)
{
	const struct path_graph graph = star(PATH_NODES_MAX - 2);

	assert_int_equal(graph.n_nodes, PATH_NODES_MAX - 1);
	for (uint32_t i = 0; i < graph.n_nodes; i++)
		assert_int_equal(graph.node[i].kind, PATH_NODE_PROCESS);
}

static void the_smallest_nodes_are_folded(void **state)
{
	const struct path_graph graph = star(100);
	const struct path_node *others = &graph.node[PATH_NODES_MAX - 1];

	expect_whole(&graph, (struct path_weight){ 100, 5050, 2500 });
	assert_int_equal(graph.n_nodes, PATH_NODES_MAX);
	assert_int_equal(others->kind, PATH_NODE_OTHERS);
	assert_int_equal(others->folded, 90);
	assert_int_equal(others->processes, 90);
	assert_int_equal(graph.edge[0].to, PATH_NODES_MAX - 1);
	assert_int_equal(graph.edge[0].weight.waits, 90);
	assert_int_equal(graph.edge[1].weight.wait_ns, 100);
}

/* More than there is room for while waits are added. */
static void nodes_and_edges_without_room_are_one(void **state)
{
	struct path_weight all = { 0 };
	struct path_links links;
	struct path_graph graph;
	uint32_t last = 0;

	path_links_init(&links);
	for (uint32_t i = 1; i < PATH_EDGES_ADDED * 2; i++) {
		const uint32_t node = path_links_node(&links, NAMED(i % (PATH_NODES_ADDED + 100) + 1));

		add(&links, last, node, (enum path_means)(i % PATH_MEANS), (struct path_weight){ 1, i, i % 3 });
		all.waits++;
		all.wait_ns += i;
		all.path_ns += i % 3;
		last = node;
	}
	graph = made(&links, 1);
	expect_whole(&graph, all);
	assert_int_equal(graph.n_nodes, PATH_NODES_MAX);
}

/* Each of ten waits for each, in all ways: the smallest edges are one of all others. */
static void the_smallest_edges_are_folded(void **state)
{
	struct path_weight all = { 0 };
	struct path_links links;
	struct path_graph graph;

	path_links_init(&links);
	for (uint32_t i = 0; i < 1600; i++) {
		const uint32_t from = path_links_node(&links, NAMED(i % 10 + 1));
		const uint32_t to = path_links_node(&links, NAMED(i / 10 % 10 + 1));

		add(&links, from, to, (enum path_means)(i / 100), (struct path_weight){ 1, 1 + i, 0 });
		all.waits++;
		all.wait_ns += 1 + i;
	}
	graph = made(&links, 1);
	expect_whole(&graph, all);
	assert_int_equal(graph.n_nodes, 11);
	assert_int_equal(graph.n_edges, PATH_EDGES_MAX);
	assert_int_equal(graph.edge[0].weight.wait_ns, 1600);
	assert_int_equal(graph.edge[PATH_EDGES_MAX - 1].means, PATH_MEANS_SEVERAL);
	assert_int_equal(graph.edge[PATH_EDGES_MAX - 1].weight.waits, 1600 - PATH_EDGES_MAX + 1);
	assert_int_equal(graph.edge[PATH_EDGES_MAX - 1].from, 10);
}

static void without_waits_there_is_nothing(void **state)
{
	struct path_links links;
	struct path_graph graph;

	path_links_init(&links);
	path_links_node(&links, NAMED(1));
	graph = made(&links, 1);
	assert_int_equal(graph.n_nodes, 0);
	assert_int_equal(graph.n_edges, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_with_the_same_ends_and_means_are_one_edge),
		cmocka_unit_test(a_dozen_nodes_have_no_others),
		cmocka_unit_test(the_smallest_nodes_are_folded),
		cmocka_unit_test(nodes_and_edges_without_room_are_one),
		cmocka_unit_test(the_smallest_edges_are_folded),
		cmocka_unit_test(without_waits_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
