/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See creds.h. Uses the file system uid and gid and the effective capabilities: the real and the effective
 * uid stay root's, so the user can neither ptrace(2) nor signal us. Does not know what is opened.
 */
#include "host/rights/creds.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The capabilities kept while we are the user: reading BPF maps and counters and /proc of the traced
 * processes, ending our helpers. Left out are those that open files, and CAP_SYS_RESOURCE, with which
 * quotas and the blocks reserved for root would not hold for us.
 */
#define KEPT \
	(CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON) | CAP_BIT(CAP_SYS_ADMIN) | CAP_BIT(CAP_SYS_PTRACE) | CAP_BIT(CAP_KILL))

static struct {
	bool set;
	uid_t uid;
	gid_t gid;
} user;

int creds_caps(uint64_t permitted, uint64_t effective, uint64_t inheritable)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, caps) < 0)
		return -errno;
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		caps[i].permitted &= (uint32_t)(permitted >> 32 * i);
		caps[i].effective = caps[i].permitted & (uint32_t)(effective >> 32 * i);
		caps[i].inheritable &= (uint32_t)(inheritable >> 32 * i);
	}
	return syscall(SYS_capset, &header, caps) < 0 ? -errno : 0;
}

/* All that it may have, with those of MASK in force. */
static int caps_set(uint64_t mask)
{
	return creds_caps(UINT64_MAX, mask, UINT64_MAX);
}

/* These two return no error, but the old value: a second call returns the value in force. */
int creds_files_of(uid_t uid, gid_t gid)
{
	setfsgid(gid);
	setfsuid(uid);
	return (gid_t)setfsgid((gid_t)-1) == gid && (uid_t)setfsuid((uid_t)-1) == uid ? 0 : -EPERM;
}

/* A change of these clears it: commit_creds(), linux/kernel/cred.c. */
static void keep_death_signal(int sig)
{
	if (sig)
		prctl(PR_SET_PDEATHSIG, sig);
}

static int become(uid_t uid, gid_t gid, uint64_t caps)
{
	int sig = 0, r;

	prctl(PR_GET_PDEATHSIG, &sig);
	r = caps_set(UINT64_MAX);
	if (!r)
		r = creds_files_of(uid, gid);
	if (!r)
		r = caps_set(caps);
	keep_death_signal(sig);
	return r;
}

int creds_work_for(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups)
{
	if (setgroups(n_groups, groups) < 0)
		return -errno;
	user.uid = uid;
	user.gid = gid;
	user.set = true;
	return creds_user();
}

int creds_root(void)
{
	return user.set ? become(0, 0, UINT64_MAX) : 0;
}

int creds_user(void)
{
	return user.set ? become(user.uid, user.gid, KEPT) : 0;
}

int creds_hold_limits(bool hold)
{
	const unsigned int word = CAP_SYS_RESOURCE / 32;
	const uint32_t bit = 1U << CAP_SYS_RESOURCE % 32;
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	if (user.set)
		return 0;
	if (syscall(SYS_capget, &header, caps) < 0)
		return -errno;
	caps[word].effective &= ~bit;
	if (!hold)
		caps[word].effective |= caps[word].permitted & bit;
	return syscall(SYS_capset, &header, caps) < 0 ? -errno : 0;
}

int creds_raise(void)
{
	return geteuid() ? 0 : caps_set(UINT64_MAX);
}
