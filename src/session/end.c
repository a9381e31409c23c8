/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of a trace: turns hooks off, and waits until the rows, the segments and the manifest are written. Other
 * threads write them: the drain, the archiver and an async_call. While they progress, the wait has no limit. When the
 * file system does not answer, a signal ends the wait; and if something waits for the end (the caller of `dltraced
 * stop', --duration, a client of the service), the wait ends after STALL_GUARD_NS. A thread that hangs in the kernel
 * cannot be ended. It stays there, and its work is finished later, if the file system answers while the workload still
 * runs.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/log.h"
#include "base/util.h"
#include "host/stall/clock.h"
#include "host/stall/proxy.h"
#include "host/stall/unanswered.h"
#include "session/session.h"
#include "session/state.h"
#include "trace/config.h"

#define STEP_MS 200
#define BEAT_NS (8 * NSEC_PER_SEC) /* the drain takes 5 s to notice that the disk is full */
#define STALL_GUARD_NS                                                                                 \
	(3 * NSEC_PER_SEC) /* for a file system that does not answer, once something waits for the end \
			    */

bool session_look(struct session *s, int wait_ms)
{
	return folder_watch_request(&s->folder_watch, s->dir.fd, s->cfg->min_free_bytes, wait_ms);
}

/* --- waiting --------------------------------------------------------------------------------------- */

/*
 * Returns the time since which the drain has made no progress; 0: it makes progress, or does not run. Its heartbeat
 * comes only between two rounds, and a round may take long on a busy machine: so STILL, begun at FIRST, watches the
 * thread's CPU time as well.
 */
static uint64_t drain_still_since(struct session *s, struct stall_clock *still, uint64_t first, uint64_t now)
{
	uint64_t beat = s->drain.running ? __atomic_load_n(&s->drain.heartbeat_ns, __ATOMIC_RELAXED) : 0;

	if (!beat)
		return 0;
	stall_clock_ns(still, drain_cpu_ns(&s->drain), now);
	return still->since_ns > first ? MAX(beat, still->since_ns) : beat;
}

/* Returns the time since which drain and file system have made no progress, CLOCK_MONOTONIC; 0: they make progress. */
static uint64_t stall_clock_since(struct session *s, struct stall_clock *still, uint64_t first, uint64_t now)
{
	uint64_t since = drain_still_since(s, still, first, now);

	session_look(s, 0);
	if (since && now > since + BEAT_NS)
		return since;
	return folder_watch_hangs(&s->folder_watch) ? now - async_call_busy_ns(&s->folder_watch.call) : 0;
}

/* Takes one signal, if there is one. Returns whether it asks for the end. */
static bool end_is_requested(struct session *s)
{
	struct signalfd_siginfo si;

	if (read(s->signal_fd, &si, sizeof(si)) != sizeof(si))
		return false;
	return si.ssi_signo == SIGINT || si.ssi_signo == SIGTERM || si.ssi_signo == SIGQUIT || si.ssi_signo == SIGHUP;
}

/*
 * Waits until FD is readable, and returns true. Returns false when nothing progresses and the end cannot wait longer.
 * With HURRIED_BY_SIGNALS, a signal makes the archiver leave the rest uncompressed.
 */
static bool await(struct session *session, int fd, bool hurried_by_signals)
{
	bool waits = session->end.awaited || session->end.by.signal || session->kind->remote, warned = false;
	uint64_t first = clock_now_ns(CLOCK_MONOTONIC);
	struct stall_clock still;

	stall_clock_begin(&still, __atomic_load_n(&session->drain.tid, __ATOMIC_RELAXED),
			  session->drain.running ? drain_cpu_ns(&session->drain) : 0, first);
	for (;;) {
		struct pollfd p[] = { { fd, POLLIN, 0 }, { hurried_by_signals ? session->signal_fd : -1, POLLIN, 0 } };
		uint64_t now, since;

		poll(p, ARRAY_SIZE(p), STEP_MS);
		if (p[0].revents)
			return true;
		if (proxy_gone()) /* killed: this process ends in the same way */
			kill(getpid(), SIGKILL);
		if (p[1].revents) {
			archiver_hurry(&session->archiver);
			hurried_by_signals = false;
		}
		now = clock_now_ns(CLOCK_MONOTONIC);
		since = stall_clock_since(session, &still, first, now);
		if (!since)
			continue;
		if ((waits && now - MAX(since, first) > STALL_GUARD_NS) || end_is_requested(session))
			return false;
		if (!waits && !warned)
			log_warn("%s does not answer, and rows are still to be written; waiting for it: ^C or TERM "
				 "ends the wait and drops them",
				 session->dir.path);
		warned = true;
	}
}

/* --- the steps ------------------------------------------------------------------------------------- */

static void warn_stuck(struct session *s)
{
	bool runs = s->workload.pid && !s->workload.ended;

	s->files = s->files >= FILES_CLOSED ? FILES_CLOSED_STUCK : FILES_STUCK;
	log_err("%s does not answer: the trace ends without the rows not yet written, %s", s->dir.path,
		runs ? "unless it answers before the workload ends" : "and its manifest stays without an end");
}

/* Compresses closed segments, until a signal asks for the end. Returns false when stuck. */
static bool finish_segments(struct session *session)
{
	uint64_t left;

	if (!session->split || !session->archiver.running)
		return true;
	if (__atomic_load_n(&session->archiver.waiting, __ATOMIC_RELAXED) > 1)
		log_info("compressing the rest; a signal leaves it as it is");
	archiver_end(&session->archiver);
	/* through the service, a signal only asks for the end, which has come */
	if (!await(session, session->archiver.done_fd, !session->kind->remote))
		return false;
	left = archiver_finish(&session->archiver);
	archiver_report(&session->archiver, session->dir.path);
	if (left)
		log_warn("%s: %s not compressed", session->dir.path,
			 FMT_N(left, "part of the trace is", "parts of the trace are"));
	return true;
}

/* Writes the last manifest. Returns false when stuck. */
static bool finish_manifest(struct session *s)
{
	while (session_begin_manifest(s, true) == -EBUSY)
		if (!await(s, s->writing.call.done_fd, false))
			return false;
	if (s->writing.call.busy && !await(s, s->writing.call.done_fd, false))
		return false;
	session_await_manifest(s, -1);
	return true;
}

/* Closes the files after the drain's end, and writes the last manifest. Returns false when stuck. */
static bool finish_files(struct session *session)
{
	uint64_t late;

	if (session->files >= FILES_CLOSED)
		return finish_manifest(session);
	if (session->traced) {
		drain_stop(&session->drain);
		session_live_end(session);
		if (!finish_segments(session))
			return false;
		untraced_report(&session->drain.decode.untraced, session->cfg);
		unanswered_report();
		status_update(&session->status, &session->tracer, &session->drain);
		status_account(&session->status, &session->tracer);
		status_warn(&session->status, &session->drain, session->dir.path, false);
		late = session_not_on_disk(session);
		if (late)
			log_info("%llu MiB of the trace are not on the disk yet: the system goes on writing them",
				 (unsigned long long)late >> 20);
	}
	status_log(&session->status, session->workload.relay.log, session->dir.path);
	drain_free(&session->drain);
	collectors_free(&session->collectors);
	left_running_settle(&session->left);
	session->files = FILES_CLOSED;
	session->manifest.end = session_now();
	return finish_manifest(session);
}

/* Counts the rows that will not be written as lost. */
static void account_stuck(struct session *s)
{
	status_update(&s->status, &s->tracer, &s->drain);
	status_account(&s->status, &s->tracer);
	status_give_up(&s->status);
}

static void end_files(struct session *s)
{
	if (!finish_files(s)) {
		warn_stuck(s);
		if (s->drain.running)
			account_stuck(s);
	}
}

static bool is_readable(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, 0) > 0;
}

void session_try_to_end(struct session *s)
{
	if (!session_is_stuck(s) || !session_look(s, 0) || (s->drain.running && !is_readable(s->drain.ended_fd)))
		return;
	s->files = s->files == FILES_CLOSED_STUCK ? FILES_CLOSED : FILES_ENDING;
	end_files(s);
	if (!session_is_stuck(s))
		log_info("%s answers again: the trace is whole", s->dir.path);
}

void session_end_again(struct session *s)
{
	workload_await_output(&s->workload);
	session_try_to_end(s);
	if (!session_is_stuck(s) && !finish_manifest(s))
		warn_stuck(s);
}

static void end_hooks(struct session *session)
{
	int r;

	if (!session->cfg->all)
		left_running_find(&session->left, &session->tracer);
	session_hung_end(session);
	r = tracer_emit(&session->tracer, PROBE_EMIT_STOP);
	functions_count(session->functions, &session->status.counts.functions);
	functions_end(TAKE_PTR(session->functions));
	tracer_detach(&session->tracer); /* takes some time */
	if (r < 0 || tracer_emit(&session->tracer, PROBE_EMIT_END) < 0)
		log_warn("%s: rows are missing", session->tracer.error);
}

/* NVTX says nothing where it cannot load the library. */
static void note_no_ranges(const struct session *s)
{
	if (s->cfg->nvtx && s->traced && !session_is_stuck(s) && !s->status.counts.probes[DLT_regions].nvtx)
		log_warn("--regions nvtx: no range came by NVTX: the job's programs make none, or they could not load "
			 "the "
			 "library, as in a container, in another root folder, or as a user who may not read it "
			 "(docs/regions.md)");
}

void session_end_tracing(struct session *session)
{
	if (session_has_ended(session))
		return;
	session->files = FILES_ENDING;
	log_status(NULL);
	workload_await_output(&session->workload);
	targets_await_end(&session->targets, &session->loop);
	if (session->traced)
		end_hooks(session);
	collectors_stop(&session->collectors, &session->loop);
	session->manifest.end = session_now();
	drain_end(&session->drain);
	if (session->drain.running && !await(session, session->drain.ended_fd, false)) {
		warn_stuck(session);
		account_stuck(session);
	} else {
		end_files(session);
	}
	session_metrics_write(session);
	if (session->traced && (session_is_stuck(session) || session->writing.r < 0))
		status_report_lost(&session->status);
	note_no_ranges(session);
}
