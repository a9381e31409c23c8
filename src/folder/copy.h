/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace folder made of another one: all of its files, one at a time, row by row, without segments, and a manifest
 * whose counts are those of the copy. Driven by the probes' field tables: a new probe needs nothing here. One thread;
 * memory is bounded by a row.
 */
#ifndef FOLDER_COPY_H
#define FOLDER_COPY_H

#include <stdbool.h>
#include <stdio.h>

#include "trace/manifest_edit.h"
#include "trace/manifest_read.h"
#include "trace/reader.h"

struct json;
struct probe;

/* A file that is being read. */
struct copy_file {
	char name[SEGMENT_BASE_MAX];
	const struct probe *probe; /* NULL: a collector's */
	struct reader reader;
};

/* What a copy differs in. All functions may be NULL; CTX is copy_folder()'s. */
struct copy_kind {
	const char *key; /* the manifest's member about the copy */
	bool fewer; /* rows are left out: the manifest's counts of them, and of calls, become those of the copy */
	bool others; /* files that are no rows are copied, too: the logs */
	/* Called before the first row of F. */
	void (*file)(void *ctx, const struct copy_file *f);
	/* Whether the copy has ROW. */
	bool (*has)(void *ctx, const struct copy_file *f, const struct reader_row *row);
	/* Writes ROW, without its newline. NULL: as it is. */
	void (*put)(void *ctx, const struct copy_file *f, const struct reader_row *row, FILE *out);
	/* Returns how many rows of the file NAME, of which only sums remain, the copy has of FEWER. NULL: none. */
	uint64_t (*dropped)(void *ctx, const char *name);
	/* What the manifest has in place of a value that copy_folder() itself leaves alone. */
	manifest_edit_fn *value;
	/* Puts the members of KEY. ROWS, LEFT_OUT: of all files. */
	void (*describe)(void *ctx, struct json *j, uint64_t rows, uint64_t left_out);
};

/*
 * Makes TO, which must not exist, of the folder FROM with the manifest FACTS. Returns 0; 1 when files of FROM are
 * damaged, and the rest is copied; or -errno. Messages go to the log.
 */
int copy_folder(const char *from, const char *to, const struct manifest_facts *facts, const struct copy_kind *kind,
		void *ctx);

/* Opens the trace folder DIR and reads its manifest. Returns its descriptor, or -errno after a message. */
int copy_open(const char *dir, struct manifest_facts *facts);

#endif
