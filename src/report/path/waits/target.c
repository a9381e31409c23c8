/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/waits/target.h"

uint32_t path_target_ender(const struct path_waits *waits, uint32_t wait)
{
	const struct path_wait *own = &waits->v[wait];
	const struct path_ender *last = &waits->v[own->settled].ender;

	return path_calls[own->ender.call].stops || path_ender_is_interrupted(last) ? 0 : last->life;
}

bool path_target_has_gil(const struct path_waits *waits, const struct path_wait *wait, uint32_t to)
{
	const struct path_life *life = waits->lives->life;

	return wait->ender.gil && life[to].process == life[wait->row.life].process;
}

/* Whether nobody has ended the wait: the trace did, or a signal without a sender, as of timeout(1) when it is late. */
static bool is_open(const struct path_ender *e)
{
	return e->by == PATH_BY_END || (e->by == PATH_BY_SIGNAL && !e->life && !e->other);
}

/* Returns the child that WAIT was for, which nobody has ended; 0: none. */
static uint32_t awaited_child(const struct path_waits *waits, const struct path_wait *wait, const bool *on_stack)
{
	const uint32_t process = waits->lives->life[wait->row.life].process;
	uint32_t child;

	if (!path_calls[wait->ender.call].children || !is_open(&wait->ender))
		return 0;
	child = path_lives_child(waits->lives, process, wait->row.at_ns, wait->in_ns);
	return child && !(on_stack && on_stack[child]) ? child : 0;
}

/* Whether WAIT is a sleep that the thread that waits for it, LIFE, has broken off: as timeout(1) does. */
static bool is_sleep_of(const struct path_wait *wait, uint32_t life, const bool *on_stack)
{
	return path_calls[wait->ender.call].sleeps && wait->ender.by == PATH_BY_SIGNAL && on_stack && on_stack[life];
}

struct path_target path_target_of(const struct path_waits *waits, uint32_t wait, const bool *on_stack)
{
	const struct path_wait *own = &waits->v[wait];
	struct path_target target = { .life = path_target_ender(waits, wait) ?: awaited_child(waits, own, on_stack) };

	if (target.life && is_sleep_of(own, target.life, on_stack))
		return (struct path_target){ .leaf = { .kind = PATH_SLEEP } };
	if (target.life)
		target.gil = path_target_has_gil(waits, own, target.life);
	else
		target.leaf = path_ender_leaf(&own->ender, &waits->v[own->settled].ender);
	return target;
}
