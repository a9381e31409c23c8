/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/borrowed.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/util.h"
#include "host/machine/space.h"
#include "host/rights/caller.h"
#include "host/rights/owner.h"
#include "host/rights/user_name.h"
#include "session/state.h"
#include "trace/config.h"

void *session_of(const struct session *s)
{
	return s->of;
}

int session_work_for(struct session *session, const struct borrower *b)
{
	struct workload_user *u = &session->user;

	*u = (struct workload_user){ .uid = b->uid, .gid = b->gid, .n_groups = (int)b->n_groups };
	u->groups = b->groups;
	user_name(b->uid, u->name);
	caller_of(&session->caller, b->uid, b->client);
	session->environ = b->environ;
	session->cwd = strdup(b->cwd ? b->cwd : "/");
	session->targets = (struct targets){
		.owned = true,
		.client = b->client,
		.owner = { u->uid, u->gid, u->groups, b->n_groups },
	};
	return 0;
}

/* --- targets ---------------------------------------------------------------------------------------------- */

pid_t session_target(struct session *session, int pidfd)
{
	struct targets *targets = &session->targets;
	char error[256];

	if (targets_add(targets, pidfd, error, sizeof(error)) < 0) {
		log_err("%s", error);
		return -1;
	}
	return targets->roots[targets->n_roots - 1].pid;
}

static int look_at(pid_t pid, const struct owner *o)
{
	char why[128];

	if (owner_is(pid, o, why, sizeof(why)))
		return 0;
	log_err("process %d cannot be traced: %s", pid, why);
	return EXIT_DLTRACED;
}

int session_targets_checked(struct session *session, int workload)
{
	struct targets *targets = &session->targets;
	int code = 0;

	if (workload >= 0) {
		pid_t pid = owner_pidfd_pid(workload);

		if (pid < 0 || pid == getpid()) {
			log_err_r(MIN(pid, 0), "the workload's process");
			return EXIT_DLTRACED;
		}
		targets->workload = pid;
	}
	for (unsigned int i = 0; !code && i < targets->n_roots; i++)
		code = look_at(targets->roots[i].pid, &targets->owner);
	return code || !targets->workload ? code : look_at(targets->workload, &targets->owner);
}

/* --- files and workload ----------------------------------------------------------------------------------- */

int session_folder_take(struct session *session, int fd, uid_t uid)
{
	int r = outdir_take(&session->dir, fd, uid);

	if (r < 0) {
		log_err("the trace folder: %s", outdir_strerror(r));
		return EXIT_DLTRACED;
	}
	if (!space_is_memory(session->dir.fd))
		return 0;
	log_err("the trace folder is in memory (tmpfs), which would count as the service's and not as yours: choose a "
		"folder on a disk (-o DIR)");
	return EXIT_DLTRACED;
}

int session_workload_take(struct session *session, int pidfd)
{
	struct stat st;

	if (session->cfg->log) {
		session->workload_log_fd =
			openat(session->dir.fd, OUTDIR_LOG_NEW, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (session->workload_log_fd < 0 || fstat(session->workload_log_fd, &st) < 0 || !S_ISREG(st.st_mode)) {
			log_err("%s/" OUTDIR_LOG_NEW ": %s", session->dir.path, strerror(errno));
			util_close(&pidfd);
			return EXIT_DLTRACED;
		}
	}
	if (pidfd >= 0)
		workload_adopt(&session->workload, session->targets.workload, pidfd);
	return 0;
}

int session_watch(struct session *s, int fd, loop_fn fn)
{
	return loop_add(&s->loop, fd, EPOLLIN, fn, s);
}

void session_unwatch(struct session *s, int fd)
{
	loop_del(&s->loop, fd);
}

void session_workload_over(struct session *s, int fd)
{
	loop_del(&s->loop, fd);
	s->manifest.workload_end = session_now();
}

void session_workload_known(struct session *s, const struct workload_end *end)
{
	if (end)
		s->manifest.log_lost_bytes = end->lost;
	if (s->workload.ended || !s->workload.pid)
		return;
	s->manifest.status_unknown = !end;
	s->manifest.usage_unknown = !end || !end->usage;
	workload_adopted_end(&s->workload, end ? end->status : 0, end ? end->usage : NULL);
	watch_advance(s);
}

void session_is_over(struct session *s)
{
	s->phase = PHASE_OVER;
	watch_advance(s);
}
