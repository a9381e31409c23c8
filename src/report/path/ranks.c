/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/ranks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/path/roles.h"
#include "report/path/walk.h"

#define LEAST_LIFE 5 /* a rank lives for this part of the root's time, or more */
#define LEAST_WAIT 0.15 /* of their time: others wait for it */
#define OWN_WAIT 0.5 /* of that: it does not wait for them nearly as long */
#define PIPED 0.5 /* of it, in waits for pipes: these are the parts of a pipeline */
#define NO_RANK UINT8_MAX

struct ranks {
	const struct path_lives *lives;
	unsigned int n;
	uint32_t process[PATH_RANKS_MAX];
	uint64_t in_ns[PATH_RANKS_MAX][PATH_RANKS_MAX]; /* [I][J]: time of the path of I in J and what J started */
	uint64_t piped_ns[PATH_RANKS_MAX][PATH_RANKS_MAX]; /* likewise, in waits of I for the other end of a pipe */
	uint8_t *of; /* of each process: the rank that it is, or that started it */
	unsigned int at; /* the rank whose path is walked */
};

/* --- which processes ----------------------------------------------------------------------------------- */

static bool may_be_rank(const struct path_lives *lives, uint32_t process, const struct path_root *root)
{
	const struct path_process *p = &lives->process[process];
	const uint64_t begin_ns = MAX(p->begin_ns, root->begin_ns), end_ns = MIN(p->end_ns, root->end_ns);

	return p->main && p->parent && path_lives_is_below(lives, process, lives->life[root->life].process) &&
	       end_ns > begin_ns && end_ns - begin_ns >= (root->end_ns - root->begin_ns) / LEAST_LIFE;
}

static bool are_alike(const struct path_process *a, const struct path_process *b)
{
	return a->parent == b->parent && a->name == b->name && a->begin_ns < b->end_ns && b->begin_ns < a->end_ns;
}

/* Takes those from FIRST on that are like it. */
static void take_alike(struct ranks *ranks, uint32_t first, const struct path_root *root, const uint8_t *roles)
{
	const struct path_process *all = ranks->lives->process;

	ranks->n = 0;
	for (uint32_t i = first; i < ranks->lives->n_processes && ranks->n < PATH_RANKS_MAX; i++)
		if (roles[i] == PATH_OWN && are_alike(&all[first], &all[i]) && may_be_rank(ranks->lives, i, root))
			ranks->process[ranks->n++] = i;
}

/* Takes the first processes in charge that have others beside them; ranks of a second kind are left out. */
static void find(struct ranks *ranks, const struct path_root *root, const uint8_t *roles)
{
	unsigned int tries = PATH_RANKS_MAX;

	for (uint32_t i = 1; i < ranks->lives->n_processes && ranks->n < 2 && tries; i++) {
		if (roles[i] != PATH_OWN || !may_be_rank(ranks->lives, i, root))
			continue;
		take_alike(ranks, i, root, roles);
		tries--;
	}
}

static void assign(struct ranks *ranks)
{
	for (uint32_t i = 0; i < ranks->lives->n_processes; i++) {
		ranks->of[i] = NO_RANK;
		for (unsigned int rank = 0; i && rank < ranks->n; rank++)
			if (path_lives_is_below(ranks->lives, i, ranks->process[rank]))
				ranks->of[i] = (uint8_t)rank;
	}
}

/* --- their paths --------------------------------------------------------------------------------------- */

static void take(void *own, const struct path_piece *piece)
{
	struct ranks *ranks = own;
	const uint8_t in = ranks->of[ranks->lives->life[piece->life].process];

	if (in != NO_RANK && !piece->leaf.inferred)
		ranks->in_ns[ranks->at][in] += piece->end_ns - piece->begin_ns;
}

static int walk_all(struct ranks *ranks, const struct path_shorts *shorts, const struct path_root *root,
		    const uint8_t *roles)
{
	struct path_walk walk;
	int res = path_walk_init(&walk, shorts, roles, take, ranks);

	for (unsigned int i = 0; res == 0 && i < ranks->n; i++) {
		const struct path_process *p = &ranks->lives->process[ranks->process[i]];

		ranks->at = i;
		path_polls_forget(&walk.polls);
		path_walk(&walk, p->main, MAX(p->begin_ns, root->begin_ns), MIN(p->end_ns, root->end_ns));
	}
	path_walk_free(&walk);
	return res;
}

