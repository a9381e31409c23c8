/* SPDX-License-Identifier: BSD-2-Clause */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "background.h"
#include "cmd.h"
#include "collect.h"
#include "collector_kinds.h"
#include "collectors.h"
#include "config.h"
#include "drain.h"
#include "env.h"
#include "loop.h"
#include "log.h"
#include "machine.h"
#include "manifest.h"
#include "outdir.h"
#include "probe.h"
#include "report.h"
#include "status.h"
#include "target.h"
#include "tracer.h"
#include "util.h"
#include "workload.h"

#define WORKLOAD_LOG "workload.log"
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127
#define MIN_FREE_BYTES (2ULL << 30)
#define MIN_FREE_PERCENT 2

enum phase {
	PHASE_DELAY,	 /* the workload runs, tracing begins later */
	PHASE_TRACING,
	PHASE_LINGER,	 /* the targets have ended */
	PHASE_UNTRACED,	 /* the trace has ended, the workload goes on */
	PHASE_OVER,
};

struct session {
	const struct config *cfg;
	char **argv;
	enum phase phase;
	struct workload_user user;
	struct outdir dir;
	struct targets targets;
	struct tracer tracer;
	struct collectors collectors;
	struct drain drain;
	struct workload workload;
	struct manifest manifest;
	struct status status;
	struct loop loop;
	int signal_fd, tick_fd, phase_fd; /* PHASE_FD: --delay, --duration, --linger, one after the other */
	int workload_log_fd;
	bool traced; /* false under --best-effort where nothing can be traced */
	bool paused; /* below --min-free */
	unsigned int interrupts;
	int last_interrupt; /* SIGINT or SIGTERM */
	const char *why; /* tracing ended early for this reason */
	char *cwd;
};

/* --- files and space ------------------------------------------------------------------------------- */

/* The default is the larger of 2 % and 2 GiB, so that root's reserve and others' work are safe. */
static void check_space(struct session *s)
{
	struct statvfs fs;
	uint64_t free_bytes, least;

	if (fstatvfs(s->dir.fd, &fs) < 0)
		return;
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	least = s->cfg->min_free_bytes;
	if (least == UINT64_MAX)
		least = MAX((uint64_t)fs.f_blocks * fs.f_frsize * MIN_FREE_PERCENT / 100, MIN_FREE_BYTES);
	if (!s->paused && free_bytes < least) {
		log_warn("only %llu MiB free in %s (--min-free is %llu MiB): rows are counted as lost until there is space",
			 (unsigned long long)free_bytes >> 20, s->dir.path, (unsigned long long)least >> 20);
		s->paused = true;
		drain_pause(&s->drain, true);
	} else if (s->paused && free_bytes > least + least / 16) {
		log_info("space in %s again: writing goes on", s->dir.path);
		s->paused = false;
		drain_pause(&s->drain, false);
	}
}

static int drop_caches(void)
{
	autoclose int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	sync(); /* dirty pages cannot be dropped */
	if (fd < 0 || write(fd, "3", 1) != 1)
		return log_err_r(-errno, "--drop-caches: /proc/sys/vm/drop_caches");
	return 0;
}

/* --- manifest -------------------------------------------------------------------------------------- */

static int write_manifest(struct session *s, bool complete)
{
	struct manifest_probe_row rows[DLT_PROBES];
	struct manifest_collector_row collectors[COLLECTORS_MAX];
	struct manifest *m = &s->manifest;
	int r;

	m->probes = rows;
	m->n_probes = 0;
	for (unsigned int i = 1; s->traced && i < DLT_PROBES; i++) {
		const struct status_probe *p = &s->status.probes[i];

		if (!(s->tracer.probes >> i & 1) && i != DLT_files && i != DLT_pids && !s->tracer.why[i])
			continue;
		rows[m->n_probes++] = (struct manifest_probe_row){
			.name = probes[i]->name,
			.backend = s->tracer.why[i] ? "none" : probes[i]->open ? "tracepoint" : "user",
			.why = s->tracer.why[i],
			.calls = p->calls,
			.rows = p->rows,
			.lost = p->lost,
			.late = p->late,
			.unmatched = p->unmatched,
			.filtered = p->filtered,
			.bytes = p->bytes,
		};
	}
	m->collectors = collectors;
	m->n_collectors = s->collectors.n;
	for (unsigned int i = 0; i < s->collectors.n; i++) {
		const struct collector *c = &s->collectors.c[i];

		collectors[i] = (struct manifest_collector_row){
			.name = c->kind->name, .file = c->kind->file, .state = c->state,
		};
	}
	m->n_rings = s->tracer.n_rings;
	m->ring_bytes = s->tracer.ring_bytes;
	m->ring_reserve_bytes = s->tracer.cfg.ring_reserve;
	m->written_bytes = s->status.bytes;
	if (s->tracer.shared)
		m->compat_calls = s->tracer.shared->compat;
	r = manifest_write(m, s->dir.fd, complete);
	m->probes = NULL;
	m->collectors = NULL;
	return r < 0 ? log_err_r(r, "%s/manifest.json", s->dir.path) : 0;
}

