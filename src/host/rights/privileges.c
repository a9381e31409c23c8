/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See privileges.h. uid 0 stays, so that traced processes can neither signal nor limit the tracer and its
 * socket in /run can be removed (docs/security.md); capabilities and the ids for file access (setfsuid(2))
 * belong to each thread, so each gives them up itself.
 */
#include "host/rights/privileges.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if !__has_include(<cap-ng.h>)
/* cppcheck-suppress preprocessorErrorDirective ; it does not look for headers of the system */
#error "libcap-ng is missing: install libcap-ng-dev (Debian, Ubuntu) or libcap-ng-devel (RHEL, Fedora)"
#else
#include <cap-ng.h>
#endif

#include "base/util.h"
#include "host/rights/creds.h"
#include "host/rights/workload_user.h"
#include "os/thread.h"

enum kept { BPF, DAC_OVERRIDE, DAC_READ_SEARCH, KILL, SETGID, SETUID, SYS_PTRACE, KEPT_MAX };

static const struct privilege table[KEPT_MAX] = {
	[BPF] = { "CAP_BPF", CAP_BPF,
		  "to read counters and calls in flight from BPF maps, and to add processes that join; before Linux "
		  "5.19 bpf(2) needs it where kernel.unprivileged_bpf_disabled is set" },
	[DAC_OVERRIDE] = { "CAP_DAC_OVERRIDE", CAP_DAC_OVERRIDE,
			   "for --metrics-file in another user's folder, and for --collect and archives of root's own "
			   "workload; with another user's workload, only the thread that writes the metrics uses it" },
	[DAC_READ_SEARCH] = { "CAP_DAC_READ_SEARCH", CAP_DAC_READ_SEARCH,
			      "to read /proc/PID/environ (for RANK) and /proc/PID/fd of traced processes of other "
			      "users; only the thread that writes rows and the process that reads those processes have "
			      "it" },
	[KILL] = { "CAP_KILL", CAP_KILL,
		   "to pass signals on to the workload, and to end collectors, which run as other users" },
	[SETGID] = { "CAP_SETGID", CAP_SETGID, "as CAP_SETUID" },
	[SETUID] = { "CAP_SETUID", CAP_SETUID,
		     "to start a collector again as its user, to collect and to pack as the workload's user, "
		     "and to see the user's disk quota" },
	[SYS_PTRACE] = { "CAP_SYS_PTRACE", CAP_SYS_PTRACE,
			 "to read paths of calls in flight at the end from the memory of their processes" },
};

/* The capabilities of the table that this thread may have: fewer in a container, or by setcap(8). */
static uint32_t permitted(void)
{
	uint32_t had = 0;

	capng_setpid(thread_id()); /* libcap-ng reads the process's, which are the main thread's */
	if (capng_get_caps_process() < 0)
		return 0;
	for (unsigned int k = 0; k < KEPT_MAX; k++)
		if (capng_have_capability(CAPNG_PERMITTED, table[k].cap))
			had |= 1U << k;
	return had;
}

/* A caller with capabilities who is not root has none of the tasks that require being two users. */
void privileges_plan(struct privileges *privileges, const struct workload_user *user,
		     const struct privilege_needs *needs)
{
	bool root = geteuid() == 0;

	*privileges = (struct privileges){ .user = user };
	privileges->kept = 1U << BPF | 1U << DAC_READ_SEARCH | 1U << SYS_PTRACE;
	if (root && (user->uid || needs->children))
		privileges->kept |= 1U << KILL;
	if (root && needs->children)
		privileges->kept |= 1U << SETGID | 1U << SETUID;
	if (root && user->uid && needs->quota)
		privileges->kept |= 1U << SETUID;
	if (root && ((!user->uid && needs->user_work) || needs->files_of_others))
		privileges->kept |= 1U << DAC_OVERRIDE;
	privileges->kept &= permitted();
}

