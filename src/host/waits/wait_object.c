/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/waits/wait_object.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/util.h"
#include "host/process.h"
#include "host/waits/socket_peer.h"

#define PATH_ROOM 64 /* /proc/PID/fdinfo/FD */

void wait_object_link(pid_t pid, int fd, char link[static WAIT_LINK_MAX])
{
	char path[PATH_ROOM];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	n = readlink(path, link, WAIT_LINK_MAX);
	link[n > 0 && n < WAIT_LINK_MAX ? n : 0] = '\0';
}

/* A path is looked at only where a thread waits in it: what serves it need not answer. */
static bool is_fifo(pid_t pid, int fd, uint64_t *inode)
{
	char path[PATH_ROOM];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	if (stat(path, &st) < 0 || !S_ISFIFO(st.st_mode))
		return false;
	*inode = st.st_ino;
	return true;
}

/* Adds the other end of PID's FD. Returns whether it is one that processes have. */
static bool add(struct wait_objects *objects, pid_t pid, int fd, bool input)
{
	struct wait_object *object = &objects->v[objects->n];
	char link[WAIT_LINK_MAX];
	uint64_t inode = 0;

	wait_object_link(pid, fd, link);
	if (objects->n == WAIT_OBJECTS_MAX || !*link)
		return false;
	*object = (struct wait_object){ .reads = !input, .writes = input };
	memcpy(object->link, link, sizeof(link));
	if (sscanf(link, "pipe:[%" SCNu64 "]", &inode) == 1) {
		objects->kind = "pipe";
	} else if (sscanf(link, "socket:[%" SCNu64 "]", &inode) == 1) {
		const uint64_t peer = socket_peer(pid, inode);

		objects->kind = "socket";
		*object = (struct wait_object){ 0 };
		snprintf(object->link, sizeof(object->link), "socket:[%" PRIu64 "]", peer);
		objects->inode = inode;
		if (!peer)
			return false;
	} else if (*link == '/' && is_fifo(pid, fd, &inode)) {
		objects->kind = "fifo";
	} else {
		return false;
	}
	objects->inode = inode;
	objects->n++;
	return true;
}

/* --- several descriptors ------------------------------------------------------------------------------- */

static bool add_epoll(struct wait_objects *objects, pid_t pid, int fd)
{
	char name[PATH_ROOM];
	autofree char *text = NULL;
	bool known = true;
	unsigned int events;
	int watched;

	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	if (process_text(pid, name, PROCESS_TEXT_MAX, &text, NULL) < 0)
		return false;
	for (const char *at = strstr(text, "tfd:"); at; at = strstr(at + 1, "tfd:"))
		known &= sscanf(at, "tfd: %d events: %x", &watched, &events) == 2 &&
			 add(objects, pid, watched, events & EPOLLIN);
	return known;
}

static bool add_poll(struct wait_objects *objects, pid_t pid, const struct wait_call *call)
{
	struct pollfd fds[WAIT_OBJECTS_MAX];
	const size_t n = call->arg[1], bytes = n * sizeof(fds[0]);
	struct iovec here = { fds, bytes }, there = { (void *)(uintptr_t)call->arg[0], bytes };
	bool known = true;

	if (!n || n > WAIT_OBJECTS_MAX || process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)bytes)
		return false;
	for (size_t i = 0; i < n; i++)
		known &= fds[i].fd < 0 || add(objects, pid, fds[i].fd, fds[i].events & POLLIN);
	return known;
}

void wait_objects_of(struct wait_objects *objects, pid_t pid, const struct wait_call *call)
{
	*objects = (struct wait_objects){ 0 };
	if (call->what == WAIT_FOR_INPUT || call->what == WAIT_FOR_ROOM) {
		objects->known = add(objects, pid, call->fd, call->what == WAIT_FOR_INPUT);
		return;
	}
	objects->known =
		call->what == WAIT_FOR_EPOLL ? add_epoll(objects, pid, call->fd) : add_poll(objects, pid, call);
	objects->kind = call->what == WAIT_FOR_EPOLL ? "epoll" : "poll";
	objects->inode = 0;
}

/* --- other ends ---------------------------------------------------------------------------------------- */

/* Whether FD of PID was opened to do what OBJECT needs. */
static bool is_opened_so(const struct wait_object *object, pid_t pid, int fd)
{
	char name[PATH_ROOM];
	autofree char *text = NULL;
	unsigned long long flags;

	if (!object->reads && !object->writes)
		return true;
	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	if (process_text(pid, name, PROCESS_TEXT_MAX, &text, NULL) < 0 ||
	    process_numbers(text, "\nflags:\t", 8, &flags, 1) != 1)
		return true; /* it may be */
	flags &= O_ACCMODE;
	return flags == O_RDWR || (object->reads ? flags == O_RDONLY : flags == O_WRONLY);
}

bool wait_objects_has(const struct wait_objects *objects, pid_t pid, int fd, const char *link)
{
	for (unsigned int i = 0; i < objects->n; i++)
		if (strcmp(objects->v[i].link, link) == 0 && is_opened_so(&objects->v[i], pid, fd))
			return true;
	return false;
}
