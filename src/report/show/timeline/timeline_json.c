/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/show/timeline/timeline_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"
#include "report/disk/faults.h"
#include "report/memory/allocs.h"
#include "report/timeline.h"
#include "report/why/why.h"

#define EVENTS_SHOWN 24000 /* single calls and requests: 600 KB */
#define LANES_SHOWN 200
#define LANES_LEAST 4 /* of a host, however many hosts there are */

/* --- series --------------------------------------------------------------------------------------- */

/*
 * FILE: where the numbers come from. Those of page faults come from fault.out, those from TIMELINE_RUN on from
 * sched.out, then two from reclaim.out, and those of the path, of which only those with a value are there, from
 * waits.out.
 */
static const struct {
	const char *panel, *name, *unit;
	enum report_kind file;
} sums[TIMELINE_SUMS] = {
	[TIMELINE_READ_BYTES] = { "vfs", "read", "B/s", REPORT_VFS_RW },
	[TIMELINE_WRITE_BYTES] = { "vfs", "write", "B/s", REPORT_VFS_RW },
	[TIMELINE_READS] = { "vfs_calls", "reads", "1/s", REPORT_VFS_RW },
	[TIMELINE_WRITES] = { "vfs_calls", "writes", "1/s", REPORT_VFS_RW },
	[TIMELINE_OPENS] = { "calls", "open", "1/s", REPORT_OPEN },
	[TIMELINE_CLOSES] = { "calls", "close", "1/s", REPORT_CLOSE },
	[TIMELINE_MMAPS] = { "calls", "mmap", "1/s", REPORT_MMAP },
	[TIMELINE_CREATES] = { "calls", "create", "1/s", REPORT_CREATE_DEL },
	[TIMELINE_DELETES] = { "calls", "delete", "1/s", REPORT_CREATE_DEL },
	[TIMELINE_SYNCS] = { "calls", "sync", "1/s", REPORT_SYNC },
	[TIMELINE_FAULT_BYTES] = { "vfs", "fault", "B/s" },
	[TIMELINE_FAULTS] = { "vfs_calls", "faults", "1/s" },
	[TIMELINE_RUN] = { "sched", "run", "s/s" },
	[TIMELINE_RUNQ] = { "sched", "runq", "s/s" },
	[TIMELINE_DISK] = { "sched", "disk", "s/s" },
	[TIMELINE_BLOCKED] = { "sched", "blocked", "s/s" },
	[TIMELINE_SLEEP] = { "sched", "sleep", "s/s" },
	[TIMELINE_RECLAIM_CGROUP] = { "reclaim", "cgroup", "s/s" },
	[TIMELINE_RECLAIM_MACHINE] = { "reclaim", "machine", "s/s" },
	[TIMELINE_PATH_CPU] = { "path", "on a CPU", "s/s" },
	[TIMELINE_PATH_CACHE] = { "path", "page cache", "s/s" },
	[TIMELINE_PATH_RUNQ] = { "path", "waiting for a CPU", "s/s" },
	[TIMELINE_PATH_STORAGE] = { "path", "reading storage", "s/s" },
	[TIMELINE_PATH_NAMES] = { "path", "names of files", "s/s" },
	[TIMELINE_PATH_WRITES] = { "path", "writing", "s/s" },
	[TIMELINE_PATH_NETWORK] = { "path", "network", "s/s" },
	[TIMELINE_PATH_OTHERS] = { "path", "others", "s/s" },
	[TIMELINE_PATH_SLEEP] = { "path", "sleeping", "s/s" },
	[TIMELINE_PATH_UNKNOWN] = { "path", "not known", "s/s" },
};

/* Each host has its own CLOCK_MONOTONIC, so times of several hosts are put on one axis, which begins at 0. */
uint64_t report_timeline_ns(const struct timeline *t, uint64_t ns)
{
	return t->host ? ns - MIN(ns, t->begin_ns) : ns;
}

void report_timeline_host(struct json *j, const struct timeline *t)
{
	if (t->host)
		json_str(j, "host", t->host);
}

