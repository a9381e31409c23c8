/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/hung.h"

#include <stdlib.h>

#include "base/util.h"
#include "host/process.h"

#define FORGET_NS (10 * NSEC_PER_SEC) /* after a wait has ended */

static const struct hung_thread *find(const struct hung_now *waiting, uint64_t tid)
{
	for (unsigned int i = 0; i < waiting->n; i++)
		if (waiting->v[i].tid == tid)
			return &waiting->v[i];
	return NULL;
}

static bool is_gone(uint64_t tid)
{
	const char state = process_state((pid_t)tid);

	return !state || state == 'Z' || state == 'X';
}

static bool lasts(const struct open_wait *wait, const struct hung_now *waiting)
{
	const struct hung_thread *now = find(waiting, wait->tid);

	return now && now->since_ns == wait->since_ns;
}

void hung_settle(struct hung *hung, const struct hung_now *waiting)
{
	struct open_waits *kept = hung->kept;
	uint64_t n = 0;

	for (uint64_t i = 0; i < kept->n; i++) {
		if (lasts(&kept->v[i], waiting) || (!find(waiting, kept->v[i].tid) && is_gone(kept->v[i].tid)))
			hung->seen_ns[i] = waiting->now_ns;
		if (waiting->now_ns - hung->seen_ns[i] > FORGET_NS)
			continue;
		hung->seen_ns[n] = hung->seen_ns[i];
		kept->v[n++] = kept->v[i];
	}
	kept->n = n;
}

static void keep(struct hung *hung, const struct open_wait *wait, uint64_t now_ns)
{
	struct open_waits *kept = hung->kept;
	uint64_t i = 0;

	while (i < kept->n && (kept->v[i].tid != wait->tid || kept->v[i].since_ns != wait->since_ns))
		i++;
	if (i == OPEN_WAITS_MAX)
		return;
	hung->seen_ns[i] = now_ns;
	if (i < kept->n && kept->v[i].known && !wait->known)
		return; /* an earlier look had more time */
	kept->v[i] = *wait;
	kept->n = MAX(kept->n, i + 1);
}

void hung_take(struct hung *hung, const struct open_waits *found, const struct hung_now *waiting)
{
	for (uint64_t i = 0; i < MIN(found->n, (uint64_t)OPEN_WAITS_MAX); i++) {
		struct open_wait wait = found->v[i];
		const struct hung_thread *now = find(waiting, wait.tid);

		if (!now || now->since_ns >= hung->looked_ns)
			continue;
		wait.since_ns = now->since_ns;
		keep(hung, &wait, waiting->now_ns);
	}
}

void hung_open(const struct hung *hung, const struct hung_now *waiting, struct open_waits *open)
{
	open->n = 0;
	for (uint64_t i = 0; i < hung->kept->n; i++)
		if (lasts(&hung->kept->v[i], waiting))
			open->v[open->n++] = hung->kept->v[i];
}

void hung_free(struct hung *hung)
{
	free(hung->kept);
	*hung = (struct hung){ 0 };
}