static struct manifest_time now(void)
{
	return (struct manifest_time){ clock_now_ns(CLOCK_MONOTONIC), clock_now_ns(CLOCK_REALTIME) };
}

/* --- start ----------------------------------------------------------------------------------------- */

/* The workload's environment: its user's, where sudo had stripped it. */
static char *const *workload_environ(const struct session *s)
{
	return s->user.environ ? s->user.environ : environ;
}

/* Everything about the command that can be known before anything is touched. */
static int check_command(struct session *s)
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

static int open_folder(struct session *s)
{
	struct outdir_names names;
	char path[PATH_MAX];
	int r;

	outdir_names_init(&names, s->cfg->experiment, workload_environ(s), time(NULL));
	r = outdir_expand(s->cfg->out, &names, path, sizeof(path));
	if (r < 0)
		return log_err_r(r, "-o %s", s->cfg->out ? s->cfg->out : "(default)");
	r = outdir_open(&s->dir, path, s->user.uid, s->user.gid, s->cfg->force);
	if (r < 0)
		log_err("%s: %s", path, outdir_strerror(r));
	return r;
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

/* Load, start the drain, attach. On failure the reason is in ERROR. */
static int start_tracing(struct session *s, char *error, size_t size)
{
	const struct config *cfg = s->cfg;
	struct tracer_options o = {
		.probes = cfg->probes,
		.buffer_bytes = cfg->buffer_bytes,
		.all = cfg->all,
		.no_args = cfg->no_args,
		.cgroups = cfg->cgroups.n || cfg->containers.n,
		.best_effort = cfg->best_effort,
	};
	int r = tracer_check(error, size);

	if (r < 0)
		return r;
	for (unsigned int i = 0; i < cfg->containers.n; i++)
		o.new_containers |= !strcmp(cfg->containers.items[i], "new");
	for (unsigned int i = 0; i < cfg->disks.n; i++, o.n_disks++) {
		r = disk_dev(cfg->disks.items[i], &o.disks[i]);
		if (r < 0) {
			snprintf(error, size, "--disk %s: not in /sys/class/block", cfg->disks.items[i]);
			return r;
		}
	}
	r = tracer_load(&s->tracer, &o);
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (s->tracer.why[i])
			log_warn("%s is not traced: %s", probes[i]->name, s->tracer.why[i]);
	if (!r) {
		r = drain_start(&s->drain, cfg, &s->tracer, &s->collectors, cfg->probes, s->dir.fd,
				s->workload_log_fd >= 0 ? WORKLOAD_LOG : NULL);
		if (r < 0)
			snprintf(s->tracer.error, sizeof(s->tracer.error), "cannot write the trace: %s", strerror(-r));
	}
	if (!r) {
		tracer_exclude(&s->tracer, getpid());
		tracer_exclude(&s->tracer, s->workload.relay_pid);
		for (unsigned int i = 0; i < s->collectors.n; i++)
			tracer_exclude(&s->tracer, s->collectors.c[i].pid);
		r = tracer_attach(&s->tracer);
	}
	if (r < 0)
		snprintf(error, size, "%s", s->tracer.error);
	return r;
}

static int arm_phase(struct session *s, uint64_t ns);

static int begin_tracing(struct session *s)
{
	char error[512];
	int r = targets_apply(&s->targets, &s->tracer, error, sizeof(error));

	if (r < 0) {
		log_err("%s", error);
		return r;
	}
	s->phase = PHASE_TRACING;
	return arm_phase(s, s->cfg->duration_ns);
}

/* --- the loop -------------------------------------------------------------------------------------- */

static int arm_phase(struct session *s, uint64_t ns)
{
	struct itimerspec it = { .it_value = { (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) } };

	return timerfd_settime(s->phase_fd, 0, &it, NULL) < 0 ? -errno : 0;
}

static bool targets_ended(const struct session *s)
{
	const struct config *cfg = s->cfg;
	bool other = cfg->all || cfg->cgroups.n || cfg->containers.n;

	if (s->workload.pid && !s->workload.ended)
		return false;
	if (!s->traced)
		return true;
	if (other)
		return s->workload.pid && !cfg->wait_all && !cfg->n_pids; /* else until stopped */
	return s->workload.pid && !cfg->wait_all && !cfg->n_pids ? true : !tracer_live(&s->tracer);
}

static void end_tracing(struct session *s);

/* Go on to the next phase when this one's condition has come. */
static void advance(struct session *s)
{
	bool ended = s->phase != PHASE_OVER && targets_ended(s);

	if (ended && (s->phase == PHASE_TRACING || s->phase == PHASE_DELAY)) {
		if (s->cfg->linger_ns && s->traced) {
			s->phase = PHASE_LINGER;
			log_info("the targets have ended; tracing write-back for %llu s more",
				 (unsigned long long)(s->cfg->linger_ns / NSEC_PER_SEC));
			arm_phase(s, s->cfg->linger_ns);
		} else {
			s->phase = PHASE_OVER;
		}
	} else if (ended && s->phase == PHASE_UNTRACED) {
		s->phase = PHASE_OVER;
	}
	if (s->phase == PHASE_OVER)
		loop_quit(&s->loop);
}

/* The trace ends here; with a workload that still runs, dltraced stays for its status. */
static void stop_trace(struct session *s, const char *why)
{
	if (s->phase >= PHASE_UNTRACED)
		return;
	s->why = why;
	s->phase = PHASE_UNTRACED;
	if (!s->workload.pid || s->workload.ended) {
		s->phase = PHASE_OVER;
		return;
	}
	log_info("%s: the trace has ended, the workload goes on", why);
	end_tracing(s);
}

static int on_phase(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;
	uint64_t n;
	int r = 0;

	if (read(fd, &n, sizeof(n)) < 0)
		return 0;
	if (s->phase == PHASE_DELAY) {
		r = s->traced && s->workload.pid && !s->workload.ended ?
			targets_add_tree(&s->tracer, s->workload.pid) : 0;
		if (!r)
			r = begin_tracing(s);
	} else if (s->phase == PHASE_TRACING) {
		stop_trace(s, "--duration is over");
	} else if (s->phase == PHASE_LINGER) {
		if (!machine_dirty_bytes("", &n))
			log_info("%llu MiB are still dirty", (unsigned long long)n >> 20);
		s->phase = PHASE_OVER;
	}
	advance(s);
	return r;
}

static int on_tick(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0)
		return 0;
	if (s->traced && s->phase < PHASE_UNTRACED) {
		check_space(s);
		status_update(&s->status, &s->tracer, &s->drain);
		status_warn(&s->status, &s->drain, s->dir.path);
		status_line(&s->status);
		escape_say(&s->drain.decode.escape, s->cfg);
	}
	advance(s);
	return 0;
}

