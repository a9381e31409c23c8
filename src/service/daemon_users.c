/* SPDX-License-Identifier: BSD-2-Clause */
/* Users: the socket, the right to use it, and the child of each connection. The service reads nothing that users send.
 */
#include "service/daemon_impl.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/util.h"
#include "host/rights/user_name.h"

#define BACKLOG 16
#define REFUSED_PACKETS 64
#define LOOKUP_S 2

static int on_connect(void *ctx, int fd, uint32_t events);

static int on_user_end(void *ctx, int fd, uint32_t events)
{
	struct daemon *daemon = ctx;
	char how[64];
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(daemon->users); i++) {
		uid_t uid = daemon->users[i].uid;
		pid_t pid = daemon->users[i].pid;

		if (daemon_reap(daemon, &daemon->users[i], &status) && (daemon->users[i].logged || WIFSIGNALED(status)))
			log_msg(WIFSIGNALED(status) ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, "process %d for user %u: %s",
				pid, uid, daemon_end_of(status, how));
	}
	daemon_notify(daemon, "");
	return 0;
}

/* --- refusals ------------------------------------------------------------------------------------------- */

/*
 * Sends the reason of a refusal, if that needs no waiting. If data is unread when a socket is closed, the other end's
 * recv(2) fails with ECONNRESET before it returns our text: so this shuts down the receiving side, and discards what
 * has arrived.
 */
