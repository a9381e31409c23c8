/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One output file: a buffer of whole rows, written by large writes, with its own counts. Owned
 * by the drain thread; knows neither BPF nor what a row means.
 *
 * A row that cannot be written (full disk, I/O error, --min-free) is counted as lost; the file is
 * cut back so that it always ends on a whole row. Every row committed to an open sink is in the
 * end either in `rows` or in `lost`.
 */
#ifndef SINK_H
#define SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SINK_BUFFER_BYTES (1U << 20)
#define SINK_ROW_MAX (80U << 10) /* two paths of 4095 bytes, all escaped, thrice over */

struct sink {
	int fd; /* -1: not open; rows are dropped unseen */
	char *buf;
	size_t len;
	size_t text_len; /* text before the first buffered row: kept when a write fails */
	uint64_t rows_buffered;
	uint64_t file_bytes; /* whole rows in the file */
	uint64_t ahead, allocated; /* sink_keep_ahead() */
	/* read by the control plane: relaxed loads */
	uint64_t rows, bytes; /* in the file */
	uint64_t lost, late;
	uint64_t last_ts_ns; /* of the rows taken */
	int error; /* last write error, -errno; 0 after a write that worked */
	uint64_t failures; /* writes that did not work */
	int failed_with;   /* the last of them, -errno */
	/* written by the control plane: relaxed stores */
	bool paused; /* below --min-free: rows are counted as lost */
};

/* Create NAME (it must not exist) in the folder DIRFD; 0 or -errno. */
int sink_open(struct sink *s, int dirfd, const char *name);
/* Flush, close and free; the counts stay. Fine on a sink that was never opened. */
void sink_close(struct sink *s);

/*
 * Keep BYTES of disk space allocated behind the end, given back at the close: what others cannot do
 * without (files.out) can still be written for a while when the disk is full. Does nothing where the
 * file system cannot (fallocate(2)).
 */
void sink_keep_ahead(struct sink *s, uint64_t bytes);

/* Room for one row of at most SINK_ROW_MAX bytes; never NULL, also when the sink is not open. */
char *sink_begin(struct sink *s);
/* The row ends (with its newline) at END. TS_NS is its time: one before the last is `late`. */
void sink_commit(struct sink *s, char *end, uint64_t ts_ns);
/*
 * Text that is no row: headers and the collectors' comments, whole lines. A header waits for a
 * write that works; comments between rows go with the rows.
 */
void sink_text(struct sink *s, const char *text, size_t len);
/* Write out what is buffered. 0 or -errno (the rows concerned are counted as lost). */
int sink_flush(struct sink *s);

#endif
