/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/waits/polls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"

int path_polls_init(struct path_polls *polls, const struct path_shorts *shorts, const bool *on_stack)
{
	const struct path_lives *lives = shorts->waits->lives;

	*polls = (struct path_polls){ .shorts = shorts, .on_stack = on_stack, .slice = UINT32_MAX };
	polls->blocks = calloc(lives->n / PATH_BLOCK + 1, sizeof(*polls->blocks));
	if (!polls->blocks)
		return -ENOMEM;
	for (uint32_t i = 0; i < lives->n; i++) {
		struct path_block *block = &polls->blocks[i / PATH_BLOCK];

		block->begin_ns =
			i % PATH_BLOCK ? MIN(block->begin_ns, lives->life[i].begin_ns) : lives->life[i].begin_ns;
		block->end_ns = MAX(block->end_ns, lives->life[i].end_ns);
	}
	return 0;
}

void path_polls_free(struct path_polls *polls)
{
	free(polls->blocks);
}

void path_polls_forget(struct path_polls *polls)
{
	polls->slice = UINT32_MAX;
}

/* --- what one thread did ------------------------------------------------------------------------------- */

/* Whether the share is one to which LIFE's leaf can be added: ranks of one name are apart. */
static bool is_alike(const struct path_lives *lives, const struct path_share *share, uint32_t life,
		     const struct path_leaf *leaf)
{
	return path_leaf_key(&share->leaf) == path_leaf_key(leaf) &&
	       path_lives_process(lives, share->life)->rank == path_lives_process(lives, life)->rank;
}

static void add(struct path_polls *polls, uint32_t life, struct path_leaf leaf, uint64_t ns)
{
	const struct path_lives *lives = polls->shorts->waits->lives;
	const struct path_process *process = path_lives_process(lives, life);
	unsigned int i = 0;

	leaf.process = process->name;
	leaf.thread = life != process->main;
	if (!ns || !path_kinds[leaf.kind].works)
		return;
	while (i < polls->n && !is_alike(lives, &polls->share[i], life, &leaf))
		i++;
	if (i == PATH_SHARES_MAX)
		return;
	if (i == polls->n)
		polls->share[polls->n++] = (struct path_share){ .leaf = leaf, .life = life };
	polls->share[i].ns += ns;
	polls->busy_ns += ns;
}

/* Adds [BEGIN, END) between two waits, by the parts that the time of the whole interval has. */
static void add_between(struct path_polls *polls, uint32_t life, uint64_t begin_ns, uint64_t end_ns)
{
	const double length = (double)(end_ns - begin_ns);
	struct path_mix mix;
	double whole = 0;

	if (begin_ns >= end_ns)
		return;
	mix = path_shorts_at(polls->shorts, life, begin_ns);
	for (uint32_t i = 0; i < mix.n; i++)
		whole += (double)mix.v[i].ns;
	if (whole <= 0)
		add(polls, life, (struct path_leaf){ .kind = PATH_CPU }, end_ns - begin_ns);
	for (uint32_t i = 0; i < mix.n && whole > 0; i++)
		if (!mix.v[i].ender.life)
			add(polls, life, mix.v[i].leaf, (uint64_t)(length * ((double)mix.v[i].ns / whole)));
}

static void add_wait(struct path_polls *polls, const struct path_wait *wait, uint64_t begin_ns, uint64_t end_ns)
{
	const struct path_ender *last = &polls->shorts->waits->v[wait->settled].ender;
	const uint64_t free_ns = MIN(MAX(wait->free_ns, begin_ns), end_ns);

	if (begin_ns >= end_ns)
		return;
	if (path_ender_can_run(&wait->ender)) {
		add(polls, wait->row.life, (struct path_leaf){ .kind = PATH_THROTTLED }, free_ns - begin_ns);
		add(polls, wait->row.life, (struct path_leaf){ .kind = PATH_RUNQ }, end_ns - free_ns);
	} else if (!last->life) {
		add(polls, wait->row.life, path_ender_leaf(&wait->ender, last), end_ns - begin_ns);
	}
}

