/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/walk.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/path/cut.h"
#include "report/path/roles.h"

int path_walk_init(struct path_walk *walk, const struct path_shorts *shorts, const uint8_t *roles, path_take_fn take,
		   void *own)
{
	*walk = (struct path_walk){
		.shorts = shorts,
		.waits = shorts->waits,
		.lives = shorts->waits->lives,
		.roles = roles,
		.take = take,
		.own = own,
		.on_stack = calloc(shorts->waits->lives->n, sizeof(bool)),
	};
	return walk->on_stack ? path_polls_init(&walk->polls, shorts, walk->on_stack) : -ENOMEM;
}

void path_walk_free(struct path_walk *walk)
{
	path_polls_free(&walk->polls);
	free(walk->on_stack);
}

/* --- leaves -------------------------------------------------------------------------------------------- */

static void give(struct path_walk *walk, struct path_piece piece)
{
	const struct path_process *process = path_lives_process(walk->lives, piece.life);
	const uint8_t role = walk->roles[walk->lives->life[piece.life].process];
	uint64_t until_ns;

	if (piece.begin_ns >= piece.end_ns)
		return;
	piece.leaf.process = process->name;
	piece.leaf.thread = piece.life != process->main;
	piece.leaf.role = (enum path_role)(role & ~PATH_SLOW_RANK);
	piece.leaf.rank = role & PATH_SLOW_RANK;
	piece.leaf.doing = path_doings_at(walk->doings, piece.life, piece.begin_ns, &until_ns);
	if (piece.leaf.kind == PATH_RUNQ)
		piece.leaf.detail = walk->lives->life[piece.life].few;
	piece.leaf.held |= walk->held;
	piece.leaf.gil |= walk->gil;
	walk->take(walk->own, &piece);
}

static void emit(struct path_walk *walk, uint32_t life, struct path_leaf leaf, uint64_t begin_ns, uint64_t end_ns)
{
	give(walk, (struct path_piece){ .begin_ns = begin_ns, .end_ns = end_ns, .leaf = leaf, .life = life });
}

void path_walk_leaf(struct path_walk *walk, uint32_t life, enum path_kind kind, uint64_t begin_ns, uint64_t end_ns)
{
	emit(walk, life, (struct path_leaf){ .kind = kind }, begin_ns, end_ns);
}

/* Enters LIFE, which the one that was looked at waits for; false, with a leaf for [BEGIN, END): it waits for that one.
 */
static bool enter(struct path_walk *walk, uint32_t life, uint64_t begin_ns, uint64_t end_ns)
{
	if (walk->on_stack[life] || walk->depth == PATH_DEPTH_MAX) {
		path_walk_leaf(walk, life, walk->on_stack[life] ? PATH_CYCLE : PATH_UNKNOWN, begin_ns, end_ns);
		return false;
	}
	walk->on_stack[life] = true;
	walk->depth++;
	return true;
}

static void leave(struct path_walk *walk, uint32_t life)
{
	walk->on_stack[life] = false;
	walk->depth--;
}

/* --- between two waits --------------------------------------------------------------------------------- */

/* Whether the thread that ended these waits is waited for: it does not wait for that one meanwhile. */
static bool is_stacked(const struct path_walk *walk, const struct path_short *sum)
{
	return sum->ender.life && walk->on_stack[sum->ender.life];
}

/* MIX by what counts here. */
struct mix_sums {
	uint64_t whole_ns, cpu_ns, storage_ns, ready_ns;
};

/* Whether it is a wait in a call: rows of calls have its time, too. */
static bool is_in_call(enum path_kind kind)
{
	return path_is_storage(kind) && kind != PATH_DISK_FAULT;
}

static struct mix_sums sums_of(const struct path_walk *walk, const struct path_mix *mix)
{
	struct mix_sums sums = { 0 };

