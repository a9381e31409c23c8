/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of a trace file's segments, and the list of them. NAME.out is the growing one (or the last),
 * NAME.000001.out and so on are closed ones, with .gz or .zst appended when packed. Their order is that of
 * `ls`. Pure except for the listing; knows nothing of their contents.
 */
#ifndef TRACE_SEGMENT_H
#define TRACE_SEGMENT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pack { PACK_NONE, PACK_GZIP, PACK_ZSTD, PACKS };

/* As --compress calls them ("none", "gzip", "zstd"), and as suffixes ("", ".gz", ".zst"). */
extern const char *const pack_names[PACKS];
extern const char *const pack_suffixes[PACKS];
/* Returns PACK_GZIP or PACK_ZSTD by NAME; PACK_NONE when it is neither. */
enum pack pack_find(const char *name);

/* The name of a file while it is packed, and before it replaces NAME.out. */
#define SEGMENT_TMP ".tmp"
#define SEGMENT_NEW ".new"

/* In line 1 of a file that is split: the number that it will get. */
#define SEGMENT_KEY " segment="

#define SEGMENT_BASE_MAX 64 /* of NAME, with its NUL */
#define SEGMENT_LAST UINT32_MAX /* number of NAME.out: it comes after all others */

struct segment_name {
	char base[SEGMENT_BASE_MAX];
	uint32_t nr; /* from 1, or SEGMENT_LAST */
	enum pack pack;
};

/* Take FILE apart; false: it is not a segment's name. */
bool segment_parse(const char *file, struct segment_name *ret);
void segment_format(char file[NAME_MAX + 1], const char *base, uint32_t nr, enum pack pack);
/* Is FILE a temporary name that a killed trace may leave behind? */
bool segment_is_leftover(const char *file);

/* Returns whether DIRFD has a file of BASE that somebody has packed in a way that is not read, as vfs_rw.out.xz: NAME
 * is its name. */
bool segment_find_foreign(int dirfd, const char *base, char name[NAME_MAX + 1]);

struct segment_file {
	uint32_t nr;
	enum pack pack;
};

struct segment_list {
	struct segment_file *v; /* in order, each number once */
	size_t n;
	size_t missing; /* numbers missing between the first and the last */
};

/*
 * List the segments of BASE in the folder DIRFD that are numbered below BEFORE, and NAME.out if BEFORE is
 * 0. Where a segment is there plain and packed, the plain one counts. 0 or -errno.
 */
int segment_list_read(struct segment_list *list, int dirfd, const char *base, uint32_t before);
void segment_list_free(struct segment_list *l);

/* Call FN with each entry of the folder DIRFD until it returns a negative value. Returns that, 0, or -errno. */
int segment_each_entry(int dirfd, int (*fn)(void *ctx, const char *name), void *ctx);

#endif
