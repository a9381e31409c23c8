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

/* Keeps in S why tracing has failed with R, and what would help. Returns R. */
static __attribute__((format(printf, 3, 4))) int failed(struct session *s, int r, const char *fmt, ...)
{
	struct rlimit limit = {};
	char text[sizeof(s->why_not)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	getrlimit(RLIMIT_NOFILE, &limit);
	if (r == -EMFILE)
		snprintf(s->why_not, sizeof(s->why_not), "%.600s: the hard limit of open files, %llu, is too low; raise it "
			 "(ulimit -Hn, or LimitNOFILE= of the service) to 1024 and 2 more for each CPU",
			 text, (unsigned long long)limit.rlim_max);
	else
		snprintf(s->why_not, sizeof(s->why_not), "%s", text);
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
	return cfg->alloc_sites == ALLOC_SITES_NONE ? 0 : cfg->alloc_sites == ALLOC_SITES_CALLER ? 1 : DLT_ALLOC_FRAMES;
}

static void log_function(void *ctx, const char *line)
{
	log_info("alloc: %s", line);
}

/* Returns 0 or -errno. A workload is traced without them. */
static int begin_functions(struct session *s)
{
	char text[256];
	int r;

	if (!wants_functions(s->cfg))
		return 0;
	r = functions_begin(&s->functions, &s->tracer, s->workload.pid, text, sizeof(text));
	functions_each_line(r == -ETIMEDOUT ? NULL : s->functions, log_function, NULL);
	if (r < 0 && s->workload.pid)
		log_warn("allocations of the processes of --pid are not traced: %s", text);
	return r < 0 && !s->workload.pid ? failed(s, r, "alloc: allocations of running processes cannot be traced: %s", text) : 0;
}

/* Does the steps that may fail because of this machine. Returns 0 or -errno. */
static int load(struct session *s)
{
	const struct config *cfg = s->cfg;
	struct tracer_options o = {
		.probes = cfg->probes,
		.buffer_bytes = cfg->buffer_bytes,
		.all = cfg->all,
		.no_args = cfg->no_args,
		.functions = wants_functions(cfg),
		.frames = frames_wanted(cfg),
		.cgroups = cfg->cgroups.n || cfg->containers.n,
		.backends = cfg->backends,
		.access = (uint8_t)cfg->access,
		.access_hz = cfg->access_hz,
		.may_lack = cfg->best_effort ? PROBE_ALL : cfg->may_lack,
		.owned = s->targets.owned,
		.owner = s->targets.owner.uid,
	};
	int r = tracer_check(s->why_not, sizeof(s->why_not));

	if (r < 0)
		return r;
	memcpy(o.watch, cfg->access_watch, sizeof(o.watch));
	for (unsigned int i = 0; i < cfg->containers.n; i++)
		o.new_containers |= !strcmp(cfg->containers.items[i], "new");
	for (unsigned int i = 0; i < cfg->disks.n; i++, o.n_disks++) {
		r = disk_dev(cfg->disks.items[i], &o.disks[i]);
		if (r < 0)
			return failed(s, r, "--disk %s: not in /sys/class/block", cfg->disks.items[i]);
	}
	r = tracer_load(&s->tracer, &o);
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (s->tracer.why[i] && !(s->tracer.loaded >> i & 1))
			log_warn("%s is not traced: %s", probes[i]->name, s->tracer.why[i]);
		else if (s->tracer.plain[i])
			log_warn("%s is traced in part: %s", probes[i]->name, s->tracer.plain[i]);
	if (r < 0)
		return failed(s, r, "%s", s->tracer.error);
	r = targets_prepare(&s->targets, &s->tracer, cfg->delay_ns);
	return r < 0 ? failed(s, r, "snapshot of running processes: %s", strerror(-r)) : 0;
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
static int prepare(struct session *s)
{
	char text[256];
	int r;

	session_files_of_user(s);
	r = prepare_archiver(s);
	if (!r)
		r = drain_open(&s->drain, s->cfg, &s->tracer, s->cfg->probes, s->dir.fd,
			       s->workload_log_fd >= 0 ? OUTDIR_LOG : NULL, s->split ? &s->archiver : NULL);
	session_files_done();
	if (r == -ENOMEM) /* no file needs memory to speak of; the rings do, and libbpf maps each twice */
		return failed(s, r, "the rings, %u of %s, cannot be mapped: %s; --buffer SIZE takes less", s->tracer.n_rings,
			      FMT_BYTES(s->tracer.ring_bytes), limits_strerror(r));
	if (r < 0)
		return failed(s, r, "cannot write the trace: %s", limits_strerror(r));
	s->drain.decode.metrics = s->metrics;
	s->drain.decode.owner = s->targets.owned ? &s->targets.owner : NULL;
	tracer_exclude(&s->tracer, getpid());
	if (proxy_pid())
		tracer_exclude(&s->tracer, proxy_pid());
	tracer_exclude(&s->tracer, s->workload.relay.pid);
	creds_root();
	r = s->cfg->delay_ns || s->targets.owned ? tracer_follow(&s->tracer) : 0;
	creds_user();
	if (r < 0)
		return failed(s, r, "%s", s->tracer.error);
	r = s->targets.owned ? targets_enter(&s->targets, &s->tracer, text, sizeof(text)) : 0;
	if (r < 0)
		return failed(s, r, "%s", text);
	if (s->workload.pid)
		tracer_target_hold(&s->tracer, s->workload.pid);
	return 0;
}

/* Starts collectors and drain, turns hooks on, and adds targets. Returns 0 or -errno. */
static int record(struct session *s)
{
	char text[512];
	int r;

	note_start(s); /* the steps before took some time */
	s->drain.privileges = s->archiver.privileges = &s->privileges;
	s->collectors.user = s->user.uid == 0 ? &s->nobody : &s->user;
	s->collectors.each_ns = s->cfg->cpu_each_ns;
	s->collectors.split = s->split ? &s->drain.split : NULL;
	session_files_of_user(s);
	r = collectors_start(&s->collectors, s->cfg->collectors, s->cfg->interval_ns, s->dir.fd);
	session_files_done();
	for (unsigned int i = 0; !r && s->split && i < s->collectors.n; i++)
		if (s->collectors.c[i].sink.fd >= 0)
			archiver_add(&s->archiver, &s->collectors.c[i].sink, false);
	if (!r && s->split)
		r = archiver_start(&s->archiver);
	if (!r)
		r = collectors_watch(&s->collectors, &s->loop);
	if (!r)
		r = drain_start(&s->drain, &s->collectors);
	if (r < 0)
		return failed(s, r, "cannot start to write the trace: %s", strerror(-r));
	for (unsigned int i = 0; i < s->collectors.n; i++)
		tracer_exclude(&s->tracer, s->collectors.c[i].pid);
	if (process_reader_pid())
		tracer_exclude(&s->tracer, process_reader_pid());
	creds_root();
	r = tracer_attach(&s->tracer);
	creds_user();
	if (r < 0)
		return failed(s, r, "%s", s->tracer.error);
	if (s->tracer.uring_why && s->tracer.kernel.ids.io_ring_ctx)
		log_warn("requests of io_uring are not traced: %s", s->tracer.uring_why);
	r = targets_apply(&s->targets, &s->tracer, text, sizeof(text));
	if (r < 0)
		return failed(s, r, "%s", text);
	/* only now are all processes in the target */
	creds_root();
	r = tracer_emit(&s->tracer, PROBE_EMIT_BEGIN);
	if (!r)
		r = begin_functions(s);
	else
		failed(s, r, "%s", s->tracer.error);
	creds_user();
	if (r < 0)
		return r;
	r = watch_interval(s);
	return r < 0 ? failed(s, r, "a timer cannot be made") : 0;
}

/* Undoes the failed trace; the manifest will have s->why_not. */
static void untrace(struct session *s)
{
	targets_await_end(&s->targets, &s->loop);
	functions_end(TAKE_PTR(s->functions));
	tracer_detach(&s->tracer);
	drain_stop(&s->drain);
	session_live_end(s);
	s->traced = false;
	collectors_stop(&s->collectors, &s->loop);
	drain_free(&s->drain);
	archiver_free(&s->archiver);
	s->split = false;
	tracer_free(&s->tracer);
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
 * Refuses a --min-free that is not met at the start: every row would be lost, so it was probably meant for another disk. The
 * default leaves room, unless only root's reserve is free. With --best-effort, watch_space() warns when tracing begins.
 * Returns 0 or an exit status.
 */
static int look_at_space(struct session *s)
{
	struct space *space = &s->folder_watch.space;
	int r;

	session_files_of_user(s);
	r = space_look(space, s->dir.fd, s->cfg->min_free_bytes);
	session_files_done();
	if (r < 0 || !space->low || s->cfg->best_effort)
		return 0;
	log_err("only %s free in %s%s, and --min-free is %s: free some space, put the trace on another disk (%s) or leave less (%smin-free%sSIZE)",
		FMT_BYTES(space->free_bytes), s->dir.path, space->by, FMT_BYTES(space->least_bytes), status_elsewhere(&s->status),
		s->status.by_config ? "" : "--", s->status.by_config ? " = " : " ");
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

int session_load(struct session *s)
{
	int r, loaded;

	note_start(s);
	loaded = s->cfg->dry ? 0 : load_as_root(s);
	if (loaded < 0) {
		r = session_go_untraced(s);
		if (r)
			return r;
	}
	session_files_of_user(s);
	r = outdir_clear(&s->dir, collectors_file);
	session_files_done();
	if (r < 0) {
		log_err_r(r, "%s: the old trace", s->dir.path);
		return EXIT_DLTRACED;
	}
	if (loaded < 0 || s->cfg->dry)
		return 0;
	r = look_at_space(s);
	if (r)
		return r;
	s->traced = true;
	return prepare(s) < 0 ? session_go_untraced(s) : 0;
}

int session_begin_tracing(struct session *s)
{
	int r = s->traced ? record(s) : 0;

	if (r < 0)
		return r;
	r = s->traced ? targets_await(&s->targets, &s->tracer, &s->loop) : 0;
	if (r < 0)
		return log_err_r(r, "waiting for containers");
	if (s->traced && session_look(s, FIRST_ANSWER_MS))
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
