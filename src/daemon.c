/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See daemon.h. A trace is a process with rings, counters and memory of its own, as one started by hand:
 * what goes wrong in it, or what a user makes go wrong, stays in it. Here are only who runs, since when,
 * and how many of whom.
 */
#include "daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "cmd.h"
#include "daemon_conf.h"
#include "log.h"
#include "loop.h"
#include "notify.h"
#include "process.h"
#include "retain.h"
#include "util.h"

#define BACKOFF_MIN_NS NSEC_PER_SEC
#define BACKOFF_MAX_NS (60 * NSEC_PER_SEC)
#define SETTLED_NS (60 * NSEC_PER_SEC) /* one that ran so long begins anew */
#define RETAIN_EVERY_NS (60 * NSEC_PER_SEC)
#define KILL_AFTER_NS (75 * NSEC_PER_SEC) /* the unit's TimeoutStopSec is 90 s */
#define BACKLOG 16
#define REFUSED_PACKETS 64

struct child {
	pid_t pid; /* 0: none */
	int pidfd;
	uid_t uid;	   /* a user's */
	uint64_t start_ns; /* CLOCK_MONOTONIC, also below */
};

/* An always-on trace. */
struct always {
	const struct daemon_trace *trace; /* of the config; NULL: it is no more, and ends */
	char name[DAEMON_NAME_MAX];
	struct child child;
	uint64_t again_ns, backoff_ns; /* when it is tried again; how long that was */
	bool anew;		       /* it ends, to begin with what the config says now */
};

struct daemon {
	const char *file;
	bool may_lack;
	struct daemon_conf conf;
	struct loop loop;
	int signal_fd, tick_fd, listen_fd;
	struct always always[2 * DAEMON_TRACES_MAX];
	struct child users[DAEMON_USERS_MAX];
	uint64_t retain_ns; /* when it was looked at the state folder last */
	uint64_t stop_ns;   /* stopping since; 0: not */
	bool users_stopped, killed;
};

static uint64_t now(void)
{
	return clock_now_ns(CLOCK_MONOTONIC);
}

/* --- children ------------------------------------------------------------------------------------------ */

/* Up to its exec: async-signal-safe. It ends with us, its files whole: TERM ends a trace. */
static void __attribute__((noreturn)) run_child(char *const argv[], int connection, int null_fd, pid_t parent)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(CMD_EXIT_FAILURE);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(connection >= 0 ? connection : null_fd, STDIN_FILENO) >= 0 && dup2(null_fd, STDOUT_FILENO) >= 0)
		execv("/proc/self/exe", argv);
	_exit(CMD_EXIT_FAILURE);
}

static int spawn(struct daemon *d, struct child *c, char *const argv[], int connection, loop_fn fn)
{
	autoclose int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t parent = getpid(), pid;
	int r;

	if (null_fd < 0 || (pid = fork()) < 0)
		return -errno;
	if (!pid)
		run_child(argv, connection, null_fd, parent);
	*c = (struct child){ .pid = pid, .pidfd = util_pidfd_open(pid), .start_ns = now() };
	r = c->pidfd < 0 ? c->pidfd : loop_add(&d->loop, c->pidfd, EPOLLIN, fn, d);
	if (r < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		util_close(&c->pidfd);
		c->pid = 0;
	}
	return r;
}

/* Ended: true, with the raw status. */
static bool reap(struct daemon *d, struct child *c, int *status)
{
	if (!c->pid || waitpid(c->pid, status, WNOHANG) == 0)
		return false;
	loop_del(&d->loop, c->pidfd);
	util_close(&c->pidfd);
	c->pid = 0;
	return true;
}

static void signal_child(const struct child *c, int sig)
{
	if (c->pid)
		util_pidfd_kill(c->pidfd, sig);
}

static unsigned int running(const struct daemon *d)
{
	unsigned int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(d->always); i++)
		n += d->always[i].child.pid != 0;
	for (size_t i = 0; i < ARRAY_SIZE(d->users); i++)
		n += d->users[i].pid != 0;
	return n;
}

/* But for those that are killed and held by a file server: nobody can wait for them. */
static unsigned int users_to_wait_for(const struct daemon *d)
{
	unsigned int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(d->users); i++)
		n += d->users[i].pid && !process_is_held(d->users[i].pid);
	return n;
}

static unsigned int to_wait_for(const struct daemon *d)
{
	unsigned int n = users_to_wait_for(d);

	for (size_t i = 0; i < ARRAY_SIZE(d->always); i++)
		n += d->always[i].child.pid && !process_is_held(d->always[i].child.pid);
	return n;
}

static unsigned int users_running(const struct daemon *d, const uid_t *uid)
{
	unsigned int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(d->users); i++)
		n += d->users[i].pid && (!uid || d->users[i].uid == *uid);
	return n;
}

