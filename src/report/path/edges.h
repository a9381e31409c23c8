/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits as edges of a graph: whose each was, for whom, and in which way. A wait that nobody stands behind, as a sleep,
 * is no edge. A poll is one where what others did meanwhile shows whom it was for.
 */
#ifndef REPORT_PATH_EDGES_H
#define REPORT_PATH_EDGES_H

#include "report/path/lives/roots.h"
#include "report/path/sums/graph.h"
#include "report/path/waits/shorts.h"
#include "report/path/waits/target.h"

#define PATH_EDGES_KNOWN 256U

struct path_edges {
	struct path_links links;
	const struct path_waits *waits;
	const struct path_lives *lives; /* theirs */
	const uint8_t *roles; /* of each process: path_roles_of() */
	uint32_t root; /* the first process */
	uint32_t *nodes; /* of the first thread, and of the others, of each process; 0: not yet known */
	uint32_t *of_wait; /* 1 + the index of its edge, of each wait; 0: it has none */
	/* Edges by what they depend on: most waits of a thread end as others did before. */
	struct path_edge_known {
		uint32_t life, by, other, file; /* as those of waits and their enders */
		uint64_t own, last; /* all other members of both enders */
		uint32_t edge; /* as in OF_WAIT */
	} known[PATH_EDGES_KNOWN];
};

/*
 * Adds the waits of all threads in the time of ROOT; ROLES: path_roles_of(). Returns 0 or -ENOMEM. The other functions
 * then add the time on its path.
 */
int path_edges_init(struct path_edges *edges, const struct path_shorts *shorts, const uint8_t *roles,
		    const struct path_root *root);
void path_edges_free(struct path_edges *edges);
void path_edges_wait(struct path_edges *edges, uint32_t wait, uint64_t ns);
void path_edges_short(struct path_edges *edges, const struct path_short *sum, uint64_t ns);
/* LIFE polled, and TARGET worked meanwhile: that is an edge on the path alone. */
void path_edges_poll(struct path_edges *edges, uint32_t life, const struct path_target *target, uint64_t ns);
/* Sets GRAPH, with the first process first. Returns 0 or -ENOMEM. */
int path_edges_end(struct path_edges *edges, struct path_graph *graph);

#endif
