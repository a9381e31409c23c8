/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads one .out file back, with all its segments, packed or not, as if they were one: the two header
 * lines, then row after row as fields of one buffer, with columns found by name. Offline side: one thread,
 * no root, knows no probe.
 *
 * A trace may be cut off, still growing, written by a later version or forged. A line that is not a whole
 * row of at least the header's columns is counted and skipped, unknown columns are ignored, and reading
 * ends where the file ended when it was opened. Segments that are split off, packed or dropped meanwhile
 * are read once or, when they are gone, counted.
 */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lines.h"
#include "trace/reader_fields.h"
#include "trace/segment.h"
#include "trace/unpack.h"

#define READER_SCHEMA 1 /* the newest that this version can read */
#define READER_COLUMNS_MAX 64
#define READER_BUFFER_BYTES (256U << 10) /* three of the longest rows */

/* Valid until the next reader_next() or reader_seek(). */
struct reader_row {
	uint64_t offset; /* where it begins, in the plain text of all segments one after the other */
	const char *text;
	const uint32_t *stop; /* offsets in text of the separators before and after each of its fields */
};

struct reader_segment {
	struct segment_file file;
	uint64_t start; /* offset of its first byte; known once those before it have been read */
	uint64_t end; /* and of the byte after its last, once it has been read itself */
	struct unpack_marks marks;
	bool opened, read, bad; /* bad: left out */
};

struct reader {
	int dirfd; /* ours */
	int growing_fd; /* NAME.out when it was opened; -1: none */
	enum pack growing_pack;
	uint64_t growing_bytes;
	uint32_t growing_nr; /* that it will have when it is split off; 0: it will not be */
	char base[SEGMENT_BASE_MAX];
	struct reader_segment *segments;
	size_t n_segments, at; /* the one in use */
	struct unpack text; /* of it */

	char name[32]; /* from line 1 */
	unsigned int schema; /* from line 1 */
	unsigned int n_columns;
	char *columns[READER_COLUMNS_MAX];
	char *header; /* line 2: what columns[] points into */
	char *header_line; /* the same as it stands in the file */

	char *buf;
	size_t pos, len; /* the unread part of buf */
	struct lines *lines; /* the lines of it that have been found so far */
	uint64_t offset; /* of buf[0] */
	bool skip; /* inside a line longer than the buffer */
	bool zeros; /* the file has some: what a disk has lost is read as zeros, and a row around them is two halves of
		       rows */

	uint64_t begin_ns,
		end_ns; /* rows from the first time on and before the second alone are delivered; END_NS 0: all */
	uint64_t rows; /* that were read */
	uint64_t outside; /* of these, not delivered */
	uint64_t bad_rows; /* too few fields, or too long */
	bool cut; /* the last line has no newline */
	/* of the segments to read: */
	uint64_t stored_bytes; /* bytes on the disk */
	size_t missing; /* missing between others */
	size_t gone; /* dropped before they were read */
	size_t bad; /* without a header, or with another file's */
	size_t damaged; /* cannot be unpacked to the end */
	int error; /* why the last of the bad ones could not be read, -errno */
};

/*
 * Open FILE (NAME.out) in the folder DIRFD with its segments and read the header. 0; -ENOENT: there is no
 * segment; -ENODATA: the header is not written yet; -EBADMSG: not a dltraced file; -ENOTSUP: packed in a
 * way that this dltraced was built without; -errno. On failure nothing is left open.
 */
int reader_open(struct reader *r, int dirfd, const char *file);
/* Likewise without the segments that were split off before. */
int reader_open_growing(struct reader *r, int dirfd, const char *file);
/* Open just one file of BYTES bytes, packed as PACK says; takes FD over. */
int reader_open_fd(struct reader *reader, int fd, enum pack pack, uint64_t bytes);
/* Fine on a reader whose reader_open() failed, or that is all zero. */
void reader_close(struct reader *reader);

/* Returns the number of the column NAME for reader_field(); 0 when the file has none. */
unsigned int reader_column(const struct reader *r, const char *name);

/* Field I, from 1; 0 is `-', for a missing column. */
static inline struct reader_field reader_field(const struct reader_row *row, unsigned int i)
{
	const char *begin;

	if (!i)
		return reader_absent();
	begin = row->text + (uint32_t)(row->stop[i - 1] + 1);
	return (struct reader_field){ begin, (size_t)(row->text + row->stop[i] - begin) };
}

/* Read the next row: 1, 0 at the end, -errno. Lines that begin with # are not rows. */
int reader_next(struct reader *r, struct reader_row *row);
/*
 * Read the next rows, up to MAX of them, all valid until the next such call: returns how many, 0 at the
 * end, -errno.
 */
int reader_next_rows(struct reader *reader, struct reader_row *rows, unsigned int max);

/* Start again at the first row. The counts continue. 0 or -errno. */
int reader_rewind(struct reader *r);
/* Continue at OFFSET, which was a row's. The counts continue too. 0 or -errno. */
int reader_seek(struct reader *reader, uint64_t offset);

/*
 * The file that grows, once all before it has been read: takes what has been appended since it was opened, to go on
 * with. Returns 0 or -errno.
 */
int reader_more(struct reader *reader);
/* Whether another file has its name by now, as it has been split off: nothing more is appended to it. */
bool reader_is_split(const struct reader *r);
/* Go on at the last BYTES of the growing file, with the first row that is whole. Returns whether rows are left out. */
int reader_tail(struct reader *reader, uint64_t bytes);

/* --- a column of several rows at once, as numbers: reader_columns.c --- */

#define READER_ROWS_MAX 32

/*
 * Parses column COLUMN of N rows, READER_ROWS_MAX at most: bit I of the result says whether that of ROWS[I]
 * is a decimal number, whole and in range, which is then in RET[I]; the other RET are undefined. The result
 * is 0 where COLUMN is 0.
 */
uint32_t reader_column_u64(const struct reader_row *rows, unsigned int n, unsigned int column, uint64_t *ret);
/* The portable implementation; to be tested against. */
uint32_t reader_column_u64_anywhere(const struct reader_row *rows, unsigned int n, unsigned int column, uint64_t *ret);

#endif
