/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pieces of requests that have more than one, from bio_map.out: each is a part of one file without a gap. The
 * request's row in bio.out comes when the request is done: its pieces are found by disk, sector and time. Bounded:
 * pieces without room are left out, and their bytes count as those of several files.
 */
#ifndef REPORT_DISK_PIECES_H
#define REPORT_DISK_PIECES_H

#include "report/scan/scan.h"

#define PIECES_MAX (1U << 20) /* 48 MiB, and 24 MiB for finding them */

struct report_piece {
	uint64_t at_ns, bytes; /* at_ns: the request was given to the driver, nearly */
	uint64_t fid, off, pid; /* FID, PID 0: none is known */
	uint32_t kind; /* as the caller of report_pieces_read() numbers them */
	uint32_t next; /* 1 + number of the next one at this place of this disk; 0: none */
};

struct report_pieces {
	struct report_piece *v;
	uint32_t n;
	uint64_t left_out;
	struct table places; /* first and last piece at a place, by disk and sector */
	uint32_t (*kind_of)(struct reader_field name);
};

void report_pieces_init(struct report_pieces *p);
void report_pieces_free(struct report_pieces *p);
/* Reads bio_map.out, before bio.out. */
void report_pieces_read(struct report_pieces *p, struct scan_folder *folder,
			uint32_t (*kind_of)(struct reader_field name));
/*
 * Takes the piece at SECTOR of DISK of a request that was given to the driver at ISSUED_NS and done at DONE_NS, once.
 * NULL: there is none.
 */
const struct report_piece *report_pieces_take(struct report_pieces *pieces, struct reader_field disk, uint64_t sector,
					      uint64_t issued_ns, uint64_t done_ns);

#endif
