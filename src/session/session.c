/* SPDX-License-Identifier: BSD-2-Clause */
/* The start and the end of a trace, as a list of steps. session_loop.c has the time in between. */
#include "session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/util.h"
#include "collectors/collectors.h"
#include "collectors/kinds.h"
#include "host/background.h"
#include "host/rights/creds.h"
#include "host/rights/privileges.h"
#include "host/rights/workload_user.h"
#include "host/stall/async_log.h"
#include "host/stall/guard.h"
#include "host/stall/proxy.h"
#include "host/stall/hold_reader.h"
#include "host/stall/process_reader.h"
#include "session/command.h"
#include "session/manifest.h"
#include "session/state.h"
#include "session/workload_environ.h"
#include "trace/config.h"

#define CALLS_END_MS 1000 /* a file system that answers needs less */
#define NOBODY 65534 /* where no user is called "nobody" */

/* --- a trace of the caller ------------------------------------------------------------------------------- */

static int own_user(struct session *session)
{
	int r = workload_user_get(&session->user, session->cfg->user);
	if (r < 0)
		log_err_r(r, "--user %s", session->cfg->user ? session->cfg->user : "");
	if (r == 0 && geteuid() && session->user.uid != geteuid()) {
		log_err("--user %s: only root can run a command as another user", session->cfg->user);
		r = -EPERM;
	}
	if (r == 0)
		r = workload_environ_set(session->cfg, &session->user);
	session->environ =
		session->user.environ ? session->user.environ : environ; /* under sudo, the one from before it */
	session->cwd = getcwd(NULL, 0);
	return r < 0 ? EXIT_DLTRACED : 0;
}

static int own_command(struct session *s)
{
	return command_look(s->cfg, &s->user);
}

static int own_targets(struct session *s)
{
	char error[512];

	if (targets_resolve(&s->targets, s->cfg, error, sizeof(error)) < 0) {
		log_err("%s", error);
		return EXIT_DLTRACED;
	}
	return 0;
}

/*
 * Opens the folder as its user first, so that links lead only where the user may go; then as root, without following
 * links.
 */
static int open_folder(struct outdir *d, const struct config *cfg, const char *path, const struct workload_user *u)
{
	int r = privileges_as_user(u);

	if (r == 0)
		r = outdir_open(d, path, u->uid, u->gid, cfg->force);
	privileges_as_root();
	if ((r == -EACCES || r == -EPERM) && u->uid != geteuid())
		r = outdir_open(d, path, u->uid, u->gid, cfg->force);
	return r;
}

int session_open_folder(struct outdir *outdir, const struct config *cfg, char *const *env,
			const struct workload_user *user)
{
	char path[PATH_MAX], why[PATH_MAX + 512];
	struct outdir_names names;
	int r;

	outdir_names_init(&names, cfg->experiment, env, time(NULL));
	r = outdir_expand(cfg->out, &names, path, sizeof(path));
	if (r < 0)
		return log_err_r(r, "-o %s", cfg->out ? cfg->out : "(default)");
	if (cfg->archive)
		path[outdir_stem(path)] = '\0';
	stall_guard_begin(path, STALL_GUARD_BY_SIGNAL);
	r = open_folder(outdir, cfg, path, user);
	/* a run in the same second, or another rank on this host, has the default name: take another, and run the job
	 */
	if (!cfg->out && (r == -EEXIST || r == -EBUSY)) {
		size_t len = strlen(path);

		snprintf(path + len, sizeof(path) - len, "_%s", names.pid);
		r = open_folder(outdir, cfg, path, user);
	}
	if (r < 0) {
		outdir_explain(outdir, r, user->name, why, sizeof(why));
		log_err("%s: %s", outdir->path, why);
	}
	stall_guard_end();
	return r;
}

/*
 * A user's folder may be on a file server that gives root no rights (root_squash): only the user can make files there.
 * Where this process cannot become the user, root makes them.
 */
void session_files_of_user(const struct session *s)
{
	bool runs = s->workload.started && !s->workload.adopted; /* with --delay */
	int r;

	stall_guard_begin(s->dir.path, runs ? STALL_GUARD_REPORTS : STALL_GUARD_BY_SIGNAL);
	r = privileges_as_user(&s->user);
	if (r < 0)
		log_debug("files are made as root: %s", strerror(-r));
}

void session_files_done(void)
{
	privileges_as_root();
	stall_guard_end();
}

static int own_folder(struct session *s)
{
	return session_open_folder(&s->dir, s->cfg, s->environ, &s->user) < 0 ? EXIT_DLTRACED : 0;
}