const struct privilege *privileges_kept(const struct privileges *p, unsigned int i)
{
	for (unsigned int k = 0; k < KEPT_MAX; k++)
		if (p->kept >> k & 1 && i-- == 0)
			return &table[k];
	return NULL;
}

/* --- file access ------------------------------------------------------------------------------------ */

static gid_t groups_before[65536]; /* NGROUPS_MAX of the kernel */
static int n_groups_before = -1;

/* For this thread alone: glibc's own would change every thread. */
static int set_groups(size_t n, const gid_t *groups)
{
	return syscall(SYS_setgroups, n, groups) < 0 ? -errno : 0;
}

static bool is_other(const struct workload_user *u)
{
	return geteuid() == 0 && u->uid != 0;
}

static int set_user(const struct workload_user *u)
{
	return set_groups((size_t)u->n_groups, u->groups) ?: creds_files_of(u->uid, u->gid);
}

int privileges_as_user(const struct workload_user *user)
{
	int r;

	if (!is_other(user) || (uid_t)setfsuid((uid_t)-1) != geteuid()) /* we are already: creds.h */
		return 0;
	n_groups_before = getgroups(ARRAY_SIZE(groups_before), groups_before);
	if (n_groups_before < 0)
		return -errno;
	r = set_user(user) ?: creds_hold_limits(true); /* else root's files would overrun the user's quota */
	if (r < 0)
		privileges_as_root();
	return r;
}

void privileges_as_root(void)
{
	if (n_groups_before < 0)
		return;
	creds_hold_limits(false);
	creds_files_of(geteuid(), getegid());
	set_groups((size_t)n_groups_before, groups_before);
	n_groups_before = -1;
}

/* --- giving up -------------------------------------------------------------------------------------- */

/* For good, as far as this thread can: keep only KEPT of the table, with those of EFFECTIVE in force. */
static int apply(uint32_t kept, uint32_t effective)
{
	uint32_t had = permitted();
	capng_select_t set;

	/* without CAP_SETPCAP the bounding set stays: no_new_privs makes it useless */
	set = capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP) ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS;
	capng_clear(set);
	for (unsigned int k = 0; k < KEPT_MAX; k++) {
		if (!(kept & had & 1U << k))
			continue;
		capng_update(CAPNG_ADD, CAPNG_PERMITTED, table[k].cap);
		if (effective >> k & 1)
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE, table[k].cap);
		if (set == CAPNG_SELECT_BOTH)
			capng_update(CAPNG_ADD, CAPNG_BOUNDING_SET, table[k].cap);
	}
	return capng_apply(set) < 0 ? -EPERM : 0;
}

int privileges_give_up(const struct privileges *privileges, bool reads_processes)
{
	uint32_t kept;
	int r = 0;

	if (!privileges)
		return 0;
	kept = reads_processes ? privileges->kept : privileges->kept & ~(1U << DAC_READ_SEARCH);
	if (is_other(privileges->user))
		r = creds_raise() ?: set_user(privileges->user);
	if (r == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	/*
	 * permitted, and in force only where files are root's: setfsuid(2) takes care of that, see
	 * work_main()
	 */
	if (r < 0)
		return r;
	return apply(kept, is_other(privileges->user) ? kept & ~(1U << DAC_OVERRIDE) : kept);
}

struct work {
	void (*fn)(void *ctx);
	void *ctx;
};

static void *work_main(void *ctx)
{
	const struct work *w = ctx;

	setfsgid(getegid());
	setfsuid(geteuid());
	w->fn(w->ctx);
	return NULL;
}

void privileges_own_files(void (*fn)(void *ctx), void *ctx)
{
	struct work w = { fn, ctx };
	pthread_t thread;

	if ((uid_t)setfsuid((uid_t)-1) == geteuid())
		fn(ctx);
	else if (pthread_create(&thread, NULL, work_main, &w) == 0)
		pthread_join(thread, NULL);
}

int privileges_none(void)
{
	/* not by libcap-ng, which allocates: other threads of the parent may have held malloc's lock */
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : creds_caps(0, 0, 0);
}