static void tell_systemd(struct daemon *d, const char *first)
{
	autofree char *text = util_fmt("%s\nSTATUS=%u traces of users, %u always-on", first, users_running(d, NULL),
				       running(d) - users_running(d, NULL));
	int r = text ? notify_send(text) : -ENOMEM;

	if (r < 0)
		log_debug("NOTIFY_SOCKET: %s", strerror(-r));
}

static const char *end_of(int status, char buf[64])
{
	if (WIFSIGNALED(status))
		snprintf(buf, 64, "killed by signal %d", WTERMSIG(status));
	else
		snprintf(buf, 64, "exited with %d", WEXITSTATUS(status));
	return buf;
}

/* --- always-on traces ------------------------------------------------------------------------------------ */

static int on_always(void *ctx, int fd, uint32_t events);

static void always_try_later(struct always *a)
{
	a->backoff_ns = MIN(a->backoff_ns ? 2 * a->backoff_ns : BACKOFF_MIN_NS, BACKOFF_MAX_NS);
	a->again_ns = now() + a->backoff_ns;
}

static void always_start(struct daemon *d, struct always *a)
{
	autofree char *out = util_fmt("--output=%s/%s/%%t_%%p", d->conf.state, a->name);
	char *argv[DAEMON_WORDS_MAX + 8] = { "dltraced", "start", "--no-report", out };
	unsigned int n = 4;
	int r;

	for (unsigned int i = 0; i < a->trace->n_words; i++)
		argv[n++] = a->trace->words[i];
	r = out ? spawn(d, &a->child, argv, -1, on_always) : -ENOMEM;
	if (r < 0) {
		log_err_r(r, "[trace %s] cannot be started", a->name);
		always_try_later(a);
		return;
	}
	a->anew = false;
	log_info("[trace %s] started as process %d, in %s/%s", a->name, a->child.pid, d->conf.state, a->name);
}

static int on_always(void *ctx, int fd, uint32_t events)
{
	struct daemon *d = ctx;
	char how[64];
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(d->always); i++) {
		struct always *a = &d->always[i];
		uint64_t start_ns = a->child.start_ns;

		if (!reap(d, &a->child, &status))
			continue;
		if (!a->trace || d->stop_ns || a->anew) {
			log_info("[trace %s] has ended", a->name);
			if (!a->trace)
				*a = (struct always){};
			a->again_ns = 0;
			continue;
		}
		if (now() - start_ns > SETTLED_NS)
			a->backoff_ns = 0;
		always_try_later(a);
		log_warn("[trace %s] %s: started again in %llu s", a->name, end_of(status, how),
			 (unsigned long long)(a->backoff_ns / NSEC_PER_SEC));
	}
	tell_systemd(d, "");
	return 0;
}

static struct always *always_find(struct daemon *d, const char *name)
{
	struct always *unused = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(d->always); i++) {
		if (!strcmp(d->always[i].name, name))
			return &d->always[i];
		if (!*d->always[i].name && !unused)
			unused = &d->always[i];
	}
	return unused;
}

/* As the config says now; OLD is the one from before, or NULL. */
static void always_apply(struct daemon *d, const struct daemon_conf *old)
{
	struct daemon_conf *c = &d->conf;

	for (size_t i = 0; i < ARRAY_SIZE(d->always); i++)
		d->always[i].trace = NULL;
	for (unsigned int i = 0; i < c->n_traces; i++) {
		const struct daemon_trace *t = &c->traces[i], *was = NULL;
		struct always *a = t->disabled ? NULL : always_find(d, t->name);

		for (unsigned int k = 0; old && k < old->n_traces; k++)
			if (!strcmp(old->traces[k].name, t->name))
				was = &old->traces[k];
		if (!a)
			continue;
		strcpy(a->name, t->name);
		a->trace = t;
		a->again_ns = a->backoff_ns = 0;
		if (a->child.pid && (!was || !daemon_trace_same(was, t) || strcmp(old->state, c->state))) {
			a->anew = true;
			signal_child(&a->child, SIGTERM);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(d->always); i++) {
		struct always *a = &d->always[i];

		if (*a->name && !a->trace && a->child.pid)
			signal_child(&a->child, SIGTERM);
		else if (*a->name && !a->trace)
			*a = (struct always){};
	}
}

static void always_tick(struct daemon *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(d->always); i++) {
		struct always *a = &d->always[i];

		if (a->trace && !a->child.pid && now() >= a->again_ns)
			always_start(d, a);
	}
}

/* --- users ----------------------------------------------------------------------------------------------- */