/*
 * The fork comes early for two reasons. The relay of the log is forked here, too, and outlives us: if the rings were
 * mapped already, it would keep their memory. And the workload must have the caller's limit of open files, which is
 * raised later.
 */
static int own_fork(struct session *s)
{
	return s->cfg->argv ? command_fork(&s->workload, s->cfg, &s->user, &s->dir, &s->workload_log_fd) : 0;
}

static int own_go(struct session *s)
{
	return s->workload.pid ? command_go(&s->workload, s->cfg, &s->user) : 0;
}

static void own_workload_ended(struct session *s, int fd)
{
	if (!workload_reap(&s->workload))
		return;
	loop_del(&s->loop, fd);
	s->manifest.workload_end = session_now();
}

static const struct session_kind own = {
	.user = own_user,
	.command = own_command,
	.targets = own_targets,
	.folder = own_folder,
	.fork = own_fork,
	.go = own_go,
	.workload_ended = own_workload_ended,
};

/* --- start: each step logs what failed and returns an exit status --------------------------------------- */

static int step_machine(struct session *s)
{
	char error[512];

	if (tracer_check(error, sizeof(error)) < 0 && (!s->cfg->best_effort || s->kind->remote)) {
		log_err("%s", error);
		return EXIT_DLTRACED;
	}
	return 0;
}

static int step_manifest(struct session *s)
{
	return manifest_begin(s) < 0 ? EXIT_DLTRACED : 0;
}

static int step_watch(struct session *s)
{
	int r = watch_setup(s);

	if (r < 0)
		log_err_r(r, "signals and timers");
	return r < 0 ? EXIT_DLTRACED : 0;
}

static int step_caches(struct session *session)
{
	autoclose int fd = -1;

	if (!session->cfg->drop_caches)
		return 0;
	sync(); /* dirty pages cannot be dropped */
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "3", 1) != 1) {
		log_err_r(-errno, "--drop-caches: /proc/sys/vm/drop_caches");
		return EXIT_DLTRACED;
	}
	return 0;
}

/* Plans the privileges that are kept once the hooks are on, and the user of the tools. */
static void plan_privileges(struct session *session)
{
	const struct config *cfg = session->cfg;
	bool user_work = cfg->collect.n || cfg->archive, tools = !cfg->collectors || strcmp(cfg->collectors, "none");
	const struct privilege_needs needs = { .children = user_work || tools,
					       .user_work = user_work,
					       .files_of_others = cfg->metrics_file,
					       .quota = session->folder_watch.space.quota };

	privileges_plan(&session->privileges, &session->user, &needs);
	if (workload_user_get(&session->nobody, "nobody") < 0)
		session->nobody = (struct workload_user){ .uid = NOBODY, .gid = NOBODY };
}

/* It reads processes, and nothing else. */
static int confine_reader(void *ctx)
{
	const uint64_t caps = CAP_BIT(CAP_SYS_PTRACE) | CAP_BIT(CAP_DAC_READ_SEARCH);
	const struct session *s = ctx;

	return privileges_give_up(&s->privileges, true) ?: creds_caps(caps, caps, 0);
}

/* Like the fork of the workload: before anything large is mapped, but not before the relay is forked, which outlives
 * us. */
static int step_reader(struct session *s)
{
	int r;

	plan_privileges(s);
	r = process_reader_begin(confine_reader, s);
	if (r < 0)
		log_err_r(r, "the process that reads other processes cannot be started");
	else if (hold_reader_begin(confine_reader, s) < 0)
		log_debug("who can end a wait will not be known: its process cannot be started");
	return r < 0 ? EXIT_DLTRACED : 0;
}

/* Reads what the job may use, before it runs. Its root is its own: a file server may be there. */
static void read_allowance(struct session *session)
{
	pid_t pid = session->workload.pid;

	if (!pid && session->targets.n_roots)
		pid = session->targets.roots[0].pid;
	if (!pid)
		return;
	stall_guard_begin("/dev/shm", STALL_GUARD_BY_SIGNAL);
	allowance_read(&session->manifest.allowed, pid, session->workload.pid);
	stall_guard_end();
	cgroup_limits_read(&session->manifest.limits, pid);
}

/* Begins to trace, while the workload waits at its gate. */
static int step_begin(struct session *session)
{
	int written;

	read_allowance(session);
	if (!session->cfg->delay_ns && session_begin_tracing(session) < 0) {
		int r = session_go_untraced(session);

		if (r)
			return r;
		session->phase = PHASE_TRACING;
	}
	/* the manifest that is written next describes the running trace, which has given them up */
	session->privileges.given_up = !session->cfg->delay_ns && !session->targets.wait;
	session_files_of_user(session);
	background_log(session->dir.fd);
	written = session->traced ? session_write_manifest(session, false) : 0;
	session_files_done();
	return written < 0 ? EXIT_DLTRACED : 0;
}

