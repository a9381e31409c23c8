/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data of `status --watch': the rows of an interval summed up per process, the calls and requests
 * that have been in flight longest, and the live regions. The drain sums, and only while a client watches;
 * the control plane requests and takes, by flags alone. Nothing here waits, touches a file, or looks into a process.
 */
#ifndef DRAIN_ROWS_LIVE_H
#define DRAIN_ROWS_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dlt/dlt.h"
#include "dltraced.h"
#include "stats/table.h"

struct dlt_vfs_rw_sums;
struct files;
struct live_regions;
struct tracer;

#define LIVE_WATCHERS_MAX 4
#define LIVE_PLACES (2 * LIVE_WATCHERS_MAX) /* including those that are leaving */
#define LIVE_PROCESSES_MAX 32768 /* in an interval; calls of more are in the total alone */
#define LIVE_CALLS_MAX 20
#define LIVE_REGIONS_MAX 20
#define LIVE_LOOK_MAX 4096 /* requests of a kind that are looked at for them */
#define LIVE_CALL_MIN_NS 10000000 /* a call in flight for less is not worth a line */
#define LIVE_INTERVAL_MIN_MS 100
#define LIVE_INTERVAL_MAX_MS 3600000

/* Calls of one process, or of all. */
struct live_sum {
	uint32_t pid; /* 0: of all */
	char comm[DLT_COMM_LEN]; /* of the thread of the last row */
	uint64_t calls, failed;
	uint64_t read_bytes, written_bytes; /* what calls returned */
	uint64_t fetched_bytes; /* DISK_BYTES */
	uint64_t reads, disk_reads; /* of regular files and disks that returned something; of those with DISK_BYTES */
	uint64_t lat_ns, max_lat_ns;
	uint64_t p99_ns; /* within an eighth */
};

/* A call or a request in flight. */
struct live_call {
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint32_t pid, tid;
	uint16_t probe;
	const char *name; /* FUNC; of requests to disks "bio:" and T */
	char comm[DLT_COMM_LEN]; /* of the thread that made the request; empty: a call, whose thread has its name */
	int64_t fd; /* these two as of call_file() */
	uint64_t addr;
	char *path; /* of the file, where the drain knows it, or the name of a disk: owned, or NULL */
};

/* A region that the job has begun and not ended. */
struct live_region {
	uint64_t start_ns; /* CLOCK_MONOTONIC, as the program read it */
	uint32_t pid, tid;
	char comm[DLT_COMM_LEN];
	char name[DLTRACED_NAME_MAX + 1]; /* as the program passed it */
	int64_t epoch, step; /* DLTRACED_NONE: not given */
};

struct live_view {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	struct live_sum all;
	struct live_sum *sums; /* those that moved most bytes first, then those with most calls */
	uint32_t n, room;
	uint32_t processes; /* with calls; those beyond N are in ALL alone */
	struct live_call calls[LIVE_CALLS_MAX]; /* the oldest first */
	unsigned int n_calls;
	struct live_region regions[LIVE_REGIONS_MAX]; /* the oldest first */
	unsigned int n_regions;
};

enum live_state {
	LIVE_EMPTY, /* the drain's: it sums */
	LIVE_FULL, /* the view is the control plane's, until that makes it LIVE_EMPTY */
	LIVE_GONE, /* the drain has let go: live_free() */
};

/* Four buckets to a power of two up to 2^42 ns, over an hour: hist.h would take 30 KB a process. */
#define LIVE_SUB_BITS 2
#define LIVE_BUCKETS ((42 - LIVE_SUB_BITS + 1) << LIVE_SUB_BITS)

struct live_process {
	struct live_sum sum;
	uint32_t hist[LIVE_BUCKETS];
};

struct live {
	_Atomic int state; /* enum live_state */
	_Atomic bool leave; /* set by the control plane: the drain makes it LIVE_GONE, then it can be freed */
	uint64_t interval_ns;
	uint32_t max;
	/* the drain's */
	uint64_t from_ns, due_ns; /* 0: the drain has not accepted it yet */
	struct table processes; /* struct live_process by pid */
	struct live_process all;
	struct live_view view; /* owned as STATE says */
};

/* The clients that watch a drain. All zero but FD: none. */
struct lives {
	_Atomic(struct live *) wanted[LIVE_PLACES]; /* by the control plane */
	_Atomic bool any; /* there may be one */
	struct live *on[LIVE_PLACES]; /* drain: those it sums for */
	unsigned int n;
	int fd; /* eventfd: a view is full, or a client gone; -1: none */
};

/* --- control plane --------------------------------------------------------------------------------- */

/* A view every INTERVAL_MS, with at most MAX processes. NULL: no memory. */
struct live *live_new(uint64_t interval_ms, uint32_t max);
/* Only once the drain has released it, or has ended. */
void live_free(struct live *l);

/* 0, or -EBUSY: all places are taken. */
int lives_add(struct lives *ls, struct live *live);

/* --- drain ----------------------------------------------------------------------------------------- */

/* One row of PROBE. FILES: gives the type of a file. */
void lives_row(struct lives *ls, unsigned int probe, const struct dlt_hdr *rec, struct files *files);
/* Likewise calls of vfs_rw that have no rows, all on one regular file. */
void lives_sums(struct lives *ls, const struct dlt_vfs_rw_sums *rec, struct files *files);

/*
 * Each round: accept new clients, release leaving ones, fill the views that are due at NOW_NS; END: all
 * that have data, whenever the last was. REGIONS are the live ones. TRACER may be NULL: no calls in flight then.
 */
void lives_turn(struct lives *ls, uint64_t now_ns, bool end, struct files *files, const struct live_regions *regions,
		struct tracer *tracer);

/*
 * in_flight.c: finds the file of CALL: the address of its path argument in its process's memory, else 0;
 * its descriptor, or for a path the one of the folder which it is relative to (AT_FDCWD), else DLT_NONE.
 */
void call_file(const struct dlt_call *call, int64_t *fd_ret, uint64_t *addr_ret);

#endif
