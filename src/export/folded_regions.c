/* SPDX-License-Identifier: BSD-2-Clause */
/* The stacks of regions: see folded.h. Memory is bounded; what is dropped for that keeps its time. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/folded.h"

#define ROOT "(regions);" /* what is in regions has stacks of calls, too: both are beside each other, not added up */
#define LANES_MAX 16384
#define CLOSED_MAX 4096U /* regions of a lane that no other region has enclosed yet */
#define NODES_MAX (1U << 18) /* of all lanes together; 40 MiB */
#define CHILDREN_MAX 256 /* names within one region; all others are one */
#define DEPTH_MAX 64 /* what is deeper counts as its outer region's own time */
#define NAME_BYTES 160
#define STACK_BYTES 4096

/* Regions of one name within the same ones. */
struct node {
	struct node *next, *first; /* the next one within the same region; the first one within it */
	uint64_t own_ns;
	unsigned int n; /* of those within it */
	unsigned int depth; /* of what is within it; 1: nothing is */
	char name[];
};

/* A region that has ended. */
struct closed {
	struct node *node; /* NULL: the stacks have it */
	uint64_t begin_ns, total_ns;
};

struct lane {
	struct closed *v; /* in order, none within another */
	uint32_t n, room;
	char comm[NAME_BYTES];
};

void folded_regions_init(struct folded_regions *regions)
{
	table_init(&regions->lanes, sizeof(struct lane), LANES_MAX);
	regions->n_nodes = 0;
}

/* --- nodes: recursion is bounded by DEPTH_MAX --------------------------------------------------------------------- */

static struct node *node_new(struct folded_regions *regions, const char *name)
{
	struct node *node = calloc(1, sizeof(*node) + strlen(name) + 1);

	if (!node)
		return NULL;
	strcpy(node->name, name);
	node->depth = 1;
	regions->n_nodes++;
	return node;
}

/* Frees NODE and all within it. Returns their time. */
static uint64_t node_free(struct folded_regions *regions, struct node *node)
{
	uint64_t ns = node->own_ns;

	for (struct node *at = node->first, *next; at; at = next) {
		next = at->next;
		ns += node_free(regions, at);
	}
	free(node);
	regions->n_nodes--;
	return ns;
}

static struct node *find(const struct node *in, const char *name)
{
	for (struct node *at = in->first; at; at = at->next)
		if (!strcmp(at->name, name))
			return at;
	return NULL;
}

/* Puts NODE, which becomes the function's, within OUTER, if there is one of its name into that. */
static void put_within(struct folded_regions *regions, struct node *outer, struct node *node)
{
	struct node *same = find(outer, node->name);

	if (node->depth >= DEPTH_MAX || (!same && outer->n >= CHILDREN_MAX)) {
		outer->own_ns += node_free(regions, node);
		return;
	}
	outer->depth = MAX(outer->depth, node->depth + 1);
	if (!same) {
		node->next = outer->first;
		outer->first = node;
		outer->n++;
		return;
	}
	same->own_ns += node->own_ns;
	for (struct node *at = node->first, *next; at; at = next) {
		next = at->next;
		put_within(regions, same, at);
	}
	node->first = NULL;
	node->own_ns = 0;
	node_free(regions, node);
}

/* Gives NODE and all within it to the stacks; TEXT has LEN bytes of its outer ones. */
static void give(struct folded *folded, const struct node *node, char text[STACK_BYTES], size_t len)
{
	const size_t name = strlen(node->name);

	if (len + 1 + name < STACK_BYTES) {
		text[len++] = ';';
		memcpy(text + len, node->name, name);
		len += name;
	}
	if (node->own_ns)
		folded_add(folded, text, len, node->own_ns);
	for (const struct node *at = node->first; at; at = at->next)
		give(folded, at, text, len);
}

static void give_closed(struct folded *folded, const struct lane *lane, struct closed *closed)
{
	char text[STACK_BYTES];
	size_t len = strlen(ROOT);

	if (!closed->node)
		return;
	memcpy(text, ROOT, len);
	memcpy(text + len, lane->comm, strlen(lane->comm));
	give(folded, closed->node, text, len + strlen(lane->comm));
	node_free(&folded->regions, closed->node);
	closed->node = NULL;
}

/* --- lanes ----------------------------------------------------------------------------------------------------------
 */

/* Gives the earlier half to the stacks; a region that is yet to enclose it still has to know how long it was. */
static void make_room(struct folded *folded, struct lane *lane)
{
	const uint32_t half = lane->n / 2;
	uint32_t n = 0;

	for (uint32_t i = 0; i < half; i++)
		give_closed(folded, lane, &lane->v[i]);
	for (uint32_t i = 0; i + 1 < half; i += 2) {
		lane->v[i].total_ns += lane->v[i + 1].total_ns;
		lane->v[n++] = lane->v[i];
	}
	memmove(lane->v + n, lane->v + half, (lane->n - half) * sizeof(*lane->v));
	lane->n = n + lane->n - half;
}