/* Adds what LIFE itself did in [BEGIN, END), without its waits for others. */
static void add_life(struct path_polls *polls, uint32_t life, uint64_t begin_ns, uint64_t end_ns)
{
	const struct path_waits *waits = polls->shorts->waits;
	const uint32_t stop = path_waits_stop(waits, life);

	for (uint32_t i = path_waits_from(waits, life, begin_ns); i < stop && begin_ns < end_ns; i++) {
		const struct path_wait *wait = &waits->v[i];
		const uint64_t out_ns = MIN(MAX(wait->row.at_ns, begin_ns), end_ns);
		const uint64_t in_ns = MIN(MAX(wait->in_ns, begin_ns), end_ns);

		add_between(polls, life, begin_ns, out_ns);
		add_wait(polls, wait, out_ns, in_ns);
		begin_ns = in_ns;
	}
	add_between(polls, life, begin_ns, end_ns);
}

/* --- all others ---------------------------------------------------------------------------------------- */

/* Adds LIFE if it belongs to the process ROOT or its children, and does not wait for SELF, the one that polls. */
static void look_at(struct path_polls *polls, uint32_t life, uint32_t self, uint32_t root)
{
	const struct path_lives *lives = polls->shorts->waits->lives;
	const struct path_life *other = &lives->life[life];

	polls->looks++;
	if (!life || life == self || polls->on_stack[life] || other->begin_ns >= polls->end_ns ||
	    other->end_ns <= polls->begin_ns || !path_lives_is_below(lives, other->process, root))
		return;
	add_life(polls, life, MAX(other->begin_ns, polls->begin_ns), MIN(other->end_ns, polls->end_ns));
}

static void look_at_all(struct path_polls *polls, uint32_t self)
{
	const struct path_lives *lives = polls->shorts->waits->lives;
	const uint32_t root = lives->life[self].process;

	for (uint32_t i = 0; i < lives->n && polls->looks < PATH_POLL_LOOKS; i += PATH_BLOCK) {
		const struct path_block *block = &polls->blocks[i / PATH_BLOCK];

		polls->looks++;
		if (block->begin_ns >= polls->end_ns || block->end_ns <= polls->begin_ns)
			continue;
		for (uint32_t life = i; life < MIN(lives->n, i + PATH_BLOCK); life++)
			look_at(polls, life, self, root);
	}
}

/* Sets the time of the slice that begins with the wait FIRST. */
static void bound(struct path_polls *polls, uint32_t first)
{
	const struct path_waits *waits = polls->shorts->waits;
	const uint32_t stop = path_waits_stop(waits, waits->v[first].row.life);
	uint32_t last = first;

	for (uint32_t i = first; i < stop && waits->v[i].slice == first; i++)
		last = path_ender_can_run(&waits->v[i].ender) ? last : i;
	polls->begin_ns = waits->v[first].row.at_ns;
	polls->end_ns = waits->v[last].in_ns;
}

static bool is_network(const struct path_leaf *leaf)
{
	return path_kinds[leaf->kind].sum == TIMELINE_PATH_NETWORK;
}

/* A thread that waits for the network may serve it. It counts only while nobody else works for half of the time. */
static void drop_network(struct path_polls *polls)
{
	uint64_t other_ns = 0;
	unsigned int n = 0;

	for (unsigned int i = 0; i < polls->n; i++)
		other_ns += is_network(&polls->share[i].leaf) ? 0 : polls->share[i].ns;
	if (other_ns * 2 < polls->end_ns - polls->begin_ns)
		return;
	for (unsigned int i = 0; i < polls->n; i++)
		if (!is_network(&polls->share[i].leaf))
			polls->share[n++] = polls->share[i];
	polls->n = n;
	polls->busy_ns = other_ns;
}

void path_polls_look(struct path_polls *polls, uint32_t wait)
{
	const struct path_wait *own = &polls->shorts->waits->v[wait];

	if (polls->slice == own->slice)
		return;
	polls->slice = own->slice;
	polls->n = 0;
	polls->busy_ns = 0;
	bound(polls, own->slice);
	look_at_all(polls, own->row.life);
	drop_network(polls);
	if (polls->busy_ns < (polls->end_ns - polls->begin_ns) / PATH_POLL_LEAST)
		polls->n = 0;
}
