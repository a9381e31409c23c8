/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One output file: a buffer of whole rows, written by large writes, with its own counts. Owned by the drain
 * thread; knows neither BPF nor what a row means.
 *
 * A row that cannot be written (full disk or quota, I/O error, --min-free) is counted as lost; the file is
 * cut back so that it always ends on a whole row. Where the cut fails, too, as on a copy-on-write file
 * system whose quota is used up, nothing more is written until it succeeds: what a failed write left is at
 * the end of the file, never between rows. Every row committed to an open sink is in the end either in
 * `rows` or in `lost`.
 *
 * The system writes accepted data to the disk some time later, and the disk may refuse it then (thin
 * storage that is full, a failing disk, a server that is gone): sink_check_disk() finds out. It is not
 * known which rows those were, so all that were written to the file until then are `unsure`. See disk.h.
 *
 * When a server has once refused to know the file (ESTALE), its client may give the file up for good,
 * though the server knows it again a minute later: the file is then reopened by its name.
 *
 * A sink that is split (--rotate) closes its file under a number and goes on in a new one, which begins
 * with an identical header; where no new one can be made it goes on in the old one, and loses nothing. The
 * owner of a closed segment is the archiver.
 */
#ifndef TRACE_SINK_H
#define TRACE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/segment.h"

#define SINK_BUFFER_BYTES (1U << 20)
#define SINK_ROW_MAX (80U << 10) /* two paths of 4095 bytes, all escaped, three times */

/* A closed segment. */
struct sink_segment {
	const char *base; /* of its name, the sink's own */
	uint32_t nr; /* SEGMENT_LAST: the trace ends with it, under the growing file's name */
	uint64_t rows, bytes;
	uint64_t first_ns, last_ns; /* TIMESTAMP; 0: no row */
	uint64_t unsure; /* of the rows: already counted by the sink */
	dev_t dev;
	ino_t ino;
};

/* How sinks are split, common to a trace. */
struct sink_split {
	uint64_t bytes; /* the size at which a segment is closed; 0: not by size */
	void (*closed)(void *ctx, const struct sink_segment *seg);
	void *ctx;
};

struct sink {
	int fd; /* -1: not open; rows are dropped without a count */
	dev_t dev; /* of the file */
	ino_t ino;
	char *buf;
	size_t len, flush_at; /* a row that ends after FLUSH_AT is written out at once */
	size_t text_len; /* text before the first buffered row: kept when a write fails */
	uint64_t rows_buffered;
	uint64_t file_bytes; /* whole rows in the file */
	uint64_t torn_bytes; /* behind them: what a failed write may have left there */
	bool holds; /* sink_hold_rows() */
	uint64_t ahead, allocated; /* sink_keep_ahead() */
	int dirfd;
	char base[SEGMENT_BASE_MAX];
	/* of the segment; sink_split_by() */
	const struct sink_split *split; /* NULL: never split */
	char *header;
	size_t header_len;
	uint32_t nr;
	uint64_t split_at; /* file_bytes */
	uint64_t rows_before; /* `rows` when it began */
	uint64_t first_ns, buffered_first_ns, written_last_ns;
	bool ended; /* read by the archiver: relaxed */
	uint64_t unsure_until; /* of `rows`: those before it are not counted as unsure again */
	/* read by the control plane: relaxed loads */
	uint64_t rows, bytes; /* in the file */
	uint64_t lost, late;
	uint64_t last_ts_ns; /* of the rows taken */
	uint64_t unsure; /* of `rows`: the disk may not have them */
	int refused; /* why, -errno */
	int error; /* last write error, -errno; 0 after a write that worked */
	uint64_t failures; /* writes that did not work */
	int failed_with; /* the last of them, -errno */
	/* set by the control plane: relaxed stores */
	bool paused; /* below --min-free: rows are counted as lost */
};

/* Create NAME (it must not exist) in the folder DIRFD; 0 or -errno. */
int sink_open(struct sink *sink, int dirfd, const char *name);
/* Flush, close and free; the counts stay. Fine on a sink that was never opened. */
void sink_close(struct sink *sink);

/* From now on, before there is any text: split it as SPLIT says, which must live as long. */
void sink_split_by(struct sink *s, const struct sink_split *split);
/* Close the segment now, unless it has no row. */
void sink_split_now(struct sink *s);
/* Nothing will follow: flush, and where the sink is split, hand the last segment over. */
void sink_end(struct sink *sink);

/*
 * Keep BYTES of disk space allocated after the end, given back at the close: rows that others depend on
 * (files.out) can still be written for a while when the disk is full. Does nothing where the file system
 * cannot (fallocate(2)).
 */
void sink_keep_ahead(struct sink *s, uint64_t bytes);

/*
 * Rows that cannot be written wait in the buffer, and are lost only when it is full or the sink ends: for
 * files that others depend on, and whose rows are few.
 */
void sink_hold_rows(struct sink *s);

/* From now on its rows count as lost, those in the buffer, too; the file is cut back to whole rows. */
void sink_drop_rows(struct sink *s);
/* Tries again to remove what a failed write has left behind the whole rows. */
void sink_cut_back(struct sink *s);

/* Returns room for one row of at most SINK_ROW_MAX bytes; never NULL, also when the sink is not open. */
char *sink_begin(struct sink *s);
/* The row ends (with its newline) at END. TS_NS is its time: a row earlier than the last is `late`. */
void sink_commit(struct sink *sink, char *end, uint64_t ts_ns);
/* Add lines of the header, the first one first: every segment begins with them. */
void sink_header(struct sink *sink, const char *text, size_t len);
/*
 * Add text that is not a row: headers and the collectors' comments, whole lines. A header waits for a write
 * that works; comments between rows go with the rows.
 */
void sink_text(struct sink *sink, const char *text, size_t len);
/* Check whether the disk has refused written data. Waits for nothing. */
void sink_check_disk(struct sink *s);
/*
 * Write the data to the disk, as far as that is possible until UNTIL_NS (CLOCK_MONOTONIC), and check as
 * above. Returns the bytes left to the system to write.
 */
uint64_t sink_to_disk(struct sink *sink, uint64_t until_ns);
/* Write out the buffer. 0 or -errno (the rows concerned are counted as lost). */
int sink_flush(struct sink *sink);

#endif