static int push(struct folded *folded, struct lane *lane, const struct closed *closed)
{
	const uint32_t room = lane->room ? 2 * lane->room : 16;
	struct closed *v;

	if (lane->n == CLOSED_MAX)
		make_room(folded, lane);
	if (lane->n == lane->room) {
		v = reallocarray(lane->v, room, sizeof(*v));
		if (!v)
			return -ENOMEM;
		lane->v = v;
		lane->room = room;
	}
	lane->v[lane->n++] = *closed;
	for (uint32_t i = 0; folded->regions.n_nodes > NODES_MAX && i < lane->n; i++)
		give_closed(folded, lane, &lane->v[i]);
	return 0;
}

static int take(struct folded *folded, struct lane *lane, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	struct closed closed = { node_new(&folded->regions, name), begin_ns, end_ns - begin_ns };
	uint64_t within_ns = 0;
	int res;

	if (!closed.node)
		return -ENOMEM;
	while (lane->n && lane->v[lane->n - 1].begin_ns >= begin_ns) {
		const struct closed *inner = &lane->v[--lane->n];

		within_ns += inner->total_ns;
		if (inner->node)
			put_within(&folded->regions, closed.node, inner->node);
	}
	closed.node->own_ns += closed.total_ns - MIN(within_ns, closed.total_ns);
	res = push(folded, lane, &closed);
	if (res < 0)
		node_free(&folded->regions, closed.node);
	return res;
}

/* --- rows -----------------------------------------------------------------------------------------------------------
 */

enum part { TS, PID, TID, COMM, CAT, NAME, LAT, LANE, PARTS };

static const char *const names[PARTS] = {
	[TS] = "TIMESTAMP", [PID] = "PID",   [TID] = "TID",    [COMM] = "COMM",
	[CAT] = "CAT",      [NAME] = "NAME", [LAT] = "LAT_NS", [LANE] = "LANE",
};

static void put(struct export *export, struct reader_field v, char to[NAME_BYTES], size_t from)
{
	*folded_put(export, to + from, to + NAME_BYTES - 1, v) = '\0';
}

static int take_row(struct export *export, const struct export_file *file, const struct reader_row *row)
{
	struct folded *folded = export->state;
	struct reader_field field[PARTS];
	uint64_t end_ns, lat_ns, key[3] = { 0 }, lane_nr;
	char name[NAME_BYTES];
	struct lane *lane;

	for (unsigned int i = 0; i < PARTS; i++) {
		const unsigned int at = export_table_column(file->table, names[i]);

		field[i] = at ? export_field(file, row, at - 1) : reader_absent();
	}
	if (reader_is(field[CAT], "mark") || reader_is(field[CAT], "meta") || !reader_u64(field[TS], &end_ns) ||
	    !reader_u64(field[LAT], &lat_ns) || lat_ns > end_ns || !reader_u64(field[PID], &key[0]) ||
	    !reader_u64(field[TID], &key[1]))
		return 0;
	key[2] = reader_u64(field[LANE], &lane_nr) ? lane_nr + 1 : 0;
	lane = table_get(&folded->regions.lanes, table_key((const char *)key, sizeof(key)));
	if (!lane) {
		folded->others += lat_ns;
		return 0;
	}
	put(export, field[COMM], lane->comm, 0);
	put(export, field[CAT], name, 0);
	if (strlen(name) < NAME_BYTES - 1)
		strcat(name, ".");
	put(export, field[NAME], name, strlen(name));
	return take(folded, lane, name, end_ns - lat_ns, end_ns);
}

int folded_regions_take(struct export *export, const struct export_file *file, const struct reader_row *rows,
			unsigned int n)
{
	int res = 0;

	for (unsigned int i = 0; i < n && res == 0; i++)
		res = take_row(export, file, &rows[i]);
	return res;
}

void folded_regions_host_end(struct folded *folded)
{
	for (uint32_t i = 0; i < folded->regions.lanes.n; i++) {
		struct lane *lane = table_at(&folded->regions.lanes, i);

		for (uint32_t k = 0; k < lane->n; k++)
			give_closed(folded, lane, &lane->v[k]);
	}
	folded_regions_free(&folded->regions);
	folded_regions_init(&folded->regions);
}

void folded_regions_free(struct folded_regions *regions)
{
	for (uint32_t i = 0; i < regions->lanes.n; i++) {
		struct lane *lane = table_at(&regions->lanes, i);

		for (uint32_t k = 0; k < lane->n; k++)
			if (lane->v[k].node)
				node_free(regions, lane->v[k].node);
		free(lane->v);
	}
	table_free(&regions->lanes);
}
