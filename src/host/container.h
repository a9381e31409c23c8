/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Containers by name or id. A container is where its runtime put its cgroup; the runtimes (docker,
 * podman, nerdctl) are asked only for what a name stands for, and at most some seconds each.
 */
#ifndef HOST_CONTAINER_H
#define HOST_CONTAINER_H

#include <stddef.h>
#include <sys/types.h>

#include "host/cgroup.h"

/*
 * The 64 hex digits in NAME, a directory that a runtime made for a container (ID, docker-ID.scope,
 * cri-containerd-ID.scope ...), or NULL. The BPF side knows --container new by the same rule.
 */
const char *container_id_in(const char *name);

/*
 * Find running container NAME: its cgroup of every hierarchy that has one is appended to LIST. A
 * container without any gets its first process in *PID_RET, which is else 0. 0, or -errno with one
 * line in ERROR: -ESRCH when it is not there but could come, -ENOENT when nobody could tell of it.
 * -ECANCELED as soon as STOP_FD (-1: none) is readable. Any thread's.
 */
int container_find(struct cgroup_list *list, pid_t *pid_ret, const struct cgroup_mounts *m,
		   const char *name, int stop_fd, char *error, size_t size);

/*
 * The second half: append the container's cgroups from the text of its process's /proc/PID/cgroup.
 * 0 or -errno; none appended is no error.
 */
int container_cgroups(struct cgroup_list *list, const struct cgroup_mounts *m,
		      const char *proc_cgroup);

#endif
