/* SPDX-License-Identifier: BSD-2-Clause */
/* The manifest's counts of a file, compared with the bytes that the file has. */
#ifndef REPORT_SCAN_MANIFEST_COUNTS_H
#define REPORT_SCAN_MANIFEST_COUNTS_H

#include <stdint.h>

struct manifest_facts;
struct scan_folder;

/* The manifest's counts of a probe or a collector; all zero when it has none of that name. */
struct manifest_counts {
	uint64_t rows, lost, dropped, bytes, dropped_bytes;
};
struct manifest_counts manifest_counts_of(const struct manifest_facts *facts, const char *name);
/*
 * Returns how many bytes NAME.out lacks of those that the manifest counts (*COUNTED), in a trace that has ended. 0 when
 * it lacks none, and for a split or packed file, whose contents only reading shows.
 */
uint64_t manifest_counts_bytes_short(const struct manifest_facts *facts, struct scan_folder *folder, const char *name,
				     uint64_t *counted);

#endif
