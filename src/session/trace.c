/* SPDX-License-Identifier: BSD-2-Clause */
/* The tracing of a session: loads the programs, begins to trace, and decides about the workload where that fails. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/exit_codes.h"
#include "base/fmt.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/util.h"
#include "collectors/collectors.h"
#include "collectors/kinds.h"
#include "dlt/alloc.h"
#include "host/rights/creds.h"
#include "host/rights/privileges.h"
#include "host/stall/async_log.h"
#include "host/stall/proxy.h"
#include "host/stall/hold_reader.h"
#include "host/stall/process_reader.h"
#include "session/session.h"
#include "session/state.h"
#include "trace/config.h"
#include "trace/probe.h"

#define FIRST_ANSWER_MS 3000

/* Finds the disk NAME's number, in the kernel's encoding. Returns 0 or -errno. */
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

/* Keeps in SESSION why tracing has failed with R, and what would help. Returns R. */
static __attribute__((format(printf, 3, 4))) int failed(struct session *session, int r, const char *fmt, ...)
{
	struct rlimit limit = {};
	char text[sizeof(session->why_not)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	getrlimit(RLIMIT_NOFILE, &limit);
	if (r == -EMFILE)
		snprintf(session->why_not, sizeof(session->why_not),
			 "%.600s: the hard limit of open files, %llu, is too low; raise it "
			 "(ulimit -Hn, or LimitNOFILE= of the service) to 1024 and 2 more for each CPU",
			 text, (unsigned long long)limit.rlim_max);
	else
		snprintf(session->why_not, sizeof(session->why_not), "%s", text);
	return r;
}

/* Processes that run already cannot load the library that records allocations. */
static bool wants_functions(const struct config *cfg)
{
	return cfg->n_pids && !cfg->all && cfg->probes >> DLT_alloc & 1;
}

/* Frames by frame pointers: Python's lines are only read in a process. */
static uint8_t frames_wanted(const struct config *cfg)
{
	if (cfg->alloc_sites == ALLOC_SITES_NONE)
		return 0;
	return cfg->alloc_sites == ALLOC_SITES_CALLER ? 1 : DLT_ALLOC_FRAMES;
}

static void log_function(void *ctx, const char *line)
{
	log_info("alloc: %s", line);
}

/* Returns 0 or -errno. A workload is traced without them. */
static int begin_functions(struct session *session)
{
	char text[256];
	int r;

	if (!wants_functions(session->cfg))
		return 0;
	r = functions_begin(&session->functions, &session->tracer, session->workload.pid, text, sizeof(text));
	functions_each_line(r == -ETIMEDOUT ? NULL : session->functions, log_function, NULL);
	if (r < 0 && session->workload.pid)
		log_warn("allocations of the processes of --pid are not traced: %s", text);
	return r < 0 && !session->workload.pid ?
		       failed(session, r, "alloc: allocations of running processes cannot be traced: %s", text) :
		       0;
}

/* Does the steps that may fail because of this machine. Returns 0 or -errno. */
static int load(struct session *session)
{
	const struct config *cfg = session->cfg;
	struct tracer_options o = {
		.probes = cfg->probes,
		.buffer_bytes = cfg->buffer_bytes,
		.all = cfg->all,
		.no_args = cfg->no_args,
		.net_rows = cfg->probes_named >> DLT_net & 1,
		.net_names = !cfg->no_net_names,
		.functions = wants_functions(cfg),
		.frames = frames_wanted(cfg),
		.cgroups = cfg->cgroups.n || cfg->containers.n,
		.backends = cfg->backends,
		.access = (uint8_t)cfg->access,
		.access_hz = cfg->access_hz,
		.meta_all = cfg->probes_named >> DLT_meta & 1,
		.brief_ns = cfg->min_latency_ns,
		.may_lack = cfg->best_effort ? PROBE_ALL : cfg->may_lack,
		.owned = session->targets.owned,
		.owner = session->targets.owner.uid,
	};
	int r = tracer_check(session->why_not, sizeof(session->why_not));

	if (r < 0)
		return r;
	memcpy(o.watch, cfg->access_watch, sizeof(o.watch));
	for (unsigned int i = 0; i < cfg->containers.n; i++)
		o.new_containers |= !strcmp(cfg->containers.items[i], "new");
	for (unsigned int i = 0; i < cfg->disks.n; i++, o.n_disks++) {
		r = disk_dev(cfg->disks.items[i], &o.disks[i]);
		if (r < 0)
			return failed(session, r, "--disk %s: not in /sys/class/block", cfg->disks.items[i]);
	}
	r = tracer_load(&session->tracer, &o);
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (session->tracer.why[i] && !(session->tracer.loaded >> i & 1))
			log_warn("%s is not traced: %s", probes[i]->name, session->tracer.why[i]);
		else if (session->tracer.plain[i])
			log_warn("%s is traced in part: %s", probes[i]->name, session->tracer.plain[i]);
	if (r < 0)
		return failed(session, r, "%s", session->tracer.error);
	r = targets_prepare(&session->targets, &session->tracer, cfg->delay_ns);
	return r < 0 ? failed(session, r, "snapshot of running processes: %s", strerror(-r)) : 0;
}

/* --compress, --rotate, --keep: starts the archiver. Returns 0 or -errno. */
static int prepare_archiver(struct session *s)
{
	const struct config *cfg = s->cfg;
	struct archiver_options o = { .pack = cfg->pack, .keep_bytes = cfg->keep_bytes };

	s->split = cfg->rotate_bytes || cfg->rotate_ns;
	return s->split ? archiver_init(&s->archiver, &o, s->dir.fd) : 0;
}

/* Prepares the trace's files; with --delay the target is followed from here on. Returns 0 or -errno. */
static int prepare(struct session *session)
{
	char text[256];
	int r;

	session_files_of_user(session);
	r = prepare_archiver(session);
	if (!r)
		r = drain_open(&session->drain, session->cfg, &session->tracer, session->cfg->probes, session->dir.fd,
			       session->workload_log_fd >= 0 ? OUTDIR_LOG : NULL,
			       session->split ? &session->archiver : NULL);
	session_files_done();
	if (r == -ENOMEM) /* no file needs memory to speak of; the rings do, and libbpf maps each twice */
		return failed(session, r, "the rings, %u of %s, cannot be mapped: %s; --buffer SIZE takes less",
			      session->tracer.n_rings, FMT_BYTES(session->tracer.ring_bytes), limits_strerror(r));
	if (r < 0)
		return failed(session, r, "cannot write the trace: %s", limits_strerror(r));
	session->drain.decode.metrics = session->metrics;
	session->drain.decode.owner = session->targets.owned ? &session->targets.owner : NULL;
	tracer_exclude(&session->tracer, getpid());
	if (proxy_pid())
		tracer_exclude(&session->tracer, proxy_pid());
	tracer_exclude(&session->tracer, session->workload.relay.pid);
	creds_root();
	r = session->cfg->delay_ns || session->targets.owned ? tracer_follow(&session->tracer) : 0;
	creds_user();
	if (r < 0)
		return failed(session, r, "%s", session->tracer.error);
	r = session->targets.owned ? targets_enter(&session->targets, &session->tracer, text, sizeof(text)) : 0;
	if (r < 0)
		return failed(session, r, "%s", text);
	if (session->workload.pid)
		tracer_target_hold(&session->tracer, session->workload.pid);
	return 0;
}

/* The job whose cgroups are sampled: the workload, else the first process or cgroup that was named. */
static struct collector_job job_of(const struct session *session)
{
	const struct targets *targets = &session->targets;
	struct collector_job job = { .pid = session->workload.pid };

	if (!job.pid && targets->n_roots)
		job.pid = targets->roots[0].pid;
	if (targets->cgroups.n)
		job.cgroup = targets->cgroups.items[0].path.path;
	return job;
}

/* Starts collectors and drain, turns hooks on, and adds targets. Returns 0 or -errno. */
static int record(struct session *session)
{
	char text[512];
	int r;

	note_start(session); /* the steps before took some time */
	session->drain.privileges = session->archiver.privileges = &session->privileges;
	session->collectors.user = session->user.uid == 0 ? &session->nobody : &session->user;
	session->collectors.each_ns = session->cfg->cpu_each_ns;
	session->collectors.job = job_of(session);
	session->collectors.split = session->split ? &session->drain.split : NULL;
	session_files_of_user(session);
	r = collectors_start(&session->collectors, session->cfg->collectors, session->cfg->interval_ns,
			     session->dir.fd);
	session_files_done();
	for (unsigned int i = 0; !r && session->split && i < session->collectors.n; i++)
		if (session->collectors.c[i].sink.fd >= 0)
			archiver_add(&session->archiver, &session->collectors.c[i].sink, false);
	if (!r && session->split)
		r = archiver_start(&session->archiver);
	if (!r)
		r = collectors_watch(&session->collectors, &session->loop);
	if (!r)
		r = drain_start(&session->drain, &session->collectors);
	if (r < 0)
		return failed(session, r, "cannot start to write the trace: %s", strerror(-r));
	for (unsigned int i = 0; i < session->collectors.n; i++)
		tracer_exclude(&session->tracer, session->collectors.c[i].pid);
	if (process_reader_pid())
		tracer_exclude(&session->tracer, process_reader_pid());
	if (hold_reader_pid())
		tracer_exclude(&session->tracer, hold_reader_pid());
	creds_root();
	r = tracer_attach(&session->tracer);
	creds_user();
	if (r < 0)
		return failed(session, r, "%s", session->tracer.error);
	if (session->tracer.uring_why && session->tracer.kernel.ids.io_ring_ctx)
		log_warn("requests of io_uring are not traced: %s", session->tracer.uring_why);
	r = targets_apply(&session->targets, &session->tracer, text, sizeof(text));
	if (r < 0)
		return failed(session, r, "%s", text);
	/* only now are all processes in the target */
	creds_root();
	r = tracer_emit(&session->tracer, PROBE_EMIT_BEGIN);
	if (!r)
		r = begin_functions(session);
	else
		failed(session, r, "%s", session->tracer.error);
	creds_user();
	if (r < 0)
		return r;
	r = watch_interval(session);
	return r < 0 ? failed(session, r, "a timer cannot be made") : 0;
}

/* Undoes the failed trace; the manifest will have s->why_not. */
static void untrace(struct session *session)
{
	targets_await_end(&session->targets, &session->loop);
	functions_end(TAKE_PTR(session->functions));
	tracer_detach(&session->tracer);
	drain_stop(&session->drain);
	session_live_end(session);
	session->traced = false;
	collectors_stop(&session->collectors, &session->loop);
	drain_free(&session->drain);
	archiver_free(&session->archiver);
	session->split = false;
	tracer_free(&session->tracer);
}

int session_go_untraced(struct session *s)
{
	if (!s->cfg->best_effort || !s->cfg->argv || s->kind->remote) {
		log_err("%s", s->why_not);
		return EXIT_DLTRACED;
	}
	log_warn("not traced: %s", s->why_not);
	untrace(s);
	return 0;
}

/*
 * Refuses a --min-free that is not met at the start: every row would be lost, so it was probably meant for another
 * disk. The default leaves room, unless only root's reserve is free. With --best-effort, watch_space() warns when
 * tracing begins. Returns 0 or an exit status.
 */
static int look_at_space(struct session *session)
{
	struct space *space = &session->folder_watch.space;
	int r;

	session_files_of_user(session);
	r = space_look(space, session->dir.fd, session->cfg->min_free_bytes);
	session_files_done();
	if (r < 0 || !space->low || session->cfg->best_effort)
		return 0;
	log_err("only %s free in %s%s, and --min-free is %s: free some space, put the trace on another disk (%s) or "
		"leave less (%smin-free%sSIZE)",
		FMT_BYTES(space->free_bytes), session->dir.path, space->by, FMT_BYTES(space->least_bytes),
		status_elsewhere(&session->status), session->status.by_config ? "" : "--",
		session->status.by_config ? " = " : " ");
	return EXIT_DLTRACED;
}

/* Loads the programs. Returns 0 or -errno. */
static int load_as_root(struct session *s)
{
	int r;

	util_raise_open_files(); /* for a map, a program and a link of each hook, and a ring of each CPU */
	creds_root(); /* tracefs is root's */
	r = load(s);
	creds_user();
	return r;
}

int session_load(struct session *session)
{
	int r, loaded;

	note_start(session);
	loaded = load_as_root(session);
	if (loaded < 0) {
		r = session_go_untraced(session);
		if (r)
			return r;
	}
	session_files_of_user(session);
	r = outdir_clear(&session->dir, collectors_file);
	session_files_done();
	if (r < 0) {
		log_err_r(r, "%s: the old trace", session->dir.path);
		return EXIT_DLTRACED;
	}
	if (loaded < 0)
		return 0;
	r = look_at_space(session);
	if (r)
		return r;
	session->traced = true;
	return prepare(session) < 0 ? session_go_untraced(session) : 0;
}

int session_begin_tracing(struct session *session)
{
	int r = session->traced ? record(session) : 0;

	if (r < 0)
		return r;
	r = session->traced ? targets_await(&session->targets, &session->tracer, &session->loop) : 0;
	if (r < 0)
		return log_err_r(r, "waiting for containers");
	if (session->traced && session_look(session, FIRST_ANSWER_MS))
		watch_space(session);
	session->phase = PHASE_TRACING;
	return watch_arm(session, session->cfg->duration_ns);
}

int session_give_up(struct session *s, int r)
{
	bool runs = s->workload.pid && !s->workload.ended;

	log_err("%s%s", s->why_not, runs ? "; the workload goes on without a trace" : "");
	untrace(s);
	s->phase = runs ? PHASE_UNTRACED : PHASE_OVER;
	session_note_manifest(s);
	return s->workload.pid ? 0 : r;
}

bool session_give_up_privileges(struct session *s)
{
	bool logging;
	int r;

	if (s->gave_up || s->phase == PHASE_DELAY || s->targets.wait)
		return false;
	s->gave_up = true;
	logging = async_log_end();
	r = privileges_give_up(&s->privileges, false);
	if (logging)
		async_log_begin();
	s->privileges.given_up = r == 0;
	if (r < 0)
		log_warn("cannot give up privileges that are no longer needed: %s", strerror(-r));
	return true;
}
