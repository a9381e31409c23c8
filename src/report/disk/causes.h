/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the disks worked for, by the requests of bio.out: files, or a file system's own needs; and the processes that
 * caused it. A read belongs to the process that reads. A write-back belongs to the process that wrote, as its calls
 * show (writebacks.h); where these are not known, to the first one that made the pages dirty. The rows of a table add
 * up to all requests. A request that a disk passes on to a disk below counts once, for the upper one, where its file is
 * known. Bounded: files and processes without room are one row.
 */
#ifndef REPORT_DISK_CAUSES_H
#define REPORT_DISK_CAUSES_H

#include "report/disk/interference.h"
#include "report/disk/pieces.h"
#include "report/disk/writebacks.h"
#include "report/scan/scan.h"

struct report_part;

#define CAUSES_PROCESSES_MAX (1U << 16)
#define CAUSES_SHOWN 20

/* What requests are for. Those without a file are added up by it. */
enum cause_kind {
	CAUSE_DATA,
	CAUSE_DIRECT,
	CAUSE_META,
	CAUSE_JOURNAL,
	CAUSE_SWAP,
	CAUSE_SUPER,
	CAUSE_OTHER,
	CAUSE_NO_DATA, /* flushes and discards */
	CAUSE_SEVERAL, /* of several files at once, without rows in bio_map.out */
	CAUSE_KINDS,
};

struct report_cause {
	uint64_t read_bytes, write_bytes, requests;
	uint64_t time_ns; /* from queued to done */
	bool of_job; /* of a file: a process of the job caused a request; without a call on it, by executing or mapping
			it */
};

struct report_cause_process {
	struct report_cause sum;
	uint64_t unsure_bytes; /* of WRITE_BYTES: others wrote to the same pages, and it was only the first */
	char comm[64];
};

/* Reads of the job. */
struct report_cause_reads {
	uint64_t n, ns;
};

#define CAUSES_ROWS \
	(CAUSES_SHOWN + 2 + CAUSE_KINDS) /* also the rest of the job, the rest of others, and what has no file */

/* A row of either table. */
struct report_cause_row {
	struct report_cause sum;
	uint64_t unsure_bytes, id; /* id: FID or PID; 0: a row of requests without one */
	const char *what; /* in place of the path or name where ID is 0 */
	bool of_job; /* the job has used the file; the process is one of the job */
	char *path, comm[64];
};

struct report_causes {
	bool known; /* bio.out has the columns */
	struct report_cause all;
	struct report_cause no_file[CAUSE_KINDS]; /* requests without a file */
	struct report_cause no_writer[CAUSE_KINDS]; /* writes of which no process is known */
	struct report_cause other_files, other_processes; /* that had no room */
	struct table files; /* struct report_cause, by FID */
	struct table processes; /* struct report_cause_process, by PID */
	struct report_cause_reads beside, alone; /* reads while the disk also wrote; other reads (interference.h) */
	struct table disks; /* struct interference, by table_key(name) */
	struct report_pieces pieces;
	struct writebacks writebacks;
	uint64_t time_left_ns, bytes_left,
		largest_bytes; /* of the write-back that is being compared; its largest part */
	uint32_t largest_pid;

	/* made by the end, sorted by time: the first CAUSES_SHOWN, and rows that are not one file or
	 * process */
	struct report_cause_row file[CAUSES_ROWS], process[CAUSES_ROWS];
	unsigned int n_files, n_processes;
};

/* Adds the current row of SCAN, of bio.out: a request of BYTES that has ended, T by its kind of work. */
void report_causes_request(const struct scan *scan, enum report_t t, uint64_t bytes, uint64_t lat_ns);
/* Adds a write of a file that is written back somewhere in bio.out. */
void report_causes_write_of(const struct scan *s, const struct report_call_facts *c);
static inline void report_causes_write(const struct scan *s, const struct report_call_facts *c)
{
	if (c->file && c->file->written_back) {
		const struct report_call_facts copy = *c;

		report_causes_write_of(s, &copy);
	}
}

extern const struct report_part report_causes_part;

/* What the disks did for files that are not the job's. */
struct report_foreign {
	double share; /* of the time in requests */
	const struct report_cause_row *file[2]; /* the largest ones; the second NULL: it is small */
	double file_share[2];
};

/* Returns whether the disks worked much in DURATION_NS, and much of it for such files. */
bool report_causes_foreign(const struct report_causes *causes, uint64_t duration_ns, struct report_foreign *ret);

#endif
