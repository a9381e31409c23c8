/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/machine/space.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

#include "base/util.h"
#include "host/machine/quota.h"

/* So that root's reserve and other users' work are safe, and a trace still has room on a small disk. */
#define DEFAULT_BYTES (2ULL << 30)
#define DEFAULT_PERCENT 5
#define DEFAULT_OF_FREE 2 /* a half */

static uint64_t enough_again(uint64_t least)
{
	return least + MIN(least / 16, UINT64_MAX - least);
}

/* What may be written, of what; by statvfs(3), or by a quota that leaves less. */
struct room {
	uint64_t free_bytes, size_bytes, block_bytes;
	const char *by;
	bool quota;
};

static const char *const quota_names[QUOTAS] = {
	[QUOTA_USER] = " by the quota of its user",
	[QUOTA_GROUP] = " by the quota of its group",
};

/* f_bavail lacks root's reserve, which ext4 gives a daemon of root's all the same. */
static int find_room(int fd, struct room *room)
{
	struct statvfs fs;
	struct quota q;

	if (fstatvfs(fd, &fs) < 0)
		return -errno;
	*room = (struct room){ (uint64_t)fs.f_bavail * fs.f_frsize, (uint64_t)fs.f_blocks * fs.f_frsize, fs.f_frsize,
			       "" };
	room->quota = quota_least(fd, &q);
	if (room->quota && (q.free_bytes < room->free_bytes || !room->size_bytes)) {
		room->free_bytes = q.free_bytes;
		room->size_bytes = q.limit_bytes;
		room->by = quota_names[q.of];
	}
	return 0;
}

/* Where nothing else is left, the least is not 0 but a block: then nothing of the reserve is used. */
static uint64_t default_bytes(const struct room *r)
{
	uint64_t percent = r->size_bytes / 100 * DEFAULT_PERCENT;

	return MAX(MIN(MIN(percent, r->free_bytes / DEFAULT_OF_FREE), DEFAULT_BYTES), r->block_bytes);
}

int space_look(struct space *space, int fd, uint64_t min_free)
{
	struct room room = {};
	int r = find_room(fd, &room);

	if (r < 0)
		return r;
	if (min_free == SPACE_DEFAULT)
		min_free = space->looked ? space->least_bytes : default_bytes(&room);
	space->looked = true;
	space->quota |= room.quota;
	space->by = room.by;
	space->free_bytes = room.free_bytes;
	space->least_bytes = min_free;
	/* a file system without a size, as tmpfs may be, gives no information */
	space->low = room.size_bytes && space->free_bytes < (space->low ? enough_again(min_free) : min_free);
	return 0;
}

/* --- memory ------------------------------------------------------------------------------------------------ */

#define TEXT_MAX (16UL << 20)

/* Returns the number of the mount that FD is on, or 0. */
static unsigned long mount_of(int fd)
{
	autofree char *text = NULL;
	const char *line;
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (util_read_file(path, TEXT_MAX, &text, &len) < 0)
		return 0;
	line = strstr(text, "mnt_id:");
	return line ? strtoul(line + strlen("mnt_id:"), NULL, 10) : 0;
}

/* Whether our own namespace has that mount, so that only root can have made it. */
static bool is_ours(unsigned long mount)
{
	autofree char *text = NULL;
	size_t len;

	if (!mount || util_read_file("/proc/self/mountinfo", TEXT_MAX, &text, &len) < 0)
		return false;
	for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL)
		if (strtoul(line, NULL, 10) == mount)
			return true;
	return false;
}

bool space_is_memory(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	return fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC ||
	       (fs.f_type == OVERLAYFS_SUPER_MAGIC && !is_ours(mount_of(fd)));
}
