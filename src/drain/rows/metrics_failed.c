/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/metrics_failed.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/util.h"
#include "dlt/close.h"
#include "dlt/create_del.h"
#include "dlt/mmap.h"
#include "dlt/open.h"
#include "dlt/sync.h"
#include "dlt/vfs_rw.h"

#define ERRNO_MAX 4095 /* MAX_ERRNO: larger negative numbers are addresses, or no result */

const struct metrics_error metrics_errors[METRICS_ERRORS] = {
	{ EDQUOT, "EDQUOT" }, { EFBIG, "EFBIG" },   { EIO, "EIO" },     { EMFILE, "EMFILE" }, { ENFILE, "ENFILE" },
	{ ENOMEM, "ENOMEM" }, { ENOSPC, "ENOSPC" }, { EROFS, "EROFS" }, { ESTALE, "ESTALE" },
};

/* Where a call's result is in its record; 0: the probe has none. */
static const uint16_t results[DLT_PROBES] = {
	[DLT_close] = offsetof(struct dlt_close, ret), [DLT_create_del] = offsetof(struct dlt_create_del, ret),
	[DLT_mmap] = offsetof(struct dlt_mmap, ret),   [DLT_open] = offsetof(struct dlt_open, ret),
	[DLT_sync] = offsetof(struct dlt_sync, ret),   [DLT_vfs_rw] = offsetof(struct dlt_vfs_rw, returned),
};

void metrics_failed_row(uint64_t n[METRICS_ERRORS], unsigned int probe, const struct dlt_hdr *rec)
{
	int64_t result;

	if (!results[probe])
		return;
	memcpy(&result, (const char *)rec + results[probe], sizeof(result));
	if (result >= 0 || result < -ERRNO_MAX)
		return;
	for (unsigned int i = 0; i < METRICS_ERRORS; i++)
		if (result == -metrics_errors[i].nr)
			util_count(&n[i], 1);
}