	for (uint32_t i = 0; i < mix->n; i++) {
		const struct path_short *sum = &mix->v[i];

		if (is_stacked(walk, sum))
			continue;
		sums.whole_ns += sum->ns;
		sums.cpu_ns += !sum->ender.life && sum->leaf.kind == PATH_CPU ? sum->ns : 0;
		sums.ready_ns += !sum->ender.life && path_could_run(sum->leaf.kind) ? sum->ns : 0;
		sums.storage_ns += !sum->ender.life && is_in_call(sum->leaf.kind) ? sum->ns : 0;
	}
	return sums;
}

static void between_of(struct path_walk *walk, uint32_t life, struct path_mix mix, uint64_t begin_ns, uint64_t end_ns);

/* Gives what LIFE, which ended short waits of the one that is looked at, did in that interval. */
static void short_wait(struct path_walk *walk, uint32_t life, uint64_t begin_ns, uint64_t end_ns)
{
	if (end_ns - begin_ns < PATH_SHORT_LEAST_NS || walk->short_depth == PATH_SHORT_DEPTH_MAX) {
		path_walk_leaf(walk, life, PATH_CPU, begin_ns, end_ns);
		return;
	}
	if (!enter(walk, life, begin_ns, end_ns))
		return;
	walk->short_depth++;
	between_of(walk, life, path_shorts_at(walk->shorts, life, begin_ns), begin_ns, end_ns);
	walk->short_depth--;
	leave(walk, life);
}

/* Returns which part of SUMS the I-th of MIX has; all time on a CPU is at the place of the first such. */
static uint64_t amount(const struct path_walk *walk, const struct path_mix *mix, uint32_t i, struct mix_sums *sums)
{
	const struct path_short *sum = &mix->v[i];
	uint64_t ns = sum->ns;

	if (is_stacked(walk, sum))
		return 0;
	if (sum->ender.life || sum->leaf.kind != PATH_CPU)
		return ns;
	ns = sums->cpu_ns;
	sums->cpu_ns = 0;
	return ns;
}

/* Gives [BEGIN, END), of which LIFE did MIX. */
static void between_of(struct path_walk *walk, uint32_t life, struct path_mix mix, uint64_t begin_ns, uint64_t end_ns)
{
	struct mix_sums sums = sums_of(walk, &mix);
	const double part = sums.whole_ns ? (double)(end_ns - begin_ns) / (double)sums.whole_ns : 0;
	const struct path_between between = { begin_ns, end_ns, (uint64_t)(part * (double)sums.storage_ns),
					      (uint64_t)(part * (double)sums.ready_ns) };
	struct path_cut cut = { begin_ns, end_ns, sums.whole_ns, 0 };
	struct path_piece piece = { .begin_ns = begin_ns, .end_ns = end_ns, .life = life, .between = &between };
	const bool stacked = walk->on_stack[life];

	if (!cut.whole) {
		piece.leaf.kind = walk->waits->there ? PATH_CPU : PATH_UNKNOWN;
		give(walk, piece);
		return;
	}
	walk->on_stack[life] = true;
	for (uint32_t i = 0; i < mix.n && piece.begin_ns < end_ns; i++) {
		const struct path_short *sum = &mix.v[i];
		const uint64_t ns = amount(walk, &mix, i, &sums);

		piece.end_ns = ns ? path_cut_next(&cut, ns) : piece.begin_ns;
		piece.leaf = sum->leaf;
		piece.between = sum->leaf.kind == PATH_CPU ? &between : NULL;
		if (walk->edges && piece.end_ns > piece.begin_ns)
			path_edges_short(walk->edges, sum, piece.end_ns - piece.begin_ns);
		if (sum->ender.life && piece.end_ns > piece.begin_ns)
			short_wait(walk, sum->ender.life, piece.begin_ns, piece.end_ns);
		else
			give(walk, piece);
		piece.begin_ns = piece.end_ns;
	}
	walk->on_stack[life] = stacked;
}

/*
 * Whether [BEGIN, END), in which LIFE did MIX, is behind all rows of LIFE in a trace without an end. It has not been on
 * a CPU since, else sched.out would have sums; it waits, and there is no row of that.
 */
