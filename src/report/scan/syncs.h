/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a row of sync.out does. Some of its calls wait until bytes are on the disk; the others set a file's size, and
 * wait for no disk. Of files in memory (/dev/shm), those make room for what is written there next: a PyTorch loader
 * calls fallocate(2) for each batch that it hands over.
 */
#ifndef REPORT_SCAN_SYNCS_H
#define REPORT_SCAN_SYNCS_H

#include <string.h>

#include "report/scan/scan.h"

/* Whether S, a row of sync.out, is a sync. By what it is not, as a later version may record more ways to sync. */
static inline bool scan_is_sync(const struct scan *s)
{
	static const char ring[] = "io_uring:";
	struct reader_field func = scan_field(s, COL_FUNC);

	if (func.len >= sizeof(ring) - 1 && memcmp(func.p, ring, sizeof(ring) - 1) == 0) {
		func.p += sizeof(ring) - 1;
		func.len -= sizeof(ring) - 1;
	}
	return !reader_is(func, "fallocate") && !reader_is(func, "ftruncate") && !reader_is(func, "truncate");
}

#endif
