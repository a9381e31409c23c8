/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process of root's that writes for a user: a thread touches the file system as that user, so that
 * a root-squashed home works and nothing is reached that the user could not reach, and is root again
 * for what only root can do. Credentials are a thread's; new threads begin with their maker's. This is
 * the time until the hooks are on; then privileges.h takes away what is left.
 */
#ifndef HOST_RIGHTS_CREDS_H
#define HOST_RIGHTS_CREDS_H

#include <linux/capability.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef CAP_PERFMON /* headers older than Linux 5.8 */
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif
#define CAP_BIT(cap) (1ULL << (cap))

/*
 * The calling thread keeps no more capabilities than those of PERMITTED and INHERITABLE, and those of EFFECTIVE that it
 * may have are in force. Async-signal-safe. 0 or -errno.
 */
int creds_caps(uint64_t permitted, uint64_t effective, uint64_t inheritable);

/* The calling thread's rights to files are UID's and GID's. 0 or -EPERM. */
int creds_files_of(uid_t uid, gid_t gid);

/*
 * From now on we work for UID with GID and GROUPS; the calling thread, the only one yet, becomes the
 * user as far as files go. 0 or -errno.
 */
int creds_work_for(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups);

/*
 * The calling thread as root, as the user; until privileges_give_up(), which ends it. Without
 * creds_work_for() nothing happens. 0 or -errno.
 */
int creds_root(void);
int creds_user(void);

/* All capabilities that the calling thread may have are in force. Async-signal-safe. 0 or -errno. */
int creds_raise(void);

#endif
