/* SPDX-License-Identifier: BSD-2-Clause */
/* Which file a command's first word names, as execvp(3) looks for it. Pure but for stat(2). */
#ifndef HOST_PATH_SEARCH_H
#define HOST_PATH_SEARCH_H

#include <stddef.h>

/*
 * The path that ARGV0 resolves to in PATH_ENV (NULL: not set), by execvp's rules, into BUF.
 * 0, -ENOENT, -EACCES or the -errno that ends execvp's search.
 */
int path_search(const char *argv0, const char *path_env, char *buf, size_t size);

#endif
