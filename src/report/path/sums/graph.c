/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/sums/graph.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

const char *const path_node_kinds[PATH_NODE_KINDS] = {
	[PATH_NODE_OTHERS] = "others",     [PATH_NODE_PROCESS] = "process", [PATH_NODE_THREADS] = "threads",
	[PATH_NODE_STORAGE] = "storage",   [PATH_NODE_PEER] = "peer",       [PATH_NODE_DEVICE] = "device",
	[PATH_NODE_TERMINAL] = "terminal", [PATH_NODE_OUTSIDE] = "outside", [PATH_NODE_KERNEL] = "kernel",
};

const char *const path_means[PATH_MEANS] = {
	[PATH_MEANS_SEVERAL] = "several", [PATH_MEANS_CALL] = "call",     [PATH_MEANS_PIPE] = "pipe",
	[PATH_MEANS_SOCKET] = "socket",   [PATH_MEANS_EVENTS] = "events", [PATH_MEANS_FUTEX] = "futex",
	[PATH_MEANS_GIL] = "python-lock", [PATH_MEANS_LOCK] = "lock",     [PATH_MEANS_CHILD] = "child",
	[PATH_MEANS_SIGNAL] = "signal",   [PATH_MEANS_READ] = "read",     [PATH_MEANS_WRITE] = "write",
	[PATH_MEANS_SYNC] = "sync",       [PATH_MEANS_NAMES] = "names",   [PATH_MEANS_FAULT] = "fault",
	[PATH_MEANS_POLL] = "poll",
};

/* --- adding -------------------------------------------------------------------------------------------- */

#define NODE_BITS 12
#define MEANS_BITS 8

_Static_assert(PATH_NODES_ADDED <= 1U << NODE_BITS && PATH_MEANS <= 1 << MEANS_BITS, "a key has room for all members");

/* All keys have a bit above those of the members, as the tables keep the first ones that count from 1 apart. */
static uint64_t edge_key(uint32_t from, uint32_t to, enum path_means means)
{
	return 1ULL << 63 | ((uint64_t)from << NODE_BITS | to) << MEANS_BITS | means;
}

void path_links_init(struct path_links *links)
{
	table_init(&links->nodes, sizeof(struct path_node), PATH_NODES_ADDED);
	table_init(&links->edges, sizeof(struct path_edge), PATH_EDGES_ADDED);
	path_links_node(links, &(struct path_node){ .kind = PATH_NODE_OTHERS });
	table_get(&links->edges, edge_key(0, 0, PATH_MEANS_SEVERAL));
}

void path_links_free(struct path_links *links)
{
	table_free(&links->nodes);
	table_free(&links->edges);
}

uint32_t path_links_node(struct path_links *links, const struct path_node *node)
{
	const uint64_t members =
		(uint64_t)node->kind << 48 | (uint64_t)node->role << 40 | (uint64_t)node->root << 32 | node->name;
	struct path_node *own = table_get(&links->nodes, 1ULL << 63 | members);

	if (!own)
		return 0;
	own->kind = node->kind;
	own->role = node->role;
	own->root = node->root;
	own->name = node->name;
	return (uint32_t)(own - (struct path_node *)links->nodes.values);
}

void path_links_process(struct path_links *links, uint32_t node)
{
	((struct path_node *)table_at(&links->nodes, node))->processes++;
}

static void weigh(struct path_weight *sum, struct path_weight more)
{
	sum->waits += more.waits;
	sum->wait_ns += more.wait_ns;
	sum->path_ns += more.path_ns;
}

uint32_t path_links_edge(struct path_links *links, uint32_t from, uint32_t to, enum path_means means)
{
	struct path_edge *edge = table_get(&links->edges, edge_key(from, to, means));

	if (!edge)
		return 0;
	edge->from = from;
	edge->to = to;
	edge->means = (uint8_t)means;
	return (uint32_t)(edge - (struct path_edge *)links->edges.values);
}

/* --- the largest --------------------------------------------------------------------------------------- */

struct rank {
	struct path_weight weight; /* of its edges */
	uint32_t node;
	bool first, used;
};

/* Returns -1, 0 or 1: A comes before B, either, behind. */
static int by_weight(const struct path_weight *a, const struct path_weight *b)
{
	if (a->path_ns != b->path_ns)
		return a->path_ns < b->path_ns ? 1 : -1;
	return (a->wait_ns < b->wait_ns) - (a->wait_ns > b->wait_ns);
}

static int by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	const int order = by_weight(&x->weight, &y->weight);

	if (x->first != y->first)
		return x->first ? -1 : 1;
	if (x->used != y->used)
		return x->used ? -1 : 1;
	return order ?: (x->node > y->node) - (x->node < y->node);
}

static int by_edge(const void *a, const void *b)
{
	const struct path_edge *x = a, *y = b;
	const int order = by_weight(&x->weight, &y->weight);

	if (order)
		return order;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->means > y->means) - (x->means < y->means);
}

