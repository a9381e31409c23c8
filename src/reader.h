/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads one .out file back: the two header lines, then row after row as fields of one buffer, with
 * columns found by name. Offline side: one thread, no root, knows no probe.
 *
 * A trace may be cut off, still growing, written by a later version or forged: whatever is not a
 * whole row of at least the header's columns is counted and passed over, columns that nobody asked
 * for are no trouble, and reading ends at the size that the file had when it was opened.
 */
#ifndef READER_H
#define READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define READER_SCHEMA 1 /* the newest that this version knows */
#define READER_COLUMNS_MAX 64
#define READER_BUFFER_BYTES (256U << 10) /* three of the longest rows */

/* Not NUL-terminated; escaped as it stands in the file. */
struct reader_field {
	const char *p;
	size_t len;
};

/* Valid until the next reader_next() or reader_seek(). */
struct reader_row {
	uint64_t offset; /* where it begins in the file */
	/* f[0] is "-": for a column that is not there */
	struct reader_field f[1 + READER_COLUMNS_MAX];
};

struct reader {
	int fd;
	char name[32];	     /* from line 1 */
	unsigned int schema; /* from line 1 */
	unsigned int n_columns;
	char *columns[READER_COLUMNS_MAX];
	char *header; /* line 2: what columns[] points into */

	char *buf;
	size_t pos, len;	/* the unread part of buf */
	uint64_t offset, limit; /* of buf[0] in the file; where reading ends */
	bool skip;		/* inside a line longer than the buffer */

	uint64_t rows;	   /* delivered */
	uint64_t bad_rows; /* too few fields, or too long */
	bool cut;	   /* the last line has no end */
};

/*
 * Open FILE in the folder DIRFD and read its header. 0; -ENODATA: the header is not there yet;
 * -EBADMSG: not a dltraced file; -errno. On failure nothing is left open.
 */
int reader_open(struct reader *r, int dirfd, const char *file);
/* Fine on one whose reader_open() failed, or that is all zero. */
void reader_close(struct reader *r);

/* The index of the column NAME for row->f[]; 0 when the file has none. */
unsigned int reader_column(const struct reader *r, const char *name);

/* The next row: 1, 0 at the end, -errno. Lines that begin with # are no rows. */
int reader_next(struct reader *r, struct reader_row *row);
/* Go on at OFFSET, which was a row's. The counts go on too. 0 or -errno. */
int reader_seek(struct reader *r, uint64_t offset);

static inline bool reader_is(struct reader_field f, const char *s)
{
	return f.len == strlen(s) && memcmp(f.p, s, f.len) == 0;
}

/* A decimal number, whole and in range; else false and *RET untouched. */
bool reader_u64(struct reader_field f, uint64_t *ret);
bool reader_s64(struct reader_field f, int64_t *ret);
/* Whether A|B|C holds FLAG. */
bool reader_flag(struct reader_field f, const char *flag);

#endif
