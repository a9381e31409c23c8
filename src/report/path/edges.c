/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/edges.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/path/roles.h"
#include "report/scan/model.h"

/* --- ends ---------------------------------------------------------------------------------------------- */

static uint32_t node_of_life(struct path_edges *edges, uint32_t life)
{
	const uint32_t number = edges->lives->life[life].process;
	const struct path_process *process = &edges->lives->process[number];
	const bool further = life != process->main;
	uint32_t *node = &edges->nodes[2 * number + further];

	if (*node)
		return *node;
	*node = path_links_node(&edges->links, &(struct path_node){
						       .kind = further ? PATH_NODE_THREADS : PATH_NODE_PROCESS,
						       .role = edges->roles[number] & (uint8_t)~PATH_SLOW_RANK,
						       .root = number == edges->root,
						       .name = process->name,
					       });
	path_links_process(&edges->links, *node);
	return *node;
}

/* What stands behind leaves of a kind, and how one waits for it. Of a kind that is not listed nothing does. */
static const struct behind {
	enum path_node_kind node;
	enum path_means means; /* PATH_MEANS_SEVERAL: by the call */
	bool named; /* by the leaf's detail */
	bool numbered; /* likewise, but the digits: kworker/0:1 */
} behind[PATH_KINDS] = {
	[PATH_DISK_READ] = { PATH_NODE_STORAGE, PATH_MEANS_READ },
	[PATH_DISK_WRITE] = { PATH_NODE_STORAGE, PATH_MEANS_WRITE },
	[PATH_DISK_SYNC] = { PATH_NODE_STORAGE, PATH_MEANS_SYNC },
	[PATH_DISK_METADATA] = { PATH_NODE_STORAGE, PATH_MEANS_NAMES },
	[PATH_DISK_FAULT] = { PATH_NODE_STORAGE, PATH_MEANS_FAULT },
	[PATH_NETWORK] = { PATH_NODE_PEER, PATH_MEANS_SOCKET, .named = true },
	[PATH_NETWORK_SEND] = { PATH_NODE_PEER, PATH_MEANS_SOCKET, .named = true },
	[PATH_DEVICE] = { PATH_NODE_DEVICE, PATH_MEANS_CALL, .named = true },
	[PATH_TERMINAL] = { PATH_NODE_TERMINAL, PATH_MEANS_CALL },
	[PATH_LOCK] = { PATH_NODE_OUTSIDE, PATH_MEANS_LOCK, .named = true },
	[PATH_HELD] = { PATH_NODE_OUTSIDE, PATH_MEANS_CALL, .named = true },
	[PATH_OUTSIDE] = { PATH_NODE_OUTSIDE, .named = true },
	[PATH_KERNEL] = { PATH_NODE_KERNEL, PATH_MEANS_CALL, .named = true, .numbered = true },
	[PATH_SIGNAL] = { PATH_NODE_OUTSIDE, PATH_MEANS_SIGNAL, .named = true },
};

static uint32_t name_of(const struct path_edges *edges, const struct path_leaf *leaf)
{
	const struct behind *b = &behind[leaf->kind];
	const char *text = b->numbered ? path_name_text(edges->lives->names, leaf->detail) : NULL;

	if (!text)
		return b->named ? leaf->detail : 0;
	return path_name_pattern(edges->lives->names, (struct reader_field){ text, strlen(text) });
}

static uint32_t node_of(struct path_edges *edges, const struct path_target *target)
{
	const struct behind *b = &behind[target->leaf.kind];

	if (target->life)
		return node_of_life(edges, target->life);
	return path_links_node(&edges->links,
			       &(struct path_node){ .kind = (uint8_t)b->node, .name = name_of(edges, &target->leaf) });
}

/* --- ways ---------------------------------------------------------------------------------------------- */

/* Returns how a wait that ended as LAST did is one for a thread or a process. */
static enum path_means means_of_call(const struct path_ender *last)
{
	const struct path_call *call = &path_calls[last->call];

