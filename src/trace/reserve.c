/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/util.h"

#define KEPT_BYTES (2U * RESERVE_USE_BYTES)
#define LEAST_BYTES (64U << 10) /* with less there is nothing to write */
#define NAME "files.out.new" /* a leftover of a trace that was killed: the next one with --force removes it */
#define CHUNK_BYTES (16 << 10)

/* A write to allocated space needs no more space here. Elsewhere a write takes new blocks first, or a server decides.
 */
static const long overwriting[] = { EXT4_SUPER_MAGIC, TMPFS_MAGIC, XFS_SUPER_MAGIC };

static bool is_needed(const struct statfs *fs)
{
	for (size_t i = 0; i < ARRAY_SIZE(overwriting); i++)
		if ((long)fs->f_type == overwriting[i])
			return false;
	return true;
}

/* The owner of the folder pays for it, as for the trace. */
static int open_nameless(int dirfd)
{
	int fd = util_create_at(dirfd, NAME, 0);

	if (fd >= 0)
		unlinkat(dirfd, NAME, 0);
	return fd;
}

/* By numbers, as a file system that compresses stores zeros in no space. 0 or -errno. */
static int fill(int fd, uint64_t bytes)
{
	uint64_t chunk[CHUNK_BYTES / sizeof(uint64_t)], x = 88172645463325252ULL;
	int r = 0;

	for (; !r && bytes >= sizeof(chunk); bytes -= sizeof(chunk)) {
		for (size_t i = 0; i < ARRAY_SIZE(chunk); i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			chunk[i] = x;
		}
		r = util_write_all(fd, chunk, sizeof(chunk));
	}
	return r;
}

void reserve_take(struct reserve *reserve, int dirfd, uint64_t most_bytes)
{
	uint64_t bytes = MIN(most_bytes, KEPT_BYTES);
	struct statfs fs;

	reserve->fd = -1;
	if (bytes < LEAST_BYTES || fstatfs(dirfd, &fs) < 0 || !is_needed(&fs))
		return;
	reserve->fd = open_nameless(dirfd);
	if (reserve->fd < 0)
		return;
	for (; bytes >= LEAST_BYTES; bytes /= 2) /* of a small quota, less */
		if (fallocate(reserve->fd, 0, 0, (off_t)bytes) == 0 ||
		    (errno == EOPNOTSUPP && fill(reserve->fd, bytes) == 0))
			return;
	reserve_give_back(reserve);
}

void reserve_give_back(struct reserve *r)
{
	util_close(&r->fd);
}
