/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace's end: hooks off, rows written, segments packed, the manifest. Others do the writing, the drain,
 * the archiver and an async_call, and this waits for them: as long as it takes where their work goes on or only
 * the workload has ended, but where the file system does not answer not beyond a signal, nor where
 * somebody waits for the end. What stands in the kernel then cannot be ended by anybody; it is left there,
 * and done later should the file system come back while there is a workload to wait for.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "host/stall/clock.h"
#include "host/stall/proxy.h"
#include "session/session.h"
#include "session/state.h"
#include "trace/config.h"

#define STEP_MS 200
#define BEAT_NS (8 * NSEC_PER_SEC)     /* the drain takes 5 s to find out what the disk has */
#define STALL_GUARD_NS (3 * NSEC_PER_SEC) /* with what does not answer, once somebody waits */

bool session_look(struct session *s, int wait_ms)
{
	return folder_watch_ask(&s->folder_watch, s->dir.fd, s->cfg->min_free_bytes, wait_ms);
}

/* --- waiting --------------------------------------------------------------------------------------- */

/*
 * Since when the drain has not gone on; 0: it does not run. Its heart beats between two rounds, and one
 * takes as long as it takes on a busy machine: STILL, begun at FIRST, has seen whether the thread works.
 */
static uint64_t drain_still_since(struct session *s, struct stall_clock *still, uint64_t first, uint64_t now)
{
	uint64_t beat = s->drain.running ? __atomic_load_n(&s->drain.heartbeat_ns, __ATOMIC_RELAXED) : 0;

	if (!beat)
		return 0;
	stall_clock_ns(still, drain_cpu_ns(&s->drain), now);
	return still->since_ns > first ? MAX(beat, still->since_ns) : beat;
}

/* Nothing goes on: since when, CLOCK_MONOTONIC; 0: it does. */
static uint64_t stall_clock_since(struct session *s, struct stall_clock *still, uint64_t first, uint64_t now)
{
	uint64_t since = drain_still_since(s, still, first, now);

	session_look(s, 0);
	if (since && now > since + BEAT_NS)
		return since;
	return folder_watch_hangs(&s->folder_watch) ? now - async_call_busy_ns(&s->folder_watch.call) : 0;
}

/* Whether somebody who is still there has asked us to end: takes one signal. */
static bool told_to_end(struct session *s)
{
	struct signalfd_siginfo si;

	if (read(s->signal_fd, &si, sizeof(si)) != sizeof(si))
		return false;
	return si.ssi_signo == SIGINT || si.ssi_signo == SIGTERM || si.ssi_signo == SIGQUIT || si.ssi_signo == SIGHUP;
}

/* Until FD is readable. False: there is no end of it in sight, and somebody wants one. */
static bool await(struct session *s, int fd, bool hurried_by_signals)
{
	bool waits = s->end.awaited || s->end.by.signal || s->kind->remote, warned = false;
	uint64_t first = clock_now_ns(CLOCK_MONOTONIC);
	struct stall_clock still;

	stall_clock_begin(&still, __atomic_load_n(&s->drain.tid, __ATOMIC_RELAXED),
			  s->drain.running ? drain_cpu_ns(&s->drain) : 0, first);
	for (;;) {
		struct pollfd p[] = { { fd, POLLIN, 0 }, { hurried_by_signals ? s->signal_fd : -1, POLLIN, 0 } };
		uint64_t now, since;

		poll(p, ARRAY_SIZE(p), STEP_MS);
		if (p[0].revents)
			return true;
		if (proxy_gone()) /* who was called has been killed: so are we */
			kill(getpid(), SIGKILL);
		if (p[1].revents) {
			archiver_hurry(&s->archiver);
			hurried_by_signals = false;
		}
		now = clock_now_ns(CLOCK_MONOTONIC);
		since = stall_clock_since(s, &still, first, now);
		if (!since)
			continue;
		if ((waits && now - MAX(since, first) > STALL_GUARD_NS) || told_to_end(s))
			return false;
		if (!waits && !warned)
			log_warn("%s does not answer, and there are rows to be written; waiting for it: ^C or TERM ends that, without them",
				 s->dir.path);
		warned = true;
	}
}

