/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace's start and end, in the order of the steps below; what happens in between is watch.c's. */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "background.h"
#include "cmd.h"
#include "collect.h"
#include "config.h"
#include "env.h"
#include "log.h"
#include "probe.h"
#include "report.h"
#include "session_state.h"
#include "util.h"

#define EXIT_NOT_EXECUTABLE 126 /* as the shell has it */
#define EXIT_NOT_FOUND 127

/* The workload's environment: its user's, where sudo had stripped it. */
static char *const *workload_environ(const struct session *s)
{
	return s->user.environ ? s->user.environ : environ;
}

/* --- start: each step says itself what failed and returns an exit status ---------------------------- */

static int step_user(struct session *s)
{
	int r = workload_user_get(&s->user, s->cfg->user);

	if (r < 0)
		log_err_r(r, "--user %s", s->cfg->user ? s->cfg->user : "");
	return r < 0 ? CMD_EXIT_FAILURE : 0;
}

/* Everything about the command that can be known before anything is touched. */
static int step_command(struct session *s)
{
	const char *path_entry = env_find(workload_environ(s), "PATH=");
	char path[4096], ours[4096];
	int r;

	if (s->user.lacks)
		log_warn("%s", s->user.lacks);
	if (!s->cfg->argv)
		return 0;
	r = workload_resolve(s->cfg->argv[0], path_entry ? path_entry + strlen("PATH=") : NULL, path, sizeof(path));
	if (r < 0) {
		log_err_r(r, "%s", s->cfg->argv[0]);
		return r == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	}
	if (s->user.sudo && !workload_resolve(s->cfg->argv[0], getenv("PATH"), ours, sizeof(ours)) &&
	    strcmp(path, ours))
		log_info("%s is %s, as in %s's PATH (root's has %s)", s->cfg->argv[0], path, s->user.name, ours);
	return 0;
}

static int step_machine(struct session *s)
{
	char error[512];

	if (tracer_check(error, sizeof(error)) < 0 && !s->cfg->best_effort) {
		log_err("%s", error);
		return CMD_EXIT_FAILURE;
	}
	return 0;
}

static int step_targets(struct session *s)
{
	char error[512];

	if (targets_resolve(&s->targets, s->cfg, error, sizeof(error)) < 0) {
		log_err("%s", error);
		return CMD_EXIT_FAILURE;
	}
	return 0;
}

static int step_folder(struct session *s)
{
	struct outdir_names names;
	char path[PATH_MAX];
	int r;

	outdir_names_init(&names, s->cfg->experiment, workload_environ(s), time(NULL));
	r = outdir_expand(s->cfg->out, &names, path, sizeof(path));
	if (r < 0) {
		log_err_r(r, "-o %s", s->cfg->out ? s->cfg->out : "(default)");
		return CMD_EXIT_FAILURE;
	}
	r = outdir_open(&s->dir, path, s->user.uid, s->user.gid, s->cfg->force);
	/* by a run of the same second, or by another rank on this host: no reason not to run the job */
	if (!s->cfg->out && (r == -EEXIST || r == -EBUSY)) {
		size_t len = strlen(path);

		snprintf(path + len, sizeof(path) - len, "_%s", names.pid);
		r = outdir_open(&s->dir, path, s->user.uid, s->user.gid, s->cfg->force);
	}
	if (r < 0)
		log_err("%s: %s", s->dir.path, outdir_strerror(r));
	return r < 0 ? CMD_EXIT_FAILURE : 0;
}

static int step_manifest(struct session *s)
{
	s->cwd = getcwd(NULL, 0);
	s->manifest = (struct manifest){
		.cmdline = s->argv, .environ = workload_environ(s), .cwd = s->cwd, .cfg = s->cfg,
	};
	return manifest_begin(&s->manifest) < 0 ? CMD_EXIT_FAILURE : 0;
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
		return CMD_EXIT_FAILURE;
	}
	return 0;
}

static int step_watch(struct session *s)
{
	int r = watch_setup(s);

	if (r < 0)
		log_err_r(r, "signals and timers");
	return r < 0 ? CMD_EXIT_FAILURE : 0;
}

/*
 * Before the rings are mapped: the log's relay outlives us and would keep their memory. Before we
 * raise our limit of open files too: the workload has the one that it was called with.
 */
static int step_fork(struct session *s)
{
	int r;

	if (!s->cfg->argv)
		return 0;
	if (s->cfg->log) {
		s->workload_log_fd = util_create_at(s->dir.fd, OUTDIR_LOG_NEW, O_APPEND);
		if (s->workload_log_fd < 0) {
			log_err_r(s->workload_log_fd, "%s/" OUTDIR_LOG_NEW, s->dir.path);
			return CMD_EXIT_FAILURE;
		}
	}
	r = workload_prepare(&s->workload, s->cfg->argv, &s->user, s->workload_log_fd);
	if (r < 0) {
		log_err_r(r, "cannot fork the workload");
		return CMD_EXIT_FAILURE;
	}
	if (s->cfg->log)
		relay_keep_free(&s->workload.relay, s->cfg->min_free_bytes);
	s->manifest.workload.pid = s->workload.pid;
	s->manifest.workload.user = s->user.name;
	return 0;
}

