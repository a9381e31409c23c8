/* SPDX-License-Identifier: BSD-2-Clause */
/* The timeline as JSON: docs/report-json.md has the names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"
#include "report/disk/faults.h"
#include "report/memory/allocs.h"
#include "report/show/svg/memory.h"
#include "report/timeline.h"
#include "report/why/why.h"

#define LANES_SHOWN 200
#define LANES_LEAST 4 /* of a host, however many hosts there are */
#define LANE_LEAST 0.0005 /* of a bin: less is not visible */

/* --- series --------------------------------------------------------------------------------------- */

/*
 * FILE: where the numbers come from. Those of page faults come from fault.out, those from TIMELINE_RUN on from sched.out, the
 * last two from reclaim.out.
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
	for (enum timeline_sum i = 0; i < TIMELINE_SUMS; i++)
		if (t->sum[i][bin])
			return false;
	return true;
}

static void find_unknown(struct unknown *u, const struct report *r, const char *file)
{
	const struct timeline *t = r->timeline;
	/* the first stall and loss not yet passed: gaps are in order of their begins, bins ascend */
	uint32_t next[2] = { 0 };

	if (u->file && !strcmp(u->file, file))
		return;
	*u = (struct unknown){ .file = file };
	for (uint32_t i = 0; i < r->gaps.n; i++) {
		const struct gap *g = &r->gaps.v[i];
		bool lost = g->kind == GAP_LOST && (!g->file || !strcmp(g->file, file));

		if (!g->begin_ns || g->end_ns <= MAX(g->begin_ns, t->begin_ns) || !(lost || g->kind == GAP_STALLED))
			continue;
		for (next[lost] = MAX(next[lost], bin_of(t, g->begin_ns)); next[lost] <= bin_of(t, g->end_ns); next[lost]++)
			u->bin[next[lost]] |= lost || is_empty(t, next[lost]);
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
static void in_use(struct json *j, const struct report *r)
{
	const struct timeline *t = r->timeline;
	const uint64_t end_ns = t->host ? t->host_end_ns : t->end_ns;
	struct unknown u = { 0 };
	bool begun = false;
	int64_t last = 0;

	find_unknown(&u, r, "alloc");
	series_begin(j, t, "alloc", "in use", "B");
	for (uint32_t i = 0; i < timeline_bins(t); i++) {
		const struct timeline_level *l = &t->in_use;
		const int64_t most = l->any[i] ? MAX(l->max[i], last) : last;

		begun |= l->any[i];
		last = l->any[i] ? l->last[i] : last;
		json_u64_known(j, NULL, begun && (l->any[i] || !u.bin[i]) && i <= bin_of(t, end_ns),
			       report_alloc_level(&r->allocs->all, most));
	}
	series_end(j);
}

static void disk_series(struct json *j, const struct timeline *t, const struct timeline_disk *d, const struct unknown *u)
{
	char panel[96];

	snprintf(panel, sizeof(panel), "disk:%s", d->name);
	rates(j, t, panel, "read", "B/s", d->sum[TIMELINE_D_READ_BYTES], 1, u);
	rates(j, t, panel, "write", "B/s", d->sum[TIMELINE_D_WRITE_BYTES], 1, u);
	snprintf(panel, sizeof(panel), "disk_ops:%s", d->name);
	rates(j, t, panel, "reads", "1/s", d->sum[TIMELINE_D_READS], 1, u);
	rates(j, t, panel, "writes", "1/s", d->sum[TIMELINE_D_WRITES], 1, u);
	snprintf(panel, sizeof(panel), "disk_lat:%s", d->name);
	means(j, t, panel, "queue", d->sum[TIMELINE_D_QUEUE_NS], d->sum[TIMELINE_D_REQUESTS]);
	means(j, t, panel, "device", d->sum[TIMELINE_D_DEVICE_NS], d->sum[TIMELINE_D_REQUESTS]);
}

/* Whether the trace records SUM, so that zero is a value. */
static bool is_there(const struct report *r, enum timeline_sum sum)
{
	if (sum == TIMELINE_FAULTS || sum == TIMELINE_FAULT_BYTES)
		return r->faults && r->faults->file.n + r->faults->swap.n + r->faults->kernel.n + r->faults->other.n;
	if (sum >= TIMELINE_RECLAIM_CGROUP)
		return r->timeline->has_reclaim;
	return sum < TIMELINE_RUN ? r->present[sums[sum].file] : r->timeline->has_sched;
}

static const char *source_of(enum timeline_sum sum)
{
	if (sum == TIMELINE_FAULTS || sum == TIMELINE_FAULT_BYTES)
		return "fault";
	if (sum >= TIMELINE_RECLAIM_CGROUP)
		return "reclaim";
	return sum < TIMELINE_RUN ? report_kind_names[sums[sum].file] : "sched";
}

static void series(const struct report *r, struct json *j)
{
	const struct timeline *t = r->timeline;
	struct unknown u = { 0 };

	for (enum timeline_sum i = 0; i < TIMELINE_SUMS; i++) {
		if (!is_there(r, i))
			continue;
		find_unknown(&u, r, source_of(i));
		rates(j, t, sums[i].panel, sums[i].name, sums[i].unit, t->sum[i],
		      i >= TIMELINE_RUN ? 1.0 / NSEC_PER_SEC : 1, &u);
	}
	if (t->has_in_use && r->allocs)
		in_use(j, r);
	find_unknown(&u, r, report_kind_names[REPORT_BIO]);
	for (uint32_t i = 0; i < t->disks.n; i++) {
		const struct timeline_disk *d = *(void **)table_at(&t->disks, i);

		if (d && i < report_at_most(r, TIMELINE_DISKS_MAX, 2))
			disk_series(j, t, d, &u);
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

static void points(struct json *j, const struct timeline *t, const struct timeline_points *p)
{
	json_object(j, NULL);
	report_timeline_host(j, t);
	json_str(j, "panel", p->panel);
	json_str(j, "name", p->name);
	json_str(j, "unit", p->unit);
	json_row(j, "t");
	for (uint32_t i = 0; i < timeline_bins(t); i++)
		if (p->n[i])
			json_u64(j, NULL, report_timeline_ns(t, t->begin_ns + i * t->bin_ns + t->bin_ns / 2));
	json_end(j);
	json_row(j, "values");
	for (uint32_t i = 0; i < timeline_bins(t); i++)
		if (p->n[i])
			json_f64(j, NULL, (double)p->sum[i] / p->n[i]);
	series_end(j);
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

static void heat(const struct report *r, struct json *j)
{
	static const char *const names[TIMELINE_HEATS] = {
		[TIMELINE_H_BIO_READ] = "bio read", [TIMELINE_H_BIO_WRITE] = "bio write", [TIMELINE_H_READ] = "read",
		[TIMELINE_H_WRITE] = "write",	    [TIMELINE_H_OPEN] = "open",		[TIMELINE_H_FAULT] = "page fault",
	};
	const struct timeline *t = r->timeline;

	for (unsigned int h = 0; h < TIMELINE_HEATS; h++) {
		if (!t->has_heat[h])
			continue;
		json_object(j, NULL);
		report_timeline_host(j, t);
		json_str(j, "name", names[h]);
		json_row(j, "counts");
		for (uint32_t i = 0; i < timeline_bins(t); i++)
			for (unsigned int row = 0; row < TIMELINE_HEAT_ROWS; row++) {
				if (!t->heat[h][i][row])
					continue;
				json_array(j, NULL);
				json_u64(j, NULL, i);
				json_u64(j, NULL, row);
				json_u64(j, NULL, t->heat[h][i][row]);
				json_end(j);
			}
		json_end(j);
		json_end(j);
	}
}

/* --- processes ------------------------------------------------------------------------------------- */

static int busier(const void *a, const void *b)
{
	const struct timeline_lane *x = *(void *const *)a, *y = *(void *const *)b;

	return x->total_ns < y->total_ns ? 1 : x->total_ns > y->total_ns ? -1 : x->pid < y->pid ? -1 : 1;
}

static bool is_worker(const struct report_proc *p)
{
	return p && !strncmp(p->comm, "pt_data_worker", strlen("pt_data_worker"));
}

/* Whether a child of PID has a loader's name. Not used where gpu.out names the processes that train. */
static bool is_parent_of_workers(const struct report *r, uint64_t pid)
{
	for (uint32_t i = 0; i < r->procs.n; i++) {
		const struct report_proc *p = table_at(&r->procs, i);

		if (p->ppid == pid && is_worker(p))
			return true;
	}
	return false;
}

static bool any_on_gpu(const struct report *r)
{
	for (uint32_t i = 0; i < r->procs.n; i++)
		if (((const struct report_proc *)table_at(&r->procs, i))->on_gpu)
			return true;
	return false;
}

/* Returns the role that why.h found; where it found none, the role by names. */
static const char *group_of(const struct report *r, const struct report_proc *p, bool gpus)
{
	const struct report_proc *parent = p ? table_find(&r->procs, p->ppid) : NULL;

	if (p && r->why && r->why->n_trainers && r->why->seen) {
		for (uint32_t i = 0; i < r->why->n_trainers; i++)
			if (r->why->trainer[i].pid == p->pid)
				return "trainer";
		return table_find(&r->why->loaders, p->pid) ? "loader" : "other";
	}
	if (p && (gpus ? p->on_gpu : is_parent_of_workers(r, p->pid)))
		return "trainer";
	if (is_worker(p) || (parent && parent->on_gpu && p->reads))
		return "loader";
	return "other";
}

static int earlier(const void *a, const void *b)
{
	const struct timeline_span *x = a, *y = b;

	return x->from_ns != y->from_ns ? (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns) :
					  (x->ns > y->ns) - (x->ns < y->ns);
}

/* Puts the longest calls, each from begin to end. */
static void longest(struct json *j, const struct timeline_lane *l, const char *const names[TIMELINE_BUSY], uint32_t most)
{
	struct timeline_span spans[TIMELINE_LONGEST];
	uint32_t n = MIN(l->n_longest, most);

	memcpy(spans, l->longest, n * sizeof(spans[0]));
	qsort(spans, n, sizeof(spans[0]), earlier);
	json_object(j, "longest");
	for (enum timeline_busy b = 0; b < TIMELINE_B_CPU; b++) {
		json_row(j, names[b]);
		for (uint32_t i = 0; i < n; i++) {
			if (spans[i].what != b)
				continue;
			json_array(j, NULL);
			json_u64(j, NULL, spans[i].from_ns);
			json_u64(j, NULL, spans[i].ns);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
}

static void lane(const struct report *r, struct json *j, const struct timeline_lane *l, bool gpus)
{
	static const char *const names[TIMELINE_BUSY] = {
		[TIMELINE_B_READ] = "read",   [TIMELINE_B_WRITE] = "write", [TIMELINE_B_OPEN] = "open",
		[TIMELINE_B_FAULT] = "fault", [TIMELINE_B_OTHER] = "other", [TIMELINE_B_CPU] = "cpu",
	};
	const struct report_proc *p = table_find(&r->procs, l->pid);
	const struct timeline *t = r->timeline;
	double bin_ns = (double)(t->bin_ns * TIMELINE_LANE_FOLD);

	json_object(j, NULL);
	report_timeline_host(j, t);
	json_u64(j, "pid", l->pid);
	json_u64(j, "ppid", p ? p->ppid : 0);
	json_str(j, "comm", p ? p->comm : "");
	json_str(j, "rank", p && p->rank[0] ? p->rank : NULL);
	json_str(j, "group", group_of(r, p, gpus));
	json_u64(j, "begin_ns", report_timeline_ns(t, MAX(p && p->begin_ns ? p->begin_ns : l->begin_ns, t->begin_ns)));
	json_u64(j, "end_ns", report_timeline_ns(t, p && p->end_ns ? p->end_ns :
					 p && p->begin_ns ? (t->host ? t->host_end_ns : t->end_ns) : l->end_ns));
	json_object(j, "busy");
	for (unsigned int b = 0; b < TIMELINE_BUSY; b++) {
		json_row(j, names[b]);
		for (uint32_t i = 0; i < TIMELINE_LANE_BINS; i++) {
			double share = (double)l->busy_ns[b][i] / bin_ns;

			if (share < LANE_LEAST)
				continue;
			json_array(j, NULL);
			json_u64(j, NULL, i);
			json_f64(j, NULL, (double)(uint64_t)(share * 10000 + 0.5) / 10000);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
	longest(j, l, names, report_at_most(r, TIMELINE_LONGEST, 1));
	json_end(j);
}

/* Puts the N busiest lanes. Returns how many there are beyond these. */
static uint64_t lanes(const struct report *r, struct json *j, uint32_t most)
{
	const struct timeline *t = r->timeline;
	struct timeline_lane **by_time = calloc(t->lanes.n + 1, sizeof(void *));
	bool gpus = any_on_gpu(r);
	uint32_t n = 0, all;

	for (uint32_t i = 0; by_time && i < t->lanes.n; i++) {
		by_time[n] = *(void **)table_at(&t->lanes, i);
		n += by_time[n] != NULL;
	}
	if (n)
		qsort(by_time, n, sizeof(void *), busier);
	for (uint32_t i = 0; i < MIN(n, most); i++)
		lane(r, j, by_time[i], gpus);
	free(by_time);
	/* of processes beyond the table, those with calls are counted */
	if (t->lanes_left_out)
		all = MAX(n, r->n_procs);
	else
		all = n;
	return all - MIN(n, most);
}

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
		uint32_t disks = report_at_most(r[i], TIMELINE_DISKS_MAX, 2), points = report_at_most(r[i], TIMELINE_POINTS_MAX, 16);

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

void report_timelines_json(const struct report *const *r, unsigned int n, const char *begin_utc, struct json *j)
{
	const struct timeline *t = r[0]->timeline;
	uint64_t left_out = 0;

	if (!t || !t->begin_ns)
		return;
	json_object(j, "timeline");
	json_u64(j, "begin_ns", report_timeline_ns(t, t->begin_ns));
	json_u64(j, "end_ns", report_timeline_ns(t, t->end_ns));
	json_str(j, "begin_utc", begin_utc);
	json_u64(j, "bin_ns", t->bin_ns);
	json_u64(j, "bins", timeline_bins(t));
	if (t->host)
		of_each(j, "hosts", r, n, host_span);
	of_each(j, "series", r, n, series);
	of_each(j, "sampled", r, n, sampled);
	of_each(j, "heat", r, n, heat);
	of_each(j, "memory", r, n, report_memory_json);
	json_u64(j, "lane_bin_ns", t->bin_ns * TIMELINE_LANE_FOLD);
	json_array(j, "lanes");
	for (unsigned int i = 0; i < n; i++)
		left_out += lanes(r[i], j, MAX(report_at_most(r[i], LANES_SHOWN, LANES_LEAST) / n, LANES_LEAST));
	json_end(j);
	json_u64(j, "lanes_left_out", left_out);
	json_u64(j, "series_left_out", series_left_out(r, n));
	of_each(j, "regions", r, n, report_regions_json);
	report_phases_json(r, n, j);
	json_end(j);
}

void report_timeline_json(const struct report *r, struct json *j)
{
	report_timelines_json(&r, 1, report_started(r), j);
}
