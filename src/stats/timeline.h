/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums per bin of time over the length of a trace, which is not known ahead. Bins double when they do not
 * suffice, so memory is bounded and rows are read once. Pure: knows neither files nor columns.
 */
#ifndef STATS_TIMELINE_H
#define STATS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/table.h"

#define TIMELINE_BINS 2048 /* at most */
#define TIMELINE_LANE_FOLD 4 /* timeline bins per bin of a process */
#define TIMELINE_LANE_BINS (TIMELINE_BINS / TIMELINE_LANE_FOLD)
#define TIMELINE_FIRST_BIN_NS 1000000
#define TIMELINE_HEAT_ROWS 64 /* row I: 2^I to 2^(I+1) - 1 ns; the first has 0 too */
#define TIMELINE_DISKS_MAX 64
#define TIMELINE_LANES_MAX 4096 /* 54 MiB when full */
#define TIMELINE_LONGEST 64 /* calls of a process that are kept one by one */
#define TIMELINE_EVENTS 16 /* likewise of a kind in a bin: short traces have nearly all */
#define TIMELINE_POINTS_MAX 512 /* series of collectors: four of each of 100 CPUs or GPUs */

/* Of all calls of the target. */
enum timeline_sum {
	TIMELINE_READ_BYTES,
	TIMELINE_WRITE_BYTES,
	TIMELINE_READS,
	TIMELINE_WRITES,
	TIMELINE_OPENS,
	TIMELINE_CLOSES,
	TIMELINE_MMAPS,
	TIMELINE_CREATES,
	TIMELINE_DELETES,
	TIMELINE_SYNCS,
	TIMELINE_FAULT_BYTES,
	TIMELINE_FAULTS,
	/* ns of its threads, from sched.out */
	TIMELINE_RUN,
	TIMELINE_RUNQ,
	TIMELINE_DISK,
	TIMELINE_BLOCKED,
	TIMELINE_SLEEP,
	/* ns of its threads, from reclaim.out */
	TIMELINE_RECLAIM_CGROUP,
	TIMELINE_RECLAIM_MACHINE,
	/* ns of the path, which add up to the length of each bin in which the job's first process lived */
	TIMELINE_PATH,
	TIMELINE_PATH_CPU = TIMELINE_PATH,
	TIMELINE_PATH_CACHE,
	TIMELINE_PATH_RUNQ,
	TIMELINE_PATH_STORAGE,
	TIMELINE_PATH_NAMES,
	TIMELINE_PATH_WRITES,
	TIMELINE_PATH_NETWORK,
	TIMELINE_PATH_OTHERS,
	TIMELINE_PATH_SLEEP,
	TIMELINE_PATH_UNKNOWN,
	TIMELINE_SUMS,
};

/* Of one disk, of requests that ended in the bin. */
enum timeline_disk_sum {
	TIMELINE_D_READ_BYTES,
	TIMELINE_D_WRITE_BYTES,
	TIMELINE_D_READS,
	TIMELINE_D_WRITES,
	TIMELINE_D_QUEUE_NS,
	TIMELINE_D_DEVICE_NS,
	TIMELINE_D_REQUESTS,
	TIMELINE_D_SUMS,
};

/* Latencies. */
enum timeline_heat {
	TIMELINE_H_BIO_READ,
	TIMELINE_H_BIO_WRITE,
	TIMELINE_H_READ,
	TIMELINE_H_WRITE,
	TIMELINE_H_OPEN,
	TIMELINE_H_FAULT,
	TIMELINE_HEATS,
};

/* What a process spends a bin on: calls on files; page faults; CPU time, where it is known. */
enum timeline_busy {
	TIMELINE_B_READ,
	TIMELINE_B_WRITE,
	TIMELINE_B_OPEN,
	TIMELINE_B_FAULT,
	TIMELINE_B_OTHER,
	TIMELINE_B_CPU,
	TIMELINE_BUSY,
};

struct timeline_disk {
	char name[64];
	uint64_t sum[TIMELINE_D_SUMS][TIMELINE_BINS];
};

struct timeline_span {
	uint64_t from_ns, ns; /* since the timeline's begin; how long */
	enum timeline_busy what;
};

struct timeline_event {
	uint64_t from_ns, ns; /* as those of a span */
	uint64_t pid;
};

/* The longest calls or requests that ended in a bin, the longest first. */
struct timeline_events {
	uint64_t least_ns; /* of the shortest that is kept, once the array is full */
	uint32_t n;
	struct timeline_event v[TIMELINE_EVENTS];
};

