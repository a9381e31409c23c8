/* SPDX-License-Identifier: BSD-2-Clause */
/* Why rows were lost while tracing. The manifest counts each reason, and the report gives it. */
#ifndef TRACE_LOSS_H
#define TRACE_LOSS_H

#include <stdint.h>

enum loss {
	LOSS_BUFFER, /* the ring had no room */
	LOSS_IN_FLIGHT, /* a table of calls or requests in flight, of threads or of sums was full */
	LOSS_UNSEEN, /* the kernel called no hook at its start, or at its end */
	LOSS_SKIPPED, /* the kernel skipped a run of a hook: an upper bound, as some may have been for other processes
		       */
	LOSS_DISK, /* refused by the disk, or held back for --min-free */
	LOSS_STALLED, /* the disk stalled when the trace ended */
	LOSS_UNMATCHED, /* seen, but neither written nor counted above */
	LOSSES,
};

struct loss_kind {
	const char *key; /* in the manifest: probes[].lost_by */
	const char *why; /* after "N rows were lost: " */
};

extern const struct loss_kind loss_kinds[LOSSES];

/* Returns the reason in BY as "WHY", several as "WHY [7]; WHY [2]", "" for none. To be freed; NULL: no memory. */
char *loss_text(const uint64_t by[LOSSES]);

#endif
