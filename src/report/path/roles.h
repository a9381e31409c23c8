/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each process is for the root, by which waits it ended: a loader ends waits of its trainer while both live, a
 * launcher's children end its waits with their lives. Arguments and calls do not count; of names, whether a program
 * that is executed has another one.
 */
#ifndef REPORT_PATH_ROLES_H
#define REPORT_PATH_ROLES_H

#include "report/path/lives/roots.h"
#include "report/path/waits/shorts.h"

/* So many waits of a process above it make one that serves; a result that a rank hands over at its end does not. */
#define PATH_SERVES 3U
/* So many children, each of at most this part of the root's time, are programs that it executes one by one. */
#define PATH_CHILDREN 5U
#define PATH_CHILD_PART 20U

/* Beside the role: of a rank that the others wait for (ranks.h), or what serves it. */
#define PATH_SLOW_RANK 0x80U

/* Returns the enum path_role of each process, to be freed; NULL when memory is out. */
uint8_t *path_roles_of(const struct path_shorts *shorts, const struct path_root *root);

#endif
