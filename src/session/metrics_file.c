/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"

/* Ours from before, empty, or not there: 0, else -errno. No link is followed, nor anything waited for. */
static int may_replace(const struct metrics_file *f)
{
	autoclose int fd = openat(f->dirfd, f->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char first[sizeof(METRICS_FILE_FIRST)] = "";
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : errno == ELOOP ? -EEXIST : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
	n = read(fd, first, strlen(METRICS_FILE_FIRST));
	return n < 0 ? -errno : !n || !strcmp(first, METRICS_FILE_FIRST) ? 0 : -EEXIST;
}

/* Nobody reads it before it is whole: it is not ended by .prom, and hidden. */
static int create_temporary(const struct metrics_file *f)
{
	int fd;

	unlinkat(f->dirfd, f->temporary, 0); /* of a process that had our number */
	fd = openat(f->dirfd, f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

int metrics_file_open(struct metrics_file *f, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	autofree char *folder = slash ? util_fmt("%.*s/", (int)(slash - path), path) : util_fmt(".");
	int r, fd;

	*f = (struct metrics_file)METRICS_FILE_NONE;
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EISDIR;
	f->name = strdup(name);
	f->temporary = util_fmt(".%.200s.%d.tmp", name, getpid());
	f->dirfd = folder && f->name && f->temporary ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (f->dirfd < 0) {
		r = folder && f->name && f->temporary ? -errno : -ENOMEM;
		metrics_file_close(f);
		return r;
	}
	r = may_replace(f);
	fd = r < 0 ? r : create_temporary(f);
	if (fd >= 0) {
		close(fd);
		unlinkat(f->dirfd, f->temporary, 0);
		return 0;
	}
	metrics_file_close(f);
	return fd;
}

int metrics_file_write(const struct metrics_file *f, const char *text, size_t len)
{
	autoclose int fd = create_temporary(f);
	int r = fd < 0 ? fd : util_write_all(fd, text, len);

	if (!r && fchmod(fd, 0644) < 0)
		r = -errno;
	if (!r)
		r = may_replace(f); /* somebody may have put something else there */
	if (!r && renameat(f->dirfd, f->temporary, f->dirfd, f->name) < 0)
		r = -errno;
	if (r < 0 && fd >= 0)
		unlinkat(f->dirfd, f->temporary, 0);
	return r;
}

void metrics_file_close(struct metrics_file *f)
{
	util_close(&f->dirfd);
	free(TAKE_PTR(f->name));
	free(TAKE_PTR(f->temporary));
}
