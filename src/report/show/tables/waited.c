/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of who waited for whom, of the path of a struct report. */
#include "base/fmt.h"
#include "base/util.h"
#include "report/path/path.h"
#include "report/scan/model.h"
#include "report/show/tables/tables.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)

/* What follows a node's name, or stands in its place. */
static const struct words {
	const char *after, *alone;
} words[PATH_NODE_KINDS] = {
	[PATH_NODE_OTHERS] = { "", "(others)" },
	[PATH_NODE_PROCESS] = { "", "(no name)" },
	[PATH_NODE_THREADS] = { "'s threads", "(threads)" },
	[PATH_NODE_STORAGE] = { "", "storage" },
	[PATH_NODE_PEER] = { " (peer)", "the network" },
	[PATH_NODE_DEVICE] = { " (device)", "a device" },
	[PATH_NODE_TERMINAL] = { "", "the terminal" },
	[PATH_NODE_OUTSIDE] = { " (outside the job)", "outside the job" },
	[PATH_NODE_KERNEL] = { " (kernel)", "the kernel" },
};

/* Of one process of a role, and of several. */
static const struct counted {
	const char *one, *several;
} counted[PATH_ROLES] = {
	[PATH_OWN] = { "", "processes" },
	[PATH_WORKER] = { " (a worker)", "workers" },
	[PATH_CHILD] = { " (a child)", "children" },
};

#define NAME_SHOWN 160 /* bytes of a longer name */

/* Puts what NODE is into TEXT: "pt_data_worker (4 workers)". Names are escaped, as in the files. */
static void describe(const struct report *r, const struct path_node *node, char *text, size_t size)
{
	const char *name = path_name_text(&r->path->names, node->name), *after = words[node->kind].after;
	const int len = name ? fmt_fits(name, NAME_SHOWN) : 0;

	if (!name)
		snprintf(text, size, "%s", words[node->kind].alone);
	else if (node->processes > 1)
		snprintf(text, size, "%.*s%s (%u %s)", len, name, after, node->processes, counted[node->role].several);
	else
		snprintf(text, size, "%.*s%s%s", len, name, after,
			 node->root ? " (the first process)" : counted[node->role].one);
}

/* --- nodes --------------------------------------------------------------------------------------------- */

GET(id, struct path_node, node)
{
	cell->n = (uint64_t)(node - r->path->graph.node);
}

GET(name, struct path_node, node)
{
	cell->text = path_name_text(&r->path->names, node->name);
}

GET(label, struct path_node, node)
{
	describe(r, node, cell->shown, sizeof(cell->shown));
	cell->text = cell->shown;
}

GET(role, struct path_node, node)
{
	cell->known = node->kind == PATH_NODE_PROCESS || node->kind == PATH_NODE_THREADS;
	cell->text = path_roles[node->role];
}

#define NODE(member) VIEW_AT(struct path_node, member)

static const struct view_column node_columns[] = {
	{ "id", NULL, VIEW_ID, .get = id },
	{ "kind", NULL, VIEW_TEXT, 0, 0, NODE(kind), .names = path_node_kinds,
	  .what = "process: the first threads of processes with this name and role; threads: their others; storage, "
		  "peer, "
		  "device, terminal; outside: a process that is not of the job; kernel: its threads; others: all other "
		  "nodes" },
	{ "name", NULL, VIEW_TEXT, .get = name },
	{ "label", NULL, VIEW_TEXT, .get = label, .what = "what `path_edges` calls it" },
	{ "role", NULL, VIEW_TEXT, .get = role, .what = "own, worker or child" },
	{ "root", NULL, VIEW_FLAG, 0, 0, NODE(root), .what = "of the first process alone" },
	{ "processes", NULL, VIEW_COUNT, 0, 0, NODE(processes) },
	{ "folded", NULL, VIEW_COUNT, 0, 0, NODE(folded), .what = "of others: how many it stands for" },
	{ 0 },
};

const struct view view_path_nodes = {
	.key = "path_nodes",
	.what = "the ends of `path_edges`, 12 at most; the first one is the first process",
	.columns = node_columns,
	VIEW_BEHIND(struct report, path),
	VIEW_ARRAY(struct report_path, graph.node, graph.n_nodes),
};

/* --- edges --------------------------------------------------------------------------------------------- */

GET(end, struct path_edge, edge)
{
	const uint32_t node = *(const uint32_t *)view_at(edge, c);

	describe(r, &r->path->graph.node[node], cell->shown, sizeof(cell->shown));
	cell->text = cell->shown;
}

#define EDGE(member) VIEW_AT(struct path_edge, member)
#define END(member) .at = offsetof(struct path_edge, member), .get = end

static const struct view_column edge_columns[] = {
	{ "waiter", "WAITER", VIEW_TEXT, 32, END(from) },
	{ "waited_for", "WAITED FOR", VIEW_TEXT, 32, END(to) },
	{ "kind", "KIND", VIEW_TEXT, 11, 0, EDGE(means), .names = path_means,
	  .what = "pipe, socket, events (poll, select, epoll), futex (a lock or queue of threads), python-lock, lock "
		  "(on a "
		  "file), child (its end), signal, call (any other, or too short for its file to be known); of storage "
		  "read, write, sync, names, fault; poll: "
		  "it "
		  "looked again and again, and whom for is inferred; several" },
	{ "waits", "WAITS", VIEW_COUNT, 8, 0, EDGE(weight.waits),
	  .what = "with those of less than 1 ms, which sched.out counts" },
	{ "path_ns", "ON PATH", VIEW_NS, 8, 0, EDGE(weight.path_ns),
	  .what = "so long the path of the first process went through these waits; a moment can go through several" },
	{ "wait_ns", "IN ALL", VIEW_NS, 8, 0, EDGE(weight.wait_ns),
	  .what = "the waits of all threads, until they could run again" },
	{ "from", NULL, VIEW_ID, 0, 0, EDGE(from), .what = "`id` in `path_nodes` of who waited, and for whom" },
	{ "to", NULL, VIEW_ID, 0, 0, EDGE(to) },
	{ 0 },
};

const struct view view_path_edges = {
	.key = "path_edges",
	.title = "Who waited for whom",
	.note = "ON PATH: the first process waited so long, through all that wait for each other; IN ALL: all threads",
	.what = "waits by who waited, for whom and how, 48 at most, the last ones as one of kind several; together all "
		"waits "
		"for something else than time, in the time of the path",
	.columns = edge_columns,
	VIEW_BEHIND(struct report, path),
	VIEW_ARRAY(struct report_path, graph.edge, graph.n_edges),
};