static int disk_dev(const char *name, uint32_t *dev_ret)
{
	autofree char *path = util_fmt("/sys/class/block/%s/dev", name);
	unsigned int major, minor;
	char line[32];
	int r = path ? util_read_line(path, line, sizeof(line)) : -ENOMEM;

	if (r < 0)
		return r;
	if (sscanf(line, "%u:%u", &major, &minor) != 2)
		return -EINVAL;
	*dev_ret = major << 20 | minor;
	return 0;
}

static void note_start(struct session *s)
{
	s->manifest.start = session_now();
	s->status.start_ns = s->manifest.start.mono_ns;
}

/* Tracing has failed with R for TEXT: keep that, and what would help. */
static int failed(struct session *s, int r, const char *text)
{
	struct rlimit limit = {};

	getrlimit(RLIMIT_NOFILE, &limit);
	if (r == -EMFILE)
		snprintf(s->why_not, sizeof(s->why_not), "%.600s: the hard limit of open files, %llu, is too low; raise it "
			 "(ulimit -Hn, or LimitNOFILE= of the service) to 1024 and 2 more for each CPU",
			 text, (unsigned long long)limit.rlim_max);
	else
		snprintf(s->why_not, sizeof(s->why_not), "%s", text);
	return r;
}

/* What can fail for a reason of this machine's is over when this returns. 0 or -errno. */
static int load(struct session *s)
{
	const struct config *cfg = s->cfg;
	struct tracer_options o = {
		.probes = cfg->probes,
		.buffer_bytes = cfg->buffer_bytes,
		.all = cfg->all,
		.no_args = cfg->no_args,
		.cgroups = cfg->cgroups.n || cfg->containers.n,
		.backends = cfg->backends,
		.best_effort = cfg->best_effort,
	};
	char text[256];
	int r = tracer_check(s->why_not, sizeof(s->why_not));

	if (r < 0)
		return r;
	for (unsigned int i = 0; i < cfg->containers.n; i++)
		o.new_containers |= !strcmp(cfg->containers.items[i], "new");
	for (unsigned int i = 0; i < cfg->disks.n; i++, o.n_disks++) {
		r = disk_dev(cfg->disks.items[i], &o.disks[i]);
		if (r < 0) {
			snprintf(text, sizeof(text), "--disk %s: not in /sys/class/block", cfg->disks.items[i]);
			return failed(s, r, text);
		}
	}
	r = tracer_load(&s->tracer, &o);
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (s->tracer.why[i] && !(s->tracer.probes >> i & 1))
			log_warn("%s is not traced: %s", probes[i]->name, s->tracer.why[i]);
	if (r < 0)
		return failed(s, r, s->tracer.error);
	r = targets_prepare(&s->targets, &s->tracer, cfg->delay_ns);
	if (r < 0) {
		snprintf(text, sizeof(text), "snapshot of what runs already: %s", strerror(-r));
		return failed(s, r, text);
	}
	return 0;
}

/* --compress, --rotate, --keep: who takes what is closed. 0 or -errno. */
static int prepare_keeper(struct session *s)
{
	const struct config *cfg = s->cfg;
	struct keeper_options o = { .pack = cfg->pack, .keep_bytes = cfg->keep_bytes };

	s->split = cfg->rotate_bytes || cfg->rotate_ns;
	return s->split ? keeper_init(&s->keeper, &o, s->dir.fd) : 0;
}

/* The trace's files; with --delay the target is followed from here on. 0 or -errno. */
static int prepare(struct session *s)
{
	char text[256];
	int r = prepare_keeper(s);

	if (!r)
		r = drain_open(&s->drain, s->cfg, &s->tracer, s->cfg->probes, s->dir.fd,
			       s->workload_log_fd >= 0 ? OUTDIR_LOG : NULL, s->split ? &s->keeper : NULL);
	if (r < 0) {
		snprintf(text, sizeof(text), "cannot write the trace: %s", strerror(-r));
		return failed(s, r, text);
	}
	tracer_exclude(&s->tracer, getpid());
	tracer_exclude(&s->tracer, s->workload.relay.pid);
	r = s->cfg->delay_ns ? tracer_follow(&s->tracer) : 0;
	if (r < 0)
		return failed(s, r, s->tracer.error);
	if (s->workload.pid)
		tracer_target_add(&s->tracer, s->workload.pid);
	return 0;
}