static void series_begin(struct json *j, const struct timeline *t, const char *panel, const char *name,
			 const char *unit)
{
	json_object(j, NULL);
	report_timeline_host(j, t);
	json_str(j, "panel", panel);
	json_str(j, "name", name);
	json_str(j, "unit", unit);
	json_row(j, "values");
}

static void series_end(struct json *j)
{
	json_end(j);
	json_end(j);
}

/* Bins in which rows of FILE are missing: if such a bin has no row, its value is unknown, not zero. */
struct unknown {
	const char *file;
	bool bin[TIMELINE_BINS];
};

static uint32_t bin_of(const struct timeline *t, uint64_t ns)
{
	return ns > t->begin_ns ? (uint32_t)MIN((ns - t->begin_ns) / t->bin_ns, TIMELINE_BINS - 1) : 0;
}

/* Whether nothing happened in BIN. While dltraced did not run, the machine may have stood still, too. */
static bool is_empty(const struct timeline *t, uint32_t bin)
{
	for (enum timeline_sum i = 0; i < TIMELINE_PATH; i++) /* which goes on where no row is */
		if (t->sum[i][bin])
			return false;
	return true;
}

static void find_unknown(struct unknown *unknown, const struct report *report, const char *file)
{
	const struct timeline *timeline = report->timeline;
	/* the first stall and loss not yet passed: gaps are in order of their begins, bins ascend */
	uint32_t next[2] = { 0 };

	if (unknown->file && !strcmp(unknown->file, file))
		return;
	*unknown = (struct unknown){ .file = file };
	for (uint32_t i = 0; i < report->gaps.n; i++) {
		const struct gap *g = &report->gaps.v[i];
		bool lost = g->kind == GAP_LOST && (!g->file || !strcmp(g->file, file));

		if (!g->begin_ns || g->end_ns <= MAX(g->begin_ns, timeline->begin_ns) ||
		    !(lost || g->kind == GAP_STALLED))
			continue;
		for (next[lost] = MAX(next[lost], bin_of(timeline, g->begin_ns));
		     next[lost] <= bin_of(timeline, g->end_ns); next[lost]++)
			unknown->bin[next[lost]] |= lost || is_empty(timeline, next[lost]);
	}
}

static void rates(struct json *j, const struct timeline *t, const char *panel, const char *name, const char *unit,
		  const uint64_t *values, double scale, const struct unknown *u)
{
	series_begin(j, t, panel, name, unit);
	for (uint32_t i = 0; i < timeline_bins(t); i++) {
		double rate = timeline_rate(t, values, i);

		json_f64(j, NULL, u->bin[i] && rate == 0 ? (double)NAN : rate * scale);
	}
	series_end(j);
}

/* Puts the mean latency of a request in ns; null without any. */
static void means(struct json *j, const struct timeline *t, const char *panel, const char *name, const uint64_t *ns,
		  const uint64_t *n)
{
	series_begin(j, t, panel, name, "ns");
	for (uint32_t i = 0; i < timeline_bins(t); i++)
		json_f64(j, NULL, n[i] ? (double)ns[i] / (double)n[i] : (double)NAN);
	series_end(j);
}

/* Puts the most that was in use in each bin, from the first row on. */
static void in_use(struct json *json, const struct report *report)
{
	const struct timeline *timeline = report->timeline;
	const uint64_t end_ns = timeline->host ? timeline->host_end_ns : timeline->end_ns;
	struct unknown u = { 0 };
	bool begun = false;
	int64_t last = 0;

	find_unknown(&u, report, "alloc");
	series_begin(json, timeline, "alloc", "in use", "B");
	for (uint32_t i = 0; i < timeline_bins(timeline); i++) {
		const struct timeline_level *l = &timeline->in_use;
		const int64_t most = l->any[i] ? MAX(l->max[i], last) : last;

		begun |= l->any[i];
		last = l->any[i] ? l->last[i] : last;
		json_u64_known(json, NULL, begun && (l->any[i] || !u.bin[i]) && i <= bin_of(timeline, end_ns),
			       report_alloc_level(&report->allocs->all, most));
	}
	series_end(json);
}

