/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Uses of files by processes, files that several processes share, and files in shared memory (/dev/shm).
 * Bounded: calls without room are counted as left out.
 */
#ifndef REPORT_FILES_USES_H
#define REPORT_FILES_USES_H

#include "report/scan/scan.h"

struct report_part;

#define REPORT_USES_MAX (1U << 20) /* pairs of a process and a file; 56 MiB when full */
#define REPORT_USES_RECENT 1024
#define REPORT_SHM_MAX (1U << 16)
#define REPORT_TOP_SHM 20

/* One process and one file. */
struct report_use {
	uint64_t read_bytes, write_bytes, time_ns;
	uint64_t calls : 63, used : 1; /* used: there was a call other than close */
};

struct report_top_use {
	uint64_t pid, fid;
	struct report_use sum;
	char *path;
};

struct report_shm {
	uint64_t fid, calls, time_ns;
	uint64_t maps, map_bytes;
	uint64_t size; /* the largest by files.out or a truncation */
	char *path; /* set in TOP_SHM, and with every file (every.h) */
};

struct report_uses {
	struct table uses; /* struct report_use, by report_pair_key() */
	struct table shm; /* struct report_shm, by FID */
	uint64_t left_out; /* calls of pairs that had no room */
	/* Cache of the last file of each process, mostly its next one too; by PID, and PIDs may collide. */
	struct report_use_recent {
		uint64_t key;
		uint32_t at; /* place in the table; REPORT_USES_MAX: there was no room */
	} recent[REPORT_USES_RECENT];

	/* filled by the end, the largest first */
	struct report_top_file written[REPORT_TOP], opened[REPORT_TOP], shared[REPORT_TOP];
	unsigned int n_written, n_opened, n_shared;
	struct report_top_use by_bytes[REPORT_TOP], by_time[REPORT_TOP];
	unsigned int n_by_bytes, n_by_time;
	struct report_shm top_shm[REPORT_TOP_SHM]; /* by mapped bytes, then by size */
	unsigned int n_top_shm;
};

/* Whether FID is the last file of PID. */
static inline bool report_uses_near(const struct report_uses *u, uint64_t pid, uint64_t fid)
{
	return u->recent[pid % REPORT_USES_RECENT].key == report_pair_key(pid, fid);
}

/* Prefetches the slot of a row that comes soon; for each row of a batch. */
static inline void report_uses_expect(const struct report_uses *u, uint64_t pid, uint64_t fid)
{
	table_expect(&u->uses, report_pair_key(pid, fid));
}

/* Prefetches the entry; for each row of the batch, after the slots of all. */
static inline void report_uses_expect_entry(const struct report_uses *u, uint64_t pid, uint64_t fid)
{
	table_expect_entry(&u->uses, report_pair_key(pid, fid));
}

/* Adds a row of files.out that is a file in shared memory. */
void report_uses_shm(struct scan *scan, uint64_t fid);

/* --- what is done for most rows of a trace: here, to be compiled into where they are taken ------------- */

/* Returns the entry of KEY, which is not in PID's cache; NULL when there is no room. */
struct report_use *report_uses_find(struct report_uses *u, uint64_t pid, uint64_t key);
/* Adds a call on a file in shared memory. */
void report_uses_shm_call(const struct scan *scan, const struct report_call_facts *facts);

static inline struct report_use *report_uses_of(struct report_uses *u, uint64_t pid, uint64_t fid)
{
	const struct report_use_recent *recent = &u->recent[pid % REPORT_USES_RECENT];
	const uint64_t key = report_pair_key(pid, fid);

	if (!key)
		return NULL;
	if (key != recent->key)
		return report_uses_find(u, pid, key);
	return recent->at < u->uses.n ? table_at(&u->uses, recent->at) : NULL;
}

/* Adds a row of a call. */
static inline void report_uses_call(const struct scan *scan, const struct report_call_facts *facts)
{
	struct report_uses *uses = scan->report->uses;
	struct report_use *use;

	if (!facts->file || !facts->on_file)
		return;
	if (!facts->rw && scan->kind == REPORT_OPEN && !facts->failed && !scan_is(scan, COL_FUNC, "snapshot"))
		facts->file->opens++;
	if (facts->type == REPORT_SHM) {
		const struct report_call_facts copy = *facts;

		report_uses_shm_call(scan, &copy);
	}
	use = report_uses_of(uses, facts->pid, facts->fid);
	if (!use) {
		uses->left_out++;
		return;
	}
	if (!use->used && (facts->rw || scan->kind != REPORT_CLOSE)) {
		use->used = 1;
		facts->file->users++;
	}
	use->calls++;
	use->time_ns += facts->again_side ? 0 : facts->lat_ns;
	if (facts->rw && facts->write)
		use->write_bytes += facts->bytes;
	else if (facts->rw)
		use->read_bytes += facts->bytes;
}

extern const struct report_part report_uses_part;

#endif