/* Collectors and drain on, hooks on, targets in. 0 or -errno. */
static int record(struct session *s)
{
	char text[512];
	int r;

	note_start(s); /* what came before has taken its time */
	s->collectors.split = s->split ? &s->drain.split : NULL;
	r = collectors_start(&s->collectors, s->cfg->collectors, s->cfg->interval_ns, s->dir.fd);
	for (unsigned int i = 0; !r && s->split && i < s->collectors.n; i++)
		if (s->collectors.c[i].sink.fd >= 0)
			keeper_add(&s->keeper, &s->collectors.c[i].sink, false);
	if (!r && s->split)
		r = keeper_start(&s->keeper);
	if (!r)
		r = collectors_watch(&s->collectors, &s->loop);
	if (!r)
		r = drain_start(&s->drain, &s->collectors);
	if (r < 0) {
		snprintf(text, sizeof(text), "cannot begin to write the trace: %s", strerror(-r));
		return failed(s, r, text);
	}
	for (unsigned int i = 0; i < s->collectors.n; i++)
		tracer_exclude(&s->tracer, s->collectors.c[i].pid);
	r = tracer_attach(&s->tracer);
	if (r < 0)
		return failed(s, r, s->tracer.error);
	if (s->tracer.uring_why && s->tracer.kernel.ids.io_ring_ctx)
		log_warn("requests of io_uring are not traced: %s", s->tracer.uring_why);
	r = targets_apply(&s->targets, &s->tracer, text, sizeof(text));
	return r < 0 ? failed(s, r, text) : 0;
}

/* Tracing has failed for s->why_not: nothing of it stays, but that the manifest will tell why. */
static void untrace(struct session *s)
{
	s->traced = false;
	targets_await_end(&s->targets, &s->loop);
	tracer_detach(&s->tracer);
	collectors_stop(&s->collectors, &s->loop);
	drain_free(&s->drain);
	keeper_free(&s->keeper);
	s->split = false;
	tracer_free(&s->tracer);
}

/* The same before the workload runs: only with --best-effort will it. 0 or an exit status. */
static int go_untraced(struct session *s)
{
	if (!s->cfg->best_effort || !s->cfg->argv) {
		log_err("%s", s->why_not);
		return CMD_EXIT_FAILURE;
	}
	log_warn("not traced: %s", s->why_not);
	untrace(s);
	return 0;
}

static int step_load(struct session *s)
{
	int r, loaded;

	note_start(s);
	util_raise_open_files(); /* a map, a program and a link of each hook, a ring of each CPU */
	loaded = load(s);
	if (loaded < 0) {
		r = go_untraced(s);
		if (r)
			return r;
	}
	r = outdir_clear(&s->dir);
	if (r < 0) {
		log_err_r(r, "%s: the old trace", s->dir.path);
		return CMD_EXIT_FAILURE;
	}
	if (loaded < 0)
		return 0;
	s->traced = true;
	return prepare(s) < 0 ? go_untraced(s) : 0;
}

int session_begin_tracing(struct session *s)
{
	int r = s->traced ? record(s) : 0;

	if (r < 0)
		return r;
	r = s->traced ? targets_await(&s->targets, &s->tracer, &s->loop) : 0;
	if (r < 0)
		return log_err_r(r, "waiting for containers");
	if (s->traced)
		watch_space(s);
	s->phase = PHASE_TRACING;
	return watch_arm(s, s->cfg->duration_ns);
}

int session_give_up(struct session *s, int r)
{
	bool runs = s->workload.pid && !s->workload.ended;

	log_err("%s%s", s->why_not, runs ? "; the workload goes on without a trace" : "");
	untrace(s);
	s->phase = runs ? PHASE_UNTRACED : PHASE_OVER;
	session_write_manifest(s, false);
	return s->workload.pid ? 0 : r;
}

/* The workload stands at its gate. */
static int step_begin(struct session *s)
{
	if (!s->cfg->delay_ns && session_begin_tracing(s) < 0) {
		int r = go_untraced(s);

		if (r)
			return r;
		s->phase = PHASE_TRACING;
	}
	return s->traced && session_write_manifest(s, false) < 0 ? CMD_EXIT_FAILURE : 0;
}

static int step_go(struct session *s)
{
	int r = 0;

	session_listen(s); /* before the workload runs: its first words may be `dltraced mark' */
	if (s->workload.pid) {
		s->manifest.workload.start = session_now();
		r = workload_go(&s->workload);
		if (r < 0) {
			log_err_r(r, "%s", s->cfg->argv[0]);
			return r == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
		}
		r = watch_workload(s);
	}
	if (!r && s->cfg->delay_ns)
		r = watch_arm(s, s->cfg->delay_ns);
	return r < 0 ? CMD_EXIT_FAILURE : 0;
}

