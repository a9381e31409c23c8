/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data sets: the files of a trace, gathered to the few prefixes of their paths below which many or large ones lie. Software
 * and output are gathered apart from what the job reads. datasets_gather.c chooses the prefixes.
 *
 * The report's sums of files are added up once all rows are in, so a row of a call costs nothing. A file's time in opens is
 * its time behind open.out less that before it; likewise its time in reads and writes.
 */
#ifndef REPORT_SCAN_DATASETS_H
#define REPORT_SCAN_DATASETS_H

#include <stdio.h>

#include "report/scan/folders.h"
#include "report/scan/model.h"

#define DATASETS_MAX 20 /* the others, as one, among them */

enum dataset_kind {
	DATASET_DATA,	  /* read, or at least looked at */
	DATASET_OUTPUT,	  /* only written: checkpoints, logs */
	DATASET_SHM,	  /* files in /dev/shm that no call has read: they are mapped */
	DATASET_SOFTWARE, /* by their names: see software.h */
	DATASET_OTHERS,
};
#define DATASET_KINDS DATASET_OTHERS /* that are gathered */

enum dataset_sum {
	DATASET_FILES, /* that calls were on; folders are none */
	DATASET_OPENS, /* that succeeded, of folders too */
	DATASET_CALLS,
	DATASET_READ,	 /* bytes; so are the next ones */
	DATASET_WRITTEN,
	DATASET_MAPPED,
	DATASET_LOCAL,	 /* read of regular files that no network is behind */
	DATASET_DISK,	 /* fetched for these from disks */
	DATASET_TIME_NS, /* in all calls; */
	DATASET_RW_NS,	 /* in reads and writes, */
	DATASET_OPEN_NS, /* and in opens, of it */
	DATASET_SIZE,	 /* of a file what is larger: its size, or what was read, written and mapped of it */
	DATASET_NETWORK_FILES,
	DATASET_MEMORY_FILES,
	DATASET_SUMS,
};

struct dataset {
	uint64_t sum[DATASET_SUMS];
	char *path; /* of the folder, or of the only file; escaped as in files.out. NULL: of the others */
	enum dataset_kind kind;
	bool knows_disk; /* what was fetched is counted */
	uint32_t folder, file; /* its number; 1 + its place in the table of files, 0: it is no single file */
};

struct report_datasets {
	struct folders tree;
	uint32_t *where; /* by place in the table of files: the number of its folder; 0: none */
	struct dataset_times {
		uint64_t before_ns, open_ns;
	} *times; /* likewise */
	uint32_t n_where, n_times;
	struct table maps; /* FID to bytes */
	struct dataset row[DATASETS_MAX]; /* those that took the longest first, the others last */
	unsigned int n;
};

struct report_datasets *report_datasets_new(void); /* NULL: no memory */
void report_datasets_free(struct report_datasets *d);

/* F, of R, has PATH by a row of files.out. */
void report_datasets_file(struct report *r, const struct report_file *f, struct reader_field path);
/* Rows of KIND come next; they have come. */
void report_datasets_before(struct report *r, enum report_kind kind);
void report_datasets_after(struct report *r, enum report_kind kind);
/* BYTES of FID were mapped. */
void report_datasets_map(struct report_datasets *d, uint64_t fid, uint64_t bytes);

/* What disks were made to read for the file at place I of R's table of them. */
typedef uint64_t report_fetched_fn(const struct report *r, uint32_t i);
/* All rows are in. FETCHED may be NULL: nobody knows. */
void report_datasets_end(struct report *r, report_fetched_fn *fetched);

/* --- evidence ------------------------------------------------------------------------------------------------ */

enum dataset_by { DATASET_BY_READS, DATASET_BY_OPENS, DATASET_BY_CALLS, DATASET_BY_MAPS };

/*
 * The data set, software too, that most time went to in reads (of what is read), opens or all calls; that of data of which most
 * was mapped. NULL: none.
 */
const struct dataset *report_dataset_most(const struct report *r, enum dataset_by by);
/* That as a line without an end: "/data/train: 12000 files, 1.40 GiB read, 98 % from disk, 34.2 s in reads". */
void report_dataset_print(const struct dataset *d, enum dataset_by by, FILE *out);
/* The part of what was read of local files that came from disks, 1 at most; -1: not known. */
double report_dataset_disk_share(const struct dataset *d);
/* disk, network, memory, or several. */
const char *report_dataset_medium(const struct dataset *d);

extern const char *const report_dataset_kind_names[DATASET_KINDS + 1];

#endif