static bool is_behind_rows(const struct path_walk *walk, uint32_t life, const struct path_mix *mix, uint64_t begin_ns,
			   uint64_t end_ns)
{
	return walk->unended && walk->shorts->n && !mix->n && mix->end_ns == UINT64_MAX &&
	       end_ns - begin_ns > PATH_ROWS_NS && walk->lives->life[life].end_ns == UINT64_MAX &&
	       path_waits_from(walk->waits, life, end_ns - 1) == path_waits_stop(walk->waits, life);
}

void path_walk_between(struct path_walk *walk, uint32_t life, uint64_t begin_ns, uint64_t end_ns)
{
	while (begin_ns < end_ns) {
		const struct path_mix mix = path_shorts_at(walk->shorts, life, begin_ns);
		uint64_t until_ns;

		if (is_behind_rows(walk, life, &mix, begin_ns, end_ns)) {
			path_walk_leaf(walk, life, PATH_UNKNOWN, begin_ns, end_ns);
			return;
		}
		path_doings_at(walk->doings, life, begin_ns, &until_ns);
		until_ns = MIN(MIN(mix.end_ns, until_ns), end_ns);
		between_of(walk, life, mix, begin_ns, until_ns);
		begin_ns = until_ns;
	}
}

/* --- waits --------------------------------------------------------------------------------------------- */

/* Adds to the edges that WAIT polled SHARE's thread for NS, and what this one waited for then, if it did. */
static void cross_poll(const struct path_walk *walk, const struct path_wait *wait, const struct path_share *share,
		       bool gil, uint64_t ns)
{
	if (!walk->edges || !ns)
		return;
	path_edges_poll(walk->edges, wait->row.life,
			&(struct path_target){ .life = share->life, .polled = true, .gil = gil }, ns);
	path_edges_poll(walk->edges, share->life, &(struct path_target){ .leaf = share->leaf }, ns);
}

/* Says in LEAF, a poll's, what the process of LIFE tried in vain at the time, if that is known. */
static struct path_leaf sought(const struct path_walk *walk, uint32_t life, struct path_leaf leaf, uint64_t at_ns)
{
	const uint32_t pid = path_lives_process(walk->lives, life)->pid;
	const struct path_try *try = leaf.kind == PATH_POLL ? path_tries_at(walk->tries, pid, at_ns) : NULL;

	if (!try)
		return leaf;
	leaf.kind = try->locks ? PATH_LOCK_TRIED : PATH_AWAITED;
	leaf.detail = try->name;
	return leaf;
}

/* Gives a part of the poll WAIT to what others did in its slice, as far as they did anything. */
static void poll(struct path_walk *walk, uint32_t wait, struct path_leaf leaf, uint64_t begin_ns, uint64_t end_ns)
{
	const struct path_wait *own = &walk->waits->v[wait];
	struct path_polls *polls = &walk->polls;
	struct path_cut cut = { begin_ns, end_ns, 0, 0 };

	leaf = sought(walk, own->row.life, leaf, begin_ns);
	path_polls_look(polls, wait);
	cut.whole = MAX(polls->busy_ns, polls->end_ns - polls->begin_ns);
	for (unsigned int i = 0; i < polls->n && begin_ns < end_ns; i++) {
		const uint64_t until_ns = path_cut_next(&cut, polls->share[i].ns);
		struct path_leaf share = polls->share[i].leaf;

		share.inferred = true;
		share.held |= leaf.kind == PATH_LOCK_TRIED;
		share.gil = path_target_has_gil(walk->waits, own, polls->share[i].life);
		cross_poll(walk, own, &polls->share[i], share.gil, until_ns - begin_ns);
		emit(walk, polls->share[i].life, share, begin_ns, until_ns);
		begin_ns = until_ns;
	}
	emit(walk, own->row.life, leaf, begin_ns, end_ns);
}

/* Returns what a wait that has not ended is, where others did nothing meanwhile: a sleep is one without its end, too.
 */