struct timeline_lane {
	uint64_t pid;
	uint64_t begin_ns, end_ns; /* of its rows, or of its life where that is known */
	uint64_t total_ns;
	uint64_t
		shortest_ns; /* of the shortest that is kept, once the array is full; next to what each call looks at */
	uint32_t n_longest;
	struct timeline_span longest[TIMELINE_LONGEST]; /* of equal ones the first, in the order of their ends */
	float busy_ns[TIMELINE_BUSY][TIMELINE_LANE_BINS];
};

/* Values that are sampled, as means per bin. */
struct timeline_points {
	char panel[40], name[24];
	const char *unit;
	float sum[TIMELINE_BINS];
	uint32_t n[TIMELINE_BINS];
};

/* A value that stays until it changes: the most in a bin in which it did, and the last one. */
struct timeline_level {
	int64_t max[TIMELINE_BINS], last[TIMELINE_BINS];
	bool any[TIMELINE_BINS];
};

struct timeline {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; nothing lies before it */
	uint64_t bin_ns; /* the first length, times a power of two */
	struct {
		uint64_t begin_ns, end_ns;
		uint32_t bin;
	} at; /* the bin of the last query, mostly of the next one too; end_ns 0: none */
	/* Of several hosts on one axis: the host, else NULL; from when to when its trace is. */
	const char *host;
	uint64_t host_begin_ns, host_end_ns;
	uint64_t sum[TIMELINE_SUMS][TIMELINE_BINS];
	uint32_t heat[TIMELINE_HEATS][TIMELINE_BINS][TIMELINE_HEAT_ROWS];
	struct timeline_events events[TIMELINE_HEATS][TIMELINE_BINS]; /* of what the heat maps count; 5 MiB when full */
	bool has_heat[TIMELINE_HEATS], has_sched, has_reclaim, has_path;
	struct timeline_level
		in_use; /* bytes of memory that programs have allocated, since the first row of alloc.out */
	bool has_in_use;
	uint64_t data[TIMELINE_BINS]; /* bytes of data read */
	uint64_t data_ns; /* data was read or mapped for the first time; 0: never */
	struct table disks; /* struct timeline_disk *, by table_key(name) */
	struct table lanes; /* struct timeline_lane *, by PID */
	struct table points; /* struct timeline_points *, by table_key("panel/name") */
	uint64_t lanes_left_out; /* calls of processes that had no room */
	uint64_t points_left_out; /* values of series that had none */
};

/* Returns a timeline that begins at BEGIN_NS; 0: with what is added first. NULL: no memory. */
struct timeline *timeline_new(uint64_t begin_ns);
void timeline_free(struct timeline *t);

/* Sets its begin to AT_NS where it is not known. */
void timeline_begin(struct timeline *t, uint64_t at_ns);

/* A forged TIMESTAMP must not merge all others into one bin: no trace is as long as this. */
#define TIMELINE_LONGEST_NS (400ULL * 24 * 3600 * 1000000000)

/* Whether AT_NS may be added. */
static inline bool timeline_has(const struct timeline *t, uint64_t at_ns)
{
	if (at_ns >= t->at.begin_ns && at_ns < t->at.end_ns)
		return true;
	return !t->begin_ns || at_ns < t->begin_ns || at_ns - t->begin_ns < TIMELINE_LONGEST_NS;
}

uint32_t timeline_bins(const struct timeline *t); /* the number of bins in use */
/* Returns the bin of NS, for arrays of TIMELINE_BINS; folds all of them first if need be. */
uint32_t timeline_find_bin(struct timeline *timeline, uint64_t ns);
static inline uint32_t timeline_bin(struct timeline *t, uint64_t ns)
{
	if (ns < t->at.begin_ns || ns >= t->at.end_ns)
		return timeline_find_bin(t, ns);
	t->end_ns = ns > t->end_ns ? ns : t->end_ns;
	return t->at.bin;
}

/*
 * Returns VALUES[BIN], an array of that many bins, per second of the trace's coverage. Where that is less
 * than half of a bin, at either end, the bin and its neighbor are taken together: few calls in a moment
 * give no rate. NAN without coverage.
 */
double timeline_rate(const struct timeline *timeline, const uint64_t *values, uint32_t bin);

/* Folds into bins of twice the length, half as many; nothing else changes. */
void timeline_fold(struct timeline *timeline);
/* Makes each of the N timelines T as long as the longest, with bins of one length. */
void timeline_align(struct timeline *const *t, unsigned int n);

void timeline_add(struct timeline *t, enum timeline_sum what, uint64_t at_ns, uint64_t value);
/* Adds VALUE evenly over the SPAN_NS before AT_NS. */
void timeline_spread(struct timeline *timeline, enum timeline_sum what, uint64_t at_ns, uint64_t span_ns,
		     uint64_t value);
