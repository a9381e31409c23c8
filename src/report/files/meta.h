/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of meta_sums.out: calls about metadata by call and folder, of all processes. Bounded: folders without room are
 * one row.
 */
#ifndef REPORT_FILES_META_H
#define REPORT_FILES_META_H

#include "report/scan/scan.h"
#include "stats/table.h"

struct report_part;

#define META_SUMS_MAX (1U << 16) /* 10 MiB when full */
#define META_SHOWN 200

struct report_meta_row {
	uint64_t count, failed, ns, max_ns;
	uint64_t error; /* errno of the last one that failed; 0: none has */
	char func[20], request[28];
	char *folder; /* escaped as in the file; NULL: of many */
};

struct report_meta {
	struct table sums; /* struct report_meta_row */
	struct report_meta_row row[META_SHOWN + 1]; /* those that took longest, and all others as one */
	unsigned int n;
};

extern const struct report_part report_meta_part;

#endif
