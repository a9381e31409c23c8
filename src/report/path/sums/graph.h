/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who waited for whom: nodes that wait, or are waited for, and an edge for each pair of them and each way to wait.
 * Bounded: nodes and edges without room become one node, and edges of it, so that the edges always add up to all that
 * was added. Knows nothing of traces.
 */
#ifndef REPORT_PATH_SUMS_GRAPH_H
#define REPORT_PATH_SUMS_GRAPH_H

#include <stdint.h>

#include "report/path/sums/leaf.h"
#include "stats/table.h"

/* While waits are added. */
#define PATH_NODES_ADDED 4096U
#define PATH_EDGES_ADDED (1U << 14)
/* In the end, with those of all others. */
#define PATH_NODES_MAX 12U
#define PATH_EDGES_MAX 48U

enum path_node_kind {
	PATH_NODE_OTHERS, /* nodes without room; of a wait: it was for none */
	PATH_NODE_PROCESS, /* the first threads of processes with one name and role */
	PATH_NODE_THREADS, /* their other threads */
	PATH_NODE_STORAGE,
	PATH_NODE_PEER, /* a remote end */
	PATH_NODE_DEVICE,
	PATH_NODE_TERMINAL,
	PATH_NODE_OUTSIDE, /* a process outside the job */
	PATH_NODE_KERNEL, /* threads of the kernel */
	PATH_NODE_KINDS,
};

/* How one waits. */
enum path_means {
	PATH_MEANS_SEVERAL, /* edges without room */
	PATH_MEANS_CALL,
	PATH_MEANS_PIPE,
	PATH_MEANS_SOCKET,
	PATH_MEANS_EVENTS,
	PATH_MEANS_FUTEX,
	PATH_MEANS_GIL,
	PATH_MEANS_LOCK,
	PATH_MEANS_CHILD,
	PATH_MEANS_SIGNAL,
	PATH_MEANS_READ,
	PATH_MEANS_WRITE,
	PATH_MEANS_SYNC,
	PATH_MEANS_NAMES,
	PATH_MEANS_FAULT,
	PATH_MEANS_POLL,
	PATH_MEANS,
};

extern const char *const path_node_kinds[PATH_NODE_KINDS], *const path_means[PATH_MEANS];

struct path_node {
	uint8_t kind; /* enum path_node_kind */
	uint8_t role; /* enum path_role */
	bool root; /* of the first process alone */
	uint32_t name; /* 0: none */
	uint32_t processes; /* of a job's node */
	uint32_t folded; /* nodes in the place of which it is; 0: it is one itself */
};

struct path_weight {
	uint64_t waits;
	uint64_t wait_ns; /* of all threads, until they could run again */
	uint64_t path_ns; /* of the path of the root: it went through this edge so long */
};

struct path_edge {
	uint32_t from, to; /* indices of nodes: who waits, for whom */
	uint8_t means; /* enum path_means */
	struct path_weight weight;
};

/* As waits are added. */
struct path_links {
	struct table nodes, edges;
};

/* The largest nodes and edges, with all others as one node and its edges. */
struct path_graph {
	struct path_node node[PATH_NODES_MAX];
	struct path_edge edge[PATH_EDGES_MAX]; /* the largest first */
	uint32_t n_nodes, n_edges;
	struct path_weight all;
};

void path_links_init(struct path_links *links);
void path_links_free(struct path_links *links);
/* Returns the index of the node with NODE's kind, role, root and name; 0, that of all others, where there is no room.
 */
uint32_t path_links_node(struct path_links *links, const struct path_node *node);
/* Adds a process to NODE. */
void path_links_process(struct path_links *links, uint32_t node);
/* Returns the index of the edge; 0, that of all others, where there is no room. */
uint32_t path_links_edge(struct path_links *links, uint32_t from, uint32_t to, enum path_means means);
/* Adds WEIGHT to EDGE; nothing without any memory, where path_graph_make() fails. */
static inline void path_links_add(struct path_links *links, uint32_t edge, struct path_weight weight)
{
	struct path_weight *sum = &((struct path_edge *)links->edges.values)[edge].weight;

	if (edge >= links->edges.n)
		return;
	sum->waits += weight.waits;
	sum->wait_ns += weight.wait_ns;
	sum->path_ns += weight.path_ns;
}

/* Sets GRAPH to the nodes with most time on the path, then in all; FIRST is always one. Returns 0 or -ENOMEM. */
int path_graph_make(struct path_graph *graph, const struct path_links *links, uint32_t first);

#endif
