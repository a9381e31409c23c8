/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds checkpoints by their writes: files that are written in one go, by processes that train, or that save for one
 * that does. The writing of a file begins with its opening, if that is right before the first write, or else with that
 * write. It ends with the last write, with the syncs after it, or with a rename. Files that are written together are
 * one checkpoint. Rows come one file of the trace after the other, and each file's in order of time. Bounded memory;
 * pure.
 */
#ifndef REPORT_PHASES_SAVES_H
#define REPORT_PHASES_SAVES_H

#include <stdbool.h>
#include <stdint.h>

#define PHASE_SAVES_MAX (1U << 18) /* runs of writes, and as many opens, syncs and the like */

/* Operations on a file beside writes. */
enum phase_save_mark {
	PHASE_OPENED, /* for writing */
	PHASE_FLUSHED, /* synced, renamed, or closed after some time */
};

struct phase_saves;

/* NULL when memory is out. */
struct phase_saves *phase_saves_new(void);
void phase_saves_free(struct phase_saves *s);

/* Adds a write of BYTES to the file FID, by a call of LAT_NS that ended at AT_NS. */
void phase_saves_write(struct phase_saves *saves, uint64_t fid, uint64_t at_ns, uint64_t lat_ns, uint64_t bytes);
void phase_saves_mark(struct phase_saves *s, uint64_t fid, enum phase_save_mark what, uint64_t at_ns, uint64_t lat_ns);

/* A checkpoint. */
struct phase_save {
	uint64_t begin_ns, end_ns, bytes;
};

/*
 * Returns the checkpoints of a trace from BEGIN_NS to END_NS, in order, to be freed; *N: how many. NULL: none, or
 * memory is out.
 */
struct phase_save *phase_saves_find(struct phase_saves *saves, uint64_t begin_ns, uint64_t end_ns, uint32_t *n);

#endif