static int step_go(struct session *session)
{
	int r = 0, code;

	creds_root();
	session_listen(session); /* before the workload runs: it may begin with `dltraced mark' */
	creds_user();
	if (session->workload.pid)
		session->manifest.workload_start = session_now();
	if (session->workload.pid && session->traced)
		tracer_target_release(&session->tracer, session->workload.pid);
	code = session->kind->go(session);
	if (code)
		return code;
	if (session->workload.pid)
		r = watch_workload(session);
	session_give_up_privileges(session);
	if (!r && session->cfg->delay_ns)
		r = watch_arm(session, session->cfg->delay_ns);
	session_metrics_write(session);
	return r < 0 ? EXIT_DLTRACED : 0;
}

/*
 * Returns 0, or an exit status when a signal asks for the end. From step_watch() on, signals are blocked, so each later
 * step calls this first. A trace without a command that has begun is a trace like any other: there the loop takes the
 * signal.
 */
static int interrupted(const struct session *s)
{
	int code = s->phase == PHASE_TRACING && !s->workload.pid ? 0 : stall_guard_lost();

	if (code)
		log_info("ended by a signal during the start: nothing was run, nothing is traced");
	return code;
}

static int start(struct session *session)
{
	const struct session_kind *kind = session->kind;
	int (*const steps[])(struct session * s) = {
		kind->user,   kind->command, step_machine, kind->targets, step_watch,  session_metrics_begin,
		kind->folder, step_manifest, step_caches,  kind->fork,    step_reader, session_load,
		step_begin,   step_go,
	};
	int code = 0;

	for (size_t i = 0; !code && i < ARRAY_SIZE(steps); i++) {
		code = interrupted(session);
		if (!code && steps[i])
			code = steps[i](session);
	}
	return code;
}

/* --- end ------------------------------------------------------------------------------------------- */

int session_exit_code(const struct session *s)
{
	if (!s->workload.pid)
		return 0;
	return s->workload.ended ? exit_code_of(s->workload.status) : 128 + s->end.by.signal;
}

/*
 * Names the cgroups and containers that were to be traced and never came. Returns the exit status: CODE, or, where
 * nothing else was to be traced, that of a trace that has failed.
 */
static int check_missing(const struct session *session, int code)
{
	struct dlt_stats stats[DLT_PROBES];
	char text[2048];

	if (!session->traced)
		return code;
	targets_missing(&session->targets, &session->tracer, text, sizeof(text));
	tracer_stats(&session->tracer, stats);
	if (*text && (session->workload.pid || stats[DLT_pids].seen)) {
		log_warn("%s never appeared while tracing: nothing of it is in the trace", text);
	} else if (*text) {
		log_err("nothing was traced: %s never appeared while tracing (`docker ps -a' or `podman ps -a' has "
			"names and ids of containers, /sys/fs/cgroup has cgroups)",
			text);
		return EXIT_DLTRACED;
	}
	return code;
}

/* Warns where the folder does not show how the trace ended: the last lines, which read it, would say that it goes on.
 */
static bool has_end(const struct session *s)
{
	if (s->writing.r < 0)
		log_warn("%s does not show how the trace ended, as its last manifest.json could not be written; "
			 "`dltraced report' shows what was written",
			 s->dir.path);
	return s->writing.r >= 0;
}

static int finish(struct session *session)
{
	int code = session_exit_code(session);

	if (session_has_ended(
		    session)) /* the trace ended before the workload: the manifest lacks the workload's status */
		session_end_again(session);
	session_end_tracing(session);
	if (session->folder.gone || session_is_stuck(session))
		return code;
	code = check_missing(session, code);
	command_finish(session->cfg, &session->user, &session->dir, code, session->traced && has_end(session));
	return code;
}

