/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The output of an export: standard output, or a file, which appears only when it is whole. A name that ends with .gz
 * is compressed, as gzip members of about 1 MiB of text each; a member ends where a record ends. Knows no format.
 */
#ifndef EXPORT_OUT_H
#define EXPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/new_file.h"

struct export_out {
	struct new_file file;
	FILE *stream;
	bool gzip;
	char *buf, *packed;
	size_t len, size;
	size_t packed_size;
	void *deflate; /* z_stream */
	uint64_t bytes; /* written so far, before compression */
	int error; /* the first one, -errno */
};

#define EXPORT_OUT_NONE               \
	{                             \
		.file = NEW_FILE_NONE \
	}

/* Begins PATH; "-" is standard output. Returns 0, or -errno (see new_file_open()) with nothing open. */
int out_open(struct export_out *o, const char *path);
/* Begins the file NAME in the folder DIRFD. */
int out_open_at(struct export_out *o, int dirfd, const char *name);
/* Ends the file. Returns 0, or the -errno of a write so far: then there is no file. */
int out_close(struct export_out *out);
/* Drops the file. Fine when nothing is open. */
void out_drop(struct export_out *o);

char *out_more_room(struct export_out *out, size_t n);
/* Returns a place for at most N more bytes; NULL: no memory, and O has the error. */
static inline char *out_room(struct export_out *o, size_t n)
{
	return o->size - o->len >= n ? o->buf + o->len : out_more_room(o, n);
}

/* Takes the bytes that were put there, up to END. */
static inline void out_put(struct export_out *o, const char *end)
{
	o->len = (size_t)(end - o->buf);
}

void out_text(struct export_out *o, const char *s);
void out_bytes(struct export_out *o, const void *p, size_t n);

/* Writes the buffer, which must end with a whole record. */
void out_flush(struct export_out *o);
#define OUT_FLUSH_BYTES (1U << 20)
/* To be called at the end of each record. Returns 0, or the -errno of a write so far. */
static inline int out_record(struct export_out *o)
{
	if (o->len >= OUT_FLUSH_BYTES)
		out_flush(o);
	return o->error;
}

#endif
