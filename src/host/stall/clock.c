/* SPDX-License-Identifier: BSD-2-Clause */
/* See clock.h. Knows neither what is waited for nor the consequences. */
#include "host/stall/clock.h"

#include <stdbool.h>

#include "base/util.h"
#include "host/process.h"

/* 6 ms in 3 s: a retry costs some 50 us, and comes once a second or less often. */
#define AGAIN_OF 500
#define LOOK_NS NSEC_PER_SEC /* a thread without CPU time is looked at from then on: it may wait for a CPU */
#define AGAIN_NS (3 * NSEC_PER_SEC / AGAIN_OF)

void stall_clock_begin(struct stall_clock *s, pid_t tid, uint64_t used_ns, uint64_t now_ns)
{
	*s = (struct stall_clock){ .tid = tid, .since_ns = now_ns, .used_ns = used_ns };
}

uint64_t stall_clock_ns(struct stall_clock *s, uint64_t used_ns, uint64_t now_ns)
{
	uint64_t spent = used_ns - s->used_ns, still = now_ns - s->since_ns;
	bool works = spent > MAX(AGAIN_NS, still / AGAIN_OF);
	char state = works || (!spent && still < LOOK_NS) ? 0 : process_state(s->tid);

	if (works || (spent && state != 'D') || state == 'R')
		stall_clock_begin(s, s->tid, used_ns, now_ns);
	return now_ns - s->since_ns;
}
