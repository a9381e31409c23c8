/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/cgroup/container_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>

#include "base/util.h"
#include "host/cgroup/container.h"
#include "os/thread.h"
#include "trace/config.h"

/* A runtime that makes the cgroup before it knows the name is queried once more. */
#define RETRY_MS 1000

struct watch {
	int wd;
	char *dir;
};

struct container_wait {
	struct cgroup_mounts mounts;
	const char *names[CONFIG_LIST_MAX];
	unsigned int n;
	struct watch *watches;
	unsigned int n_watches;
	bool fresh; /* a container's cgroup has been made */
	int inotify_fd, stop_fd;
	int found[2]; /* a pipe of pointers, to be taken by the control plane */
	pthread_t thread;
	bool running;
};

/* --- watching ----------------------------------------------------------------------------------- */

/* A directory that has been removed meanwhile has nothing below. */
static int watch_dir(void *ctx, const char *dir)
{
	struct container_wait *wait = ctx;
	int wd = inotify_add_watch(wait->inotify_fd, dir, IN_CREATE | IN_ONLYDIR | IN_DONT_FOLLOW);

	if (wd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	wait->fresh |= container_id_in(strrchr(dir, '/') + 1) != NULL;
	for (unsigned int i = 0; i < wait->n_watches; i++)
		if (wait->watches[i].wd == wd)
			return 0;
	if (util_room(&wait->watches, wait->n_watches, sizeof(*wait->watches)) < 0)
		return -ENOMEM;
	wait->watches[wait->n_watches] = (struct watch){ wd, strdup(dir) };
	return wait->watches[wait->n_watches++].dir ? 0 : -ENOMEM;
}

static int watch_all(struct container_wait *w)
{
	int r = 0;

	for (unsigned int i = 0; !r && i < w->mounts.n; i++)
		r = cgroup_walk(w->mounts.items[i].dir, watch_dir, w);
	return r;
}

static struct watch *watch_of(struct container_wait *w, int wd)
{
	for (unsigned int i = 0; i < w->n_watches; i++)
		if (w->watches[i].wd == wd)
			return &w->watches[i];
	return NULL;
}

/* A folder without a watch (for want of memory or watches) never reports its containers. */
static void take_event(struct container_wait *wait, const struct inotify_event *event)
{
	struct watch *at = watch_of(wait, event->wd);
	autofree char *dir = NULL;

	if (event->mask & IN_Q_OVERFLOW) {
		wait->fresh = true;
		watch_all(wait);
	} else if (at && event->mask & IN_IGNORED) {
		free(at->dir);
		*at = wait->watches[--wait->n_watches];
	} else if (at && event->mask & IN_ISDIR && (dir = util_fmt("%s/%s", at->dir, event->name))) {
		/* including directories that were made in it before it was watched */
		cgroup_walk(dir, watch_dir, wait);
	}
}

static void take_events(struct container_wait *wait)
{
	char buf[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)]
		__attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;

	while ((n = read(wait->inotify_fd, buf, sizeof(buf))) > 0)
		for (const char *p = buf; p < buf + n;) {
			const struct inotify_event *e = (const void *)p;

			take_event(wait, e);
			p += sizeof(*e) + e->len;
		}
}

/* --- queries ------------------------------------------------------------------------------------ */

/* Returns 0 when NAME has come and has been handed over. */
static int look_for(struct container_wait *wait, const char *name)
{
	struct container_found *found = calloc(1, sizeof(*found));
	char error[512];
	int r = -ENOMEM;

	if (found) {
		found->name = name;
		r = container_find(&found->cgroups, &found->pid, &wait->mounts, name, wait->stop_fd, error,
				   sizeof(error));
	}
	if (!r && write(wait->found[1], &found, sizeof(found)) == sizeof(found))
		return 0;
	container_found_free(found);
	return r ?: -EPIPE;
}

static void look(struct container_wait *w)
{
	for (unsigned int i = 0; i < w->n;) {
		if (look_for(w, w->names[i]) < 0)
			i++;
		else
			w->names[i] = w->names[--w->n];
	}
}

static void *wait_main(void *ctx)
{
	struct container_wait *wait = ctx;
	struct pollfd p[] = { { .fd = wait->stop_fd, .events = POLLIN }, { .fd = wait->inotify_fd, .events = POLLIN } };
	int timeout_ms = 0;

	/* at first for containers that came before; then as containers come */
	while (wait->n && poll(p, ARRAY_SIZE(p), timeout_ms) >= 0 && !p[0].revents) {
		bool again = !p[1].revents;

		take_events(wait);
		if (wait->fresh || again) {
			wait->fresh = false;
			look(wait);
			timeout_ms = again ? -1 : RETRY_MS;
		}
	}
	return NULL;
}

/* --- control plane ------------------------------------------------------------------------------ */

int container_wait_open(struct container_wait **ret, struct cgroup_mounts *mounts)
{
	struct container_wait *wait = calloc(1, sizeof(*wait));
	int r;

	if (!wait) {
		cgroup_mounts_free(mounts);
		return -ENOMEM;
	}
	wait->mounts = *mounts;
	*mounts = (struct cgroup_mounts){};
	wait->found[0] = wait->found[1] = -1;
	wait->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	wait->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = wait->inotify_fd < 0 || wait->stop_fd < 0 || pipe2(wait->found, O_CLOEXEC | O_NONBLOCK) < 0 ?
		    -errno :
		    watch_all(wait);
	if (r < 0) {
		container_wait_close(wait);
		return r;
	}
	wait->fresh = false; /* these are for the first scan */
	*ret = wait;
	return 0;
}

void container_wait_for(struct container_wait *w, const char *name)
{
	w->names[w->n++] = name;
}

unsigned int container_wait_count(const struct container_wait *w)
{
	return w->n;
}

int container_wait_start(struct container_wait *w)
{
	int r = thread_start(&w->thread, wait_main, w);

	w->running = !r;
	return r;
}

int container_wait_fd(const struct container_wait *w)
{
	return w->found[0];
}

struct container_found *container_wait_take(struct container_wait *w)
{
	struct container_found *f;

	return read(w->found[0], &f, sizeof(f)) == sizeof(f) ? f : NULL;
}

void container_found_free(struct container_found *f)
{
	if (f)
		cgroup_list_free(&f->cgroups);
	free(f);
}

void container_wait_close(struct container_wait *wait)
{
	struct container_found *found;

	if (!wait)
		return;
	if (wait->running) {
		eventfd_write(wait->stop_fd, 1);
		pthread_join(wait->thread, NULL);
	}
	while (wait->found[0] >= 0 && (found = container_wait_take(wait)))
		container_found_free(found);
	for (unsigned int i = 0; i < wait->n_watches; i++)
		free(wait->watches[i].dir);
	free(wait->watches);
	cgroup_mounts_free(&wait->mounts);
	util_close(&wait->inotify_fd);
	util_close(&wait->stop_fd);
	util_close(&wait->found[0]);
	util_close(&wait->found[1]);
	free(wait);
}
