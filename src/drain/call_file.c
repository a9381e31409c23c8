/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/call_file.h"

#include <stdbool.h>

#include "dlt/create_del.h"
#include "dlt/mmap.h"
#include "dlt/open.h"
#include "dlt/sync.h"
#include "kernel/syscalls.h"

/* Which argument is the path; -1: none. */
static int path_argument(const struct dlt_call *call)
{
	static const int8_t of_shape[DLT_CD_SHAPES] = {
		[DLT_CD_MKDIRAT] = 1, [DLT_CD_UNLINKAT] = 1, [DLT_CD_RENAMEAT] = 1, [DLT_CD_SYMLINK] = 1,
		[DLT_CD_SYMLINKAT] = 2, [DLT_CD_MKNODAT] = 1, /* the others are the first */
	};
	unsigned int shape = call->shape & ~DLT_CD_NO_FLAGS;

	if (call->probe == DLT_open)
		return call->shape == DLT_OPEN_AT || call->shape == DLT_OPEN_HOW;
	if (call->probe == DLT_create_del && shape < DLT_CD_SHAPES)
		return of_shape[shape];
	return call->probe == DLT_sync && call->shape == DLT_SYNC_TRUNCATE ? 0 : -1;
}

/* Which argument is the descriptor; -1: none. */
static int fd_argument(const struct dlt_call *call)
{
	if (call->probe == DLT_mmap)
		return call->shape == DLT_MMAP ? 4 : -1;
	if (call->probe == DLT_sync)
		return call->shape != DLT_SYNC_NONE && call->shape != DLT_SYNC_MSYNC && call->shape != DLT_SYNC_TRUNCATE ?
			       0 : -1;
	/* io_submit has none: its first argument is a context */
	return call->probe == DLT_close || (call->probe == DLT_vfs_rw && call->nr != SYS_io_submit) ? 0 : -1;
}

void call_file(const struct dlt_call *call, int64_t *fd_ret, uint64_t *addr_ret)
{
	bool symlink = call->probe == DLT_create_del && call->shape == DLT_CD_SYMLINK;
	int path = path_argument(call), fd = path > 0 && !symlink ? path - 1 : fd_argument(call);

	*fd_ret = fd < 0 ? DLT_NONE : (int32_t)call->args[fd];
	*addr_ret = path < 0 ? 0 : call->args[path];
}
