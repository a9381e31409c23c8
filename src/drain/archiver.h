/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closed segments: packed (--compress), and the oldest dropped when a trace has grown too large (--keep),
 * after they have been summed up; for those that stay plain, it finds out whether the disk has taken them.
 * A thread of its own at the lowest priority: the closer of a segment hands it over and never waits. At
 * every moment each segment exists whole under one of its names, or is gone and counted.
 */
#ifndef DRAIN_ARCHIVER_H
#define DRAIN_ARCHIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "drain/rows/rollup.h"
#include "trace/segment.h"
#include "trace/sink.h"

#define ARCHIVER_FILES_MAX 48

/* One file of the trace, with all its segments. */
struct archiver_file {
	const struct sink *sink;
	bool reference; /* the rows of other files need it: --keep drops it last */
	/* read by the control plane, relaxed */
	uint64_t dropped_rows, dropped_bytes; /* by --keep; bytes of text */
	uint64_t unsure_rows; /* of closed segments that the disk has refused in part, see sink.h */
};

/* A closed segment that exists. */
struct archiver_segment {
	struct archiver_segment *next; /* while it is handed over */
	struct sink_segment seg;
	unsigned int file; /* index of archiver.files */
	enum pack pack; /* its form on the disk */
	uint64_t stored_bytes;
	uint64_t failed_ns; /* packing it failed then; 0: not tried */
	bool gone; /* another process has removed or replaced it */
	int fd; /* open while the disk may yet refuse it, plain as it is; else -1 */
	uint64_t closed_ns;
};

struct archiver_options {
	enum pack pack; /* PACK_NONE: leave segments plain */
	uint64_t keep_bytes; /* of the whole trace; 0: drop nothing */
};

struct archiver {
	struct archiver_options o;
	int dirfd;
	struct archiver_file files[ARCHIVER_FILES_MAX];
	unsigned int n_files;
	struct sink rollup; /* rollup.out, with --keep: archiver_own() */
	struct rollup sums;

	/* for the closers of segments */
	struct archiver_segment *handed; /* newest first; atomic */
	int wake_fd;
	bool want_split; /* atomic: close segments early, or --keep cannot be met */

	/* owned by the thread, shared under the lock with the control plane */
	const struct privileges *privileges; /* set before the start; NULL: the thread keeps all */
	pthread_t thread;
	bool running;
	pthread_mutex_t lock;
	struct archiver_segment **segments; /* by time of closing */
	size_t n;

	/* atomic: is all handed over; should the rest stay plain */
	bool ending, stop;
	int done_fd;

	/* read by the control plane, relaxed */
	uint64_t plain_bytes, packed_bytes; /* of all packed segments */
	uint64_t cpu_ns; /* of the thread */
	uint64_t waiting; /* segments that are to be packed */
	uint64_t dropped; /* segments */
	uint64_t not_summed; /* rows dropped that could not be read for rollup.out */
	uint64_t not_on_disk; /* bytes of closed segments that the disk had not taken at the end */
	int refused; /* why the disk did not take some, -errno; 0: it took all so far */
	int error; /* of the last failure to pack, -errno; 0: no failed segment is left */
	bool over; /* more than --keep, and nothing left to drop */
	/* of archiver_report() */
	bool error_logged, over_logged;
	unsigned int over_for; /* times in a row */
};

/*
 * Call before any sink is split: what to do, in the folder DIRFD. With --keep it makes rollup.out. 0;
 * -ENOTSUP: built without the library for o->pack; -errno.
 */
int archiver_init(struct archiver *archiver, const struct archiver_options *options, int dirfd);
/* One more file; before the start. */
void archiver_add(struct archiver *k, const struct sink *s, bool reference);
int archiver_start(struct archiver *k);

/* For sinks: struct sink_split, CTX is the archiver. Never waits. */
void archiver_closed(void *ctx, const struct sink_segment *seg);
/* Drain: should every segment be closed now? True once per request. */
bool archiver_wants_split(struct archiver *k);

/* All is handed over: done_fd becomes readable when it is packed. Waits for nothing. */
void archiver_end(struct archiver *k);
/* Leave the rest plain. */
void archiver_hurry(struct archiver *k);
/* All is handed over: wait until it is packed. Returns how many segments stay plain nevertheless. */
uint64_t archiver_finish(struct archiver *k);
/* Control plane, each second: report new problems. */
void archiver_report(struct archiver *archiver, const char *dir);

/* Returns the account of the file of sink S; NULL: it is not kept here. */
const struct archiver_file *archiver_file(const struct archiver *k, const struct sink *s);
/* Call FN with each existing segment, in order of closing. */
void archiver_each(struct archiver *k, void (*fn)(void *ctx, const struct archiver_segment *s), void *ctx);

void archiver_free(struct archiver *archiver);

/* Returns the archiver's own sink of PROBE's file, which the drain does not write then; NULL: it has none. */
const struct sink *archiver_own(const struct archiver *archiver, unsigned int probe);

#endif
