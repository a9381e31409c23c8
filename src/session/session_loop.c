/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace while it runs: signals, the workload's end, phases by time, and once a second free space and warnings. Control
 * plane.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/fmt.h"
#include "base/log.h"
#include "base/shell.h"
#include "base/util.h"
#include "host/machine.h"
#include "host/stall/proxy.h"
#include "host/stall/unanswered.h"
#include "session/command.h"
#include "session/session.h"
#include "session/state.h"
#include "trace/config.h"

#define ANSWER_MS 200 /* with a slower file system, a second uses an earlier answer */
#define MANIFEST_EVERY_NS (60 * NSEC_PER_SEC)
#define DUE_EVERY_NS (50 * NSEC_PER_MSEC)

/* --- space ----------------------------------------------------------------------------------------- */

void watch_space(struct session *s)
{
	const struct space *space = &s->folder_watch.space;

	if (space->low == s->folder.paused)
		return;
	if (space->low)
		log_warn("only %s free in %s%s (--min-free is %s): rows are counted as lost until there is space",
			 FMT_BYTES(space->free_bytes), s->dir.path, space->by, FMT_BYTES(space->least_bytes));
	else
		log_info("space in %s again: writing goes on", s->dir.path);
	s->folder.paused = space->low;
	drain_pause(&s->drain, s->folder.paused);
}

/* --- the folder -------------------------------------------------------------------------------------- */

/*
 * Warns when the file server begins to refuse the folder, or accepts it again. Rows that are written meanwhile are lost, or
 * the server refuses them later: the sinks count both.
 */
static void warn_refused(struct session *s)
{
	int r = s->folder_watch.refused;

	if (!r == !s->folder.refused)
		return;
	s->folder.refused = r;
	if (r)
		log_warn("the server refuses %s: %s (is it still exported?); rows count as lost or unsure until it accepts it again",
			 s->dir.path, strerror(-r));
	else
		log_info("the server accepts %s again: writing goes on", s->dir.path);
}

static int end_without_folder(struct session *s)
{
	bool runs = s->workload.pid && !s->workload.ended;

	log_err("%s has been removed: the trace is lost%s", s->dir.path, runs ? ", the workload goes on" : "");
	s->folder.gone = true;
	relay_end_log(&s->workload.relay);
	session_end_tracing(s);
	s->phase = runs ? PHASE_UNTRACED : PHASE_OVER;
	return s->workload.pid ? 0 : -ENOENT;
}

/* --- phases ---------------------------------------------------------------------------------------- */

/*
 * Whether the trace's targets have ended: the workload's first process, or with --wait-all its last descendant; the last
 * process of --pid. With cgroups, containers or --all the trace goes on until it is stopped, or until the workload ends, if
 * there is one.
 */
static bool targets_ended(const struct session *s)
{
	const struct config *cfg = s->cfg;
	bool by_workload = s->workload.pid && !cfg->wait_all && !cfg->n_pids;

	if (s->workload.pid && !s->workload.ended)
		return false;
	if (!s->traced || session_has_ended(s))
		return true;
	if (s->phase == PHASE_DELAY && cfg->n_pids) /* these are not in the target yet */
		return false;
	if (cfg->all || cfg->cgroups.n || cfg->containers.n)
		return by_workload;
	return by_workload || !tracer_live(&s->tracer);
}

void watch_advance(struct session *s)
{
	if (s->phase < PHASE_OVER && targets_ended(s)) {
		if (s->phase == PHASE_TRACING && s->cfg->linger_ns && s->traced) {
			s->phase = PHASE_LINGER;
			log_info("the targets have ended; tracing goes on for %llu s",
				 (unsigned long long)(s->cfg->linger_ns / NSEC_PER_SEC));
			watch_arm(s, s->cfg->linger_ns);
		} else if (s->phase != PHASE_LINGER) {
			if (s->phase == PHASE_DELAY && s->traced)
				log_warn("the workload has ended before --delay: nothing of it is traced");
			s->phase = PHASE_OVER;
		}
	}
	if (s->phase == PHASE_OVER)
		loop_quit(&s->loop);
}

int watch_arm(struct session *s, uint64_t ns)
{
	return loop_timer_set(s->phase_fd, ns, 0);
}

void watch_stop(struct session *s, const char *why)
{
	watch_arm(s, 0);
	s->end.awaited = true;
	s->phase = s->workload.pid && !s->workload.ended ? PHASE_UNTRACED : PHASE_OVER;
	session_end_tracing(s);
	if (s->phase == PHASE_UNTRACED) {
		char next[PATH_MAX * 2] = "dltraced report";

		shell_append(next, sizeof(next), s->dir.path);
		log_info("%s: the trace has ended, the workload goes on; %s", why, next);
	}
	watch_advance(s);
}

static int on_phase(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;
	uint64_t n;
	int r = 0;

	if (read(fd, &n, sizeof(n)) < 0)
		return 0;
	if (s->phase == PHASE_DELAY) {
		r = session_begin_tracing(s);
		if (r < 0) {
			r = session_give_up(s, r);
		} else {
			session_give_up_privileges(s);
			session_note_manifest(s); /* its start is known now */
		}
	} else if (s->phase == PHASE_TRACING) {
		watch_stop(s, "--duration has passed");
		return 0;
	} else if (s->phase == PHASE_LINGER) {
		if (!machine_dirty_bytes("", &n))
			log_info("%llu MiB are not written back yet", (unsigned long long)n >> 20);
		s->phase = PHASE_OVER;
	}
	watch_advance(s);
	return r;
}

