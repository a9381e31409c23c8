/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Containers by name or id. A container is where its runtime put its cgroup; the runtimes (docker, podman,
 * nerdctl) are only called to resolve a name, each for some seconds at most.
 */
#ifndef HOST_CGROUP_CONTAINER_H
#define HOST_CGROUP_CONTAINER_H

#include <stddef.h>
#include <sys/types.h>

#include "host/cgroup/cgroup.h"

/*
 * Returns the 64 hex digits in NAME, a directory that a runtime made for a container (ID, docker-ID.scope,
 * cri-containerd-ID.scope ...), or NULL. The BPF side recognizes --container new by this rule, too.
 */
const char *container_id_in(const char *name);

/*
 * Find running container NAME: its cgroup of every hierarchy that has one is appended to LIST. For a
 * container without any, *PID_RET is its first process, else 0. Returns 0, or -errno with one line in
 * ERROR: -ESRCH when it does not exist but may come, -ENOENT when no runtime could say, -ECANCELED as soon
 * as STOP_FD (-1: none) is readable. Any thread.
 */
int container_find(struct cgroup_list *list, pid_t *pid_ret, const struct cgroup_mounts *mounts, const char *name,
		   int stop_fd, char *error, size_t size);

/*
 * The second half: append the container's cgroups from the text of its process's /proc/PID/cgroup. 0 or
 * -errno; finding none is no error.
 */
int container_cgroups(struct cgroup_list *list, const struct cgroup_mounts *mounts, const char *proc_cgroup);

#endif
