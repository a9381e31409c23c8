/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/machine/quota.h"

#include <linux/dqblk_xfs.h>
#include <linux/quota.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

#ifndef SYS_quotactl_fd /* headers older than Linux 5.14; all architectures */
#define SYS_quotactl_fd 443
#endif

static const struct {
	int type;
	unsigned int enforced;
} kinds[QUOTAS] = {
	[QUOTA_USER] = { USRQUOTA, FS_QUOTA_UDQ_ENFD },
	[QUOTA_GROUP] = { GRPQUOTA, FS_QUOTA_GDQ_ENFD },
};

/* By the disk where the kernel is older than Linux 5.14; udev makes that name. */
static bool query(int fd, const struct stat *st, unsigned int cmd, unsigned int id, void *ret)
{
	char disk[64];

	if (syscall(SYS_quotactl_fd, fd, cmd, id, ret) == 0)
		return true;
	snprintf(disk, sizeof(disk), "/dev/block/%u:%u", major(st->st_dev), minor(st->st_dev));
	return syscall(SYS_quotactl, cmd, disk, id, ret) == 0;
}

/* The hard limit; the soft one only when its time of grace is over, as the kernel does. 0: none. */
static uint64_t limit_of(const struct if_dqblk *q)
{
	bool over = q->dqb_btime && q->dqb_btime <= (uint64_t)time(NULL);

	if (q->dqb_bsoftlimit && over)
		return q->dqb_bsoftlimit * QIF_DQBLKSIZE;
	return q->dqb_bhardlimit * QIF_DQBLKSIZE;
}

bool quota_least(int fd, struct quota *ret)
{
	struct fs_quota_stat state = { .qs_version = FS_QSTAT_VERSION };
	bool found = false;
	struct stat st;

	if (fstat(fd, &st) < 0 || !query(fd, &st, QCMD(Q_XGETQSTAT, USRQUOTA), 0, &state))
		return false;
	for (enum quota_of of = 0; of < QUOTAS; of++) {
		struct if_dqblk q = {};
		uint64_t limit, left;

		if (!(state.qs_flags & kinds[of].enforced) ||
		    !query(fd, &st, (unsigned int)QCMD(Q_GETQUOTA, kinds[of].type),
			   of == QUOTA_USER ? st.st_uid : st.st_gid, &q))
			continue;
		limit = limit_of(&q);
		left = limit - MIN(q.dqb_curspace, limit);
		if (!limit || (found && left >= ret->free_bytes))
			continue;
		*ret = (struct quota){ of, left, limit };
		found = true;
	}
	return found;
}
