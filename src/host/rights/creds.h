/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process of root's that writes for a user: a thread accesses the file system as that user, so that a
 * root-squashed home works and nothing is reached that the user could not reach, and becomes root again for
 * tasks that only root can do. Credentials belong to a thread; new threads begin with their creator's. This
 * covers the time until the hooks are on; then privileges.h drops the rest.
 */
#ifndef HOST_RIGHTS_CREDS_H
#define HOST_RIGHTS_CREDS_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef CAP_PERFMON /* headers older than Linux 5.8 */
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif
#define CAP_BIT(cap) (1ULL << (cap))

/*
 * The calling thread keeps only the capabilities PERMITTED and INHERITABLE, with those of EFFECTIVE that it
 * may have in force. Async-signal-safe. 0 or -errno.
 */
int creds_caps(uint64_t permitted, uint64_t effective, uint64_t inheritable);

/* The calling thread's rights to files are UID's and GID's. 0 or -EPERM. */
int creds_files_of(uid_t uid, gid_t gid);

/*
 * From now on we work for UID with GID and GROUPS; the calling thread, still the only one, becomes the user
 * for file access. 0 or -errno.
 */
int creds_work_for(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups);

/*
 * Make the calling thread root, or the user; until privileges_give_up(), which ends this. Does nothing
 * without creds_work_for(). 0 or -errno.
 */
int creds_root(void);
int creds_user(void);

/*
 * While HOLD, quotas and the blocks that are reserved for root limit the calling thread as any user's:
 * CAP_SYS_RESOURCE is not in force. Does nothing after creds_work_for(), which does that itself. 0 or -errno.
 */
int creds_hold_limits(bool hold);

/* Put all capabilities that the calling thread may have in force. Async-signal-safe. 0 or -errno. */
int creds_raise(void);

#endif
