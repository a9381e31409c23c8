/* SPDX-License-Identifier: BSD-2-Clause */
/* Why rows were lost while tracing. The manifest counts each reason, and the report gives it. */
#ifndef TRACE_LOSS_H
#define TRACE_LOSS_H

#include <stdint.h>

enum loss {
	LOSS_BUFFER,	/* the ring had no room */
	LOSS_IN_FLIGHT, /* no place among the calls or requests that had not ended */
	LOSS_UNSEEN,	/* the kernel called no hook at its begin, or at its end */
	LOSS_SKIPPED,	/* the kernel skipped a run of a hook: at most so many, some may have been of other processes */
	LOSS_DISK,	/* refused by the disk, or not written for --min-free */
	LOSS_STALLED,	/* the disk stood still when the trace ended */
	LOSS_UNMATCHED, /* seen, and then neither written nor counted above */
	LOSSES,
};

struct loss_kind {
	const char *key; /* in the manifest: probes[].lost_by */
	const char *why; /* behind "N rows were lost: " */
};

extern const struct loss_kind loss_kinds[LOSSES];

/* The reasons in BY as "7 WHY; 2 WHY", "" for none. To be freed; NULL: no memory. */
char *loss_text(const uint64_t by[LOSSES]);

#endif
