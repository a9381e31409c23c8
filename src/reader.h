/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads one .out file back, with all its segments, packed or not, as if they were one: the two header
 * lines, then row after row as fields of one buffer, with columns found by name. Offline side: one
 * thread, no root, knows no probe.
 *
 * A trace may be cut off, still growing, written by a later version or forged: whatever is not a
 * whole row of at least the header's columns is counted and passed over, columns that nobody asked
 * for are no trouble, and reading ends where the file ended when it was opened. Segments that are
 * split off, packed or dropped meanwhile are read once or, when they are gone, counted.
 */
#ifndef READER_H
#define READER_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "digits.h"
#include "segment.h"
#include "unpack.h"

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
	uint64_t offset; /* where it begins, in the plain text of all segments one after the other */
	/* f[0] is "-": for a column that is not there */
	struct reader_field f[1 + READER_COLUMNS_MAX];
};

struct reader_segment {
	struct segment_file file;
	uint64_t start; /* offset of its first byte; known once those before it have been read */
	uint64_t end;	/* and of the byte behind it, once it has been read itself */
	struct unpack_marks marks;
	bool opened, read, bad; /* bad: left out */
};

struct reader {
	int dirfd;	     /* ours */
	int growing_fd;	     /* NAME.out as it was at first; -1: none */
	enum pack growing_pack;
	uint64_t growing_bytes;
	char base[SEGMENT_BASE_MAX];
	struct reader_segment *segments;
	size_t n_segments, at; /* the one that is being read */
	struct unpack text;    /* of it */

	char name[32];	     /* from line 1 */
	unsigned int schema; /* from line 1 */
	unsigned int n_columns;
	char *columns[READER_COLUMNS_MAX];
	char *header; /* line 2: what columns[] points into */
	char *header_line; /* the same as it stands in the file */

	char *buf;
	size_t pos, len; /* the unread part of buf */
	uint64_t offset; /* of buf[0] */
	bool skip;	 /* inside a line longer than the buffer */

	uint64_t rows;	   /* delivered */
	uint64_t bad_rows; /* too few fields, or too long */
	bool cut;	   /* the last line has no end */
	/* of the segments that were to be read: */
	uint64_t stored_bytes; /* as they are on the disk */
	size_t missing;	       /* not there, between others that are */
	size_t gone;	       /* dropped before their turn came */
	size_t bad;	       /* without a header, or with another's */
	size_t damaged;	       /* cannot be unpacked to the end */
	int error;	       /* why the last of the bad ones could not be read, -errno */
};

/*
 * Open FILE (NAME.out) in the folder DIRFD with its segments and read the header. 0; -ENOENT: there is
 * not one segment; -ENODATA: the header is not there yet; -EBADMSG: not a dltraced file; -ENOTSUP:
 * packed as this dltraced was built without; -errno. On failure nothing is left open.
 */
int reader_open(struct reader *r, int dirfd, const char *file);
/* The same for one file of BYTES alone, packed as PACK says; FD is taken over. */
int reader_open_fd(struct reader *r, int fd, enum pack pack, uint64_t bytes);
/* Fine on one whose reader_open() failed, or that is all zero. */
void reader_close(struct reader *r);

/* The index of the column NAME for row->f[]; 0 when the file has none. */
unsigned int reader_column(const struct reader *r, const char *name);

/* The next row: 1, 0 at the end, -errno. Lines that begin with # are no rows. */
int reader_next(struct reader *r, struct reader_row *row);
/*
 * The same of a row that is whole in the buffer already, as nearly all are, so that those before it stay valid, too.
 * False: reader_next() has to look.
 */
bool reader_next_here(struct reader *r, struct reader_row *row);
/* Go on at OFFSET, which was a row's. The counts go on too. 0 or -errno. */
int reader_seek(struct reader *r, uint64_t offset);

static inline bool reader_is(struct reader_field f, const char *s)
{
	return f.len == strlen(s) && memcmp(f.p, s, f.len) == 0;
}

/* A decimal number, whole and in range; else false and *RET untouched. */
bool reader_u64(struct reader_field f, uint64_t *ret);
bool reader_long_u64(struct reader_field f, uint64_t *ret); /* its way for more than 16 digits */

/*
 * The same of a field of a row, as reader_next() gives it: there are bytes before it, so that its last eight and
 * sixteen are loaded at once, however long it is.
 */
static inline bool reader_row_u64(struct reader_field f, uint64_t *ret)
{
	const char *end = f.p + f.len;
	uint64_t low, high;

	memcpy(&low, end - sizeof(low), sizeof(low));
	if (f.len - 1 < sizeof(low)) {
		low = digits_last(le64toh(low), f.len);
		if (!digits_are(low))
			return false;
		*ret = digits_number(low);
		return true;
	}
	if (f.len - 1 >= 2 * sizeof(low))
		return reader_long_u64(f, ret);
	memcpy(&high, end - 2 * sizeof(high), sizeof(high));
	low = digits_last(le64toh(low), sizeof(low));
	high = digits_last(le64toh(high), f.len - sizeof(low));
	if (!digits_are(low) || !digits_are(high))
		return false;
	*ret = digits_number(high) * 100000000 + digits_number(low);
	return true;
}

/* The same where F mostly is what OTHER of its row is, which is KNOWN, as TIDs of main threads are. */
static inline bool reader_row_u64_or(struct reader_field f, struct reader_field other, uint64_t known, uint64_t *ret)
{
	uint64_t a, b;

	memcpy(&a, f.p + f.len - sizeof(a), sizeof(a));
	memcpy(&b, other.p + other.len - sizeof(b), sizeof(b));
	if (f.len != other.len || f.len - 1 >= sizeof(a) || digits_last(le64toh(a), f.len) != digits_last(le64toh(b), f.len))
		return reader_row_u64(f, ret);
	*ret = known;
	return true;
}

bool reader_s64(struct reader_field f, int64_t *ret);
/* Whether A|B|C holds FLAG; most rows have none, `-'. */
bool reader_flag_of(struct reader_field f, const char *flag, size_t len);
static inline bool reader_flag(struct reader_field f, const char *flag)
{
	return f.len >= strlen(flag) && reader_flag_of(f, flag, strlen(flag));
}

#endif