static struct path_leaf alone(const struct path_wait *wait, struct path_leaf leaf)
{
	if (leaf.open && leaf.kind == PATH_UNENDED && path_calls[wait->ender.call].sleeps)
		return (struct path_leaf){ .kind = PATH_SLEEP, .open = true };
	return leaf;
}

void path_walk_wait(struct path_walk *walk, uint32_t wait, uint64_t begin_ns, uint64_t end_ns)
{
	const struct path_wait *own = &walk->waits->v[wait];
	const bool held = walk->held, gil = walk->gil;
	struct path_target target;
	enum path_kind kind;

	if (begin_ns >= end_ns)
		return;
	target = path_target_of(walk->waits, wait, walk->on_stack);
	kind = target.leaf.kind;
	if (walk->edges)
		path_edges_wait(walk->edges, wait, end_ns - begin_ns);
	if (target.life) {
		walk->held |= path_calls[own->ender.call].locks;
		walk->gil |= target.gil;
		path_walk(walk, target.life, begin_ns, end_ns);
		walk->held = held;
		walk->gil = gil;
	} else if (kind == PATH_POLL || kind == PATH_UNENDED || (kind == PATH_TIMEOUT && own->ender.gil)) {
		poll(walk, wait, alone(own, target.leaf), begin_ns, end_ns);
	} else {
		emit(walk, own->row.life, target.leaf, begin_ns, end_ns);
	}
}

/* Gives [BEGIN, END), in which the thread was off its CPU. */
static void off_cpu(struct path_walk *walk, uint32_t wait, uint64_t begin_ns, uint64_t end_ns)
{
	const struct path_wait *own = &walk->waits->v[wait];
	const uint64_t wake_ns = MIN(MAX(own->wake_ns, begin_ns), end_ns);
	const uint64_t free_ns = MIN(MAX(own->free_ns, begin_ns), end_ns);

	if (!path_ender_can_run(&own->ender))
		path_walk_wait(walk, wait, begin_ns, wake_ns);
	path_walk_leaf(walk, own->row.life, PATH_THROTTLED, wake_ns, free_ns);
	path_walk_leaf(walk, own->row.life, PATH_RUNQ, free_ns, end_ns);
}

/* --- a thread ------------------------------------------------------------------------------------------ */

/* Gives [BEGIN, END) of LIFE, which is alive then. */
static void alive(struct path_walk *walk, uint32_t life, uint64_t begin_ns, uint64_t end_ns)
{
	const uint32_t stop = path_waits_stop(walk->waits, life);

	for (uint32_t i = path_waits_from(walk->waits, life, begin_ns); i < stop && begin_ns < end_ns; i++) {
		const struct path_wait *wait = &walk->waits->v[i];
		const uint64_t out_ns = MIN(MAX(wait->row.at_ns, begin_ns), end_ns);
		const uint64_t in_ns = MIN(MAX(wait->in_ns, begin_ns), end_ns);

		path_walk_between(walk, life, begin_ns, out_ns);
		off_cpu(walk, i, out_ns, in_ns);
		begin_ns = in_ns;
	}
	path_walk_between(walk, life, begin_ns, end_ns);
}

void path_walk(struct path_walk *walk, uint32_t life, uint64_t begin_ns, uint64_t end_ns)
{
	const struct path_life *own = &walk->lives->life[life];
	const uint64_t born_ns = MIN(MAX(own->begin_ns, begin_ns), end_ns);
	const uint64_t dead_ns = MIN(MAX(own->end_ns, born_ns), end_ns);

	if (begin_ns >= end_ns || !enter(walk, life, begin_ns, end_ns))
		return;
	if (own->creator && !walk->on_stack[own->creator])
		path_walk(walk, own->creator, begin_ns, born_ns);
	else
		path_walk_leaf(walk, life, PATH_UNBORN, begin_ns, born_ns);
	alive(walk, life, born_ns, dead_ns);
	path_walk_leaf(walk, life, PATH_ENDING, dead_ns, end_ns);
	leave(walk, life);
}
