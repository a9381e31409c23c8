/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of a trace that is still written, read again and again: either all of its rows, each once, across the segments
 * that are split off meanwhile; or, each time anew, the rows of its end. Bounded by the caller.
 */
#ifndef REPORT_SCAN_FOLLOW_H
#define REPORT_SCAN_FOLLOW_H

#include "report/scan/scan.h"

struct scan_follow {
	int dirfd; /* the caller's */
	bool whole; /* each row once; else its end */
	char name[16];
	struct scan_folder *folder; /* of this file alone; NULL: not open */
	struct scan scan;
	uint64_t at; /* of its end: where the rows begin that are still wanted */
	bool anew; /* earlier rows are left out by the next look: of a segment, or beyond the bytes */
	uint64_t from_ns; /* of its end: all rows from then on were given. 0: nothing was left out */
};

/* Opens NAME.out: if it is followed as a WHOLE, all segments. Returns 0; -ENOENT: there is none; -EAGAIN: not yet;
 * -errno. */
int scan_follow_open(struct scan_follow *f, int dirfd, const char *name, bool whole);
void scan_follow_close(struct scan_follow *f);

/*
 * Gives the rows that have come since the last call to TAKER, about BYTES of them at most, of a file that is followed
 * as a whole. Returns 1: there are more by now; 0; -EAGAIN: more will come in a file that has just begun; -ESTALE: a
 * segment was missed, so that rows are missing; -errno.
 */
int scan_follow_take(struct scan_follow *f, struct scan_taker *taker, uint64_t bytes);

/* Fixes which rows the next scan_follow_end() gives: those that there are now. Returns 0, -EAGAIN as above, or -errno.
 */
int scan_follow_look(struct scan_follow *f);
/*
 * Gives those of the last BYTES to TAKER, from the time KEEP on, which never goes back. Returns 0 or -errno. Where rows
 * are beyond BYTES, or in a segment that was split off, sets FROM to the time of the first one that is not; UINT64_MAX:
 * there is none yet.
 */
int scan_follow_end(struct scan_follow *f, struct scan_taker *taker, uint64_t bytes, uint64_t keep_ns);

#endif
