/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The git commit that a folder is at, read from the files of gitrepository-layout(5): no git process, which
 * would run programs that the repository's owner has configured. Local changes are not reported.
 */
#ifndef HOST_GIT_H
#define HOST_GIT_H

#include <limits.h>

struct git_head {
	char top[PATH_MAX]; /* the work tree's top folder */
	char ref[256]; /* refs/heads/main; empty: detached */
	char commit[65]; /* hex; empty: none yet, or not found (reftable) */
};

/* Finds the repository that contains the absolute path FOLDER: 0, or -ENOENT when there is none. */
int git_head_read(struct git_head *head, const char *folder);

#endif
