/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stall/folder_watch.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"

#define HANGS_NS (3 * NSEC_PER_SEC)

/*
 * The kernel shows a quota to its user's effective id: this thread's, which ends after the call, and of no other. Its
 * real and saved ids stay ours, so that the user can neither signal nor trace it. Needs CAP_SETUID, see privileges.h.
 */
static void query_as(uid_t uid)
{
	if (uid != geteuid())
		(void)!syscall(SYS_setresuid, -1, uid, -1);
}

static void look_at_folder(void *ctx)
{
	struct folder_watch_answer *a = ctx;
	struct stat st;

	a->refused = fstat(a->fd, &st) < 0 ? -errno : 0;
	if (!a->refused && a->space.quota)
		query_as(st.st_uid);
	a->gone = !a->refused && st.st_nlink == 0;
	a->error = space_look(&a->space, a->fd, a->min_free);
	if (a->error == -ESTALE) /* the client may still have its attributes cached */
		a->refused = a->error;
}

bool folder_watch_request(struct folder_watch *l, int fd, uint64_t min_free, int wait_ms)
{
	if (!l->call.busy) {
		l->answer = (struct folder_watch_answer){ .fd = fd, .min_free = min_free, .space = l->space };
		if (async_call_begin(&l->call, look_at_folder, &l->answer) < 0)
			return false;
	}
	/* a server that has not answered for so long is not waited for at every look */
	if (!async_call_wait(&l->call, folder_watch_hangs(l) ? 0 : wait_ms))
		return false;
	if (!l->answer.error)
		l->space = l->answer.space;
	l->gone = l->answer.gone;
	l->refused = l->answer.refused;
	return true;
}

bool folder_watch_hangs(const struct folder_watch *l)
{
	return async_call_busy_ns(&l->call) > HANGS_NS;
}
