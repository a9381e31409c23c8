/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/path_search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What execve(2) would return for PATH before it reads the file. */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

/* Errors of one directory after which glibc's execvp tries the next (posix/execvpe.c). */
static bool try_next(int r)
{
	return r == -EACCES || r == -ENOENT || r == -ESTALE || r == -ENOTDIR || r == -ENODEV || r == -ETIMEDOUT;
}

int path_search(const char *argv0, const char *path_env, char *buf, size_t size)
{
	char standard[256];
	bool denied = false;

	if (!*argv0)
		return -ENOENT;
	if (strchr(argv0, '/'))
		return (size_t)snprintf(buf, size, "%s", argv0) < size ? executable(buf) : -ENAMETOOLONG;
	if (!path_env) {
		confstr(_CS_PATH, standard, sizeof(standard));
		path_env = standard;
	}
	for (const char *dir = path_env;; dir++) {
		int n = (int)strcspn(dir, ":"), r = -ENOENT;

		if ((size_t)snprintf(buf, size, "%.*s/%s", n ? n : 1, n ? dir : ".", argv0) < size)
			r = executable(buf);
		if (!r || !try_next(r))
			return r;
		denied |= r == -EACCES;
		dir += n;
		if (!*dir)
			return denied ? -EACCES : -ENOENT;
	}
}