/* The memory in use is BYTES from AT_NS on. */
void timeline_in_use(struct timeline *t, uint64_t at_ns, int64_t bytes);
/* Made when new; NULL: no room or no memory. */
struct timeline_lane *timeline_lane(struct timeline *t, uint64_t pid);
struct timeline_disk *timeline_disk(struct timeline *t, const char *name, size_t len);
struct timeline_points *timeline_points(struct timeline *timeline, const char *panel, const char *name,
					const char *unit);

void timeline_point(struct timeline *t, struct timeline_points *p, uint64_t at_ns, double value);

/* --- called for most rows of a trace: in the header, to be inlined ------------------------------------ */

/* BIN is timeline_bin() of its end. */
static inline void timeline_latency(struct timeline *t, enum timeline_heat what, uint32_t bin, uint64_t lat_ns)
{
	t->heat[what][bin][63 - (unsigned int)__builtin_clzll(lat_ns | 1)]++;
	t->has_heat[what] = true;
}

void timeline_keep_event(struct timeline_events *events, const struct timeline_event *event);
/* WHAT of PID, which took LAT_NS, ended at AT_NS in BIN: it is kept if it is one of the longest there. */
static inline void timeline_event(struct timeline *t, enum timeline_heat what, uint32_t bin, uint64_t at_ns,
				  uint64_t lat_ns, uint64_t pid)
{
	struct timeline_events *events = &t->events[what][bin];

	if (lat_ns > events->least_ns && at_ns - t->begin_ns >= lat_ns)
		timeline_keep_event(events, &(struct timeline_event){ at_ns - t->begin_ns - lat_ns, lat_ns, pid });
}

/* A read or write of BYTES that took LAT_NS ended: its sums and heat maps. */
static inline void timeline_transfer(struct timeline *t, bool write, uint32_t bin, uint64_t bytes, uint64_t lat_ns)
{
	t->sum[write ? TIMELINE_WRITE_BYTES : TIMELINE_READ_BYTES][bin] += bytes;
	t->sum[write ? TIMELINE_WRITES : TIMELINE_READS][bin]++;
	timeline_latency(t, write ? TIMELINE_H_WRITE : TIMELINE_H_READ, bin, lat_ns);
}

/* Returns the begin of the SPAN_NS before AT_NS, which may lie before the timeline's. */
static inline uint64_t timeline_from(const struct timeline *t, uint64_t at_ns, uint64_t span_ns)
{
	const uint64_t from_ns = at_ns > span_ns ? at_ns - span_ns : 0;

	return from_ns > t->begin_ns ? from_ns : t->begin_ns;
}

/* SPAN is longer than the shortest that is kept, or there is room for more. */
void timeline_keep_longest(struct timeline_lane *l, const struct timeline_span *span);
/* Spreads NS over the time from FROM to AT_NS, which may span several bins. */
void timeline_spread_busy(struct timeline *t, struct timeline_lane *l, enum timeline_busy what, uint64_t from_ns,
			  uint64_t at_ns, uint64_t ns);

/* Adds NS of the SPAN_NS before AT_NS, in BIN, to WHAT of the process with the lane LANE; NULL: it had no room. */
static inline void timeline_lane_busy(struct timeline *timeline, struct timeline_lane *lane, enum timeline_busy what,
				      uint32_t bin, uint64_t at_ns, uint64_t span_ns, uint64_t ns)
{
	const uint64_t from_ns = timeline_from(timeline, at_ns, span_ns), all = at_ns > from_ns ? at_ns - from_ns : 0;

	if (!lane) {
		timeline->lanes_left_out++;
		return;
	}
	lane->begin_ns = lane->begin_ns && lane->begin_ns < from_ns ? lane->begin_ns : from_ns;
	lane->end_ns = lane->end_ns > at_ns ? lane->end_ns : at_ns;
	lane->total_ns += ns;
	if (what != TIMELINE_B_CPU && all > lane->shortest_ns)
		timeline_keep_longest(lane, &(struct timeline_span){ from_ns - timeline->begin_ns, all, what });
	if (!all || from_ns >= timeline->at.begin_ns) /* nearly all are in one bin */
		lane->busy_ns[what][bin / TIMELINE_LANE_FOLD] += (float)(int64_t)ns;
	else
		timeline_spread_busy(timeline, lane, what, from_ns, at_ns, ns);
}

/* timeline_lane_busy() for PID. */
static inline void timeline_busy(struct timeline *t, uint64_t pid, enum timeline_busy what, uint64_t at_ns,
				 uint64_t span_ns, uint64_t ns)
{
	const uint32_t bin = timeline_bin(t, at_ns);

	timeline_lane_busy(t, timeline_lane(t, pid), what, bin, at_ns, span_ns, ns);
}

#endif