static int on_workload(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;

	if (workload_reap(&s->workload)) {
		loop_del(&s->loop, fd);
		s->manifest.workload.end = now();
	}
	advance(s);
	return 0;
}

static int on_signal(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;
	struct signalfd_siginfo si;
	bool alive = s->workload.pid && !s->workload.ended;

	if (read(fd, &si, sizeof(si)) != sizeof(si))
		return 0;
	if (si.ssi_signo == SIGINT || si.ssi_signo == SIGTERM) {
		s->interrupts++;
		s->last_interrupt = (int)si.ssi_signo;
	}
	if (!alive || s->interrupts > 1) {
		if (si.ssi_signo == SIGINT || si.ssi_signo == SIGTERM) {
			s->why = strsignal((int)si.ssi_signo);
			s->phase = PHASE_OVER;
			loop_quit(&s->loop);
		}
		return 0;
	}
	/* ^C has reached the workload through the terminal; a signal that was sent has not */
	if (si.ssi_signo != SIGINT || si.ssi_code == SI_USER)
		workload_signal(&s->workload, (int)si.ssi_signo);
	return 0;
}

static int setup_loop(struct session *s)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	sigset_t mask;
	int r = loop_init(&s->loop);

	if (r < 0)
		return r;
	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&mask, signals[i]);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	s->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	s->tick_fd = loop_timerfd(NSEC_PER_SEC, NSEC_PER_SEC);
	s->phase_fd = loop_timerfd(0, 0);
	if (s->signal_fd < 0)
		return -errno;
	r = loop_add(&s->loop, s->signal_fd, EPOLLIN, on_signal, s);
	if (!r)
		r = loop_add(&s->loop, s->tick_fd, EPOLLIN, on_tick, s);
	if (!r)
		r = loop_add(&s->loop, s->phase_fd, EPOLLIN, on_phase, s);
	return r;
}

