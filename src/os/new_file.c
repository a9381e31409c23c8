/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

static int may_replace(const struct new_file *file)
{
	struct stat st;

	if (file->may_replace)
		return file->may_replace(file);
	if (fstatat(file->dirfd, file->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISREG(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISLNK(st.st_mode) ? -ELOOP : -EEXIST;
}

/* Uses a name that nobody can have guessed and taken. Returns a descriptor or -errno. */
static int create_temporary(struct new_file *file)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = clock_now_ns(CLOCK_MONOTONIC);
	file->temporary = util_fmt(".%.200s.%016llx.tmp", file->name, (unsigned long long)number);
	if (!file->temporary)
		return -ENOMEM;
	int fd = openat(file->dirfd, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0) {
		fd = -errno;
		free(TAKE_PTR(file->temporary));
	}
	return fd;
}

char *new_file_folder(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');

	*name = slash ? slash + 1 : path;
	return slash ? util_fmt("%.*s/", (int)(slash - path), path) : util_fmt("./");
}

int new_file_name(struct new_file *file, const char *path)
{
	const char *name;
	autofree char *folder = new_file_folder(path, &name);

	*file = (struct new_file)NEW_FILE_NONE;
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EISDIR;
	file->name = strdup(name);
	if (!folder || !file->name)
		return -ENOMEM;
	file->dirfd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return file->dirfd < 0 ? -errno : 0;
}

int new_file_begin(struct new_file *file)
{
	int r = may_replace(file), fd = r ? r : create_temporary(file);

	if (fd < 0)
		return fd;
	file->stream = fdopen(fd, "w");
	if (file->stream)
		return 0;
	r = -errno;
	close(fd);
	new_file_cancel(file);
	return r;
}

int new_file_end(struct new_file *file)
{
	FILE *stream = TAKE_PTR(file->stream);
	int r = 0;

	if (fflush(stream) != 0)
		r = -errno;
	else if (ferror(stream)) /* an earlier write failed; the next one gets the error that stdio has not kept */
		r = write(fileno(stream), "", 1) < 0 ? -errno : -EIO;
	if (fclose(stream) != 0 && !r)
		r = -errno;
	if (!r)
		r = may_replace(file); /* another program may have put something else there */
	if (!r && renameat(file->dirfd, file->temporary, file->dirfd, file->name) < 0)
		r = -errno;
	if (!r)
		free(TAKE_PTR(file->temporary)); /* it is no longer there */
	new_file_cancel(file);
	return r;
}

void new_file_cancel(struct new_file *f)
{
	if (f->stream)
		fclose(TAKE_PTR(f->stream));
	if (f->temporary)
		unlinkat(f->dirfd, f->temporary, 0);
	free(TAKE_PTR(f->temporary));
}

int new_file_open(struct new_file *f, const char *path)
{
	int r = new_file_name(f, path);

	if (!r)
		r = new_file_begin(f);
	if (r < 0)
		new_file_drop(f);
	return r;
}

int new_file_open_at(struct new_file *file, int dirfd, const char *name)
{
	int r = 0;

	*file = (struct new_file){ .name = strdup(name), .dirfd = fcntl(dirfd, F_DUPFD_CLOEXEC, 0) };
	if (file->dirfd < 0 || !file->name)
		r = file->name ? -errno : -ENOMEM;
	if (!r)
		r = new_file_begin(file);
	if (r < 0)
		new_file_drop(file);
	return r;
}

int new_file_commit(struct new_file *f)
{
	int r = new_file_end(f);

	new_file_drop(f);
	return r;
}

void new_file_drop(struct new_file *f)
{
	new_file_cancel(f);
	util_close(&f->dirfd);
	free(TAKE_PTR(f->name));
}
