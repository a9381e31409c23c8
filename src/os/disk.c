/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/util.h"

#define PIECE_BYTES (8U << 20) /* at a time */

bool disk_is_refusal(int err)
{
	return err == EIO || err == ENOSPC || err == EDQUOT || err == EROFS || err == ESTALE;
}

static int query(int fd, uint64_t from, uint64_t bytes, unsigned int flags)
{
	return sync_file_range(fd, (off_t)from, (off_t)bytes, flags) < 0 && disk_is_refusal(errno) ? -errno : 0;
}

/*
 * sync_file_range(2) waits for pages under write-back in a range, which is empty beyond the largest file,
 * and then returns an error of the file that has not been reported yet.
 */
int disk_refused(int fd)
{
	return query(fd, INT64_MAX / 2, 1, SYNC_FILE_RANGE_WAIT_BEFORE);
}

/*
 * Piece by piece, so that a slow disk is noticed; pieces that are already on the disk cost next to nothing.
 * fdatasync(2) comes last: sync_file_range(2) covers neither the file's metadata nor the disk's own cache,
 * and without them the data is lost when the power fails.
 */
uint64_t disk_write_out(int fd, uint64_t bytes, uint64_t until_ns, int *refused_ret)
{
	int refused = 0, r = 0;
	uint64_t at = 0;

	for (; at < bytes && clock_now_ns(CLOCK_MONOTONIC) < until_ns; at += PIECE_BYTES) {
		r = query(fd, at, PIECE_BYTES,
			  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
		refused = r ? r : refused;
	}
	if (at < bytes)
		r = disk_refused(fd);
	else
		r = fdatasync(fd) < 0 && disk_is_refusal(errno) ? -errno : 0;
	*refused_ret = r ? r : refused;
	return bytes - MIN(at, bytes);
}