static int (*const steps[])(struct session *s) = {
	step_user, step_command, step_machine, step_targets, step_folder, step_manifest, step_caches,
	step_watch, step_fork, step_load, step_begin, step_go,
};

/* --- end ------------------------------------------------------------------------------------------- */

/* What is closed by now is compressed, unless a signal asks for the end. */
static void finish_segments(struct session *s)
{
	uint64_t left;

	if (!s->split)
		return;
	if (__atomic_load_n(&s->keeper.waiting, __ATOMIC_RELAXED) > 1)
		log_info("compressing the rest; a signal leaves it as it is");
	left = keeper_finish(&s->keeper, s->signal_fd);
	keeper_say(&s->keeper, s->dir.path);
	if (left)
		log_warn("%llu parts of the trace in %s are not compressed", (unsigned long long)left, s->dir.path);
}

/* In this order: hooks off, helpers stopped (the drain reads their last words), rows written. */
void session_end_tracing(struct session *s)
{
	if (s->ended)
		return;
	s->ended = true;
	log_status(NULL);
	workload_await_output(&s->workload);
	targets_await_end(&s->targets, &s->loop);
	if (s->traced)
		tracer_detach(&s->tracer);
	collectors_stop(&s->collectors, &s->loop);
	if (s->traced) {
		drain_stop(&s->drain);
		finish_segments(s);
		escape_say(&s->drain.decode.escape, s->cfg);
		status_update(&s->status, &s->tracer, &s->drain);
		status_account(&s->status, &s->tracer);
		status_warn(&s->status, &s->drain, s->dir.path);
	}
	status_log(&s->status, s->workload.relay.log, s->dir.path);
	drain_free(&s->drain);
	collectors_free(&s->collectors);
	s->manifest.end = session_now();
	session_write_manifest(s, true);
	if (s->traced && !s->gone)
		status_summary(&s->status, s->tracer.probes, s->dir.path);
}

/* The workload's own status; without one, 0; when it goes on without us, that of the signal. */
static int exit_code(const struct session *s)
{
	if (!s->workload.pid)
		return 0;
	return s->workload.ended ? workload_exit_code(s->workload.status) : 128 + s->interrupt;
}

static int finish(struct session *s)
{
	int code = exit_code(s);
	char error[512];

	s->manifest.workload.status = s->workload.status;
	s->manifest.workload.exit_code = code;
	if (s->ended) { /* before the workload: its status was not known yet */
		workload_await_output(&s->workload);
		session_write_manifest(s, true);
	}
	session_end_tracing(s);
	if (s->gone)
		return code;
	if (s->cfg->collect.n &&
	    collect_files(&s->user, s->dir.path, s->dir.fd, &s->cfg->collect, error, sizeof(error)) < 0)
		log_warn("%s", error);
	if (s->cfg->archive && collect_archive(&s->user, s->dir.path, error, sizeof(error)) < 0)
		log_warn("%s", error);
	if (s->cfg->report && s->traced)
		report_summary(s->dir.path, stdout);
	return code;
}

static void session_free(struct session *s)
{
	if (s->loop.epoll_fd >= 0)
		collectors_stop(&s->collectors, &s->loop);
	drain_free(&s->drain);
	tracer_free(&s->tracer);
	keeper_free(&s->keeper);
	collectors_free(&s->collectors);
	workload_free(&s->workload);
	targets_free(&s->targets);
	manifest_free(&s->manifest);
	control_close(&s->control);
	loop_free(&s->loop);
	util_close(&s->signal_fd);
	util_close(&s->tick_fd);
	util_close(&s->phase_fd);
	util_close(&s->workload_log_fd);
	outdir_close(&s->dir);
	workload_user_free(&s->user);
	free(s->cwd);
}

int session_run(const struct config *cfg, char **argv)
{
	struct session s = {
		.cfg = cfg,
		.argv = argv,
		.dir.fd = -1,
		.workload = WORKLOAD_NONE,
		.loop.epoll_fd = -1,
		.signal_fd = -1,
		.tick_fd = -1,
		.phase_fd = -1,
		.workload_log_fd = -1,
	};
	int code = cfg->background ? background_start() : 0;

	if (code) /* the parent: the trace has started (-1), or an exit status */
		return code < 0 ? 0 : code;
	for (size_t i = 0; !code && i < ARRAY_SIZE(steps); i++)
		code = steps[i](&s);
	if (code) {
		/* nothing has run: leave nothing behind */
		tracer_detach(&s.tracer);
		outdir_discard(&s.dir);
	} else {
		background_ready(s.dir.fd, s.dir.path);
		code = loop_run(&s.loop) < 0 ? CMD_EXIT_FAILURE : 0;
		control_close(&s.control);
		code = finish(&s) ?: code;
	}
	session_free(&s);
	return code;
}
