/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/waits/shorts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/scan/scan.h"

void path_shorts_init(struct path_shorts *shorts, struct path_waits *waits, uint32_t max)
{
	shorts->max = max;
	shorts->waits = waits;
}

void path_shorts_free(struct path_shorts *shorts)
{
	free(shorts->v);
	free(shorts->of);
}

/* --- rows ---------------------------------------------------------------------------------------------- */

static void add(struct path_shorts *shorts, const struct path_short *sum)
{
	if (!sum->ns || shorts->full)
		return;
	shorts->full = shorts->n == shorts->max || util_room(&shorts->v, shorts->n, sizeof(*shorts->v)) < 0;
	if (!shorts->full)
		shorts->v[shorts->n++] = *sum;
}

/* A row of a CPU. */
static void take_cpu(struct path_shorts *shorts, const struct scan *s, struct path_short *sum)
{
	const uint64_t runq_ns = scan_number(s, COL_RUNQ_NS);
	uint64_t throttled_ns = 0;

	if (scan_u64(s, COL_THROTTLED_NS, &throttled_ns))
		throttled_ns = MIN(throttled_ns, runq_ns);
	sum->ender.state = PATH_CAN_RUN;
	sum->ns = scan_number(s, COL_RUN_NS);
	sum->leaf.kind = PATH_CPU;
	add(shorts, sum);
	sum->ns = throttled_ns;
	sum->leaf.kind = PATH_THROTTLED;
	add(shorts, sum);
	sum->ns = runq_ns - throttled_ns;
	sum->leaf.kind = PATH_RUNQ;
	add(shorts, sum);
}

/* A row of a call: sums by the state in which the thread waited. */
static void take_call(struct path_shorts *shorts, const struct scan *s, struct path_short *sum)
{
	static const struct {
		enum column column;
		enum path_state state;
	} sums[] = {
		{ COL_SLEEP_NS, PATH_ASLEEP },
		{ COL_BLOCKED_NS, PATH_BLOCKED },
		{ COL_DISK_NS, PATH_FOR_DISK },
	};

	sum->ender = path_waits_ender(shorts->waits, s, sum->row.life, s->time_ns);
	sum->waits = (uint32_t)MIN(scan_number(s, COL_COUNT), UINT32_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
		sum->ender.state = (uint8_t)sums[i].state;
		sum->leaf = path_ender_leaf(&sum->ender, &sum->ender);
		sum->ns = scan_number(s, sums[i].column);
		add(shorts, sum);
	}
}

bool path_shorts_take(struct scan *s, void *own)
{
	struct path_shorts *shorts = own;
	const struct path_lives *lives = shorts->waits->lives;
	struct path_short sum = { .row = { .at_ns = s->time_ns } };

	if (!scan_is(s, COL_KIND, "target"))
		return true;
	sum.row.life = path_lives_find(lives, scan_number(s, COL_TID), s->time_ns);
	if (!sum.row.life)
		return true;
	if (scan_is(s, COL_CALL, "-"))
		take_cpu(shorts, s, &sum);
	else
		take_call(shorts, s, &sum);
	return true;
}

/* --- less the rows of waits.out ------------------------------------------------------------------------ */

/* The remote end of a socket is a column of waits.out alone: without it, it is a thread outside the job. */
static bool is_alike(const struct path_ender *a, const struct path_ender *b)
{
	return a->call_name == b->call_name && a->state == b->state && (a->by == b->by || (a->outside && b->outside));
}

/* Whether SUM may have WAIT in it: it is of waits for its ender (OF_ENDER), or else for several. */
static bool may_have(const struct path_short *sum, const struct path_wait *wait, bool of_ender)
{
	return !path_ender_can_run(&sum->ender) && is_alike(&sum->ender, &wait->ender) &&
	       (sum->ender.life == wait->ender.life) == of_ender;
}

/* Takes WAIT off the sums that have it: each CPU on which such waits ended has one. */
static void less_asleep(struct path_short *v, uint32_t n, const struct path_wait *wait)
{
	uint64_t ns = wait->wake_ns - wait->row.at_ns;
	bool counted = false;

	for (unsigned int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < n; i++) {
			const uint64_t part = may_have(&v[i], wait, pass == 0) ? MIN(v[i].ns, ns) : 0;

			if (!counted && part && v[i].waits) {
				v[i].waits--;
				counted = true;
			}
			v[i].ns -= part;
			ns -= part;
		}
}

/* Takes NS off the times of KIND, of which each CPU has a row. Returns how much of it they lack. */
static uint64_t less(struct path_short *v, uint32_t n, enum path_kind kind, uint64_t ns)
{
	for (uint32_t i = 0; i < n && ns; i++) {
		const uint64_t part = v[i].leaf.kind == kind ? MIN(v[i].ns, ns) : 0;

		v[i].ns -= part;
		ns -= part;
	}
	return ns;
}

static void less_wait(struct path_short *v, uint32_t n, const struct path_wait *wait)
{
	if (!path_ender_can_run(&wait->ender))
		less_asleep(v, n, wait);
	less(v, n, PATH_RUNQ, wait->in_ns - wait->free_ns + less(v, n, PATH_THROTTLED, wait->free_ns - wait->wake_ns));
}

/* Returns how many of the N rows from V on are of one interval, and gives them all its end. */
static uint32_t interval_of(struct path_short *v, uint32_t n)
{
	const uint64_t first_ns = v[0].row.at_ns;
	uint32_t i = 1;

	while (i < n && v[i].row.at_ns - first_ns <= PATH_SPREAD_NS)
		i++;
	for (uint32_t j = 0; j < i; j++)
		v[j].row.at_ns = v[i - 1].row.at_ns;
	return i;
}

/* Takes the waits off the sums of the interval in which they ended, which has both. */
static void less_waits(struct path_shorts *shorts, uint32_t life)
{
	const struct path_range range = shorts->of[life];
	const uint32_t stop = path_waits_stop(shorts->waits, life);
	uint32_t wait = shorts->waits->of[life].first;

	for (uint32_t i = 0, n; i < range.n; i += n) {
		struct path_short *v = &shorts->v[range.first + i];

		n = interval_of(v, range.n - i);
		for (; wait < stop && shorts->waits->v[wait].in_ns <= v->row.at_ns; wait++)
			less_wait(v, n, &shorts->waits->v[wait]);
	}
}

int path_shorts_end(struct path_shorts *shorts)
{
	const uint32_t lives = shorts->waits->lives->n;

	shorts->of = path_rows_sort(&shorts->v, shorts->n, sizeof(*shorts->v), lives);
	if (!shorts->of)
		return -ENOMEM;
	for (uint32_t life = 0; life < lives; life++)
		less_waits(shorts, life);
	return 0;
}

/* --- looking up ---------------------------------------------------------------------------------------- */

/* Returns the index of the first sum of RANGE whose interval ends after AT. */
static uint32_t from(const struct path_shorts *shorts, struct path_range range, uint64_t at_ns)
{
	uint32_t low = range.first, high = range.first + range.n;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (shorts->v[mid].row.at_ns <= at_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct path_mix path_shorts_at(const struct path_shorts *shorts, uint32_t life, uint64_t at_ns)
{
	const struct path_range range = shorts->of[life];
	const uint32_t first = from(shorts, range, at_ns), stop = range.first + range.n;
	struct path_mix mix = { .end_ns = UINT64_MAX };

	if (first == stop)
		return mix;
	mix.v = &shorts->v[first];
	mix.end_ns = mix.v->row.at_ns;
	while (first + mix.n < stop && mix.v[mix.n].row.at_ns == mix.end_ns)
		mix.n++;
	return mix;
}