/* --- events ---------------------------------------------------------------------------------------- */

/* Reports problems of the archiver, and keeps the manifest's list of segments recent: a long trace may be killed. */
static void list_segments(struct session *s)
{
	if (!s->split)
		return;
	archiver_report(&s->archiver, s->dir.path);
	if (clock_now_ns(CLOCK_MONOTONIC) - s->manifest_ns >= MANIFEST_EVERY_NS)
		session_note_manifest(s);
}

/* Some seconds after a first ^C or TERM that the workload survived, logs how to end the trace. */
static void explain_interrupt(struct session *s)
{
	if (s->end.by.n == 1 && s->workload.pid && !s->workload.ended && ++s->end.ticks == COMMAND_GOES_ON_S)
		command_log_goes_on();
}

static int on_tick(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0)
		return 0;
	session_look(s, ANSWER_MS);
	if (!session_has_ended(s) && s->folder_watch.gone) {
		int r = end_without_folder(s);

		if (r < 0)
			return r;
	}
	if (s->traced && !session_has_ended(s)) {
		watch_space(s);
		warn_refused(s);
		status_update(&s->status, &s->tracer, &s->drain);
		functions_count(s->functions, &s->functions_counts);
		status_rates_tick(&s->status);
		status_warn(&s->status, &s->drain, s->dir.path, folder_watch_hangs(&s->folder_watch));
		status_line(&s->status);
		untraced_report(&s->drain.decode.untraced, s->cfg);
		unanswered_report();
		list_segments(s);
		session_metrics_tick(s);
		session_live_tick(s);
	}
	session_try_to_end(s);
	if (session_give_up_privileges(s)) /* the last awaited container has come */
		session_note_manifest(s);
	status_log(&s->status, s->workload.relay.log, s->dir.path);
	explain_interrupt(s);
	command_log_stops(&s->workload);
	if (s->kind->tick)
		s->kind->tick(s);
	watch_advance(s);
	return 0;
}

static int on_workload(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;

	s->kind->workload_ended(s, fd);
	watch_advance(s);
	return 0;
}

static int on_signal(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;

	if (command_signalled(&s->workload, fd, s->kind->remote, &s->end.by))
		s->phase = PHASE_OVER;
	watch_advance(s);
	return 0;
}

/* The proxy was killed. Whoever killed it meant dltraced, so this process ends in the same way. */
static int on_front_gone(void *ctx, int fd, uint32_t events)
{
	return kill(getpid(), SIGKILL) < 0 ? -errno : 0;
}

/* --- setup ----------------------------------------------------------------------------------------- */

int watch_setup(struct session *s)
{
	int r = loop_init(&s->loop);

	if (r < 0)
		return r;
	signal(SIGXFSZ, SIG_IGN); /* a limit of the file size counts as a full disk */
	s->signal_fd = command_signals();
	s->tick_fd = loop_timerfd(NSEC_PER_SEC);
	s->phase_fd = loop_timerfd(0);
	if (s->signal_fd < 0)
		return s->signal_fd;
	r = loop_add(&s->loop, s->signal_fd, EPOLLIN, on_signal, s);
	if (!r)
		r = loop_add(&s->loop, s->tick_fd, EPOLLIN, on_tick, s);
	if (!r)
		r = loop_add(&s->loop, s->phase_fd, EPOLLIN, on_phase, s);
	if (!r && proxy_gone_fd() >= 0)
		r = loop_add(&s->loop, proxy_gone_fd(), 0, on_front_gone, s);
	return r;
}

static int on_sums(void *ctx, int fd, uint32_t events)
{
	struct session *s = ctx;
	uint64_t n;
	int r;

	if (read(fd, &n, sizeof(n)) < 0 || !s->traced || session_has_ended(s))
		return 0;
	r = fd == s->interval_fd ? tracer_emit(&s->tracer, PROBE_EMIT) : tracer_emit_due(&s->tracer);
	if (r < 0) {
		log_warn("%s; its sums are written at the end", s->tracer.error);
		loop_del(&s->loop, fd);
	}
	return 0;
}

int watch_interval(struct session *s)
{
	int r;

	if (!tracer_has_sums(&s->tracer))
		return 0;
	s->interval_fd = loop_timerfd(s->cfg->interval_ns);
	r = s->interval_fd < 0 ? s->interval_fd : loop_add(&s->loop, s->interval_fd, EPOLLIN, on_sums, s);
	if (r < 0 || !tracer_may_be_due(&s->tracer))
		return r;
	s->due_fd = loop_timerfd(DUE_EVERY_NS);
	return s->due_fd < 0 ? s->due_fd : loop_add(&s->loop, s->due_fd, EPOLLIN, on_sums, s);
}

int watch_workload(struct session *s)
{
	return loop_add(&s->loop, s->workload.pidfd, EPOLLIN, on_workload, s);
}
