/* SPDX-License-Identifier: BSD-2-Clause */
/* The readings of clocks in time_align.out, read once for the job's phases and for the search for gaps. */
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
/* Takes the current row of time_align.out; for a struct scan_taker. */
bool scan_clocks_take(struct scan *s, void *clocks);

#endif
