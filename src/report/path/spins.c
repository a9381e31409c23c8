/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/spins.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/path/walk.h"
#include "report/path/way.h"

#define LEAST_CPU 0.5 /* of the path: the process in charge is on a CPU, or could be */
#define LEAST_LIFE 0.5 /* of the path: a worker lives, */
#define LAST_PART 0.1 /* and to this part of the path before its end, or longer */
#define MOST_WAIT 0.03 /* of its life: it waits for the process in charge, */
#define MOST_SLEEP 0.1 /* or sleeps */

/* The process in charge, and the worker that is walked. */
struct spins {
	const struct path_lives *lives;
	uint32_t spinner; /* a process */
	uint64_t begin_ns, end_ns; /* of the first worker, of the last one */
	uint64_t for_it_ns, asleep_ns, all_ns; /* of the worker */
	uint64_t ns[PATH_KINDS];
};

/* --- the process in charge ----------------------------------------------------------------------------- */

static bool is_its_cpu(const struct path_lives *lives, const struct path_way_piece *piece)
{
	return (piece->leaf.kind == PATH_CPU || piece->leaf.kind == PATH_RUNQ) && piece->leaf.role == PATH_OWN &&
	       !piece->leaf.doing && !piece->leaf.inferred && !piece->leaf.gil &&
	       piece->life == path_lives_process(lives, piece->life)->main;
}

/* Returns the thread with the most time on a CPU; 0: none, or memory is out. *CPU_NS: its time. */
static uint32_t busiest(const struct path_lives *lives, const struct path_way *way, uint64_t *cpu_ns)
{
	autofree uint64_t *ns = calloc(lives->n, sizeof(*ns));
	uint32_t most = 0;

	if (!ns)
		return 0;
	for (uint32_t i = 0; i < way->n; i++) {
		const struct path_way_piece *piece = &way->v[i];

		if (is_its_cpu(lives, piece))
			ns[piece->life] += piece->end_ns - piece->begin_ns;
		most = ns[piece->life] > ns[most] ? piece->life : most;
	}
	*cpu_ns = ns[most];
	return most;
}

/* Returns its time from the first worker's begin to the last one's end. */
static uint64_t while_served(const struct path_lives *lives, const struct path_way *way, const struct spins *spins)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < way->n; i++) {
		const struct path_way_piece *piece = &way->v[i];
		const uint64_t begin_ns = MAX(piece->begin_ns, spins->begin_ns),
			       end_ns = MIN(piece->end_ns, spins->end_ns);

		if (begin_ns < end_ns && lives->life[piece->life].process == spins->spinner && is_its_cpu(lives, piece))
			ns += end_ns - begin_ns;
	}
	return ns;
}

/* --- its workers ------------------------------------------------------------------------------------------- */

static void take(void *own, const struct path_piece *piece)
{
	struct spins *spins = own;
	const uint64_t ns = piece->end_ns - piece->begin_ns;

	spins->all_ns += ns;
	spins->ns[piece->leaf.kind] += ns;
	if (spins->lives->life[piece->life].process == spins->spinner)
		spins->for_it_ns += ns;
	if (piece->leaf.kind == PATH_SLEEP || piece->leaf.kind == PATH_POLL || piece->leaf.kind == PATH_TIMEOUT ||
	    piece->leaf.inferred)
		spins->asleep_ns += ns;
}

static bool may_serve(const struct spins *spins, uint32_t process, const struct path_root *root)
{
	const struct path_process *p = &spins->lives->process[process];
	const double all = (double)(root->end_ns - root->begin_ns);
	const uint64_t begin_ns = MAX(p->begin_ns, root->begin_ns), end_ns = MIN(p->end_ns, root->end_ns);

	return p->main && p->parent == spins->spinner && end_ns > begin_ns &&
	       (double)(end_ns - begin_ns) >= LEAST_LIFE * all && (double)(root->end_ns - end_ns) <= LAST_PART * all;
}

/* Walks each worker's own time. False: one of them waits or sleeps. */
static bool never_wait(struct spins *spins, struct path_walk *walk, const struct path_root *root,
		       struct path_spin *spin)
{
	for (uint32_t i = 1; i < spins->lives->n_processes && spin->workers < PATH_SPINS_MAX; i++) {
		const struct path_process *p = &spins->lives->process[i];

		if (!may_serve(spins, i, root))
			continue;
		spins->for_it_ns = spins->asleep_ns = spins->all_ns = 0;
		path_polls_forget(&walk->polls);
		path_walk(walk, p->main, MAX(p->begin_ns, root->begin_ns), MIN(p->end_ns, root->end_ns));
		spins->begin_ns = MIN(spins->begin_ns, p->begin_ns);
		spins->end_ns = MAX(spins->end_ns, p->end_ns);
		if ((double)spins->for_it_ns > MOST_WAIT * (double)spins->all_ns ||
		    (double)spins->asleep_ns > MOST_SLEEP * (double)spins->all_ns)
			return false;
		spin->workers++;
	}
	return spin->workers > 0;
}

int path_spins_find(const struct path_shorts *shorts, const struct path_root *root, const uint8_t *roles,
		    const struct path_way *way, struct path_spin *ret)
{
	const struct path_lives *lives = shorts->waits->lives;
	struct spins spins = { .lives = lives, .begin_ns = UINT64_MAX };
	struct path_spin spin = { 0 };
	const uint32_t life = busiest(lives, way, &spin.cpu_ns);
	struct path_walk walk;
	int res;

	*ret = spin;
	if (!life || way->full || (double)spin.cpu_ns < LEAST_CPU * (double)(root->end_ns - root->begin_ns))
		return 0;
	spins.spinner = lives->life[life].process;
	res = path_walk_init(&walk, shorts, roles, take, &spins);
	if (res == 0 && never_wait(&spins, &walk, root, &spin)) {
		spin.pid = lives->process[spins.spinner].pid;
		for (unsigned int kind = 0; kind < PATH_KINDS; kind++)
			spin.ns[kind] = spins.ns[kind] / spin.workers;
		spin.cpu_ns = while_served(lives, way, &spins);
		*ret = spin;
	}
	path_walk_free(&walk);
	return res;
}
