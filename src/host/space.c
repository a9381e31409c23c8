/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/space.h"

#include <errno.h>
#include <sys/statvfs.h>

#include "base/util.h"

/* So that root's reserve and other users' work are safe, and a trace still has room on a small disk. */
#define DEFAULT_BYTES (2ULL << 30)
#define DEFAULT_PERCENT 5
#define DEFAULT_OF_FREE 2 /* a half */

static uint64_t enough_again(uint64_t least)
{
	return least + MIN(least / 16, UINT64_MAX - least);
}

/*
 * Of what a user may have: f_bavail lacks root's reserve, which ext4 gives a daemon of root's all the same. So where
 * nothing else is left, the least is not 0 but a block.
 */
static uint64_t default_bytes(const struct statvfs *fs)
{
	uint64_t percent = (uint64_t)fs->f_blocks * fs->f_frsize / 100 * DEFAULT_PERCENT;
	uint64_t of_free = (uint64_t)fs->f_bavail * fs->f_frsize / DEFAULT_OF_FREE;

	return MAX(MIN(MIN(percent, of_free), DEFAULT_BYTES), (uint64_t)fs->f_frsize);
}

int space_look(struct space *s, int fd, uint64_t min_free)
{
	struct statvfs fs;

	if (fstatvfs(fd, &fs) < 0)
		return -errno;
	if (min_free == SPACE_DEFAULT)
		min_free = s->looked ? s->least_bytes : default_bytes(&fs);
	s->looked = true;
	s->free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	s->least_bytes = min_free;
	/* a file system without a size, as tmpfs may be, gives no information */
	s->low = fs.f_blocks && s->free_bytes < (s->low ? enough_again(min_free) : min_free);
	return 0;
}
