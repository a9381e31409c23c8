/* SPDX-License-Identifier: BSD-2-Clause */
/* The service: its config, signals and timers; and the order in which its children end. */
#include "service/service.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include "base/exit_codes.h"
#include "base/fmt.h"
#include "base/log.h"
#include "base/util.h"
#include "base/version.h"
#include "host/rights/caller.h"
#include "os/notify.h"
#include "service/daemon_impl.h"

#define PRUNE_EVERY_NS (60 * NSEC_PER_SEC)
#define KILL_AFTER_NS (75 * NSEC_PER_SEC) /* the unit's TimeoutStopSec is 90 s */

void daemon_notify(struct daemon *d, const char *first)
{
	autofree char *text = util_fmt("%s\nSTATUS=%u traces of users, %u always-on", first,
				       daemon_children(d, DAEMON_USERS, 0), daemon_children(d, DAEMON_ALWAYS, 0));
	int r = text ? notify_send(text) : -ENOMEM;

	if (r < 0)
		log_debug("NOTIFY_SOCKET: %s", strerror(-r));
}

/* --- the state folder ------------------------------------------------------------------------------------ */

static void log_removed(const char *path, uint64_t bytes, int error)
{
	if (error)
		log_warn("%s cannot be removed: %s", path, strerror(-error));
	else
		log_info("removed the trace %s, %llu MiB, as keep-time and keep-bytes say", path,
			 (unsigned long long)bytes >> 20);
}

static void prune_tick(struct daemon *daemon)
{
	const struct daemon_conf *c = &daemon->conf;
	int r;

	if ((!c->keep_bytes && !c->keep_ns) || (daemon->retain_ns && daemon_now() - daemon->retain_ns < PRUNE_EVERY_NS))
		return;
	daemon->retain_ns = daemon_now();
	r = prune_traces(c->state, c->keep_bytes, c->keep_ns, clock_now_ns(CLOCK_REALTIME), log_removed);
	if (r < 0 && r != -ENOENT)
		log_err_r(r, "%s", c->state);
}

/* --- the service ------------------------------------------------------------------------------------------ */

/* Stops users' traces first, as their files may be slow. Always-on traces go on meanwhile, and are stopped last. */
static void stop_tick(struct daemon *daemon)
{
	const unsigned int all = DAEMON_USERS | DAEMON_ALWAYS;

	if (!daemon->users_stopped && !daemon_children(daemon, DAEMON_USERS | DAEMON_NOT_HELD, 0)) {
		daemon->users_stopped = true;
		daemon_children(daemon, DAEMON_ALWAYS, SIGTERM);
	}
	if (daemon_now() - daemon->stop_ns > KILL_AFTER_NS && !daemon->killed) {
		daemon->killed = true;
		daemon_children(daemon, all, SIGKILL);
	}
	if (daemon_children(daemon, all | DAEMON_NOT_HELD, 0))
		return;
	if (daemon_children(daemon, all, 0))
		log_err("%s for file servers that do not answer: left behind until the servers answer",
			FMT_N(daemon_children(daemon, all, 0), "trace waits", "traces wait"));
	loop_quit(&daemon->loop);
}

static void stop(struct daemon *d)
{
	if (d->stop_ns)
		return;
	d->stop_ns = daemon_now();
	log_info("stopping: %s",
		 FMT_N(daemon_children(d, DAEMON_USERS | DAEMON_ALWAYS, 0), "trace ends", "traces end"));
	daemon_notify(d, "STOPPING=1");
	daemon_listen_end(d);
	daemon_children(d, DAEMON_USERS, SIGTERM);
	stop_tick(d);
}

/* Replaces the config by FRESH; *OLD gets the former one. Returns 0, or -errno without a change. */
static int take(struct daemon *daemon, const struct daemon_conf *fresh, struct daemon_conf *old)
{
	bool move = strcmp(fresh->socket, daemon->conf.socket) || strcmp(fresh->group, daemon->conf.group) ||
		    fresh->users != daemon->conf.users;
	int r;

	*old = daemon->conf;
	if (move)
		daemon_listen_end(daemon);
	daemon->conf = *fresh;
	r = move ? daemon_listen(daemon) : 0;
	if (r < 0) {
		daemon->conf = *old;
		daemon_listen(daemon);
	}
	return r;
}