static void session_free(struct session *session)
{
	session_live_end(session);
	if (session->loop.epoll_fd >= 0)
		collectors_stop(&session->collectors, &session->loop);
	drain_free(&session->drain);
	tracer_free(&session->tracer);
	archiver_free(&session->archiver);
	collectors_free(&session->collectors);
	workload_free(&session->workload);
	targets_free(&session->targets);
	json_free(&session->manifest.head);
	cgroup_limits_free(&session->manifest.limits);
	left_running_free(&session->left);
	hung_free(&session->hung);
	session_metrics_free(session);
	control_close(&session->control);
	process_reader_end();
	hold_reader_end();
	loop_free(&session->loop);
	util_close(&session->signal_fd);
	util_close(&session->tick_fd);
	util_close(&session->interval_fd);
	util_close(&session->due_fd);
	util_close(&session->phase_fd);
	util_close(&session->workload_log_fd);
	async_call_free(&session->folder_watch.call);
	async_call_free(&session->writing.call);
	free(TAKE_PTR(session->writing.text));
	outdir_close(&session->dir);
	workload_user_free(&session->user);
	workload_user_free(&session->nobody);
	free(session->cwd);
}

/* Waits for calls in other threads, which use S on this thread's stack. Returns whether all of them have ended. */
static bool calls_end(struct session *s)
{
	struct async_call *const calls[] = { &s->folder_watch.call, &s->writing.call, &s->metrics_writing.call };
	bool ended = true;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		ended = async_call_wait(calls[i], CALLS_END_MS) && ended;
	return ended;
}

/*
 * Ends the process without freeing memory, as threads that hang in the kernel still use it. The process ends only when
 * these threads leave the kernel, perhaps never: so the processes that wait for us are released first.
 */
static __attribute__((noreturn)) void leave(struct session *session, int code)
{
	/* nothing joins these threads any more */
	if (session->drain.running)
		pthread_detach(session->drain.thread);
	if (session->archiver.running)
		pthread_detach(session->archiver.thread);
	fflush(stdout); /* the report */
	control_close(&session->control);
	if (session->kind->hang_up)
		session->kind->hang_up(session);
	proxy_leave(code);
	_exit(code);
}

/* Returns a session in which nothing is open yet, on the heap, as it is too large for small stacks (ulimit -s); or
 * NULL. */
static struct session *session_new(const struct session_kind *kind, void *of, const struct config *cfg, char **argv)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	session->cfg = cfg;
	session->kind = kind;
	session->of = of;
	session->argv = argv;
	session->dir.fd = session->dir.parent_fd = -1;
	session->workload = (struct workload)WORKLOAD_NONE;
	session->loop.epoll_fd = -1;
	session->signal_fd = session->tick_fd = session->interval_fd = session->due_fd = session->phase_fd =
		session->workload_log_fd = -1;
	session->metrics_file = (struct new_file)NEW_FILE_NONE;
	session->metrics_writing.call = session->writing.call = (struct async_call)ASYNC_CALL_NONE;
	session->folder_watch = (struct folder_watch)FOLDER_WATCH_NONE;
	return session;
}

/* Returns how other commands reach the trace. */
static enum background_reach reach_of(const struct control *c)
{
	if (!c->loop || c->fd < 0)
		return BACKGROUND_NOT;
	return c->in_trace ? BACKGROUND_BY_FOLDER : BACKGROUND_BY_NUMBER;
}

int session_run_as(const struct session_kind *kind, void *of, const struct config *cfg, char **argv)
{
	autofree struct session *session = session_new(kind, of, cfg, argv);
	int code;

	if (!session) {
		log_err_r(-ENOMEM, "a trace");
		return EXIT_DLTRACED;
	}
	caller_find(&session->caller); /* now: in the background, the process is in a new terminal session */
	session->status.by_config = session->caller.service;
	code = cfg->background ? background_start() : 0;
	if (code) /* the parent: the trace has started (-1), or an exit status */
		return code < 0 ? 0 : code;
	if (!kind->remote && !cfg->background && proxy_stand(cfg->out, &code))
		return code;
	code = start(session);
	if (code) {
		/* nothing has run: leave no files behind */
		tracer_detach(&session->tracer);
		stall_guard_begin(session->dir.path, code);
		if (!kind->remote) /* else the client undoes it */
			outdir_discard(&session->dir, collectors_file);
		stall_guard_end();
	} else {
		background_ready(session->dir.path, reach_of(&session->control));
		async_log_begin();
		code = loop_run(&session->loop) < 0 ? EXIT_DLTRACED : 0;
		control_hide(&session->control); /* watchers still get the last view */
		code = finish(session) ?: code; /* cppcheck-suppress selfAssignment; it does not know ?: */
		if (session->control.in_trace && !session_is_stuck(session)) /* else the next client removes it */
			unlinkat(session->dir.fd, OUTDIR_SOCKET, 0);
	}
	async_log_end();
	if (session_is_stuck(session) || !calls_end(session))
		leave(session, code);
	session_free(session);
	return code;
}

int session_run(const struct config *cfg, char **argv)
{
	return session_run_as(&own, NULL, cfg, argv);
}
