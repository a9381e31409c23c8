/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `status --watch' shows: the rows of an interval summed up per process, and the calls and requests that
 * have been running longest. The drain sums, and only while somebody watches; the control plane asks and takes, by
 * flags alone. Nothing here waits, touches a file, or looks into a process.
 */
#ifndef DRAIN_LIVE_H
#define DRAIN_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dlt/dlt.h"
#include "stats/table.h"

struct files;
struct tracer;

#define LIVE_WATCHERS_MAX 4
#define LIVE_PLACES (2 * LIVE_WATCHERS_MAX) /* with those who are leaving */
#define LIVE_PROCESSES_MAX 32768 /* in an interval; calls of more are in the total alone */
#define LIVE_CALLS_MAX 20
#define LIVE_LOOK_MAX 4096 /* requests of a kind that are looked at for them */
#define LIVE_CALL_MIN_NS 10000000 /* what has been running for less is not worth a line */
#define LIVE_INTERVAL_MIN_MS 100
#define LIVE_INTERVAL_MAX_MS 3600000

/* Rows of one process, or of all: of every probe but bio. */
struct live_sum {
	uint32_t pid; /* 0: of all */
	char comm[DLT_COMM_LEN]; /* of the thread that was heard of last */
	uint64_t calls, failed;
	uint64_t read_bytes, written_bytes; /* what calls returned */
	uint64_t fetched_bytes;	       /* DISK_BYTES */
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
	char comm[DLT_COMM_LEN]; /* of who made the request; empty: a call, whose thread has its name */
	int64_t fd; /* these two as of call_file() */
	uint64_t addr;
	char *path;    /* of the file, where the drain knows it, or of a disk the name: owned, or NULL */
};

struct live_view {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	struct live_sum all;
	struct live_sum *sums; /* those who moved most bytes first, then those with most calls */
	uint32_t n, room;
	uint32_t processes; /* with calls; those beyond N are in ALL alone */
	struct live_call calls[LIVE_CALLS_MAX]; /* the oldest first */
	unsigned int n_calls;
};

enum live_state {
	LIVE_EMPTY, /* the drain's: it sums */
	LIVE_FULL,  /* the view is the control plane's, until that makes it LIVE_EMPTY */
	LIVE_GONE,  /* the drain has let go: live_free() */
};

/* Four buckets to a power of two up to 2^42 ns, over an hour: hist.h would take 30 KB a process. */
#define LIVE_SUB_BITS 2
#define LIVE_BUCKETS ((42 - LIVE_SUB_BITS + 1) << LIVE_SUB_BITS)

struct live_process {
	struct live_sum sum;
	uint32_t hist[LIVE_BUCKETS];
};

struct live {
	_Atomic int state;   /* enum live_state */
	_Atomic bool leave;  /* by the control plane: it is to be let go, and free to be freed when it is LIVE_GONE */
	uint64_t interval_ns;
	uint32_t max;
	/* the drain's */
	uint64_t from_ns, due_ns; /* 0: not yet taken up */
	struct table processes;	  /* struct live_process by pid */
	struct live_process all;
	struct live_view view; /* whose STATE says */
};

/* Those who watch a drain. All zero but FD: nobody. */
struct lives {
	_Atomic(struct live *) wanted[LIVE_PLACES]; /* by the control plane */
	_Atomic bool any; /* there may be one */
	struct live *on[LIVE_PLACES]; /* drain: those it sums for */
	unsigned int n;
	int fd; /* eventfd: a view is full, or somebody gone; -1: none */
};

/* --- control plane --------------------------------------------------------------------------------- */

/* A view every INTERVAL_MS, with at most MAX processes. NULL: no memory. */
struct live *live_new(uint64_t interval_ms, uint32_t max);
/* Only once the drain has let go, or has ended. */
void live_free(struct live *l);

/* 0, or -EBUSY: all places are taken. */
int lives_add(struct lives *ls, struct live *l);

/* --- drain ----------------------------------------------------------------------------------------- */

/* One row of PROBE. FILES: of what kind a file is. */
void lives_row(struct lives *ls, unsigned int probe, const struct dlt_hdr *rec, struct files *files);

/*
 * Each round: take up those who have come, let go of those who leave, fill the views that are due at NOW_NS;
 * END: all that have something, whenever the last was. T may be NULL: no calls in flight then.
 */
void lives_turn(struct lives *ls, uint64_t now_ns, bool end, struct files *files, struct tracer *t);

/*
 * in_flight.c: what file CALL is about: the address of the path that it was given in its process's memory, else 0; its
 * descriptor, with a path that of the folder which this is relative to (AT_FDCWD), else DLT_NONE.
 */
void call_file(const struct dlt_call *call, int64_t *fd_ret, uint64_t *addr_ret);

#endif