	if (call->locks)
		return PATH_MEANS_LOCK;
	if (call->children && (!call->signals || last->by == PATH_BY_EXIT))
		return PATH_MEANS_CHILD;
	if (call->signals)
		return PATH_MEANS_SIGNAL;
	if (last->file == PATH_PIPE_FILE)
		return PATH_MEANS_PIPE;
	if (last->file == PATH_SOCKET_FILE)
		return PATH_MEANS_SOCKET;
	if (call->queues)
		return PATH_MEANS_FUTEX;
	return call->polls && !call->sleeps ? PATH_MEANS_EVENTS : PATH_MEANS_CALL;
}

static enum path_means means_of(const struct path_target *target, const struct path_ender *last)
{
	if (target->gil)
		return PATH_MEANS_GIL;
	if (target->polled)
		return PATH_MEANS_POLL;
	if (!target->life && behind[target->leaf.kind].means)
		return behind[target->leaf.kind].means;
	return means_of_call(last);
}

/* --- edges --------------------------------------------------------------------------------------------- */

/* Whether it is for the thread itself, or for nobody. */
static bool is_alone(uint32_t life, const struct path_target *target)
{
	return target->life ? target->life == life : behind[target->leaf.kind].node == PATH_NODE_OTHERS;
}

/* Returns 1 + the index of the edge of LIFE's waits for TARGET that end as LAST did; 0: these have none. */
static uint32_t edge_of(struct path_edges *edges, uint32_t life, const struct path_target *target,
			const struct path_ender *last)
{
	if (is_alone(life, target))
		return 0;
	return 1 + path_links_edge(&edges->links, node_of_life(edges, life), node_of(edges, target),
				   means_of(target, last));
}

static void add(struct path_edges *edges, uint32_t edge, struct path_weight weight)
{
	if (edge)
		path_links_add(&edges->links, edge - 1, weight);
}

#define HASH 0x9e3779b97f4a7c15ULL /* 2^64 by the golden ratio */

/* Returns CALL and all members behind it. */
static uint64_t members_of(const struct path_ender *e)
{
	uint64_t members;

	_Static_assert(sizeof(*e) - offsetof(struct path_ender, call) == sizeof(members), "there are no others");
	memcpy(&members, &e->call, sizeof(members));
	return members;
}

/* Returns the place of what is known of LIFE's waits OWN that end as LAST did; EDGE is UINT32_MAX where nothing is. */
static struct path_edge_known *known_of(struct path_edges *edges, uint32_t life, const struct path_ender *own,
					const struct path_ender *last)
{
	const uint64_t members = members_of(own), last_members = own == last ? members : members_of(last);
	const uint32_t file = last->file == PATH_DEVICE_FILE ? last->file_name : 0;
	const uint64_t hash = (members ^ (uint64_t)last->life << 32 ^ life ^ (uint64_t)last->other << 17) * HASH;
	struct path_edge_known *known = &edges->known[hash >> 56];

	if (known->life != life || known->by != last->life || known->other != last->other || known->file != file ||
	    known->own != members || known->last != last_members)
		*known = (struct path_edge_known){ life,    last->life,   last->other, file,
						   members, last_members, UINT32_MAX };
	return known;
}

/* Whether the edge depends on the time of the wait, too: it may be for a child that has not ended. */
static bool is_open(const struct path_ender *e)
{
	return e->by == PATH_BY_END || e->by == PATH_BY_SIGNAL;
}

static uint32_t edge_of_wait(struct path_edges *edges, uint32_t wait)
{
	const struct path_wait *own = &edges->waits->v[wait];
	const struct path_ender *last = &edges->waits->v[own->settled].ender;
	struct path_edge_known *known = known_of(edges, own->row.life, &own->ender, last);
	struct path_target target;

	if (known->edge == UINT32_MAX || is_open(&own->ender)) {
		target = path_target_of(edges->waits, wait, NULL);
		known->edge = edge_of(edges, own->row.life, &target, last);
	}
	return known->edge;
}

static uint32_t edge_of_short(struct path_edges *edges, const struct path_short *sum)
{
	const struct path_target target = { .life = sum->ender.life, .leaf = sum->leaf };

	return edge_of(edges, sum->row.life, &target, &sum->ender);
}

/* --- all waits ----------------------------------------------------------------------------------------- */