static void reload(struct daemon *daemon)
{
	autofree char *first = util_fmt("RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)(daemon_now() / 1000));
	struct daemon_conf fresh, old;
	int r;

	daemon_notify(daemon, first ? first : "RELOADING=1");
	r = daemon_conf_read(&fresh, daemon->file, daemon->may_lack);
	if (r == 0 && (r = take(daemon, &fresh, &old)) < 0)
		daemon_conf_free(&fresh);
	if (r < 0) {
		log_err("%s is not used: the previous config stays in force", daemon->file);
	} else {
		log_set_level(daemon->conf.log_level);
		daemon_always_apply(daemon, &old);
		daemon_conf_free(&old);
		log_info("%s read again", daemon->file);
	}
	daemon_notify(daemon, "READY=1");
}

static int on_signal(void *ctx, int fd, uint32_t events)
{
	struct daemon *d = ctx;
	struct signalfd_siginfo si;

	if (read(fd, &si, sizeof(si)) != sizeof(si))
		return 0;
	if (si.ssi_signo == SIGHUP && !d->stop_ns)
		reload(d);
	else if (si.ssi_signo != SIGHUP)
		stop(d);
	return 0;
}

static int on_tick(void *ctx, int fd, uint32_t events)
{
	struct daemon *daemon = ctx;
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0)
		return 0;
	if (notify_watchdog_ns())
		notify_send("WATCHDOG=1");
	if (daemon->stop_ns) {
		stop_tick(daemon);
		return 0;
	}
	daemon_always_tick(daemon);
	daemon_quota_tick(daemon);
	prune_tick(daemon);
	return 0;
}

static int setup(struct daemon *daemon)
{
	uint64_t watchdog_ns = notify_watchdog_ns(), tick_ns = NSEC_PER_SEC;
	sigset_t mask;
	int r = loop_init(&daemon->loop);

	if (r < 0)
		return r;
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	daemon->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watchdog_ns)
		tick_ns = MIN(tick_ns, watchdog_ns);
	daemon->tick_fd = loop_timerfd(tick_ns);
	if (daemon->signal_fd < 0 || daemon->tick_fd < 0)
		return -errno;
	r = loop_add(&daemon->loop, daemon->signal_fd, EPOLLIN, on_signal, daemon);
	return r < 0 ? r : loop_add(&daemon->loop, daemon->tick_fd, EPOLLIN, on_tick, daemon);
}

int daemon_check(const char *file, bool may_lack)
{
	struct daemon_conf conf;
	gid_t gid;
	int mistakes = daemon_conf_load(&conf, file, may_lack);

	if (mistakes >= 0 && conf.users)
		mistakes += daemon_group(&conf, &gid) < 0;
	daemon_conf_free(&conf);
	return mistakes ? EXIT_DLTRACED : 0;
}

int daemon_run(const char *file, bool may_lack)
{
	struct daemon d = {
		.file = file,
		.may_lack = may_lack,
		.loop.epoll_fd = -1,
		.signal_fd = -1,
		.tick_fd = -1,
		.listen_fd = -1,
	};
	int r = daemon_conf_read(&d.conf, file, may_lack);

	if (r < 0)
		return EXIT_DLTRACED;
	log_set_level(d.conf.log_level);
	setenv(CALLER_SERVICE, "1", 1);
	r = setup(&d);
	if (r < 0)
		log_err_r(r, "signals and timers");
	if (!r)
		r = daemon_listen(&d);
	if (!r) {
		log_info("dltraced %s: %s%s, always-on traces: %u", version_text,
			 d.conf.users ? "socket for users: " : "no users", d.conf.users ? d.conf.socket : "",
			 d.conf.n_traces);
		daemon_always_apply(&d, NULL);
		daemon_always_tick(&d);
		daemon_notify(&d, "READY=1");
		r = loop_run(&d.loop);
		daemon_quota_end(&d);
		log_info("stopped");
	}
	daemon_listen_end(&d);
	loop_free(&d.loop);
	util_close(&d.signal_fd);
	util_close(&d.tick_fd);
	daemon_conf_free(&d.conf);
	return r < 0 ? EXIT_DLTRACED : 0;
}
