/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/chain.h"

#include "base/util.h"

struct chain {
	struct path_walk *walk;
	uint32_t life;
	uint64_t begin_ns, at_ns; /* [BEGIN, AT) is still to be given */
	unsigned int jumps; /* since AT changed */
};

static void go_back(struct chain *chain, uint64_t to_ns)
{
	chain->at_ns = to_ns;
	chain->jumps = 0;
}

/* Gives the time from FROM on to KIND. */
static void leaf(struct chain *chain, enum path_kind kind, uint64_t from_ns)
{
	from_ns = MIN(MAX(from_ns, chain->begin_ns), chain->at_ns);
	path_walk_leaf(chain->walk, chain->life, kind, from_ns, chain->at_ns);
	go_back(chain, from_ns);
}

static void before_birth(struct chain *chain)
{
	const uint32_t creator = chain->walk->lives->life[chain->life].creator;

	if (creator)
		chain->life = creator;
	else
		leaf(chain, PATH_UNBORN, chain->begin_ns);
}

/* Goes to the thread that ended the wait at this moment, or through the wait. */
static void through(struct chain *chain, uint32_t wait, uint64_t low_ns)
{
	const uint32_t by = path_target_ender(chain->walk->waits, wait);

	if (by && chain->at_ns == chain->walk->waits->v[wait].wake_ns && chain->jumps++ < PATH_JUMPS_MAX) {
		chain->life = by;
		return;
	}
	chain->walk->on_stack[chain->life] = true;
	path_walk_wait(chain->walk, wait, low_ns, chain->at_ns);
	chain->walk->on_stack[chain->life] = false;
	go_back(chain, low_ns);
}

static void off_cpu(struct chain *chain, uint32_t wait, uint64_t low_ns)
{
	const struct path_wait *own = &chain->walk->waits->v[wait];

	if (chain->at_ns > own->free_ns)
		leaf(chain, PATH_RUNQ, MAX(own->free_ns, low_ns));
	else if (chain->at_ns > own->wake_ns)
		leaf(chain, PATH_THROTTLED, MAX(own->wake_ns, low_ns));
	else
		through(chain, wait, low_ns);
}

/* Gives what the thread did last before AT, when it was alive. */
static void last_of(struct chain *chain)
{
	const struct path_waits *waits = chain->walk->waits;
	const uint32_t i = path_waits_from(waits, chain->life, chain->at_ns - 1);
	uint64_t low_ns = MAX(chain->begin_ns, chain->walk->lives->life[chain->life].begin_ns);

	if (i < path_waits_stop(waits, chain->life) && waits->v[i].row.at_ns < chain->at_ns) {
		off_cpu(chain, i, MAX(low_ns, waits->v[i].row.at_ns));
		return;
	}
	if (i > waits->of[chain->life].first)
		low_ns = MAX(low_ns, waits->v[i - 1].in_ns);
	path_walk_between(chain->walk, chain->life, low_ns, chain->at_ns);
	go_back(chain, low_ns);
}

void path_chain(struct path_walk *walk, uint32_t life, uint64_t begin_ns, uint64_t end_ns)
{
	struct chain chain = { .walk = walk, .life = life, .begin_ns = begin_ns, .at_ns = end_ns };

	while (chain.at_ns > begin_ns) {
		const struct path_life *own = &walk->lives->life[chain.life];

		if (chain.at_ns <= own->begin_ns)
			before_birth(&chain);
		else if (chain.at_ns > own->end_ns)
			leaf(&chain, PATH_ENDING, own->end_ns);
		else
			last_of(&chain);
	}
}
