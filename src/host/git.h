/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which git commit a folder is at, read from the files of gitrepository-layout(5): no git process,
 * which would run what the repository's owner has configured. Says nothing of local changes.
 */
#ifndef HOST_GIT_H
#define HOST_GIT_H

#include <limits.h>

struct git_head {
	char top[PATH_MAX]; /* the work tree's top folder */
	char ref[256];	    /* refs/heads/main; empty: detached */
	char commit[65];    /* hex; empty: none yet, or not found (reftable) */
};

/* The repository that the absolute path FOLDER lies in: 0, or -ENOENT when in none. */
int git_head_read(struct git_head *h, const char *folder);

#endif
