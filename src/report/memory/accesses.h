/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of access.out: which memory was touched, by process and by file, and with alloc.out, how much of what each stack
 * allocated never was. Bounded: memory, processes, files and stacks without room are in the sums of others, or counted.
 */
#ifndef REPORT_MEMORY_ACCESSES_H
#define REPORT_MEMORY_ACCESSES_H

#include "report/scan/scan.h"
#include "stats/touched.h"

struct report_part;

#define ACCESSES_SHOWN 20
#define ACCESSES_PROCESSES_MAX (1U << 16)
#define ACCESSES_FILES_MAX (1U << 18)
#define ACCESSES_SITES_MAX (1U << 18)
#define ACCESSES_LIVE_MAX (1U << 18) /* blocks in use at a time */
#define ACCESSES_MAPPED_LEAST (64U << 10) /* smaller mappings are not watched */

/* SOURCE: how an access is known. */
enum access_source { ACCESS_PAGES, ACCESS_FAULTS, ACCESS_WRITES, ACCESS_PMU, ACCESS_WATCH, ACCESS_SOURCES };
enum access_kind { ACCESS_UNKNOWN, ACCESS_HEAP, ACCESS_ANON, ACCESS_STACK, ACCESS_FILE, ACCESS_KINDS };
extern const char *const access_source_names[ACCESS_SOURCES], *const access_kind_names[ACCESS_KINDS];

/* A row of access.out. */
struct access_row {
	uint64_t pid, addr, bytes, span_ns, count;
	uint64_t touched, written; /* bytes of BYTES; 0 where it is not known */
	bool has_touched, has_written;
	enum access_source source;
	enum access_kind kind;
	uint64_t fid, offset; /* of KIND file; 0: not known */
};

/* Parses the current row. Returns false when it is damaged. A single access is its page. */
bool access_row(struct access_row *row, const struct scan *s);
/* Returns the bytes that were accessed, as far as the source knows. */
static inline uint64_t access_bytes(const struct access_row *row)
{
	if (row->has_touched || row->has_written)
		return row->has_touched ? row->touched : row->written;
	return row->count < row->bytes / TOUCHED_PAGE ? row->count * TOUCHED_PAGE :
							row->bytes; /* a sample is of a page */
}

/* Of a process, by a source. */
struct report_access_process {
	uint64_t pid;
	enum access_source source;
	uint64_t rows, count;
	uint64_t intervals, most,
		sum; /* those with rows, but of faults; the most bytes touched in one, and those of all */
	uint64_t last_ns, last; /* the last interval, and its bytes */
	struct touched_sum ever; /* by any source */
};

/* Of a file that was mapped. */
struct report_access_file {
	uint64_t fid;
	uint64_t begin, end; /* the first and the last byte that were mapped */
	uint64_t mapped;
	struct touched_sum used;
	bool others;
	char *path;
};

/* Of a stack: blocks of alloc.out that were in use for an interval at least. */
struct report_access_site {
	uint64_t id; /* SITE; 0: not known */
	uint64_t blocks, bytes;
	uint64_t untouched_blocks; /* of which nothing was touched */
	uint64_t touched, once; /* bytes */
	bool others;
	char *stack;
};

static inline uint64_t report_access_untouched(const struct report_access_site *s)
{
	return s->bytes - s->touched;
}

enum access_order { ACCESSES_BY_UNTOUCHED, ACCESSES_BY_ONCE, ACCESS_ORDERS };

struct report_accesses {
	bool present; /* access.out is there */
	bool by[ACCESS_SOURCES]; /* it has rows of this source */
	bool has_written; /* some say what was written */
	uint64_t rows, first_ns, last_ns; /* when the first interval began, and the last one ended; 0: no row */
	uint64_t least_span_ns, span_ns; /* the shortest interval, and the last one, while rows are read */
	struct touched memory, files; /* by PID and address; by FID and offset. The tag: access_tag() */
	struct table processes; /* struct report_access_process, by PID and source */
	struct table mapped; /* struct report_access_file, by FID */
	struct table sites; /* struct report_access_site, by SITE */
	struct access_live *live; /* blocks in use, while rows are read */
	struct access_maps *maps; /* likewise: files that are mapped */
	uint64_t watched_bytes,
		untouched_bytes; /* blocks of all stacks; what of them was never touched. 0: not known */
	struct report_access_process process[ACCESSES_SHOWN];
	struct report_access_file file[ACCESSES_SHOWN + 1];
	struct report_access_site site[ACCESS_ORDERS][ACCESSES_SHOWN + 1];
	unsigned int n_processes, n_files, n_sites[ACCESS_ORDERS];
	uint64_t all_processes;
};

/* Of touched memory: its kind and file. */
static inline uint64_t access_tag(enum access_kind kind, uint64_t fid)
{
	return fid << 3 | kind;
}

static inline enum access_kind access_tag_kind(uint64_t tag)
{
	return (enum access_kind)(tag & 7);
}

static inline uint64_t access_tag_fid(uint64_t tag)
{
	return tag >> 3;
}

/*
 * Reads access.out, and with it alloc.out, mmap.out and pids.out, and picks the rows of the tables; after the last row
 * of all files has been counted.
 */

extern const struct report_part report_accesses_part;

#endif