static void disk_series(struct json *json, const struct timeline *timeline, const struct timeline_disk *disk,
			const struct unknown *unknown)
{
	char panel[96];

	snprintf(panel, sizeof(panel), "disk:%s", disk->name);
	rates(json, timeline, panel, "read", "B/s", disk->sum[TIMELINE_D_READ_BYTES], 1, unknown);
	rates(json, timeline, panel, "write", "B/s", disk->sum[TIMELINE_D_WRITE_BYTES], 1, unknown);
	snprintf(panel, sizeof(panel), "disk_ops:%s", disk->name);
	rates(json, timeline, panel, "reads", "1/s", disk->sum[TIMELINE_D_READS], 1, unknown);
	rates(json, timeline, panel, "writes", "1/s", disk->sum[TIMELINE_D_WRITES], 1, unknown);
	snprintf(panel, sizeof(panel), "disk_lat:%s", disk->name);
	means(json, timeline, panel, "queue", disk->sum[TIMELINE_D_QUEUE_NS], disk->sum[TIMELINE_D_REQUESTS]);
	means(json, timeline, panel, "device", disk->sum[TIMELINE_D_DEVICE_NS], disk->sum[TIMELINE_D_REQUESTS]);
}

static bool has_any(const uint64_t values[TIMELINE_BINS])
{
	for (unsigned int i = 0; i < TIMELINE_BINS; i++)
		if (values[i])
			return true;
	return false;
}

/* Whether the trace records SUM, so that zero is a value. */
static bool is_there(const struct report *r, enum timeline_sum sum)
{
	if (sum == TIMELINE_FAULTS || sum == TIMELINE_FAULT_BYTES)
		return r->faults && r->faults->file.n + r->faults->swap.n + r->faults->kernel.n + r->faults->other.n;
	if (sum >= TIMELINE_PATH)
		return r->timeline->has_path && has_any(r->timeline->sum[sum]);
	if (sum >= TIMELINE_RECLAIM_CGROUP)
		return r->timeline->has_reclaim;
	return sum < TIMELINE_RUN ? r->present[sums[sum].file] : r->timeline->has_sched;
}

static const char *source_of(enum timeline_sum sum)
{
	if (sum == TIMELINE_FAULTS || sum == TIMELINE_FAULT_BYTES)
		return "fault";
	if (sum >= TIMELINE_PATH)
		return "waits";
	if (sum >= TIMELINE_RECLAIM_CGROUP)
		return "reclaim";
	return sum < TIMELINE_RUN ? report_kind_names[sums[sum].file] : "sched";
}

static void series(const struct report *report, struct json *json)
{
	const struct timeline *timeline = report->timeline;
	struct unknown u = { 0 };

	for (enum timeline_sum i = 0; i < TIMELINE_SUMS; i++) {
		if (!is_there(report, i))
			continue;
		find_unknown(&u, report, source_of(i));
		rates(json, timeline, sums[i].panel, sums[i].name, sums[i].unit, timeline->sum[i],
		      i >= TIMELINE_RUN ? 1.0 / NSEC_PER_SEC : 1, &u);
	}
	if (timeline->has_in_use && report->allocs)
		in_use(json, report);
	find_unknown(&u, report, report_kind_names[REPORT_BIO]);
	for (uint32_t i = 0; i < timeline->disks.n; i++) {
		const struct timeline_disk *d = *(void **)table_at(&timeline->disks, i);

		if (d && i < report_at_most(report, TIMELINE_DISKS_MAX, 2))
			disk_series(json, timeline, d, &u);
	}
}

/* --- samples ---------------------------------------------------------------------------------------- */

/* Whether the points need no panel, such as those of idle loop devices, which iostat lists, too. */
static bool is_dull(const struct timeline_points *p)
{
	if (strncmp(p->panel, "iostat:", strlen("iostat:")))
		return false;
	for (unsigned int i = 0; i < TIMELINE_BINS; i++)
		if (p->sum[i] != 0)
			return false;
	return true;
}

