/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "host/rights/privileges.h"
#include "os/loop.h"
#include "trace/outdir.h"

bool control_folder(uid_t uid, char *buf, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char usual[64];
	int n;

	if (!uid) {
		n = snprintf(buf, size, "/run/dltraced");
		return n > 0 && (size_t)n < size;
	}
	snprintf(usual, sizeof(usual), "/run/user/%u", uid); /* by systemd; su(1) and cron(8) do not set it */
	if (!runtime && !access(usual, W_OK))
		runtime = usual;
	n = snprintf(buf, size, "%s/dltraced", runtime ? runtime : "");
	return runtime && *runtime == '/' && n > 0 && (size_t)n < size;
}

/* --- one client ------------------------------------------------------------------------------------ */

static void client_end(struct control *c, struct control_client *client)
{
	bool stayed = client->stays;

	loop_del(c->loop, client->fd);
	util_close(&client->fd);
	free(client->out);
	*client = (struct control_client){ .fd = -1 };
	if (stayed)
		c->gone(c->ctx, (unsigned int)(client - c->clients));
}

static struct control_client *client_of(struct control *c, int fd)
{
	for (unsigned int i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (c->clients[i].fd == fd)
			return &c->clients[i];
	return NULL;
}

/* Sends what the socket accepts of the pending data: 0, also where more is left; -errno. */
static int client_send(struct control_client *client)
{
	while (client->at < client->len) {
		ssize_t n = send(client->fd, client->out + client->at,
				 MIN(client->len - client->at, CONTROL_PACKET_MAX), MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN || errno == ENOBUFS ? 0 : -errno;
		client->at += (size_t)n;
	}
	free(TAKE_PTR(client->out));
	return 0;
}

static int on_client(void *ctx, int fd, uint32_t events);

/* Hand OUT over, and send what can be sent; the loop sends the rest, and ends a finished client. */
static int client_answer(struct control *control, struct control_client *client, char *out, size_t len)
{
	int r;

	client->out = out;
	client->len = len;
	client->at = 0;
	r = client_send(client);
	if (!r && client->out) {
		loop_del(control->loop, client->fd);
		r = loop_add(control->loop, client->fd, EPOLLIN | EPOLLOUT, on_client, control);
	}
	if (r < 0 || (!client->out && !client->stays))
		client_end(control, client);
	return r;
}

static void answer(struct control *control, struct control_client *client, char *packet, pid_t pid)
{
	struct control_request rq = {
		.verb = packet,
		.text = "",
		.pid = pid,
		.client = (unsigned int)(client - control->clients),
	};
	char *blank = strchr(packet, ' ');
	autofree char *answer = NULL;
	char *reply = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&answer, &len);
	int r;

	if (!out) {
		client_end(control, client);
		return;
	}
	if (blank) {
		*blank = '\0';
		rq.text = blank + 1;
	}
	r = control->fn(control->ctx, &rq, out);
	client->stays = r == CONTROL_STAYS && control->gone;
	if (!fclose(out) && len < CONTROL_ANSWER_MAX)
		reply = util_fmt("%s\n%s", r < 0 ? "error" : "ok", answer);
	if (reply)
		client_answer(control, client, reply, strlen(reply));
	else
		client_end(control, client);
}

/* Send the rest of an answer; or notice the end of a client that stays. */
static void client_goes_on(struct control *control, struct control_client *client, uint32_t events)
{
	char ignored[64];

	if (events & (EPOLLERR | EPOLLHUP) || client_send(client) < 0 ||
	    (events & EPOLLIN && recv(client->fd, ignored, sizeof(ignored), MSG_DONTWAIT) <= 0) ||
	    (!client->out && !client->stays)) {
		client_end(control, client);
	} else if (!client->out && events & EPOLLOUT) {
		loop_del(control->loop, client->fd);
		if (loop_add(control->loop, client->fd, EPOLLIN, on_client, control) < 0)
			client_end(control, client);
	}
}

static int on_client(void *ctx, int fd, uint32_t events)
{
	struct control *control = ctx;
	struct control_client *client = client_of(control, fd);
	char packet[CONTROL_TEXT_MAX + 64];
	struct ucred peer = {};
	socklen_t size = sizeof(peer);
	ssize_t n;

	if (client->out || client->stays) {
		client_goes_on(control, client, events);
		return 0;
	}
	n = recv(fd, packet, sizeof(packet) - 1, MSG_DONTWAIT);
	if (n > 0 && !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size)) {
		packet[n] = '\0';
		answer(control, client, packet, peer.pid);
	} else {
		client_end(control, client);
	}
	return 0;
}