/* --- the steps ------------------------------------------------------------------------------------- */

static void say_stuck(struct session *s)
{
	bool runs = s->workload.pid && !s->workload.ended;

	s->files = s->files >= FILES_CLOSED ? FILES_CLOSED_STUCK : FILES_STUCK;
	log_err("%s does not answer: the trace ends without what is not written yet, %s", s->dir.path,
		runs ? "unless it answers before the workload ends" : "and there is no manifest of its end");
}

/* What is closed by now is compressed, unless a signal asks for the end. False: stuck. */
static bool finish_segments(struct session *s)
{
	uint64_t left;

	if (!s->split || !s->archiver.running)
		return true;
	if (__atomic_load_n(&s->archiver.waiting, __ATOMIC_RELAXED) > 1)
		log_info("compressing the rest; a signal leaves it as it is");
	archiver_end(&s->archiver);
	/* by way of the service, a signal has asked for the end already */
	if (!await(s, s->archiver.done_fd, !s->kind->remote))
		return false;
	left = archiver_finish(&s->archiver);
	archiver_say(&s->archiver, s->dir.path);
	if (left)
		log_warn("%llu parts of the trace in %s are not compressed", (unsigned long long)left, s->dir.path);
	return true;
}

/* The last manifest. False: stuck. */
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

/* The drain has ended: what it leaves. False: stuck. */
static bool finish_files(struct session *s)
{
	uint64_t late;

	if (s->files >= FILES_CLOSED)
		return finish_manifest(s);
	if (s->traced) {
		drain_stop(&s->drain);
		session_live_end(s);
		if (!finish_segments(s))
			return false;
		escape_say(&s->drain.decode.escape, s->cfg);
		status_update(&s->status, &s->tracer, &s->drain);
		status_account(&s->status, &s->tracer);
		status_warn(&s->status, &s->drain, s->dir.path, false);
		late = session_not_on_disk(s);
		if (late)
			log_info("%llu MiB of the trace are not on the disk yet: the system goes on writing them",
				 (unsigned long long)late >> 20);
	}
	status_log(&s->status, s->workload.relay.log, s->dir.path);
	drain_free(&s->drain);
	collectors_free(&s->collectors);
	left_running_settle(&s->left);
	s->files = FILES_CLOSED;
	s->manifest.end = session_now();
	return finish_manifest(s);
}

/* What is known of rows that will not be written. */
static void account_stuck(struct session *s)
{
	status_update(&s->status, &s->tracer, &s->drain);
	status_account(&s->status, &s->tracer);
	status_give_up(&s->status);
}

static void end_files(struct session *s)
{
	if (!finish_files(s)) {
		say_stuck(s);
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
		say_stuck(s);
}

static void end_hooks(struct session *s)
{
	int r;

	if (!s->cfg->all)
		left_running_find(&s->left, &s->tracer);
	r = tracer_tell(&s->tracer, PROBE_TELL_STOP);

	tracer_detach(&s->tracer); /* which takes its time */
	if (r < 0 || tracer_tell(&s->tracer, PROBE_TELL_END) < 0)
		log_warn("%s: rows are missing", s->tracer.error);
}

void session_end_tracing(struct session *s)
{
	if (session_has_ended(s))
		return;
	s->files = FILES_ENDING;
	log_status(NULL);
	workload_await_output(&s->workload);
	targets_await_end(&s->targets, &s->loop);
	if (s->traced)
		end_hooks(s);
	collectors_stop(&s->collectors, &s->loop);
	s->manifest.end = session_now();
	drain_end(&s->drain);
	if (s->drain.running && !await(s, s->drain.ended_fd, false)) {
		say_stuck(s);
		account_stuck(s);
	} else {
		end_files(s);
	}
	session_metrics_write(s);
	if (s->traced && (session_is_stuck(s) || s->writing.r < 0))
		status_say_lost(&s->status);
}