static void points(struct json *json, const struct timeline *timeline, const struct timeline_points *timeline_points)
{
	json_object(json, NULL);
	report_timeline_host(json, timeline);
	json_str(json, "panel", timeline_points->panel);
	json_str(json, "name", timeline_points->name);
	json_str(json, "unit", timeline_points->unit);
	json_row(json, "t");
	for (uint32_t i = 0; i < timeline_bins(timeline); i++)
		if (timeline_points->n[i])
			json_u64(json, NULL,
				 report_timeline_ns(timeline,
						    timeline->begin_ns + i * timeline->bin_ns + timeline->bin_ns / 2));
	json_end(json);
	json_row(json, "values");
	for (uint32_t i = 0; i < timeline_bins(timeline); i++)
		if (timeline_points->n[i])
			json_f64(json, NULL, (double)timeline_points->sum[i] / timeline_points->n[i]);
	series_end(json);
}

static void sampled(const struct report *r, struct json *j)
{
	const struct timeline *t = r->timeline;

	for (uint32_t i = 0; i < t->points.n; i++) {
		const struct timeline_points *p = *(void **)table_at(&t->points, i);

		if (p && !is_dull(p) && i < report_at_most(r, TIMELINE_POINTS_MAX, 16))
			points(j, t, p);
	}
}

/* --- latencies ------------------------------------------------------------------------------------- */

static const char *const heat_names[TIMELINE_HEATS] = {
	[TIMELINE_H_BIO_READ] = "bio read", [TIMELINE_H_BIO_WRITE] = "bio write", [TIMELINE_H_READ] = "read",
	[TIMELINE_H_WRITE] = "write",       [TIMELINE_H_OPEN] = "open",           [TIMELINE_H_FAULT] = "page fault",
};

static void heat(const struct report *report, struct json *json)
{
	const struct timeline *timeline = report->timeline;

	for (unsigned int h = 0; h < TIMELINE_HEATS; h++) {
		if (!timeline->has_heat[h])
			continue;
		json_object(json, NULL);
		report_timeline_host(json, timeline);
		json_str(json, "name", heat_names[h]);
		json_row(json, "counts");
		for (uint32_t i = 0; i < timeline_bins(timeline); i++)
			for (unsigned int row = 0; row < TIMELINE_HEAT_ROWS; row++) {
				if (!timeline->heat[h][i][row])
					continue;
				json_array(json, NULL);
				json_u64(json, NULL, i);
				json_u64(json, NULL, row);
				json_u64(json, NULL, timeline->heat[h][i][row]);
				json_end(json);
			}
		json_end(json);
		json_end(json);
	}
}

/* --- single calls and requests ------------------------------------------------------------------------- */

/* Returns how many rows there are with at most EACH of a kind in a bin. */
static uint32_t events_n(const struct timeline *timeline, uint32_t each)
{
	uint32_t n = 0;

	for (unsigned int h = 0; h < TIMELINE_HEATS; h++)
		for (uint32_t i = 0; timeline->has_heat[h] && i < TIMELINE_BINS; i++)
			n += MIN(timeline->events[h][i].n, each);
	return n;
}

/* Puts the EACH longest of HEAT's kind in each bin. */
static void events_of(struct json *json, const struct timeline *timeline, enum timeline_heat heat, uint32_t each)
{
	json_object(json, NULL);
	report_timeline_host(json, timeline);
	json_str(json, "name", heat_names[heat]);
	json_u64(json, "each", each);
	json_row(json, "rows");
	for (uint32_t i = 0; i < TIMELINE_BINS; i++) {
		const struct timeline_events *events = &timeline->events[heat][i];

		for (uint32_t k = 0; k < MIN(events->n, each); k++) {
			json_array(json, NULL);
			json_u64(json, NULL, events->v[k].from_ns);
			json_u64(json, NULL, events->v[k].ns);
			json_u64(json, NULL, events->v[k].pid);
			json_end(json);
		}
	}
	json_end(json);
	json_end(json);
}

