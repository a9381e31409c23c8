/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data sets: the files of a trace, grouped under the few path prefixes that have many or large files below them.
 * Software and output form groups apart from the data that the job reads. datasets_gather.c chooses the prefixes.
 *
 * They are made of the report's sums of files once all rows are in, so a row of a call costs nothing. A file's time in
 * opens is its time after open.out less its time before; its time in reads and writes likewise.
 */
#ifndef REPORT_FILES_DATASETS_H
#define REPORT_FILES_DATASETS_H

#include <stdio.h>

#include "report/files/folders.h"
#include "report/scan/model.h"

struct report_part;

#define DATASETS_MAX 20 /* including the row that sums up all others */

enum dataset_kind {
	DATASET_DATA, /* read, or at least looked at */
	DATASET_OUTPUT, /* only written: checkpoints, logs */
	DATASET_SHM, /* files in /dev/shm that no call has read: they are mapped */
	DATASET_SOFTWARE, /* by name, see software.h */
	DATASET_OTHERS,
};
#define DATASET_KINDS DATASET_OTHERS /* the kinds that are grouped */

enum dataset_sum {
	DATASET_FILES, /* files with calls; folders do not count */
	DATASET_OPENS, /* successful ones, of folders too */
	DATASET_CALLS,
	DATASET_READ, /* bytes; so are the next ones */
	DATASET_WRITTEN,
	DATASET_MAPPED,
	DATASET_LOCAL, /* read from regular files on local file systems */
	DATASET_DISK, /* of DATASET_LOCAL, fetched from disks */
	DATASET_TIME_NS, /* in all calls */
	DATASET_RW_NS, /* of DATASET_TIME_NS, in reads and writes */
	DATASET_OPEN_NS, /* of DATASET_TIME_NS, in opens */
	DATASET_FAULTS, /* page faults that waited for a disk */
	DATASET_FAULT_BYTES,
	DATASET_FAULT_NS,
	DATASET_SIZE, /* of each file the larger one of its size and the bytes read, written and mapped */
	DATASET_NETWORK_FILES,
	DATASET_MEMORY_FILES,
	DATASET_SUMS,
};

struct dataset {
	uint64_t sum[DATASET_SUMS];
	char *path; /* of the folder or the single file, escaped as in files.out; NULL: the row of all others */
	enum dataset_kind kind;
	bool knows_disk; /* the kernel has counted the bytes fetched from disks */
	uint32_t folder, file; /* the folder's number; 1 + the file's place in the table of files, 0: no single file */
};

struct report_datasets {
	struct folders tree;
	uint32_t *where; /* folder number of each file, by place in the table of files; 0: none */
	struct dataset_times {
		uint64_t before_ns, open_ns;
	} * times; /* likewise */
	uint32_t n_where, n_times;
	struct table maps; /* FID to bytes */
	struct dataset row[DATASETS_MAX]; /* by time in calls and faults, longest first; the row of all others last */
	unsigned int n;
};

/* A row of files.out gives F, a file of R, the path PATH. */
void report_datasets_file(struct report *r, const struct report_file *f, struct reader_field path);
/* Called before and after the rows of KIND. */
void report_datasets_before(struct report *r, enum report_kind kind);
void report_datasets_after(struct report *r, enum report_kind kind);
/* BYTES of FID were mapped. */
void report_datasets_map(struct report_datasets *d, uint64_t fid, uint64_t bytes);

/* Returns the bytes that disks read for the file at place I of R's table of files. */
typedef uint64_t report_fetched_fn(const struct report *r, uint32_t i);
/* Makes the data sets, after the last row. FETCHED is NULL when the bytes read from disks are not known. */
void report_datasets_end(struct report *report, report_fetched_fn *fetched);

/* --- evidence ------------------------------------------------------------------------------------------------ */

enum dataset_by { DATASET_BY_READS, DATASET_BY_OPENS, DATASET_BY_CALLS, DATASET_BY_FAULTS, DATASET_BY_MAPS };

/*
 * Returns the data set (or software) that took the most time in reads, opens or all calls; DATASET_BY_FAULTS: the one
 * of data that took the most time in page faults, DATASET_BY_MAPS: that with the most mapped bytes. NULL: there is
 * none.
 */
const struct dataset *report_dataset_most(const struct report *report, enum dataset_by by);
/* Prints DATASET without a newline: "/data/train: 12000 files, 1.40 GiB read, 98 % from disk, 34.2 s in reads". */
void report_dataset_print(const struct dataset *dataset, enum dataset_by by, FILE *out);
/* Returns the share of bytes read from local files that came from disks, at most 1; -1 when it is not known. */
double report_dataset_disk_share(const struct dataset *d);
/* disk, network, memory, or several. */
const char *report_dataset_medium(const struct dataset *d);

extern const char *const report_dataset_kind_names[DATASET_KINDS + 1];

extern const struct report_part report_datasets_part;

#endif
