/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folders in places where others may write: made and entered by descriptors, a component at a time, so that what is
 * used and removed is what was made or checked, whatever is renamed or linked meanwhile. With root's rights to files,
 * no symbolic link is followed where another user could have put it: it would let that user do by root's rights what he
 * may not do himself.
 */
#ifndef OS_FOLDER_H
#define OS_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Whether this process has root's rights to files. */
bool folder_roots_rights(void);

/* Opens the folder NAME in AT; FLAGS: O_RDONLY or O_PATH. Returns its descriptor or -errno; -ENOTDIR: a link, too. */
int folder_enter(int at, const char *name, int flags);

/*
 * Makes the folder NAME in AT and opens it. Returns its descriptor or -errno: -EEXIST when the name is taken, -EAGAIN
 * when something else had the name before it could be opened, which is left alone.
 */
int folder_make(int at, const char *name, mode_t mode);

/* Opens the folder PATH, and makes it if it is missing. Returns its descriptor or -errno. */
int folder_open(const char *path, mode_t mode);

/* A folder that exists whole or not at all, with the files that were made in it. */
struct new_folder {
	int fd, parent_fd; /* -1: none */
	char *name; /* in its parent */
	char **files; /* the names of those that were made */
	size_t n;
};

#define NEW_FOLDER_NONE                   \
	{                                 \
		.fd = -1, .parent_fd = -1 \
	}

/* Makes PATH, mode 0700, which must not exist. Returns 0 or what folder_make() does. */
int new_folder_make(struct new_folder *folder, const char *path);
/* Makes the file NAME in it, as util_create_at(). */
int new_folder_create(struct new_folder *folder, const char *name);
/* Removes the files that were made, and the folder. Returns 0, or -errno when the folder stays, with what others put
 * there. */
int new_folder_remove(struct new_folder *folder);
/* Ends F; the folder stays. */
void new_folder_close(struct new_folder *f);

#endif