static int on_user_end(void *ctx, int fd, uint32_t events)
{
	struct daemon *d = ctx;
	char how[64];
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(d->users); i++) {
		uid_t uid = d->users[i].uid;
		pid_t pid = d->users[i].pid;

		if (reap(d, &d->users[i], &status))
			log_msg(WIFSIGNALED(status) ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "process %d for user %u: %s", pid, uid,
				end_of(status, how));
	}
	tell_systemd(d, "");
	return 0;
}

/*
 * Say why not, if that goes without waiting. What lies unread in a socket that is closed makes the other
 * end's recv(2) fail with ECONNRESET before it gives out what was said: nothing more can come, and what
 * has come is thrown away.
 */
static void refuse(int fd, const char *why)
{
	autofree char *line = util_fmt("dltraced: error: %s", why);
	char byte;

	if (line && send(fd, line, strlen(line), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		(void)!send(fd, "end", 3, MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(fd, SHUT_RD);
	for (int i = 0; i < REFUSED_PACKETS && recv(fd, &byte, 1, MSG_DONTWAIT) > 0; i++)
		;
}

static void serve(struct daemon *d, int fd)
{
	autofree char *buffer = util_fmt("%llu", (unsigned long long)d->conf.max_buffer_bytes);
	char *argv[] = { "dltraced", "serve", buffer, NULL };
	struct child *c = NULL;
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int r;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return;
	if (!peer.uid)
		return refuse(fd, "root needs no service to trace");
	if (users_running(d, &peer.uid) >= d->conf.max_traces_per_user)
		return refuse(fd, "you have as many traces running as a user may have (max-traces-per-user; `dltraced status')");
	if (users_running(d, NULL) >= d->conf.max_traces)
		return refuse(fd, "as many traces are running as there may be (max-traces); try again later");
	for (size_t i = 0; i < ARRAY_SIZE(d->users) && !c; i++)
		if (!d->users[i].pid)
			c = &d->users[i];
	r = c && buffer ? spawn(d, c, argv, fd, on_user_end) : -EAGAIN;
	if (r < 0) {
		log_err_r(r, "user %u cannot be served", peer.uid);
		return refuse(fd, "the service cannot start another trace");
	}
	c->uid = peer.uid;
	log_info("process %d for user %u, who asks as process %d", c->pid, peer.uid, peer.pid);
	tell_systemd(d, "");
}

static int on_connect(void *ctx, int fd, uint32_t events)
{
	autoclose int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

	if (client >= 0)
		serve(ctx, client);
	return 0;
}

static void listen_end(struct daemon *d)
{
	if (d->listen_fd < 0)
		return;
	loop_del(&d->loop, d->listen_fd);
	unlink(d->conf.socket);
	util_close(&d->listen_fd);
}

/* The folder of sockets, which traces started by hand use too (control.c): anybody may look for one. */
static void make_folder(const char *path)
{
	autofree char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));

	if (folder && *folder && !mkdir(folder, 0755))
		chmod(folder, 0755);
}

static int listen_begin(struct daemon *d)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	autoclose int fd = -1;
	const struct group *group;

	if (!d->conf.users)
		return 0;
	group = getgrnam(d->conf.group);
	if (!group) {
		log_err("group %s: there is none (groupadd --system %s, or systemd-sysusers); or say users = no",
			d->conf.group, d->conf.group);
		return -ENOENT;
	}
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", d->conf.socket);
	make_folder(d->conf.socket);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* nobody may connect to one of these before it is the group's: what bind(2) makes has this mode */
	if (fd < 0 || fchmod(fd, 0600) < 0)
		return log_err_r(-errno, "a socket");
	unlink(d->conf.socket);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || lchown(d->conf.socket, 0, group->gr_gid) < 0 ||
	    chmod(d->conf.socket, 0660) < 0 || listen(fd, BACKLOG) < 0 ||
	    loop_add(&d->loop, fd, EPOLLIN, on_connect, d) < 0)
		return log_err_r(-errno, "%s", d->conf.socket);
	d->listen_fd = TAKE_FD(fd);
	return 0;
}

/* --- the state folder ------------------------------------------------------------------------------------ */

static void say_gone(const char *path, uint64_t bytes, int error)
{
	if (error)
		log_warn("%s cannot be removed: %s", path, strerror(-error));
	else
		log_info("removed the trace %s, %llu MiB, as keep-time and keep-bytes say", path,
			 (unsigned long long)bytes >> 20);
}

static void retain_tick(struct daemon *d)
{
	const struct daemon_conf *c = &d->conf;
	int r;

	if ((!c->keep_bytes && !c->keep_ns) || (d->retain_ns && now() - d->retain_ns < RETAIN_EVERY_NS))
		return;
	d->retain_ns = now();
	r = retain(c->state, c->keep_bytes, c->keep_ns, clock_now_ns(CLOCK_REALTIME), say_gone);
	if (r < 0 && r != -ENOENT)
		log_err_r(r, "%s", c->state);
}

