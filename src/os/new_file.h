/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that exists whole or not at all: written under a name of its own in the same folder, then renamed.
 * A user's path may lie where others write, so nothing that exists there is followed or written into.
 */
#ifndef OS_NEW_FILE_H
#define OS_NEW_FILE_H

#include <stdio.h>

struct new_file {
	FILE *stream; /* the stream to write to; NULL: not open */
	int dirfd;
	char *name, *temporary;
	/* the caller's: 0, or -errno when the existing file must not be replaced; NULL: regular files may be */
	int (*may_replace)(const struct new_file *f);
};

#define NEW_FILE_NONE       \
	{                   \
		.dirfd = -1 \
	}

/* Returns the folder of the file PATH, and its name there, a part of PATH; free() it. NULL: no memory. */
char *new_file_folder(const char *path, const char **name);

/*
 * Begin the file PATH, mode 0644 less the umask. A regular file of that name is replaced at the end.
 * Returns -EISDIR, -ELOOP (a symbolic link) or -EEXIST (a device, FIFO or socket) when something else has
 * the name, else 0 or -errno.
 */
int new_file_open(struct new_file *f, const char *path);

/* The same for the file NAME in the folder DIRFD. */
int new_file_open_at(struct new_file *file, int dirfd, const char *name);

/* Finishes it: 0, or -errno of any write so far, in which case the old file stays. Ends F. */
int new_file_commit(struct new_file *f);

/* Drops it, leaving nothing. Fine when F is not open. */
void new_file_drop(struct new_file *f);

/*
 * A file that is written again and again: prepare its name and folder; begin it, as above; then finish or
 * drop it. After that F can be begun again, until new_file_drop().
 */
int new_file_name(struct new_file *file, const char *path);
int new_file_begin(struct new_file *file);
int new_file_end(struct new_file *file);
void new_file_cancel(struct new_file *f);

#endif
