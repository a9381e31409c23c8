/* SPDX-License-Identifier: BSD-2-Clause */
/* The file that a command's first word names, by the search of execvp(3). Pure except for stat(2). */
#ifndef HOST_PATH_SEARCH_H
#define HOST_PATH_SEARCH_H

#include <stddef.h>

/*
 * Resolves ARGV0 in PATH_ENV (NULL: not set), by execvp's rules, into BUF. 0, -ENOENT, -EACCES or the
 * -errno that ends execvp's search.
 */
int path_search(const char *argv0, const char *path_env, char *buf, size_t size);

#endif