int control_push(struct control *control, unsigned int client, const char *text, size_t len)
{
	struct control_client *to = &control->clients[client];
	char *copy;

	if (to->fd < 0)
		return -ENOTCONN;
	if (to->out)
		return -EAGAIN;
	copy = malloc(len);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, len);
	return client_answer(control, to, copy, len);
}

void control_dismiss(struct control *c, unsigned int client)
{
	struct control_client *of = &c->clients[client];

	of->stays = false;
	if (of->fd >= 0 && !of->out)
		client_end(c, of);
}

static bool may_request(const struct control *c, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && (!peer.uid || peer.uid == c->owner);
}

/* Returns a free place, or that of the oldest client that has not been asked to stay; NULL: none. */
static struct control_client *place(struct control *control)
{
	struct control_client *oldest = NULL;

	for (unsigned int i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct control_client *client = &control->clients[i];

		if (client->fd < 0)
			return client;
		if (!client->stays && (!oldest || client->since < oldest->since))
			oldest = client;
	}
	if (oldest)
		client_end(control, oldest);
	return oldest;
}

static int on_connect(void *ctx, int fd, uint32_t events)
{
	struct control *c = ctx;
	autoclose int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct control_client *at = client >= 0 && may_request(c, client) ? place(c) : NULL;

	if (at && !loop_add(c->loop, client, EPOLLIN, on_client, c))
		*at = (struct control_client){ .fd = TAKE_FD(client), .since = ++c->connected };
	return 0;
}

/* --- the socket ------------------------------------------------------------------------------------ */

static int listen_at(struct control *control)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	memcpy(addr.sun_path, control->path, sizeof(addr.sun_path));
	control->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (control->fd < 0)
		return -errno;
	unlink(control->path); /* left by a process that had our number */
	/* before it has a name: bind(2) makes the socket with this mode (net/unix/af_unix.c) */
	if (fchmod(control->fd, 0600) < 0 || bind(control->fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return -errno;
	if ((control->owner != geteuid() && lchown(control->path, control->owner, (gid_t)-1) < 0) ||
	    listen(control->fd, CONTROL_CLIENTS_MAX) < 0)
		return -errno;
	return loop_add(control->loop, control->fd, EPOLLIN, on_connect, control);
}

int control_open(struct control *control, struct loop *loop, uid_t owner, const char *dir, control_fn fn,
		 control_gone_fn gone, void *ctx)
{
	char folder[sizeof(control->path)];
	int r, n;

	*control = (struct control){ .loop = loop, .fd = -1, .owner = owner, .fn = fn, .gone = gone, .ctx = ctx };
	for (unsigned int i = 0; i < CONTROL_CLIENTS_MAX; i++)
		control->clients[i].fd = -1;
	control->in_trace = !control_folder(geteuid(), folder, sizeof(folder));
	if (control->in_trace)
		n = snprintf(control->path, sizeof(control->path), "%s/" OUTDIR_SOCKET, dir);
	else if (mkdir(folder, 0700) < 0 ? errno != EEXIST : !geteuid() && chmod(folder, 0755) < 0)
		return -errno;
	else
		n = snprintf(control->path, sizeof(control->path), "%s/%d.sock", folder, getpid());
	r = n > 0 && (size_t)n < sizeof(control->path) ? listen_at(control) : -ENAMETOOLONG;
	if (r < 0)
		control_close(control);
	return r;
}

static void remove_socket(void *ctx)
{
	const struct control *c = ctx;

	unlink(c->path);
}

void control_hide(struct control *control)
{
	if (!control->loop || control->fd < 0)
		return;
	loop_del(control->loop, control->fd);
	if (!control->in_trace)
		privileges_own_files(remove_socket, control); /* the folder is root's */
	util_close(&control->fd);
	for (unsigned int i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (control->clients[i].fd >= 0 && !control->clients[i].stays && !control->clients[i].out)
			client_end(control, &control->clients[i]);
}

static void flush(struct control_client *client, uint64_t until_ns)
{
	struct pollfd p = { .fd = client->fd, .events = POLLOUT };

	while (client->out && !client_send(client) && client->out) {
		uint64_t now = clock_now_ns(CLOCK_MONOTONIC);

		if (now >= until_ns || poll(&p, 1, (int)((until_ns - now) / NSEC_PER_MSEC) + 1) < 0)
			return;
	}
}

void control_close(struct control *c)
{
	uint64_t until_ns = clock_now_ns(CLOCK_MONOTONIC) + NSEC_PER_SEC;

	control_hide(c);
	for (unsigned int i = 0; c->loop && i < CONTROL_CLIENTS_MAX; i++)
		if (c->clients[i].fd >= 0) {
			flush(&c->clients[i], until_ns);
			client_end(c, &c->clients[i]);
		}
}
