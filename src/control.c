/* SPDX-License-Identifier: BSD-2-Clause */
#include "control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "loop.h"
#include "util.h"

bool control_folder(uid_t uid, char *buf, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int n = !uid ? snprintf(buf, size, "/run/dltraced") :
		       snprintf(buf, size, "%s/dltraced", runtime ? runtime : "");

	return (!uid || (runtime && *runtime == '/')) && n > 0 && (size_t)n < size;
}

/* --- one client ------------------------------------------------------------------------------------ */

static void client_end(struct control *c, int *client)
{
	loop_del(c->loop, *client);
	util_close(client);
}

static void answer(struct control *c, int fd, char *packet, pid_t pid)
{
	struct control_request rq = { .verb = packet, .text = "", .pid = pid };
	char *blank = strchr(packet, ' ');
	autofree char *said = NULL, *reply = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&said, &len);
	int r;

	if (!out)
		return;
	if (blank) {
		*blank = '\0';
		rq.text = blank + 1;
	}
	r = c->fn(c->ctx, &rq, out);
	if (fclose(out))
		return;
	reply = util_fmt("%s\n%s", r < 0 ? "error" : "ok", said);
	/* who does not wait for the answer gets none: nobody waits for him */
	if (reply && send(fd, reply, strlen(reply), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		log_debug("control: %s", strerror(errno));
}

static int on_client(void *ctx, int fd, uint32_t events)
{
	struct control *c = ctx;
	char packet[CONTROL_TEXT_MAX + 64];
	struct ucred peer = {};
	socklen_t size = sizeof(peer);
	ssize_t n = recv(fd, packet, sizeof(packet) - 1, MSG_DONTWAIT);

	if (n > 0 && !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size)) {
		packet[n] = '\0';
		answer(c, fd, packet, peer.pid);
	}
	for (unsigned int i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (c->clients[i] == fd)
			client_end(c, &c->clients[i]);
	return 0;
}

static bool may_ask(const struct control *c, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && (!peer.uid || peer.uid == c->owner);
}

static int on_connect(void *ctx, int fd, uint32_t events)
{
	struct control *c = ctx;
	autoclose int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	for (unsigned int i = 0; client >= 0 && may_ask(c, client) && i < CONTROL_CLIENTS_MAX; i++)
		if (c->clients[i] < 0 && !loop_add(c->loop, client, EPOLLIN, on_client, c))
			c->clients[i] = TAKE_FD(client);
	return 0;
}

/* --- the socket ------------------------------------------------------------------------------------ */

static int listen_at(struct control *c)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	memcpy(addr.sun_path, c->path, sizeof(addr.sun_path));
	c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return -errno;
	unlink(c->path); /* of a process that had our number */
	/* before it has a name: what bind(2) makes has this mode (net/unix/af_unix.c) */
	if (fchmod(c->fd, 0600) < 0 || bind(c->fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return -errno;
	if ((c->owner != geteuid() && lchown(c->path, c->owner, (gid_t)-1) < 0) ||
	    listen(c->fd, CONTROL_CLIENTS_MAX) < 0)
		return -errno;
	return loop_add(c->loop, c->fd, EPOLLIN, on_connect, c);
}

int control_open(struct control *c, struct loop *loop, uid_t owner, control_fn fn, void *ctx)
{
	char folder[sizeof(c->path)];
	int r, n;

	*c = (struct control){ .loop = loop, .fd = -1, .owner = owner, .fn = fn, .ctx = ctx };
	for (unsigned int i = 0; i < CONTROL_CLIENTS_MAX; i++)
		c->clients[i] = -1;
	if (!control_folder(geteuid(), folder, sizeof(folder)))
		return -ENOENT;
	if (mkdir(folder, 0700) < 0 ? errno != EEXIST : !geteuid() && chmod(folder, 0755) < 0)
		return -errno;
	n = snprintf(c->path, sizeof(c->path), "%s/%d.sock", folder, getpid());
	r = n > 0 && (size_t)n < sizeof(c->path) ? listen_at(c) : -ENAMETOOLONG;
	if (r < 0)
		control_close(c);
	return r;
}

void control_close(struct control *c)
{
	if (!c->loop)
		return;
	for (unsigned int i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (c->clients[i] >= 0)
			client_end(c, &c->clients[i]);
	if (c->fd >= 0) {
		loop_del(c->loop, c->fd);
		unlink(c->path);
	}
	util_close(&c->fd);
}
