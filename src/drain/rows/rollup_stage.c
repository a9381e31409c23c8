/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/rollup_stage.h"

#include "base/util.h"
#include "drain/rows/decode.h"
#include "drain/rows/stage.h"

/* A record that is later than this makes a row of its own. */
#define GRACE_NS (2 * NSEC_PER_SEC)

static void tick(struct decode *d, uint64_t now_ns, uint64_t reached_ns)
{
	uint64_t minute = (clock_utc_ns(&d->clock, now_ns) - GRACE_NS) / (60 * NSEC_PER_SEC);

	if (!d->rollup || minute == d->rollup->minute)
		return;
	d->rollup->minute = minute;
	rollup_write(d->rollup, &d->sinks[DLT_rollup], 0, minute);
}

static void end(struct decode *d, uint64_t end_ns)
{
	if (d->rollup)
		rollup_write(d->rollup, &d->sinks[DLT_rollup], 0, ROLLUP_ALL);
}

const struct drain_stage rollup_stage = {
	.probe = DLT_rollup,
	.tick = tick,
	.end = end,
};
