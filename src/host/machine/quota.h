/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What disk quotas leave of a file system, for the owner of a folder: of its user and its group, by
 * quotactl(2). Quotas of a project (a directory tree) are in statfs(2) on ext4 and XFS already; those of a
 * file server, of btrfs and of ZFS are not to be seen by this call. Any thread; keeps no state.
 */
#ifndef HOST_MACHINE_QUOTA_H
#define HOST_MACHINE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

enum quota_of { QUOTA_USER, QUOTA_GROUP, QUOTAS };

struct quota {
	enum quota_of of;
	uint64_t free_bytes, limit_bytes;
};

/*
 * Returns true when a quota limits the files of FD's owner, or of its group; RET is the one that leaves
 * less. False also where the kernel does not show it: it does to the user and to members of the group
 * (effective ids), and to CAP_SYS_ADMIN.
 */
bool quota_least(int fd, struct quota *ret);

#endif
