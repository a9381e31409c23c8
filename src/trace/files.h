/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The FID table: file identities of the kernel to small numbers and their names. Owned by the drain
 * thread. Grows with the number of distinct files; writes no rows itself.
 */
#ifndef TRACE_FILES_H
#define TRACE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlt/dlt.h"

struct file_entry {
	struct dlt_file file; /* as last described; its id stays */
	uint64_t lost_then; /* rows of files.out lost when it was last written there; see decode.c */
	uint32_t fid; /* from 1 */
	uint32_t path_len; /* 0: no name yet */
	uint32_t view; /* of dlt_file, when the path was given */
	uint16_t text_len;
	bool plain; /* PATH needs no escapes */
	char *path; /* as REALPATH before escaping */
	const char *text; /* its last component, escaped */
};

struct files;

struct files *files_new(void);
void files_free(struct files *files);

/* Returns the entry of ID, NULL when it is not known. */
const struct file_entry *files_find(const struct files *f, const struct dlt_file_id *id);

#define FILES_NEVER UINT64_MAX /* LOST_THEN of a new entry */

/* Returns the entry of ID, made when new. NULL only when memory is out. */
struct file_entry *files_get(struct files *f, const struct dlt_file_id *id);

/*
 * Give ENTRY a name, which is not one of an entry's own paths: returns true when it differs from the old
 * one. Without memory the entry has no name afterwards.
 */
bool files_name(struct files *f, struct file_entry *entry, const char *path, size_t len);

/*
 * Returns the file last known by this path to those who see paths from VIEW, if its flags show that the path is still
 * its own, else NULL. What another root shows as that path is another file.
 */
struct file_entry *files_by_path(struct files *f, uint32_t view, const char *path, size_t len);
/* No path leads to ENTRY from here on, until it is named again. */
void files_forget(struct files *f, const struct file_entry *entry);
/* The path has been removed. */
void files_forget_path(struct files *f, uint32_t view, const char *path, size_t len);

/*
 * What is called NAME in some folder, nobody knows which, has been moved, removed or replaced: paths with that
 * component lead to no file from here on, in any view, until it is named again. Looks at all files.
 */
void files_forget_name(struct files *f, const char *name, size_t len);

/* Returns the file that has number INO (0: any) on the device DEV, if a view shows it as this path, else NULL. */
const struct file_entry *files_by_inode(const struct files *files, const char *path, size_t len, uint32_t dev,
					uint64_t ino);

/*
 * The folder FROM is now TO; SWAPPED: and TO is now FROM. Files known by a path below have their new one
 * from here on, which has not been written yet. Looks at all files, but only where one has ever been below.
 */
void files_move_below(struct files *files, uint32_t view, const char *from, size_t from_len, const char *to,
		      size_t to_len, bool swapped);

/* The entry of FID, 1 to files_count(). */
struct file_entry *files_at(struct files *f, uint32_t fid);
size_t files_count(const struct files *f);

#endif