/* Puts the longest of each bin, as many as make MOST at most: all of them would be larger than the page. */
static void events(const struct report *report, struct json *json, uint32_t most)
{
	const struct timeline *timeline = report->timeline;
	uint32_t each = TIMELINE_EVENTS;

	while (each && events_n(timeline, each) > most)
		each--;
	for (unsigned int h = 0; each && h < TIMELINE_HEATS; h++)
		if (timeline->has_heat[h])
			events_of(json, timeline, h, each);
}

/* --- all ---------------------------------------------------------------------------------------------- */

/* Puts an array with one member from each of the N reports. */
static void of_each(struct json *j, const char *key, const struct report *const *r, unsigned int n,
		    void (*members)(const struct report *r, struct json *j))
{
	json_array(j, key);
	for (unsigned int i = 0; i < n; i++)
		members(r[i], j);
	json_end(j);
}

/*
 * Returns how many disks and series of collectors, of all hosts, are not in the output: because there was no room, or
 * because a page cannot hold so many.
 */
static uint64_t series_left_out(const struct report *const *r, unsigned int n)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct timeline *t = r[i]->timeline;
		uint32_t disks = report_at_most(r[i], TIMELINE_DISKS_MAX, 2),
			 points = report_at_most(r[i], TIMELINE_POINTS_MAX, 16);

		all += t->disks.n - MIN(t->disks.n, disks) + t->points.n - MIN(t->points.n, points);
	}
	return all;
}

/* With several hosts: puts the part of the axis that each was traced in. */
static void host_span(const struct report *r, struct json *j)
{
	const struct timeline *t = r->timeline;

	json_object(j, NULL);
	report_timeline_host(j, t);
	json_u64(j, "begin_ns", report_timeline_ns(t, MAX(t->host_begin_ns, t->begin_ns)));
	json_u64(j, "end_ns", report_timeline_ns(t, t->host_end_ns));
	json_end(j);
}

void report_timelines_json(const struct report *const *r, unsigned int n, const char *begin_utc, struct json *json)
{
	const struct timeline *timeline = r[0]->timeline;
	uint64_t left_out = 0;

	if (!timeline || !timeline->begin_ns)
		return;
	json_object(json, "timeline");
	json_u64(json, "begin_ns", report_timeline_ns(timeline, timeline->begin_ns));
	json_u64(json, "end_ns", report_timeline_ns(timeline, timeline->end_ns));
	json_str(json, "begin_utc", begin_utc);
	json_u64(json, "bin_ns", timeline->bin_ns);
	json_u64(json, "bins", timeline_bins(timeline));
	if (timeline->host)
		of_each(json, "hosts", r, n, host_span);
	of_each(json, "series", r, n, series);
	of_each(json, "sampled", r, n, sampled);
	of_each(json, "heat", r, n, heat);
	json_array(json, "events");
	for (unsigned int i = 0; i < n; i++)
		events(r[i], json, report_at_most(r[i], EVENTS_SHOWN, 0) / n);
	json_end(json);
	of_each(json, "memory", r, n, report_memory_json);
	json_u64(json, "lane_bin_ns", timeline->bin_ns * TIMELINE_LANE_FOLD);
	json_array(json, "lanes");
	for (unsigned int i = 0; i < n; i++)
		left_out += report_lanes_json(r[i], json,
					      MAX(report_at_most(r[i], LANES_SHOWN, LANES_LEAST) / n, LANES_LEAST));
	json_end(json);
	json_u64(json, "lanes_left_out", left_out);
	json_u64(json, "series_left_out", series_left_out(r, n));
	of_each(json, "regions", r, n, report_regions_json);
	report_phases_json(r, n, json);
	json_end(json);
}

void report_timeline_json(const struct report *r, struct json *j)
{
	report_timelines_json(&r, 1, report_started(r), j);
}
