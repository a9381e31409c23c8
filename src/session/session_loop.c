/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace while it runs: signals, the workload's end, phases by time, and once a second free space and warnings.
 * Control plane.
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
#include "host/machine/machine.h"
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

void watch_space(struct session *session)
{
	const struct space *space = &session->folder_watch.space;

	if (space->low == session->folder.paused)
		return;
	if (space->low)
		log_warn("only %s free in %s%s (--min-free is %s): rows are counted as lost until there is space",
			 FMT_BYTES(space->free_bytes), session->dir.path, space->by, FMT_BYTES(space->least_bytes));
	else
		log_info("space in %s again: writing goes on", session->dir.path);
	session->folder.paused = space->low;
	drain_pause(&session->drain, session->folder.paused);
}

/* --- the folder -------------------------------------------------------------------------------------- */

/*
 * Warns when the file server begins to refuse the folder, or accepts it again. Rows that are written meanwhile are
 * lost, or the server refuses them later: the sinks count both.
 */
static void warn_refused(struct session *session)
{
	int r = session->folder_watch.refused;

	if (!r == !session->folder.refused)
		return;
	session->folder.refused = r;
	if (r)
		log_warn("the server refuses %s: %s (is it still exported?); rows count as lost or unsure until it "
			 "accepts it again",
			 session->dir.path, strerror(-r));
	else
		log_info("the server accepts %s again: writing goes on", session->dir.path);
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
 * Whether the trace's targets have ended: the workload's first process, or with --wait-all its last descendant; the
 * last process of --pid. With cgroups, containers or --all the trace goes on until it is stopped, or until the workload
 * ends, if there is one.
 */
static bool targets_ended(const struct session *session)
{
	const struct config *cfg = session->cfg;
	bool by_workload = session->workload.pid && !cfg->wait_all && !cfg->n_pids;

	if (session->workload.pid && !session->workload.ended)
		return false;
	if (!session->traced || session_has_ended(session))
		return true;
	if (session->phase == PHASE_DELAY && cfg->n_pids) /* these are not in the target yet */
		return false;
	if (cfg->all || cfg->cgroups.n || cfg->containers.n)
		return by_workload;
	return by_workload || !tracer_live(&session->tracer);
}

void watch_advance(struct session *session)
{
	if (session->phase < PHASE_OVER && targets_ended(session)) {
		if (session->phase == PHASE_TRACING && session->cfg->linger_ns && session->traced) {
			session->phase = PHASE_LINGER;
			log_info("the targets have ended; tracing goes on for %llu s",
				 (unsigned long long)(session->cfg->linger_ns / NSEC_PER_SEC));
			watch_arm(session, session->cfg->linger_ns);
		} else if (session->phase != PHASE_LINGER) {
			if (session->phase == PHASE_DELAY && session->traced)
				log_warn("the workload has ended before --delay: nothing of it is traced");
			session->phase = PHASE_OVER;
		}
	}
	if (session->phase == PHASE_OVER)
		loop_quit(&session->loop);
}

int watch_arm(struct session *s, uint64_t ns)
{
	return loop_timer_set(s->phase_fd, ns, 0);
}

void watch_stop(struct session *session, const char *why)
{
	watch_arm(session, 0);
	session->end.awaited = true;
	session->phase = session->workload.pid && !session->workload.ended ? PHASE_UNTRACED : PHASE_OVER;
	session_end_tracing(session);
	if (session->phase == PHASE_UNTRACED) {
		char next[PATH_MAX * 2] = "dltraced report";

		shell_append(next, sizeof(next), session->dir.path);
		log_info("%s: the trace has ended, the workload goes on; %s", why, next);
	}
	watch_advance(session);
}

static int on_phase(void *ctx, int fd, uint32_t events)
{
	struct session *session = ctx;
	uint64_t n;
	int r = 0;

	if (read(fd, &n, sizeof(n)) < 0)
		return 0;
	if (session->phase == PHASE_DELAY) {
		r = session_begin_tracing(session);
		if (r < 0) {
			r = session_give_up(session, r);
		} else {
			session_give_up_privileges(session);
			session_note_manifest(session); /* its start is known now */
		}
	} else if (session->phase == PHASE_TRACING) {
		watch_stop(session, "--duration has passed");
		return 0;
	} else if (session->phase == PHASE_LINGER) {
		if (!machine_dirty_bytes("", &n))
			log_info("%llu MiB are not written back yet", (unsigned long long)n >> 20);
		session->phase = PHASE_OVER;
	}
	watch_advance(session);
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
	struct session *session = ctx;
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0)
		return 0;
	session_look(session, ANSWER_MS);
	if (!session_has_ended(session) && session->folder_watch.gone) {
		int r = end_without_folder(session);

		if (r < 0)
			return r;
	}
	if (session->traced && !session_has_ended(session)) {
		watch_space(session);
		warn_refused(session);
		status_update(&session->status, &session->tracer, &session->drain);
		functions_count(session->functions, &session->status.counts.functions);
		status_rates_tick(&session->status);
		status_warn(&session->status, &session->drain, session->dir.path,
			    folder_watch_hangs(&session->folder_watch));
		status_line(&session->status);
		untraced_report(&session->drain.decode.untraced, session->cfg);
		unanswered_report();
		list_segments(session);
		session_metrics_tick(session);
		session_live_tick(session);
		session_hung_tick(session);
	}
	session_try_to_end(session);
	if (session_give_up_privileges(session)) /* the last awaited container has come */
		session_note_manifest(session);
	status_log(&session->status, session->workload.relay.log, session->dir.path);
	explain_interrupt(session);
	command_log_stops(&session->workload);
	if (session->kind->tick)
		session->kind->tick(session);
	watch_advance(session);
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

int watch_setup(struct session *session)
{
	int r = loop_init(&session->loop);

	if (r < 0)
		return r;
	signal(SIGXFSZ, SIG_IGN); /* a limit of the file size counts as a full disk */
	session->signal_fd = command_signals();
	session->tick_fd = loop_timerfd(NSEC_PER_SEC);
	session->phase_fd = loop_timerfd(0);
	if (session->signal_fd < 0)
		return session->signal_fd;
	r = loop_add(&session->loop, session->signal_fd, EPOLLIN, on_signal, session);
	if (!r)
		r = loop_add(&session->loop, session->tick_fd, EPOLLIN, on_tick, session);
	if (!r)
		r = loop_add(&session->loop, session->phase_fd, EPOLLIN, on_phase, session);
	if (!r && proxy_gone_fd() >= 0)
		r = loop_add(&session->loop, proxy_gone_fd(), 0, on_front_gone, session);
	return r;
}

static int on_sums(void *ctx, int fd, uint32_t events)
{
	struct session *session = ctx;
	uint64_t n;
	int r;

	if (read(fd, &n, sizeof(n)) < 0 || !session->traced || session_has_ended(session))
		return 0;
	r = fd == session->interval_fd ? tracer_emit(&session->tracer, PROBE_EMIT) : tracer_emit_due(&session->tracer);
	if (r < 0) {
		log_warn("%s; its sums are written at the end", session->tracer.error);
		loop_del(&session->loop, fd);
	}
	return 0;
}

int watch_interval(struct session *session)
{
	int r;

	if (!tracer_has_sums(&session->tracer))
		return 0;
	session->interval_fd = loop_timerfd(session->cfg->interval_ns);
	r = session->interval_fd < 0 ? session->interval_fd :
				       loop_add(&session->loop, session->interval_fd, EPOLLIN, on_sums, session);
	if (r < 0 || !tracer_may_be_due(&session->tracer))
		return r;
	session->due_fd = loop_timerfd(DUE_EVERY_NS);
	return session->due_fd < 0 ? session->due_fd :
				     loop_add(&session->loop, session->due_fd, EPOLLIN, on_sums, session);
}

int watch_workload(struct session *s)
{
	return loop_add(&s->loop, s->workload.pidfd, EPOLLIN, on_workload, s);
}
