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
#include "host/stall/process_reader.h"
#include "session/command.h"
#include "session/manifest.h"
#include "session/state.h"
#include "session/workload_environ.h"
#include "trace/config.h"

#define CALLS_END_MS 1000 /* a file system that answers needs less */
#define NOBODY 65534 /* where no user is called "nobody" */

/* --- a trace of the caller ------------------------------------------------------------------------------- */

static int own_user(struct session *s)
{
	int r = workload_user_get(&s->user, s->cfg->user);
	if (r < 0)
		log_err_r(r, "--user %s", s->cfg->user ? s->cfg->user : "");
	if (r == 0 && geteuid() && s->user.uid != geteuid()) {
		log_err("--user %s: only root can run a command as another user", s->cfg->user);
		r = -EPERM;
	}
	if (r == 0)
		r = workload_environ_set(s->cfg, &s->user);
	s->environ = s->user.environ ? s->user.environ : environ; /* under sudo, the one from before it */
	s->cwd = getcwd(NULL, 0);
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
 * Opens the folder as its user first, so that links lead only where the user may go; then as root, without following links.
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

int session_open_folder(struct outdir *d, const struct config *cfg, char *const *env, const struct workload_user *u)
{
	char path[PATH_MAX], why[PATH_MAX + 512];
	struct outdir_names names;
	int r;

	outdir_names_init(&names, cfg->experiment, env, time(NULL));
	r = outdir_expand(cfg->out, &names, path, sizeof(path));
	if (r < 0)
		return log_err_r(r, "-o %s", cfg->out ? cfg->out : "(default)");
	stall_guard_begin(path, STALL_GUARD_BY_SIGNAL);
	r = open_folder(d, cfg, path, u);
	/* a run in the same second, or another rank on this host, has the default name: take another, and run the job */
	if (!cfg->out && (r == -EEXIST || r == -EBUSY)) {
		size_t len = strlen(path);

		snprintf(path + len, sizeof(path) - len, "_%s", names.pid);
		r = open_folder(d, cfg, path, u);
	}
	if (r < 0) {
		outdir_explain(d, r, u->name, why, sizeof(why));
		log_err("%s: %s", d->path, why);
	}
	stall_guard_end();
	return r;
}

/*
 * A user's folder may be on a file server that gives root no rights (root_squash): only the user can make files there. Where
 * this process cannot become the user, root makes them.
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
 * The fork comes early for two reasons. The relay of the log is forked here, too, and outlives us: if the rings were mapped
 * already, it would keep their memory. And the workload must have the caller's limit of open files, which is raised later.
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

	if (!s->cfg->dry && tracer_check(error, sizeof(error)) < 0 && (!s->cfg->best_effort || s->kind->remote)) {
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

static int step_caches(struct session *s)
{
	autoclose int fd = -1;

	if (!s->cfg->drop_caches)
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
static void plan_privileges(struct session *s)
{
	const struct config *cfg = s->cfg;
	bool user_work = cfg->collect.n || cfg->archive, tools = !cfg->collectors || strcmp(cfg->collectors, "none");
	const struct privilege_needs needs = { .children = user_work || tools,
					       .user_work = user_work,
					       .files_of_others = cfg->metrics_file,
					       .quota = s->folder_watch.space.quota };

	privileges_plan(&s->privileges, &s->user, &needs);
	if (workload_user_get(&s->nobody, "nobody") < 0)
		s->nobody = (struct workload_user){ .uid = NOBODY, .gid = NOBODY };
}

/* It reads processes, and nothing else. */
static int confine_reader(void *ctx)
{
	const uint64_t caps = CAP_BIT(CAP_SYS_PTRACE) | CAP_BIT(CAP_DAC_READ_SEARCH);
	const struct session *s = ctx;

	return privileges_give_up(&s->privileges, true) ?: creds_caps(caps, caps, 0);
}

/* Like the fork of the workload: before anything large is mapped, but not before the relay is forked, which outlives us. */
static int step_reader(struct session *s)
{
	int r;

	plan_privileges(s);
	r = s->cfg->dry ? 0 : process_reader_begin(confine_reader, s);
	if (r < 0)
		log_err_r(r, "the process that reads other processes cannot be started");
	return r < 0 ? EXIT_DLTRACED : 0;
}

/* Begins to trace, while the workload waits at its gate. */
static int step_begin(struct session *s)
{
	int written;

	if (!s->cfg->delay_ns && session_begin_tracing(s) < 0) {
		int r = session_go_untraced(s);

		if (r)
			return r;
		s->phase = PHASE_TRACING;
	}
	/* the manifest that is written next describes the running trace, which has given them up */
	s->privileges.given_up = !s->cfg->delay_ns && !s->targets.wait;
	session_files_of_user(s);
	background_log(s->dir.fd);
	written = s->traced || s->cfg->dry ? session_write_manifest(s, false) : 0;
	session_files_done();
	return written < 0 ? EXIT_DLTRACED : 0;
}

static int step_go(struct session *s)
{
	int r = 0, code;

	creds_root();
	session_listen(s); /* before the workload runs: it may begin with `dltraced mark' */
	creds_user();
	if (s->workload.pid)
		s->manifest.workload_start = session_now();
	if (s->workload.pid && s->traced)
		tracer_target_release(&s->tracer, s->workload.pid);
	code = s->kind->go(s);
	if (code)
		return code;
	if (s->workload.pid)
		r = watch_workload(s);
	session_give_up_privileges(s);
	if (!r && s->cfg->delay_ns)
		r = watch_arm(s, s->cfg->delay_ns);
	session_metrics_write(s);
	return r < 0 ? EXIT_DLTRACED : 0;
}

/*
 * Returns 0, or an exit status when a signal asks for the end. From step_watch() on, signals are blocked, so each later step
 * calls this first. A trace without a command that has begun is a trace like any other: there the loop takes the signal.
 */
static int interrupted(const struct session *s)
{
	int code = s->phase == PHASE_TRACING && !s->workload.pid ? 0 : stall_guard_lost();

	if (code)
		log_info("ended by a signal during the start: nothing was run, nothing is traced");
	return code;
}

static int start(struct session *s)
{
	const struct session_kind *k = s->kind;
	int (*const steps[])(struct session *s) = {
		k->user, k->command, step_machine, k->targets, step_watch, session_metrics_begin, k->folder,
		step_manifest, step_caches, k->fork, step_reader, session_load, step_begin, step_go,
	};
	int code = 0;

	for (size_t i = 0; !code && i < ARRAY_SIZE(steps); i++) {
		code = interrupted(s);
		if (!code && steps[i])
			code = steps[i](s);
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
 * Names the cgroups and containers that were to be traced and never came. Returns the exit status: CODE, or, where nothing
 * else was to be traced, that of a trace that has failed.
 */
static int check_missing(const struct session *s, int code)
{
	struct dlt_stats stats[DLT_PROBES];
	char text[2048];

	if (!s->traced)
		return code;
	targets_missing(&s->targets, &s->tracer, text, sizeof(text));
	tracer_stats(&s->tracer, stats);
	if (*text && (s->workload.pid || stats[DLT_pids].seen)) {
		log_warn("%s never appeared while tracing: nothing of it is in the trace", text);
	} else if (*text) {
		log_err("nothing was traced: %s never appeared while tracing (`docker ps -a' or `podman ps -a' has names and ids of "
			"containers, /sys/fs/cgroup has cgroups)", text);
		return EXIT_DLTRACED;
	}
	return code;
}

/* Warns where the folder does not show how the trace ended: the last lines, which read it, would say that it goes on. */
static bool has_end(const struct session *s)
{
	if (s->writing.r < 0)
		log_warn("%s does not show how the trace ended, as its last manifest.json could not be written; `dltraced report' "
			 "shows what was written", s->dir.path);
	return s->writing.r >= 0;
}

static int finish(struct session *s)
{
	int code = session_exit_code(s);

	if (session_has_ended(s)) /* the trace ended before the workload: the manifest lacks the workload's status */
		session_end_again(s);
	session_end_tracing(s);
	if (s->folder.gone || session_is_stuck(s))
		return code;
	code = check_missing(s, code);
	command_finish(s->cfg, &s->user, &s->dir, code, (s->traced || s->cfg->dry) && has_end(s));
	return code;
}

static void session_free(struct session *s)
{
	session_live_end(s);
	if (s->loop.epoll_fd >= 0)
		collectors_stop(&s->collectors, &s->loop);
	drain_free(&s->drain);
	tracer_free(&s->tracer);
	archiver_free(&s->archiver);
	collectors_free(&s->collectors);
	workload_free(&s->workload);
	targets_free(&s->targets);
	json_free(&s->manifest.head);
	left_running_free(&s->left);
	session_metrics_free(s);
	control_close(&s->control);
	process_reader_end();
	loop_free(&s->loop);
	util_close(&s->signal_fd);
	util_close(&s->tick_fd);
	util_close(&s->interval_fd);
	util_close(&s->due_fd);
	util_close(&s->phase_fd);
	util_close(&s->workload_log_fd);
	async_call_free(&s->folder_watch.call);
	async_call_free(&s->writing.call);
	free(TAKE_PTR(s->writing.text));
	outdir_close(&s->dir);
	workload_user_free(&s->user);
	workload_user_free(&s->nobody);
	free(s->cwd);
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
 * Ends the process without freeing memory, as threads that hang in the kernel still use it. The process ends only when these
 * threads leave the kernel, perhaps never: so the processes that wait for us are released first.
 */
static __attribute__((noreturn)) void leave(struct session *s, int code)
{
	/* nothing joins these threads any more */
	if (s->drain.running)
		pthread_detach(s->drain.thread);
	if (s->archiver.running)
		pthread_detach(s->archiver.thread);
	fflush(stdout); /* the report */
	control_close(&s->control);
	if (s->kind->hang_up)
		s->kind->hang_up(s);
	proxy_leave(code);
	_exit(code);
}

/* Returns a session in which nothing is open yet, on the heap, as it is too large for small stacks (ulimit -s); or NULL. */
static struct session *session_new(const struct session_kind *kind, void *of, const struct config *cfg, char **argv)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->cfg = cfg;
	s->kind = kind;
	s->of = of;
	s->argv = argv;
	s->dir.fd = s->dir.parent_fd = -1;
	s->workload = (struct workload)WORKLOAD_NONE;
	s->loop.epoll_fd = -1;
	s->signal_fd = s->tick_fd = s->interval_fd = s->due_fd = s->phase_fd = s->workload_log_fd = -1;
	s->metrics_file = (struct new_file)NEW_FILE_NONE;
	s->metrics_writing.call = s->writing.call = (struct async_call)ASYNC_CALL_NONE;
	s->folder_watch = (struct folder_watch)FOLDER_WATCH_NONE;
	return s;
}

int session_run_as(const struct session_kind *kind, void *of, const struct config *cfg, char **argv)
{
	autofree struct session *s = session_new(kind, of, cfg, argv);
	int code;

	if (!s) {
		log_err_r(-ENOMEM, "a trace");
		return EXIT_DLTRACED;
	}
	caller_find(&s->caller); /* now: in the background, the process is in a new terminal session */
	s->status.by_config = s->caller.service;
	code = cfg->background ? background_start() : 0;
	if (code) /* the parent: the trace has started (-1), or an exit status */
		return code < 0 ? 0 : code;
	if (!kind->remote && !cfg->background && proxy_stand(cfg->out, &code))
		return code;
	code = start(s);
	if (code) {
		/* nothing has run: leave no files behind */
		tracer_detach(&s->tracer);
		stall_guard_begin(s->dir.path, code);
		if (!kind->remote) /* else the client undoes it */
			outdir_discard(&s->dir, collectors_file);
		stall_guard_end();
	} else {
		background_ready(s->dir.path,
				 !s->control.loop || s->control.fd < 0 ? BACKGROUND_NOT :
				 s->control.in_trace		     ? BACKGROUND_BY_FOLDER :
								       BACKGROUND_BY_NUMBER);
		async_log_begin();
		code = loop_run(&s->loop) < 0 ? EXIT_DLTRACED : 0;
		control_hide(&s->control); /* watchers still get the last view */
		code = finish(s) ?: code; /* cppcheck-suppress selfAssignment; it does not know ?: */
		if (s->control.in_trace && !session_is_stuck(s)) /* else the next client removes it */
			unlinkat(s->dir.fd, OUTDIR_SOCKET, 0);
	}
	async_log_end();
	if (session_is_stuck(s) || !calls_end(s))
		leave(s, code);
	session_free(s);
	return code;
}

int session_run(const struct config *cfg, char **argv)
{
	return session_run_as(&own, NULL, cfg, argv);
}