static void add_waits(struct path_edges *edges, const struct path_root *root)
{
	const struct path_waits *waits = edges->waits;

	for (uint32_t i = 0; i < waits->n; i++) {
		const struct path_wait *wait = &waits->v[i];
		const uint64_t begin_ns = MAX(wait->row.at_ns, root->begin_ns);
		const uint64_t end_ns = MIN(wait->wake_ns, root->end_ns);

		if (path_ender_can_run(&wait->ender) || begin_ns >= end_ns)
			continue;
		edges->of_wait[i] = edge_of_wait(edges, i);
		/* turns of one wait are one */
		add(edges, edges->of_wait[i],
		    (struct path_weight){ .waits = wait->settled == i, .wait_ns = end_ns - begin_ns });
	}
}

/* Returns the part of the interval [SINCE, END) that is in ROOT's time. Of one that ends behind the whole trace, all.
 */
static double part_in(const struct path_edges *edges, const struct path_root *root, uint64_t since_ns, uint64_t end_ns)
{
	const struct report *report = edges->waits->report;
	const uint64_t first_ns = MAX(since_ns, root->begin_ns), last_ns = MIN(end_ns, root->end_ns);

	if (!report || !report->manifest.cut_begin_ns || !since_ns)
		return 1;
	return (double)(last_ns - first_ns) / (double)(end_ns - since_ns);
}

/* Those without rows, by intervals: one that ends after ROOT, as the last one of its own threads may, has begun before.
 */
static void add_shorts(struct path_edges *edges, const struct path_shorts *shorts, const struct path_root *root)
{
	uint64_t since_ns = 0; /* begin of the interval */

	for (uint32_t i = 0; i < shorts->n; i++) {
		const struct path_short *sum = &shorts->v[i], *before = i ? sum - 1 : sum;
		double part;

		if (!i || before->row.life != sum->row.life)
			since_ns = edges->lives->life[sum->row.life].begin_ns;
		else if (before->row.at_ns != sum->row.at_ns)
			since_ns = before->row.at_ns;
		if (sum->ns && !path_ender_can_run(&sum->ender) && sum->row.at_ns > root->begin_ns &&
		    since_ns < root->end_ns) {
			part = part_in(edges, root, since_ns, sum->row.at_ns);
			add(edges, edge_of_short(edges, sum),
			    (struct path_weight){ .waits = (uint32_t)(part * sum->waits),
						  .wait_ns = (uint64_t)(part * (double)sum->ns) });
		}
	}
}

int path_edges_init(struct path_edges *edges, const struct path_shorts *shorts, const uint8_t *roles,
		    const struct path_root *root)
{
	const struct path_lives *lives = shorts->waits->lives;

	*edges = (struct path_edges){
		.waits = shorts->waits,
		.lives = lives,
		.roles = roles,
		.root = lives->life[root->life].process,
		.nodes = calloc(2 * (size_t)lives->n_processes, sizeof(uint32_t)),
		.of_wait = calloc(shorts->waits->n + 1ULL, sizeof(uint32_t)),
	};
	path_links_init(&edges->links);
	if (!edges->nodes || !edges->of_wait)
		return -ENOMEM;
	add_waits(edges, root);
	add_shorts(edges, shorts, root);
	return 0;
}

void path_edges_free(struct path_edges *edges)
{
	path_links_free(&edges->links);
	free(edges->nodes);
	free(edges->of_wait);
}

/* --- the path ------------------------------------------------------------------------------------------ */

void path_edges_wait(struct path_edges *edges, uint32_t wait, uint64_t ns)
{
	add(edges, edges->of_wait[wait], (struct path_weight){ .path_ns = ns });
}

void path_edges_short(struct path_edges *edges, const struct path_short *sum, uint64_t ns)
{
	if (!path_ender_can_run(&sum->ender))
		add(edges, edge_of_short(edges, sum), (struct path_weight){ .path_ns = ns });
}

void path_edges_poll(struct path_edges *edges, uint32_t life, const struct path_target *target, uint64_t ns)
{
	static const struct path_ender none = { .by = PATH_BY_TIMER };

	add(edges, edge_of(edges, life, target, &none),
	    (struct path_weight){ .wait_ns = target->polled ? ns : 0, .path_ns = ns });
}

int path_edges_end(struct path_edges *edges, struct path_graph *graph)
{
	const uint32_t main = edges->lives->process[edges->root].main;

	return path_graph_make(graph, &edges->links, main ? node_of_life(edges, main) : 0);
}
