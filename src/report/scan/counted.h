/* SPDX-License-Identifier: BSD-2-Clause */
/* What the manifest counts of a file, against the bytes that are there. */
#ifndef REPORT_SCAN_COUNTED_H
#define REPORT_SCAN_COUNTED_H

#include <stdint.h>

struct manifest_facts;
struct scan_folder;

/* What the manifest counts of a probe or a collector; zeroes: it names none so. */
struct counted {
	uint64_t rows, lost, dropped, bytes, dropped_bytes;
};
struct counted counted_of(const struct manifest_facts *m, const char *name);
/*
 * How many bytes NAME.out lacks of those that the manifest of a trace with an end counts, which are *COUNTED. 0: none, or
 * it is split or packed, where reading shows what it has.
 */
uint64_t counted_bytes_short(const struct manifest_facts *m, struct scan_folder *folder, const char *name, uint64_t *counted);

#endif