static void send_reason(int fd, const char *why)
{
	autofree char *line = util_fmt("dltraced: error: %s", why);
	char byte;

	if (line && send(fd, line, strlen(line), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		(void)!send(fd, "end", 3, MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(fd, SHUT_RD);
	for (int i = 0; i < REFUSED_PACKETS && recv(fd, &byte, 1, MSG_DONTWAIT) > 0; i++)
		;
}

static const struct refusal *unnamed; /* whose user's name is being looked up */

static void log_unnamed(int sig)
{
	char line[256];
	int len = snprintf(line, sizeof(line), "dltraced: user %u is refused: %s\n", unnamed->uid, unnamed->why);

	(void)!write(log_where(), line, (size_t)len);
	_exit(0);
}

/* Sends the reason, then logs it: by number where the user database does not have the user's name in time. */
static void send_refusal(int fd, const struct refusal *what)
{
	const struct itimerval at_most = { .it_value.tv_sec = LOOKUP_S };
	char name[USER_NAME_MAX];

	send_reason(fd, what->why);
	if (!what->logged)
		return;
	unnamed = what;
	signal(SIGALRM, log_unnamed);
	setitimer(ITIMER_REAL, &at_most, NULL);
	log_info("user %s is refused: %s", user_name(what->uid, name), what->why);
}

static void nothing_more(int fd, const struct refusal *what)
{
}

static struct child *unused(struct child *c, size_t n)
{
	for (; n && c->pid; c++)
		n--;
	return n ? c : NULL;
}

/* Accepts connections while a child is free to refuse them; otherwise they wait in the socket. */
static void accept_or_wait(struct daemon *daemon)
{
	bool full = !unused(daemon->leavers, DAEMON_LEAVERS_MAX);

	if (daemon->listen_fd < 0 || full == daemon->full)
		return;
	if (full)
		loop_del(&daemon->loop, daemon->listen_fd);
	else if (loop_add(&daemon->loop, daemon->listen_fd, EPOLLIN, on_connect, daemon) < 0)
		return;
	daemon->full = full;
}

static int on_leaver_end(void *ctx, int fd, uint32_t events)
{
	struct daemon *d = ctx;
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(d->leavers); i++)
		daemon_reap(d, &d->leavers[i], &status);
	accept_or_wait(d);
	return 0;
}

/* Refuses a connection in a child, which discards what the user has sent: closing descriptors in it may take long. */
static void refuse(struct daemon *d, int *fd, const struct refusal *what)
{
	struct child *c = unused(d->leavers, DAEMON_LEAVERS_MAX);
	int r = 0;

	if (*fd >= 0)
		r = c ? daemon_leave(d, c, fd, send_refusal, what, on_leaver_end) : -EAGAIN;

	if (r < 0)
		log_err_r(r, "a connection cannot be refused");
	accept_or_wait(d);
}

/* --- serving --------------------------------------------------------------------------------------------- */

/* Returns why this user gets no trace, or NULL. */
static const char *why_not(const struct daemon *daemon, uid_t uid)
{
	unsigned int own = 0;

	if (!uid)
		return "root needs no service to trace";
	for (size_t i = 0; i < ARRAY_SIZE(daemon->users); i++)
		own += daemon->users[i].pid && daemon->users[i].uid == uid;
	if (own >= daemon->conf.max_traces_per_user)
		return "you have reached the limit of traces per user (max-traces-per-user; see `dltraced status')";
	if (daemon_children(daemon, DAEMON_USERS, 0) >= daemon->conf.max_traces)
		return "the limit of traces is reached (max-traces); try again later";
	return NULL;
}

static void serve(struct daemon *daemon, int *fd)
{
	autofree char *buffer = util_fmt("%llu", (unsigned long long)daemon->conf.max_buffer_bytes);
	struct child *child = unused(daemon->users, ARRAY_SIZE(daemon->users));
	struct refusal no = { .why = "the service does not know which user is asking" };
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(peer);
	int r;

	if (!getsockopt(*fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		no.why = why_not(daemon, peer.uid);
	no.uid = peer.uid;
	no.logged = daemon_quota_take(daemon, peer.uid);
	if (no.why)
		return refuse(daemon, fd, &no);
	char *argv[] = { "dltraced", "serve", buffer, no.logged ? "logged" : NULL, NULL };

	r = child && buffer ? daemon_spawn(daemon, child, argv, fd, on_user_end) : -EAGAIN;
	if (r < 0) {
		if (no.logged)
			log_err_r(r, "user %u cannot be served", peer.uid);
		no.why = "the service cannot start another trace";
		return refuse(daemon, fd, &no);
	}
	child->uid = peer.uid;
	child->logged = no.logged;
	if (no.logged)
		log_info("process %d for user %u, who asks as process %d", child->pid, peer.uid, peer.pid);
	daemon_notify(daemon, "");
}

static int on_connect(void *ctx, int fd, uint32_t events)
{
	autoclose int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

	if (client >= 0)
		serve(ctx, &client);
	return 0;
}

/* --- the socket ------------------------------------------------------------------------------------------ */

void daemon_listen_end(struct daemon *daemon)
{
	struct child *child = unused(&daemon->leavers[DAEMON_LEAVERS_MAX], 1);

	if (daemon->listen_fd < 0)
		return;
	if (!daemon->full)
		loop_del(&daemon->loop, daemon->listen_fd);
	daemon->full = false;
	unlink(daemon->conf.socket);
	/* in a child, too: connections that were not accepted are closed with it, and their data */
	if (child)
		daemon_leave(daemon, child, &daemon->listen_fd, nothing_more, NULL, on_leaver_end);
	util_close(&daemon->listen_fd);
}

/* Makes the folder of the socket. Traces that are started by hand use it, too (control.c), so any user may search it.
 */
static void make_folder(const char *path)
{
	autofree char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));

	if (folder && *folder && !mkdir(folder, 0755))
		chmod(folder, 0755);
}

/* Whether a process listens at ADDR: then the name must not be taken from it. */
static bool is_taken(const struct sockaddr_un *addr)
{
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd >= 0 && (!connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) || errno == EAGAIN);
}

int daemon_group(const struct daemon_conf *conf, gid_t *ret)
{
	const struct group *group = getgrnam(conf->group);

	if (!group) {
		log_err("group %s does not exist (groupadd --system %s, or systemd-sysusers); or set users = no",
			conf->group, conf->group);
		return -ENOENT;
	}
	*ret = group->gr_gid;
	return 0;
}

int daemon_listen(struct daemon *daemon)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	autoclose int fd = -1;
	gid_t gid;

	if (!daemon->conf.users)
		return 0;
	if (daemon_group(&daemon->conf, &gid) < 0)
		return -ENOENT;
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", daemon->conf.socket);
	if (is_taken(&addr)) {
		log_err("%s: another service listens there (systemctl status dltraced); end it, or configure another "
			"socket",
			daemon->conf.socket);
		return -EADDRINUSE;
	}
	make_folder(daemon->conf.socket);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* bind(2) makes the file with this mode: no user may connect before the file is the group's */
	if (fd < 0 || fchmod(fd, 0600) < 0)
		return log_err_r(-errno, "a socket");
	unlink(daemon->conf.socket);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || lchown(daemon->conf.socket, 0, gid) < 0 ||
	    chmod(daemon->conf.socket, 0660) < 0 || listen(fd, BACKLOG) < 0 ||
	    loop_add(&daemon->loop, fd, EPOLLIN, on_connect, daemon) < 0)
		return log_err_r(-errno, "%s", daemon->conf.socket);
	daemon->listen_fd = TAKE_FD(fd);
	return 0;
}
