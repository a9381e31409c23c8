/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/container_wait.h"

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
#include "host/container.h"
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
	struct container_wait *w = ctx;
	int wd = inotify_add_watch(w->inotify_fd, dir, IN_CREATE | IN_ONLYDIR | IN_DONT_FOLLOW);

	if (wd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	w->fresh |= container_id_in(strrchr(dir, '/') + 1) != NULL;
	for (unsigned int i = 0; i < w->n_watches; i++)
		if (w->watches[i].wd == wd)
			return 0;
	if (util_room(&w->watches, w->n_watches, sizeof(*w->watches)) < 0)
		return -ENOMEM;
	w->watches[w->n_watches] = (struct watch){ wd, strdup(dir) };
	return w->watches[w->n_watches++].dir ? 0 : -ENOMEM;
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
static void take_event(struct container_wait *w, const struct inotify_event *e)
{
	struct watch *at = watch_of(w, e->wd);
	autofree char *dir = NULL;

	if (e->mask & IN_Q_OVERFLOW) {
		w->fresh = true;
		watch_all(w);
	} else if (at && e->mask & IN_IGNORED) {
		free(at->dir);
		*at = w->watches[--w->n_watches];
	} else if (at && e->mask & IN_ISDIR && (dir = util_fmt("%s/%s", at->dir, e->name))) {
		/* including directories that were made in it before it was watched */
		cgroup_walk(dir, watch_dir, w);
	}
}

static void take_events(struct container_wait *w)
{
	char buf[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)]
		__attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n;

	while ((n = read(w->inotify_fd, buf, sizeof(buf))) > 0)
		for (const char *p = buf; p < buf + n;) {
			const struct inotify_event *e = (const void *)p;

			take_event(w, e);
			p += sizeof(*e) + e->len;
		}
}

/* --- queries ------------------------------------------------------------------------------------ */

/* Returns 0 when NAME has come and has been handed over. */
static int look_for(struct container_wait *w, const char *name)
{
	struct container_found *f = calloc(1, sizeof(*f));
	char error[512];
	int r = -ENOMEM;

	if (f) {
		f->name = name;
		r = container_find(&f->cgroups, &f->pid, &w->mounts, name, w->stop_fd, error, sizeof(error));
	}
	if (!r && write(w->found[1], &f, sizeof(f)) == sizeof(f))
		return 0;
	container_found_free(f);
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
	struct container_wait *w = ctx;
	struct pollfd p[] = { { .fd = w->stop_fd, .events = POLLIN }, { .fd = w->inotify_fd, .events = POLLIN } };
	int timeout_ms = 0;

	/* at first for containers that came before; then as containers come */
	while (w->n && poll(p, ARRAY_SIZE(p), timeout_ms) >= 0 && !p[0].revents) {
		bool again = !p[1].revents;

		take_events(w);
		if (w->fresh || again) {
			w->fresh = false;
			look(w);
			timeout_ms = again ? -1 : RETRY_MS;
		}
	}
	return NULL;
}

/* --- control plane ------------------------------------------------------------------------------ */

int container_wait_open(struct container_wait **ret, struct cgroup_mounts *m)
{
	struct container_wait *w = calloc(1, sizeof(*w));
	int r;

	if (!w) {
		cgroup_mounts_free(m);
		return -ENOMEM;
	}
	w->mounts = *m;
	*m = (struct cgroup_mounts){};
	w->found[0] = w->found[1] = -1;
	w->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	w->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = w->inotify_fd < 0 || w->stop_fd < 0 || pipe2(w->found, O_CLOEXEC | O_NONBLOCK) < 0 ?
		    -errno : watch_all(w);
	if (r < 0) {
		container_wait_close(w);
		return r;
	}
	w->fresh = false; /* these are for the first scan */
	*ret = w;
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

void container_wait_close(struct container_wait *w)
{
	struct container_found *f;

	if (!w)
		return;
	if (w->running) {
		eventfd_write(w->stop_fd, 1);
		pthread_join(w->thread, NULL);
	}
	while (w->found[0] >= 0 && (f = container_wait_take(w)))
		container_found_free(f);
	for (unsigned int i = 0; i < w->n_watches; i++)
		free(w->watches[i].dir);
	free(w->watches);
	cgroup_mounts_free(&w->mounts);
	util_close(&w->inotify_fd);
	util_close(&w->stop_fd);
	util_close(&w->found[0]);
	util_close(&w->found[1]);
	free(w);
}