/* --- the service ------------------------------------------------------------------------------------------ */

/* Users first, whose files may be slow; then always-on traces, which see them end. */
static void stop_tick(struct daemon *d)
{
	if (!users_to_wait_for(d) && !d->users_stopped) {
		d->users_stopped = true;
		for (size_t i = 0; i < ARRAY_SIZE(d->always); i++)
			signal_child(&d->always[i].child, SIGTERM);
	}
	if (now() - d->stop_ns > KILL_AFTER_NS && !d->killed) {
		d->killed = true;
		for (size_t i = 0; i < ARRAY_SIZE(d->always); i++)
			signal_child(&d->always[i].child, SIGKILL);
		for (size_t i = 0; i < ARRAY_SIZE(d->users); i++)
			signal_child(&d->users[i], SIGKILL);
	}
	if (to_wait_for(d))
		return;
	if (running(d))
		log_err("%u traces are held by file servers that do not answer: left behind, each ends when they do", running(d));
	loop_quit(&d->loop);
}

static void stop(struct daemon *d)
{
	if (d->stop_ns)
		return;
	d->stop_ns = now();
	log_info("stopping: %u traces end", running(d));
	tell_systemd(d, "STOPPING=1");
	listen_end(d);
	for (size_t i = 0; i < ARRAY_SIZE(d->users); i++)
		signal_child(&d->users[i], SIGTERM);
	stop_tick(d);
}

static void reload(struct daemon *d)
{
	autofree char *first = util_fmt("RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)(now() / 1000));
	struct daemon_conf fresh, old;

	tell_systemd(d, first ? first : "RELOADING=1");
	if (daemon_conf_read(&fresh, d->file, d->may_lack) < 0) {
		log_err("%s is not taken: what was before goes on", d->file);
	} else {
		bool move = strcmp(fresh.socket, d->conf.socket) || strcmp(fresh.group, d->conf.group) ||
			    fresh.users != d->conf.users;

		if (move)
			listen_end(d);
		old = d->conf;
		d->conf = fresh;
		log_set_level(d->conf.log_level);
		if (move)
			listen_begin(d);
		always_apply(d, &old);
		daemon_conf_free(&old);
		log_info("%s read again", d->file);
	}
	tell_systemd(d, "READY=1");
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
	struct daemon *d = ctx;
	uint64_t n;

	if (read(fd, &n, sizeof(n)) < 0)
		return 0;
	if (notify_watchdog_ns())
		notify_send("WATCHDOG=1");
	if (d->stop_ns) {
		stop_tick(d);
		return 0;
	}
	always_tick(d);
	retain_tick(d);
	return 0;
}

static int setup(struct daemon *d)
{
	uint64_t watchdog_ns = notify_watchdog_ns(), tick_ns = NSEC_PER_SEC;
	sigset_t mask;
	int r = loop_init(&d->loop);

	if (r < 0)
		return r;
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	d->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watchdog_ns)
		tick_ns = MIN(tick_ns, watchdog_ns);
	d->tick_fd = loop_timerfd(tick_ns, tick_ns);
	if (d->signal_fd < 0 || d->tick_fd < 0)
		return -errno;
	r = loop_add(&d->loop, d->signal_fd, EPOLLIN, on_signal, d);
	return r < 0 ? r : loop_add(&d->loop, d->tick_fd, EPOLLIN, on_tick, d);
}

int daemon_run(const char *file, bool may_lack)
{
	struct daemon d = {
		.file = file, .may_lack = may_lack, .loop.epoll_fd = -1, .signal_fd = -1, .tick_fd = -1,
		.listen_fd = -1,
	};
	int r = daemon_conf_read(&d.conf, file, may_lack);

	if (r < 0)
		return CMD_EXIT_FAILURE;
	log_set_level(d.conf.log_level);
	r = setup(&d);
	if (r < 0)
		log_err_r(r, "signals and timers");
	if (!r)
		r = listen_begin(&d);
	if (!r) {
		log_info("dltraced " DLT_VERSION ": %s%s, %u always-on traces", d.conf.users ? "users ask at " : "no users",
			 d.conf.users ? d.conf.socket : "", d.conf.n_traces);
		always_apply(&d, NULL);
		always_tick(&d);
		tell_systemd(&d, "READY=1");
		r = loop_run(&d.loop);
		log_info("stopped");
	}
	listen_end(&d);
	loop_free(&d.loop);
	util_close(&d.signal_fd);
	util_close(&d.tick_fd);
	daemon_conf_free(&d.conf);
	return r < 0 ? CMD_EXIT_FAILURE : 0;
}
