/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Containers that are to be traced and are not there yet. A thread of its own watches the cgroup
 * hierarchies, and asks for the names that are awaited when a container's cgroup is made: runtimes
 * may take seconds to answer, which neither plane has. Control plane but for that thread.
 */
#ifndef HOST_CONTAINER_WAIT_H
#define HOST_CONTAINER_WAIT_H

#include <sys/types.h>

#include "host/cgroup.h"

struct container_wait;

/* What came: as container_find() tells it. */
struct container_found {
	const char *name; /* as given to container_wait_for() */
	struct cgroup_list cgroups;
	pid_t pid;
};

/*
 * Watch the hierarchies of M, which are the wait's from now on. Before the first container_find(),
 * so that nothing comes unseen in between. 0, -ENOSPC or -EMFILE (a limit of inotify), -errno.
 */
int container_wait_open(struct container_wait **ret, struct cgroup_mounts *m);
void container_wait_for(struct container_wait *w, const char *name);
unsigned int container_wait_count(const struct container_wait *w);

/* Begin to look; 0 or -errno. */
int container_wait_start(struct container_wait *w);
/* Readable when there is something to take. */
int container_wait_fd(const struct container_wait *w);
/* The next that has come; the caller's, for container_found_free(). NULL: none. */
struct container_found *container_wait_take(struct container_wait *w);
void container_found_free(struct container_found *f);

/* Also in the middle of a question. Fine with NULL. */
void container_wait_close(struct container_wait *w);

#endif