/* --- end ------------------------------------------------------------------------------------------- */

/* In this order: hooks off, helpers stopped (the drain reads their last words), rows written. */
static void end_tracing(struct session *s)
{
	log_status(NULL);
	if (!s->traced) {
		collectors_stop(&s->collectors, &s->loop);
		return;
	}
	tracer_detach(&s->tracer);
	collectors_stop(&s->collectors, &s->loop);
	drain_stop(&s->drain);
	escape_say(&s->drain.decode.escape, s->cfg);
	status_update(&s->status, &s->tracer, &s->drain);
	status_account(&s->status, &s->tracer);
	status_warn(&s->status, &s->drain, s->dir.path);
	s->manifest.end = now();
}

static int finish(struct session *s, int code)
{
	char error[512];

	if (s->phase != PHASE_UNTRACED && !s->manifest.end.mono_ns)
		end_tracing(s);
	drain_free(&s->drain);
	collectors_free(&s->collectors);
	s->manifest.workload.status = s->workload.status;
	s->manifest.workload.exit_code = code;
	if (!s->manifest.end.mono_ns)
		s->manifest.end = now();
	if (s->cfg->collect.n &&
	    collect_files(&s->user, s->dir.path, s->dir.fd, &s->cfg->collect, error, sizeof(error)) < 0)
		log_warn("%s", error);
	if (write_manifest(s, true) < 0 && !s->workload.pid)
		code = CMD_EXIT_FAILURE;
	if (s->traced)
		status_summary(&s->status, s->tracer.probes, s->dir.path);
	if (s->cfg->archive && collect_archive(&s->user, s->dir.path, error, sizeof(error)) < 0)
		log_warn("%s", error);
	if (s->cfg->report && s->traced)
		report_summary(s->dir.path, stdout);
	return code;
}

/* Status for the shell: the workload's own, or of the signal that did not wait for it; else 0. */
static int exit_code(const struct session *s)
{
	if (!s->workload.pid)
		return 0;
	return s->workload.ended ? workload_exit_code(s->workload.status) : 128 + s->last_interrupt;
}

/* --- all of it ------------------------------------------------------------------------------------- */

/* The workload stands at its gate, everything is attached. */
static int go(struct session *s)
{
	int r;

	if (s->cfg->delay_ns) {
		s->phase = PHASE_DELAY;
		r = arm_phase(s, s->cfg->delay_ns);
	} else {
		if (s->traced && s->workload.pid)
			tracer_target_add(&s->tracer, s->workload.pid);
		r = s->traced ? begin_tracing(s) : 0;
		s->phase = PHASE_TRACING;
	}
	if (r < 0)
		return CMD_EXIT_FAILURE;
	if (!s->workload.pid)
		return 0;
	s->manifest.workload.start = now();
	r = workload_go(&s->workload);
	if (r < 0) {
		log_err_r(r, "%s", s->cfg->argv[0]);
		return r == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	}
	r = loop_add(&s->loop, s->workload.pidfd, EPOLLIN, on_workload, s);
	return r < 0 ? CMD_EXIT_FAILURE : 0;
}