/*
 * Adds up the waits for pipes: they have one direction, from a producer to who takes what it makes. Ranks talk by
 * sockets and shared memory, as NCCL, Gloo and MPI do.
 */
static void add_pipes(struct ranks *ranks, const struct path_waits *waits, const struct path_root *root)
{
	for (uint32_t i = 0; i < waits->n; i++) {
		const struct path_wait *wait = &waits->v[i];
		const uint64_t begin_ns = MAX(wait->row.at_ns, root->begin_ns);
		const uint64_t end_ns = MIN(wait->wake_ns, root->end_ns);
		const uint8_t in = ranks->of[ranks->lives->life[wait->row.life].process];
		const uint8_t other = ranks->of[ranks->lives->life[wait->ender.life].process];

		if (wait->ender.file == PATH_PIPE_FILE && in != NO_RANK && other != NO_RANK && in != other &&
		    end_ns > begin_ns)
			ranks->piped_ns[in][other] += end_ns - begin_ns;
	}
}

/* --- the slow one -------------------------------------------------------------------------------------- */

static uint64_t life_of(const struct ranks *ranks, unsigned int rank, const struct path_root *root)
{
	const struct path_process *p = &ranks->lives->process[ranks->process[rank]];

	return MIN(p->end_ns, root->end_ns) - MAX(p->begin_ns, root->begin_ns);
}

/* Returns how long another rank waited for RANK, on average, where that is much; else 0. */
static uint64_t waited_for(const struct ranks *ranks, unsigned int rank, const struct path_root *root)
{
	uint64_t waited_ns = 0, own_ns = 0, lives_ns = 0, piped_ns = 0;

	for (unsigned int i = 0; i < ranks->n; i++) {
		if (i == rank)
			continue;
		waited_ns += ranks->in_ns[i][rank];
		own_ns += ranks->in_ns[rank][i];
		piped_ns += ranks->piped_ns[i][rank];
		lives_ns += life_of(ranks, i, root);
	}
	if ((double)piped_ns >= PIPED * (double)waited_ns)
		return 0;
	waited_ns /= ranks->n - 1;
	if ((double)waited_ns < LEAST_WAIT * (double)lives_ns / (ranks->n - 1) ||
	    (double)own_ns > OWN_WAIT * (double)waited_ns)
		return 0;
	return waited_ns;
}

static void choose(const struct ranks *ranks, const struct path_root *root, uint8_t *roles, struct path_slow_rank *ret)
{
	unsigned int slow = 0;

	for (unsigned int i = 0; i < ranks->n; i++) {
		const uint64_t ns = waited_for(ranks, i, root);

		if (ns <= ret->waited_ns)
			continue;
		*ret = (struct path_slow_rank){ ranks->lives->process[ranks->process[i]].pid, ns };
		slow = i;
	}
	for (uint32_t i = 0; ret->pid && i < ranks->lives->n_processes; i++)
		if (ranks->of[i] == slow)
			roles[i] |= PATH_SLOW_RANK;
}

int path_ranks_find(const struct path_shorts *shorts, const struct path_root *root, uint8_t *roles,
		    struct path_slow_rank *ret)
{
	struct ranks *ranks = calloc(1, sizeof(*ranks));
	int res = ranks ? 0 : -ENOMEM;

	*ret = (struct path_slow_rank){ .pid = 0 };
	if (!ranks)
		return res;
	ranks->lives = shorts->waits->lives;
	find(ranks, root, roles);
	if (ranks->n > 1) {
		ranks->of = malloc(ranks->lives->n_processes);
		res = ranks->of ? 0 : -ENOMEM;
		if (ranks->of) {
			assign(ranks);
			add_pipes(ranks, shorts->waits, root);
			res = walk_all(ranks, shorts, root, roles);
		}
		if (res == 0)
			choose(ranks, root, roles, ret);
	}
	free(ranks->of);
	free(ranks);
	return res;
}
