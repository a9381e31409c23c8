/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process of root's that writes for a user: a thread touches the file system as that user, so that
 * a root-squashed home works and nothing is reached that the user could not reach, and is root again
 * for what only root can do. Credentials are a thread's; new threads begin with their maker's. This is
 * the time until the hooks are on; then privileges.h takes away what is left.
 */
#ifndef HOST_RIGHTS_CREDS_H
#define HOST_RIGHTS_CREDS_H

#include <stddef.h>
#include <sys/types.h>

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
