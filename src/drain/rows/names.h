/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a rename, a removal or a link does to the paths that files are known by: by what the kernel had looked up, where
 * that is known, else by the path as passed. Drain thread.
 */
#ifndef DRAIN_ROWS_NAMES_H
#define DRAIN_ROWS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlt/dlt.h"

struct decode;
struct dlt_cd_names;
struct dlt_create_del;

/* What a call has done. */
enum names_deed {
	NAMES_NONE, /* nothing: it failed */
	NAMES_MADE, /* a new file at its path */
	NAMES_LINKED, /* its second path is one more name of the file of the first */
	NAMES_REMOVED, /* its path */
	NAMES_MOVED, /* the file of its first path to the second */
	NAMES_SWAPPED, /* the files of its paths */
};

/* Keep what the kernel found in a call in flight, until the record of that call. */
void names_keep(struct decode *decode, const struct dlt_cd_names *found);

/*
 * REC, whose `named` is not DLT_CD_NAMED_NONE, has done DEED: returns the identity of the file that its first path led
 * to, ino 0 when that is no file of the table, or not known since its names were lost. Files below a folder that has
 * moved get rows with their new path at their next use, or at the end.
 */
struct dlt_file_id names_found(struct decode *decode, const struct dlt_create_del *rec, enum names_deed deed);

/*
 * The same by PATH as passed, with links in it, to those who see paths from VIEW (see dlt_file): the file known by it
 * is now at NEW_PATH (NULL: removed), and SWAPPED: the one that had that name is at PATH. Returns the identity of the
 * former, or ino 0. After a path with "..", which may be anywhere, no file with its last component is known by path.
 */
struct dlt_file_id names_by_path(struct decode *decode, const struct dlt_hdr *hdr, uint32_t view, const char *path,
				 size_t len, const char *new_path, size_t new_len, bool swapped);

#endif
