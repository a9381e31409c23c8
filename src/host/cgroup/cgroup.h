/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cgroups by name: the mounted hierarchies (v1, v2 or both), a path's place in them, the kernel side's key
 * for a cgroup, and the processes in it. Pure except for reading /proc and cgroupfs.
 */
#ifndef HOST_CGROUP_CGROUP_H
#define HOST_CGROUP_CGROUP_H

#include <stdint.h>
#include <sys/types.h>

#include "dlt/pids.h"

struct cgroup_mount {
	char *dir; /* where it is mounted */
	char *root; /* the part of the hierarchy that is mounted there: mostly "/" */
	uint32_t hierarchy; /* 0: v2; else the number in /proc/PID/cgroup */
};

struct cgroup_mounts {
	struct cgroup_mount *items;
	unsigned int n;
};

/* A cgroup that exists or may come. */
struct cgroup {
	char *dir;
	struct dlt_cgroup_path path;
	uint8_t nr; /* of the option that names it, from 1; 0: none does */
};

struct cgroup_list {
	struct cgroup *items;
	unsigned int n;
};

/* Parses the texts of /proc/PID/mountinfo and /proc/PID/cgroup, or reads our own. 0 or -errno. */
int cgroup_mounts_parse(struct cgroup_mounts *mounts, const char *mountinfo, const char *proc_cgroup);
int cgroup_mounts_read(struct cgroup_mounts *m);
void cgroup_mounts_free(struct cgroup_mounts *m);

/*
 * Append the cgroups that PATH means: a directory of one hierarchy, or else a path from the root of each.
 * 0, -ENOENT when it is neither, -EINVAL when a path that does not exist yet contains . or ..,
 * -ENAMETOOLONG, -ENOMEM.
 */
int cgroup_find(struct cgroup_list *list, const struct cgroup_mounts *mounts, const char *path);

/* Append the cgroup at PATH, from the hierarchy's root, as mount MOUNT shows it; -ENOENT when it does not. */
int cgroup_append(struct cgroup_list *list, const struct cgroup_mount *mount, const char *path);
/* Append the cgroup of DIR, which is M's directory or below. */
int cgroup_append_dir(struct cgroup_list *list, const struct cgroup_mount *m, const char *dir);
void cgroup_list_free(struct cgroup_list *list);

/* Looks up the key of C; -ENOENT when C does not exist (yet). */
int cgroup_key(const struct cgroup *c, struct dlt_cgroup_key *key);

/* Call FN for DIR and all cgroups below, until it returns nonzero. Returns that, 0, or -ENOMEM. */
typedef int (*cgroup_dir_fn)(void *ctx, const char *dir);
int cgroup_walk(const char *dir, cgroup_dir_fn fn, void *ctx);

/* Call FN for the processes (in a threaded cgroup: the threads) that are in DIR itself. */
typedef int (*cgroup_task_fn)(void *ctx, pid_t pid);
int cgroup_tasks(const char *dir, cgroup_task_fn fn, void *ctx);

#endif
