/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The space that a trace leaves to others, --min-free: on the disk, and in the quotas of the folder's owner, which
 * the owner's job needs as well. Pure except for statvfs(3) and quotactl(2): any process.
 */
#ifndef HOST_MACHINE_SPACE_H
#define HOST_MACHINE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The least of 2 GiB, 5 % of the file system or quota, and half of what users may have of it at the first look; a block
 * at least.
 */
#define SPACE_DEFAULT UINT64_MAX

struct space {
	bool looked, low; /* as of the last look */
	bool quota; /* one has been seen */
	const char *by; /* after "free in DIR": by what, where it is not the disk; else "" */
	uint64_t free_bytes, least_bytes;
};

/*
 * Look at the file system of FD, and at quotas: LOW is set when either has less than MIN_FREE, until a sixteenth
 * more than that is free; never where it has no size. SPACE_DEFAULT is resolved at SPACE's first look and stays, or
 * it would shrink as the trace grows. 0, or -errno and SPACE unchanged.
 */
int space_look(struct space *space, int fd, uint64_t min_free);

/*
 * Whether files in the folder FD are, or may be, in memory, which then counts for the cgroup of the process that writes
 * them and stays until they are removed: on tmpfs and ramfs, and on an overlay of another mount namespace, which a user
 * may have made on top of these.
 */
bool space_is_memory(int fd);

#endif
