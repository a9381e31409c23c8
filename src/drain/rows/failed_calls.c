/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/failed_calls.h"

#include <errno.h>
#include <stddef.h>

#include "base/util.h"
#include "dlt/close.h"
#include "dlt/create_del.h"
#include "dlt/mmap.h"
#include "dlt/open.h"
#include "dlt/sync.h"
#include "dlt/vfs_rw.h"

#define ERRNO_MAX 4095 /* MAX_ERRNO: larger negative numbers are addresses, or no result */

const struct failed_calls_error failed_calls_errors[FAILED_CALLS_ERRORS] = {
	{ EDQUOT, "EDQUOT" }, { EFBIG, "EFBIG" },   { EIO, "EIO" },     { EMFILE, "EMFILE" }, { ENFILE, "ENFILE" },
	{ ENOMEM, "ENOMEM" }, { ENOSPC, "ENOSPC" }, { EROFS, "EROFS" }, { ESTALE, "ESTALE" },
};

const uint16_t failed_calls_results[DLT_PROBES] = {
	[DLT_close] = offsetof(struct dlt_close, ret), [DLT_create_del] = offsetof(struct dlt_create_del, ret),
	[DLT_mmap] = offsetof(struct dlt_mmap, ret),   [DLT_open] = offsetof(struct dlt_open, ret),
	[DLT_sync] = offsetof(struct dlt_sync, ret),   [DLT_vfs_rw] = offsetof(struct dlt_vfs_rw, returned),
};

void failed_calls_count(struct failed_calls *failed, int64_t result)
{
	if (result < -ERRNO_MAX)
		return;
	for (unsigned int i = 0; i < FAILED_CALLS_ERRORS; i++)
		if (result == -failed_calls_errors[i].nr)
			util_count(&failed->n[i], 1);
}
