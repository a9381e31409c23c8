/* SPDX-License-Identifier: BSD-2-Clause */
/* What the readings of clocks in time_align.out tell: read once, for the phases of the job and for all who look for gaps. */
#ifndef REPORT_SCAN_CLOCKS_H
#define REPORT_SCAN_CLOCKS_H

#include "report/phases/clock.h"
#include "report/scan/gaps.h"
#include "report/scan/scan.h"

struct scan_clocks {
	struct phase_clock phases;
	struct gap_clocks last;
	struct gaps gaps; /* GAP_STALLED, GAP_SUSPEND, GAP_STEP */
};

void scan_clocks_free(struct scan_clocks *c);
/* For a struct scan_taker: the present row of time_align.out. */
bool scan_clocks_take(struct scan *s, void *clocks);

#endif
