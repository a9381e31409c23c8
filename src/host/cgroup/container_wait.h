/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Containers that are to be traced and do not exist yet. A thread of its own watches the cgroup
 * hierarchies, and queries the runtimes for the awaited names when a container's cgroup is made: runtimes
 * may take seconds to answer, which neither plane can spare. Control plane except for that thread.
 */
#ifndef HOST_CGROUP_CONTAINER_WAIT_H
#define HOST_CGROUP_CONTAINER_WAIT_H

#include <sys/types.h>

#include "host/cgroup/cgroup.h"

struct container_wait;

/* A container that has come: the results of container_find(). */
struct container_found {
	const char *name; /* the name passed to container_wait_for() */
	struct cgroup_list cgroups;
	pid_t pid;
};

/*
 * Watch the hierarchies of MOUNTS, which belongs to the wait from now on. Call before the first
 * container_find(), so that no container comes unseen in between. 0, -ENOSPC or -EMFILE (a limit of
 * inotify), -errno.
 */
int container_wait_open(struct container_wait **ret, struct cgroup_mounts *mounts);
void container_wait_for(struct container_wait *w, const char *name);
unsigned int container_wait_count(const struct container_wait *w);

/* Start the thread; 0 or -errno. */
int container_wait_start(struct container_wait *w);
/* Readable when a container is ready to be taken. */
int container_wait_fd(const struct container_wait *w);
/* Returns the next that has come; the caller frees it with container_found_free(). NULL: none. */
struct container_found *container_wait_take(struct container_wait *w);
void container_found_free(struct container_found *f);

/* Also in the middle of a query. Fine with NULL. */
void container_wait_close(struct container_wait *wait);

#endif