static bool is_nothing(const struct path_weight *weight)
{
	return !weight->waits && !weight->wait_ns && !weight->path_ns;
}

static void rank_all(struct rank *ranks, const struct path_links *links, uint32_t first)
{
	for (uint32_t i = 0; i < links->nodes.n; i++)
		ranks[i] = (struct rank){ .node = i, .first = i && i == first };
	for (uint32_t i = 0; i < links->edges.n; i++) {
		const struct path_edge *edge = table_at(&links->edges, i);

		if (is_nothing(&edge->weight))
			continue;
		weigh(&ranks[edge->from].weight, edge->weight);
		if (edge->to != edge->from)
			weigh(&ranks[edge->to].weight, edge->weight);
		ranks[edge->from].used = ranks[edge->to].used = true;
	}
	/* the node of those without room has no place of its own */
	ranks[0].used = ranks[0].first = false;
	qsort(ranks, links->nodes.n, sizeof(*ranks), by_rank);
}

#define OTHERS (PATH_NODES_MAX - 1) /* its place while edges are added up */

/* Puts the nodes into GRAPH, and each one's place into PLACES. */
static void place(struct path_graph *graph, const struct rank *ranks, const struct path_links *links, uint8_t *places)
{
	for (uint32_t i = 0; i < links->nodes.n; i++) {
		const struct path_node *node = table_at(&links->nodes, ranks[i].node);

		places[ranks[i].node] = OTHERS;
		if (ranks[i].used && graph->n_nodes < OTHERS) {
			places[ranks[i].node] = (uint8_t)graph->n_nodes;
			graph->node[graph->n_nodes++] = *node;
		} else if (ranks[i].used) {
			graph->node[OTHERS].folded++;
			graph->node[OTHERS].processes += node->processes;
		}
	}
}

/* Adds up the edges between places; returns how many there are, the largest first. */
static uint32_t gather(struct path_edge *sums, const struct path_links *links, const uint8_t *places)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < links->edges.n; i++) {
		const struct path_edge *edge = table_at(&links->edges, i);
		const uint32_t from = places[edge->from], to = places[edge->to];
		struct path_edge *sum = &sums[(from * PATH_NODES_MAX + to) * PATH_MEANS + edge->means];

		*sum = (struct path_edge){ from, to, edge->means, sum->weight };
		weigh(&sum->weight, edge->weight);
	}
	for (uint32_t i = 0; i < PATH_NODES_MAX * PATH_NODES_MAX * PATH_MEANS; i++)
		if (!is_nothing(&sums[i].weight))
			sums[n++] = sums[i];
	qsort(sums, n, sizeof(*sums), by_edge);
	return n;
}

/* Puts the N edges into GRAPH; those without room are one of all others with themselves. */
static void keep(struct path_graph *graph, const struct path_edge *sums, uint32_t n)
{
	const uint32_t most = n > PATH_EDGES_MAX ? PATH_EDGES_MAX - 1 : n;
	struct path_edge rest = { OTHERS, OTHERS, PATH_MEANS_SEVERAL, { 0 } };
	bool others = n > most;

	for (uint32_t i = 0; i < most; i++) {
		others |= sums[i].from == OTHERS || sums[i].to == OTHERS;
		graph->edge[graph->n_edges++] = sums[i];
	}
	for (uint32_t i = most; i < n; i++)
		weigh(&rest.weight, sums[i].weight);
	if (n > most)
		graph->edge[graph->n_edges++] = rest;
	if (!others)
		return;
	/* comes last, without a gap before it */
	graph->node[graph->n_nodes] = graph->node[OTHERS];
	for (uint32_t i = 0; i < graph->n_edges; i++) {
		struct path_edge *edge = &graph->edge[i];

		edge->from = edge->from == OTHERS ? graph->n_nodes : edge->from;
		edge->to = edge->to == OTHERS ? graph->n_nodes : edge->to;
	}
	graph->n_nodes++;
}

int path_graph_make(struct path_graph *graph, const struct path_links *links, uint32_t first)
{
	struct rank *ranks = calloc(links->nodes.n + 1ULL, sizeof(*ranks));
	uint8_t *places = calloc(links->nodes.n + 1ULL, sizeof(*places));
	struct path_edge *sums = calloc((size_t)PATH_NODES_MAX * PATH_NODES_MAX * PATH_MEANS, sizeof(*sums));
	int res = -ENOMEM;

	*graph = (struct path_graph){ .n_nodes = 0 };
	for (uint32_t i = 0; i < links->edges.n; i++)
		weigh(&graph->all, ((const struct path_edge *)links->edges.values)[i].weight);
	if (ranks && places && sums && links->nodes.n && links->edges.n) {
		rank_all(ranks, links, first);
		place(graph, ranks, links, places);
		keep(graph, sums, gather(sums, links, places));
		res = 0;
	}
	free(ranks);
	free(places);
	free(sums);
	return res;
}
