/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is there whole or not at all: written under a name of its own beside it, then renamed. What a
 * user names may lie where others write, so nothing that is there is followed or written into.
 */
#ifndef BASE_NEW_FILE_H
#define BASE_NEW_FILE_H

#include <stdio.h>

struct new_file {
	FILE *stream; /* what is to be in it; NULL: not open */
	int dirfd;
	char *name, *temporary;
	/* the user's: 0, or -errno, what is there is not to be replaced; NULL: regular files are */
	int (*may_replace)(const struct new_file *f);
};

#define NEW_FILE_NONE { .dirfd = -1 }

/* The folder that the file PATH is in, and its name there, a part of PATH; free() it. NULL: no memory. */
char *new_file_folder(const char *path, const char **name);

/*
 * Begin the file PATH, mode 0644 less the umask. A regular file of that name is replaced in the end;
 * -EISDIR, -ELOOP (a symbolic link) or -EEXIST (a device, FIFO or socket) when something else is there,
 * else 0 or -errno.
 */
int new_file_open(struct new_file *f, const char *path);

/* It is whole: 0, or -errno of any write so far, and then what was there before is. Ends F. */
int new_file_commit(struct new_file *f);

/* It will not be; nothing of it stays. Fine when F is not open. */
void new_file_drop(struct new_file *f);

/*
 * A file that is written again and again: its name and folder; begin it, as above; then it is whole, or will not be, and F can
 * be begun again, until new_file_drop().
 */
int new_file_name(struct new_file *f, const char *path);
int new_file_begin(struct new_file *f);
int new_file_end(struct new_file *f);
void new_file_cancel(struct new_file *f);

#endif
