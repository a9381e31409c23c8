/* SPDX-License-Identifier: BSD-2-Clause */
/* See folder.h. */
#include "os/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

bool folder_roots_rights(void)
{
	return setfsuid((uid_t)-1) == 0;
}

static bool only_root_changes(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

int folder_enter(int at, const char *name, int flags)
{
	int nofollow = folder_roots_rights() && !only_root_changes(at) ? O_NOFOLLOW : 0;
	int fd = openat(at, name, O_DIRECTORY | O_CLOEXEC | nofollow | flags);

	return fd < 0 ? -errno : fd;
}

static bool is_empty(int fd)
{
	DIR *dir = fdopendir(openat(fd, ".", DIR_FLAGS));
	unsigned int n = 0;

	if (!dir)
		return false;
	for (const struct dirent *e; (e = readdir(dir));)
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(dir);
	return n == 0;
}

/* Whether a file that we make in FD gets the owner UID: a server may make root nobody, or all files one user's. */
static bool gives_to(int fd, uid_t uid)
{
	autofree char *name = util_fmt(".dltraced.%d", getpid());
	autoclose int file = name ? openat(fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
	struct stat st;

	if (file < 0)
		return false;
	unlinkat(fd, name, 0);
	return fstat(file, &st) == 0 && st.st_uid == uid;
}

/*
 * Whether FD is the folder that we have just made, or as good: empty and our own. mkdir(2) does not return what it has
 * made, and who may write in its parent can rename another folder to its name.
 */
static bool is_as_made(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && is_empty(fd) && (st.st_uid == geteuid() || gives_to(fd, st.st_uid));
}

int folder_make(int at, const char *name, mode_t mode)
{
	autoclose int fd = -1;
	int error;

	if (mkdirat(at, name, mode) < 0)
		return -errno;
	fd = openat(at, name, DIR_FLAGS | O_NOFOLLOW);
	error = errno;
	if (fd < 0 && error != ENOTDIR && error != ELOOP && error != ENOENT) {
		unlinkat(at, name, AT_REMOVEDIR); /* which removes nothing but an empty folder */
		return -error;
	}
	return fd < 0 || !is_as_made(fd) ? -EAGAIN : TAKE_FD(fd);
}

/* Enters the parent of PATH. Returns its descriptor or -errno; NAME_RET: the last component, part of COPY. */
static int enter_parent(char *copy, const char **name_ret)
{
	int at = open(*copy == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *rest = copy, *part = strtok_r(rest, "/", &rest), *next;

	for (; at >= 0 && part && (next = strtok_r(NULL, "/", &rest)); part = next) {
		int fd = folder_enter(at, part, O_PATH);

		close(at);
		if (fd < 0)
			return fd;
		at = fd;
	}
	*name_ret = part ? part : ".";
	return at < 0 ? -errno : at;
}

int folder_open(const char *path, mode_t mode)
{
	autofree char *copy = strdup(path);
	const char *name;
	autoclose int at = copy ? enter_parent(copy, &name) : -ENOMEM;
	int fd = at < 0 ? at : folder_make(at, name, mode);

	return fd == -EEXIST ? folder_enter(at, name, O_RDONLY) : fd;
}

int new_folder_make(struct new_folder *folder, const char *path)
{
	autofree char *copy = strdup(path);
	const char *name = NULL;
	int res;

	*folder = (struct new_folder)NEW_FOLDER_NONE;
	folder->parent_fd = copy ? enter_parent(copy, &name) : -ENOMEM;
	res = folder->parent_fd;
	if (res >= 0) {
		folder->name = strdup(name);
		folder->fd = folder->name ? folder_make(folder->parent_fd, name, 0700) : -ENOMEM;
		res = folder->fd;
	}
	if (res < 0)
		new_folder_close(folder);
	return MIN(res, 0);
}

int new_folder_create(struct new_folder *folder, const char *name)
{
	char *file = strdup(name);
	int fd = file ? util_room(&folder->files, folder->n, sizeof(*folder->files)) : -ENOMEM;

	if (fd == 0)
		fd = util_create_at(folder->fd, name, 0);
	if (fd < 0)
		free(file);
	else
		folder->files[folder->n++] = file;
	return fd;
}

int new_folder_remove(struct new_folder *folder)
{
	struct stat ours, there;

	for (size_t i = 0; i < folder->n; i++)
		unlinkat(folder->fd, folder->files[i], 0);
	if (fstat(folder->fd, &ours) < 0 || fstatat(folder->parent_fd, folder->name, &there, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (ours.st_ino != there.st_ino || ours.st_dev != there.st_dev)
		return -EAGAIN;
	return unlinkat(folder->parent_fd, folder->name, AT_REMOVEDIR) < 0 ? -errno : 0;
}

void new_folder_close(struct new_folder *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->files[i]);
	free(f->files);
	free(f->name);
	util_close(&f->fd);
	util_close(&f->parent_fd);
	*f = (struct new_folder)NEW_FOLDER_NONE;
}
