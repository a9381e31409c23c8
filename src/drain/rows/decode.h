/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records to rows: checks the records that came out of a ring, filters by thread name, keeps the FID table
 * up to date, and gives each row to its probe's sink. Drain thread; does not know where records come from.
 */
#ifndef DRAIN_ROWS_DECODE_H
#define DRAIN_ROWS_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "dlt/dlt.h"
#include "dlt/files.h"
#include "drain/rows/failed_calls.h"
#include "drain/rows/rollup.h"
#include "host/untraced.h"
#include "trace/clock.h"
#include "trace/config.h"
#include "trace/probe_mask.h"
#include "trace/record.h"
#include "trace/sink.h"

struct dlt_call;
struct dlt_pids;
struct dlt_vfs_rw_sums;
struct drain_stage;
struct file_entry;
struct lives;
struct metrics;
struct owner;

struct decode_counts {
	uint64_t records;
	uint64_t filtered; /* by --comm; of printed lines, those without news */
	uint64_t summed; /* instead of a row: --keep sums */
	uint64_t unread; /* writes to the job's output, or their ends, that were not searched; of pids: processes that
			    were others by then */
	uint64_t lines; /* of the job's output, that were searched for lines about phases */
	uint64_t nvtx; /* of regions: rows that came by NVTX */
	uint64_t bad; /* not a valid record: a defect */
};

#define COMM_CACHE 256

struct decode {
	struct record_ctx ctx;
	struct clock_map clock;
	struct text_utc_cache utc;
	struct sink sinks[DLT_PROBES]; /* fd -1: not asked for */
	struct decode_counts counts[DLT_PROBES];
	const struct config *cfg;
	struct rollup *rollup; /* --keep sums, else NULL */
	probe_mask summed; /* mask of the probes whose rows it takes */
	probe_mask observed; /* of the probes whose rows are operations */
	struct failed_calls failed_calls;
	struct metrics *metrics; /* --metrics-file, else NULL: the control plane's */
	struct lives *lives; /* a client watches, else NULL: the drain's */
	const struct drain_stage *const *stages; /* ended by NULL; NULL: none */
	void *state[DLT_PROBES]; /* of the stage of that probe; NULL: none yet */
	uint64_t reached_ns; /* TIMESTAMP of the last record out of a ring */
	struct untraced untraced;
	const struct owner *owner; /* a user whose trace it is, and whose processes alone it may show; NULL: root's */
	uint32_t own_dev; /* of the trace folder, as the kernel writes it */
	_Atomic bool same_dev; /* the target uses files there; read by the control plane */
	struct {
		char comm[DLT_COMM_LEN];
		int8_t keep; /* 0: not known */
	} comm_cache[COMM_CACHE];
};

int decode_init(struct decode *decode, const struct config *cfg);
void decode_free(struct decode *decode);

/* Returns the files that a trace of CFG has besides those of its probes. LOG: it keeps the workload's output. */
probe_mask decode_unasked(const struct config *cfg, bool log);

/* Opens those of STAGES whose files are in MASK, and keeps all for decode_life() and decode_free(). 0 or -errno. */
int decode_stages(struct decode *d, const struct drain_stage *const *stages, probe_mask mask);

/* REC of pids: each stage's life(). */
void decode_life(struct decode *d, const struct dlt_pids *rec);

/* One record of LEN bytes from a ring. */
void decode_record(struct decode *decode, const void *rec, uint32_t len);

/* For probes' decode hooks: write REC as a row of PROBE, if that file is written. */
void decode_row(struct decode *decode, unsigned int probe, const struct dlt_hdr *rec);
/* Likewise the sums of calls that have no rows in vfs_rw.out, which live views and metrics count, too. */
void decode_rw_sums(struct decode *d, const struct dlt_vfs_rw_sums *rec);

/*
 * FILE has the path in segment SEG (LEN bytes): learn it, and write a row of files.out when it is new or
 * has moved. HDR gives the time.
 */
void decode_file(struct decode *decode, const struct dlt_hdr *hdr, const struct dlt_file *file, const char *seg,
		 size_t len);

/* A row uses ID: it must be in files.out, even when its name was lost. */
void decode_file_used(struct decode *d, const struct dlt_hdr *hdr, const struct dlt_file_id *id);

/* At the end: write again the rows of all files that files.out may have lost. */
void decode_files_again(struct decode *d, uint64_t now_ns);

/* in_flight.c: at the end, write the row of CALL, still running at NOW_NS: with its LAT_NS so far and "?". */
void in_flight_row(struct decode *decode, const struct dlt_call *call, uint64_t now_ns);

/* E's path is PATH from here on: write its row, if that is another one. */
void decode_file_moved(struct decode *d, const struct dlt_hdr *hdr, struct file_entry *e, const char *path, size_t len);

#endif
