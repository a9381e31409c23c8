/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folders of a trace's files, as a tree. Folders have numbers from 1, the root, on. A folder's number is higher
 * than those of the folders above it, so a loop over numbers meets a folder before all below it, and a backward loop
 * after them.
 *
 * Memory is bounded: where there is no room for a folder, the deepest known one above stands for it.
 */
#ifndef REPORT_FILES_FOLDERS_H
#define REPORT_FILES_FOLDERS_H

#include "stats/table.h"
#include "trace/reader_fields.h"

#define FOLDERS_MAX (1U << 16) /* ImageNet-21k has 21,841 classes */
#define FOLDERS_DEPTH_MAX 128
#define FOLDERS_TEXT_MAX (32U << 20) /* bytes of their paths */

struct folder {
	char *path; /* escaped as in files.out */
	uint32_t len;
	uint32_t parent; /* 0: it is the root */
};

struct folders {
	struct table ids; /* path's hash to struct folder; number I + 1 is at I */
	size_t text;
};

void folders_init(struct folders *f);
void folders_free(struct folders *f);
/* Returns the number of the folder PATH, which is added when new; 0 when PATH is not absolute, or memory is out. */
uint32_t folders_number(struct folders *f, struct reader_field path);
/* Returns the number of the folder that PATH lies in. */
uint32_t folders_number_above(struct folders *f, struct reader_field path);

/* Returns how many numbers there are, including 0. */
static inline uint32_t folders_count(const struct folders *f)
{
	return f->ids.n + 1;
}

/* I: 1 to folders_count() - 1. */
static inline const struct folder *folders_at(const struct folders *f, uint32_t i)
{
	return table_at(&f->ids, i - 1);
}

/* NULL: there is no folder of that number. */
static inline const char *folders_path(const struct folders *f, uint32_t i)
{
	return i && i < folders_count(f) ? folders_at(f, i)->path : NULL;
}

/* The last component of its path; that of the root is empty. */
static inline struct reader_field folders_name(const struct folders *f, uint32_t i)
{
	const struct folder *folder = folders_at(f, i);
	const uint32_t above = folder->parent ? folders_at(f, folder->parent)->len : 1;
	const uint32_t at = above > 1 ? above + 1 : 1;

	return (struct reader_field){ folder->path + at, folder->len - at };
}

#endif