static int prepare(struct session *s)
{
	const struct config *cfg = s->cfg;
	char error[512];
	int r, code;

	r = workload_user_get(&s->user, cfg->user);
	if (r < 0) {
		log_err_r(r, "--user %s", cfg->user ? cfg->user : "");
		return CMD_EXIT_FAILURE;
	}
	code = check_command(s);
	if (code)
		return code;
	r = tracer_check(error, sizeof(error));
	if (r < 0 && !cfg->best_effort) {
		log_err("%s", error);
		return CMD_EXIT_FAILURE;
	}
	r = targets_resolve(&s->targets, cfg, error, sizeof(error));
	if (r < 0) {
		log_err("%s", error);
		return CMD_EXIT_FAILURE;
	}
	if (open_folder(s) < 0)
		return CMD_EXIT_FAILURE;
	background_ready(s->dir.fd, s->dir.path);
	s->cwd = getcwd(NULL, 0);
	s->manifest = (struct manifest){ .cmdline = s->argv, .environ = workload_environ(s), .cwd = s->cwd, .cfg = cfg };
	if (manifest_begin(&s->manifest) < 0 || setup_loop(s) < 0)
		return CMD_EXIT_FAILURE;
	if (cfg->drop_caches && drop_caches() < 0)
		return CMD_EXIT_FAILURE;
	if (cfg->log && cfg->argv) {
		s->workload_log_fd = openat(s->dir.fd, WORKLOAD_LOG,
					    O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (s->workload_log_fd < 0) {
			log_err_r(-errno, "%s/" WORKLOAD_LOG, s->dir.path);
			return CMD_EXIT_FAILURE;
		}
	}
	if (cfg->argv) {
		r = workload_prepare(&s->workload, cfg->argv, &s->user, s->workload_log_fd);
		if (r < 0) {
			log_err_r(r, "cannot fork the workload");
			return CMD_EXIT_FAILURE;
		}
		s->manifest.workload.pid = s->workload.pid;
		s->manifest.workload.user = s->user.name;
	}
	r = collectors_start(&s->collectors, cfg->collectors, cfg->interval_ns, s->dir.fd);
	if (!r)
		r = collectors_watch(&s->collectors, &s->loop);
	if (r < 0) {
		log_err_r(r, "collectors");
		return CMD_EXIT_FAILURE;
	}
	s->manifest.start = now();
	s->status.start_ns = s->manifest.start.mono_ns;
	r = start_tracing(s, error, sizeof(error));
	s->traced = !r;
	if (r < 0 && !cfg->best_effort) {
		log_err("%s", error);
		return CMD_EXIT_FAILURE;
	}
	if (r < 0) {
		log_warn("not traced: %s", error);
		tracer_detach(&s->tracer);
		if (!cfg->argv)
			return CMD_EXIT_FAILURE;
	}
	return write_manifest(s, false) < 0 ? CMD_EXIT_FAILURE : 0;
}

static void session_free(struct session *s)
{
	drain_free(&s->drain);
	tracer_free(&s->tracer);
	collectors_free(&s->collectors);
	workload_free(&s->workload);
	targets_free(&s->targets);
	manifest_free(&s->manifest);
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
		.workload = { .pidfd = -1, .go_fd = -1, .err_fd = -1, .relay_fd = -1 },
		.loop.epoll_fd = -1,
		.signal_fd = -1,
		.tick_fd = -1,
		.phase_fd = -1,
		.workload_log_fd = -1,
	};
	int code;

	code = cfg->background ? background_start() : 0;
	if (code) /* the parent: the trace has started (-1), or an exit status */
		return code < 0 ? 0 : code;
	code = prepare(&s);
	if (!code)
		code = go(&s);
	if (!code && loop_run(&s.loop) < 0)
		code = CMD_EXIT_FAILURE;
	if (s.manifest.start.mono_ns && (!code || s.workload.started))
		code = finish(&s, code ? code : exit_code(&s));
	else if (s.manifest.start.mono_ns)
		finish(&s, code);
	session_free(&s);
	return code;
}
