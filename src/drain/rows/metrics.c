/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/metrics.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "base/version.h"
#include "dlt/mmap.h"
#include "dlt/open.h"
#include "dlt/vfs_rw.h"
#include "dlt/vfs_rw_sums.h"
#include "drain/rows/counts.h"
#include "drain/rows/failed_calls.h"
#include "drain/rows/rollup.h"
#include "trace/probe.h"

static const uint64_t bounds_ns[METRICS_BOUNDS] = {
	1000,       2500,       5000,       10000,       25000,       50000,       100000,       250000,    500000,
	1000000,    2500000,    5000000,    10000000,    25000000,    50000000,    100000000,    250000000, 500000000,
	1000000000, 2500000000, 5000000000, 10000000000, 25000000000, 50000000000, 100000000000,
};

static const char *const op_names[METRICS_OPS] = {
	[DLT_BIO_READ] = "read",   [DLT_BIO_WRITE] = "write", [DLT_BIO_DISCARD] = "discard",
	[DLT_BIO_FLUSH] = "flush", [DLT_BIO_ZERO] = "zero",   [DLT_BIO_OTHER] = "other",
};

/* --- drain ----------------------------------------------------------------------------------------- */

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int low = 0, high = METRICS_BOUNDS;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (ns <= bounds_ns[mid])
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void hist_count(struct metrics_hist *hist, uint64_t ns)
{
	util_count(&hist->n[bucket_of(ns)], 1);
	util_count(&hist->sum_ns, ns);
}

static struct metrics_disk *disk_of(struct metrics *metrics, const char name[DLT_DISK_LEN])
{
	struct metrics_disk *disk;

	for (unsigned int i = 0; i < metrics->n_disks; i++)
		if (!strncmp(metrics->disks[i].name, name, DLT_DISK_LEN - 1))
			return &metrics->disks[i];
	if (metrics->n_disks == METRICS_DISKS_MAX)
		return &metrics->disks[METRICS_DISKS_MAX - 1];
	disk = &metrics->disks[metrics->n_disks];
	if (metrics->n_disks == METRICS_DISKS_MAX - 1)
		name = "(others)";
	memcpy(disk->name, name, strnlen(name, DLT_DISK_LEN - 1));
	__atomic_store_n(&metrics->n_disks, metrics->n_disks + 1, __ATOMIC_RELEASE);
	return disk;
}

static void disk_row(struct metrics *m, const struct dlt_bio *rec)
{
	struct metrics_disk *d = disk_of(m, rec->disk);
	unsigned int op = MIN(rec->type, (uint32_t)DLT_BIO_OTHER);

	hist_count(&d->lat[op], rec->hdr.lat_ns);
	util_count(&d->bytes[op], rec->bytes);
}

static void rw_row(struct metrics *m, const struct dlt_vfs_rw *rec)
{
	if (rec->returned > 0 && rec->dir != DLT_RW_NEITHER)
		util_count(rec->dir == DLT_RW_R ? &m->read_bytes : &m->written_bytes, (uint64_t)rec->returned);
	if (rec->disk_bytes > 0)
		util_count(&m->fetched_bytes, (uint64_t)rec->disk_bytes);
}

void metrics_row(struct metrics *m, unsigned int probe, const struct dlt_hdr *rec)
{
	if ((probe == DLT_open && rec->func == DLT_OPEN_SNAPSHOT) ||
	    (probe == DLT_mmap && rec->func == DLT_MMAP_SNAPSHOT))
		return;
	hist_count(&m->calls[probe], rec->lat_ns);
	if (probe == DLT_bio)
		disk_row(m, (const void *)rec);
	else if (probe == DLT_vfs_rw)
		rw_row(m, (const void *)rec);
}

void metrics_sums(struct metrics *m, const struct dlt_vfs_rw_sums *rec)
{
	struct metrics_hist *hist = &m->calls[DLT_vfs_rw];

	for (unsigned int i = 0; i < DLT_RW_BUCKETS; i++)
		util_count(&hist->n[bucket_of((1ULL << i) + (1ULL << i) / 2)], rec->sum.bucket[i]);
	util_count(&hist->sum_ns, rec->sum.ns);
	util_count(rec->dir == DLT_RW_R ? &m->read_bytes : &m->written_bytes, rec->sum.bytes);
}

/* --- control plane --------------------------------------------------------------------------------- */

/* The beginning of every series: its name and the labels that identify the trace. */
struct put {
	FILE *out;
	const struct metrics_now *now;
	const char *name; /* of the metric */
};

/*
 * A label's value: the format escapes backslash, double quote and newline, and may contain any other
 * character; control characters and invalid UTF-8 are written as in the .out files, in octal.
 */
static void put_value(FILE *out, const char *s)
{
	const char *end = s + strlen(s);

	while (s < end) {
		unsigned int n = text_utf8_len(s, (size_t)(end - s));

		if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (!n || (unsigned char)*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\\\%03o", (unsigned char)*s);
		else
			fwrite(s, 1, n, out);
		s += MAX(n, 1U);
	}
}

static void put_head(struct put *p, const char *name, const char *type, const char *help)
{
	p->name = name;
	fprintf(p->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* NAME{labels, with LABEL="VALUE" where there is one. Left open for more. */
static void put_series(const struct put *put, const char *suffix, const char *label, const char *value)
{
	fprintf(put->out, "%s%s{trace=\"", put->name, suffix);
	put_value(put->out, put->now->trace);
	fputs("\",experiment=\"", put->out);
	put_value(put->out, put->now->experiment);
	fputc('"', put->out);
	if (!label)
		return;
	fprintf(put->out, ",%s=\"", label);
	put_value(put->out, value);
	fputc('"', put->out);
}

static void put_u64(const struct put *p, const char *label, const char *value, uint64_t v)
{
	put_series(p, "", label, value);
	fprintf(p->out, "} %" PRIu64 "\n", v);
}

static void put_seconds(const struct put *p, const char *label, const char *value, uint64_t ns)
{
	put_series(p, "", label, value);
	fprintf(p->out, "} %" PRIu64 ".%09" PRIu64 "\n", (uint64_t)(ns / NSEC_PER_SEC), (uint64_t)(ns % NSEC_PER_SEC));
}

/* MORE: further labels, each with a comma in front; "" for none. */
static void put_hist(const struct put *put, const struct metrics_hist *hist, const char *label, const char *value,
		     const char *more)
{
	uint64_t n = 0, sum_ns = util_counted(&hist->sum_ns);

	for (unsigned int i = 0; i <= METRICS_BOUNDS; i++) {
		n += util_counted(&hist->n[i]);
		put_series(put, "_bucket", label, value);
		if (i < METRICS_BOUNDS)
			fprintf(put->out, "%s,le=\"%g\"} %" PRIu64 "\n", more, (double)bounds_ns[i] / 1e9, n);
		else
			fprintf(put->out, "%s,le=\"+Inf\"} %" PRIu64 "\n", more, n);
	}
	put_series(put, "_sum", label, value);
	fprintf(put->out, "%s} %" PRIu64 ".%09" PRIu64 "\n", more, (uint64_t)(sum_ns / NSEC_PER_SEC),
		(uint64_t)(sum_ns % NSEC_PER_SEC));
	put_series(put, "_count", label, value);
	fprintf(put->out, "%s} %" PRIu64 "\n", more, n);
}

static bool is_listed(const struct metrics_now *now, unsigned int probe)
{
	const struct probe_counts *s = &now->counts->probes[probe];

	return now->probes >> probe & 1 || s->rows || s->lost;
}

/* One counter for each probe, a number of struct probe_counts. */
static const struct per_probe {
	const char *name, *help;
	size_t member;
} per_probe[] = {
	{ "dltraced_rows_total", "Rows written to the trace's files.", offsetof(struct probe_counts, rows) },
	{ "dltraced_rows_lost_total", "Rows that are missing in the files: no room in the buffer, or not written.",
	  offsetof(struct probe_counts, lost) },
	{ "dltraced_rows_late_total", "Rows written after a later one.", offsetof(struct probe_counts, late) },
	{ "dltraced_rows_summed_total", "Rows summed up and never written (--keep sums).",
	  offsetof(struct probe_counts, summed) },
	{ "dltraced_rows_dropped_total", "Rows dropped later to keep the trace small (--keep).",
	  offsetof(struct probe_counts, dropped) },
	{ "dltraced_file_bytes_total", "Bytes of text written to the trace's files, before compression.",
	  offsetof(struct probe_counts, bytes) },
};

static void put_probes(struct put *p)
{
	for (size_t c = 0; c < ARRAY_SIZE(per_probe); c++) {
		put_head(p, per_probe[c].name, "counter", per_probe[c].help);
		for (unsigned int i = 1; i < DLT_PROBES; i++)
			if (is_listed(p->now, i))
				put_u64(p, "probe", probes[i]->name,
					*(const uint64_t *)((const char *)&p->now->counts->probes[i] +
							    per_probe[c].member));
	}
}

static void put_latencies(struct put *p)
{
	put_head(p, "dltraced_operation_latency_seconds", "histogram",
		 "How long the operations of rows took (LAT_NS).");
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (p->now->probes >> i & 1 && rollup_takes(probes[i]))
			put_hist(p, &p->now->rows->calls[i], "probe", probes[i]->name, "");
}

static bool has_rows(const struct metrics_hist *h)
{
	for (unsigned int i = 0; i <= METRICS_BOUNDS; i++)
		if (util_counted(&h->n[i]))
			return true;
	return false;
}

static void put_disks(struct put *put)
{
	const struct metrics *metrics = put->now->rows;
	unsigned int n = __atomic_load_n(&metrics->n_disks, __ATOMIC_ACQUIRE);
	char more[32];

	put_head(put, "dltraced_disk_latency_seconds", "histogram", "Requests to disks, from queued to done.");
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int op = 0; op < METRICS_OPS; op++) {
			snprintf(more, sizeof(more), ",op=\"%s\"", op_names[op]);
			if (has_rows(&metrics->disks[i].lat[op]))
				put_hist(put, &metrics->disks[i].lat[op], "disk", metrics->disks[i].name, more);
		}
	put_head(put, "dltraced_disk_bytes_total", "counter", "Bytes of requests to disks.");
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int op = 0; op < METRICS_OPS; op++)
			if (has_rows(&metrics->disks[i].lat[op])) {
				put_series(put, "", "disk", metrics->disks[i].name);
				fprintf(put->out, ",op=\"%s\"} %" PRIu64 "\n", op_names[op],
					util_counted(&metrics->disks[i].bytes[op]));
			}
}

static void put_calls(struct put *put)
{
	const struct metrics *m = put->now->rows;

	put_head(put, "dltraced_read_bytes_total", "counter", "Bytes that the target's reads returned.");
	put_u64(put, NULL, NULL, util_counted(&m->read_bytes));
	put_head(put, "dltraced_written_bytes_total", "counter", "Bytes that the target's writes accepted.");
	put_u64(put, NULL, NULL, util_counted(&m->written_bytes));
	put_head(put, "dltraced_fetched_bytes_total", "counter",
		 "Bytes that the target's calls made the kernel fetch from disks, read-ahead included (DISK_BYTES).");
	put_u64(put, NULL, NULL, util_counted(&m->fetched_bytes));
	put_head(put, "dltraced_failed_calls_total", "counter",
		 "Calls of the target that failed by a full disk, a limit or a broken disk, by their error.");
	for (unsigned int i = 0; i < FAILED_CALLS_ERRORS; i++)
		put_u64(put, "error", failed_calls_errors[i].name, util_counted(&put->now->failed->n[i]));
}

/* Numbers of the trace as a whole, at this moment. */
static const struct gauge {
	const char *name, *help;
	size_t member;
} gauges[] = {
	{ "dltraced_processes", "Processes of the target that have not ended.",
	  offsetof(struct metrics_now, processes) },
	{ "dltraced_buffer_size_bytes", "Memory of the rings in which rows wait.",
	  offsetof(struct metrics_now, buffer_bytes) },
	{ "dltraced_buffer_used_bytes", "Bytes waiting in all rings together.",
	  offsetof(struct metrics_now, buffer_used_bytes) },
	{ "dltraced_ring_size_bytes", "Memory of one ring.", offsetof(struct metrics_now, ring_bytes) },
	{ "dltraced_ring_fullest_bytes", "Bytes waiting in the fullest ring; when it is full, rows are lost.",
	  offsetof(struct metrics_now, buffer_fullest_bytes) },
	{ "dltraced_disk_free_bytes", "Space left on the file system of the trace.",
	  offsetof(struct metrics_now, free_bytes) },
	{ "dltraced_disk_min_free_bytes", "Space that is left to others; with less, rows are lost (--min-free).",
	  offsetof(struct metrics_now, least_bytes) },
	{ "dltraced_resident_memory_bytes", "Memory that dltraced itself has in use, its rings included.",
	  offsetof(struct metrics_now, resident_bytes) },
};

static void put_times(struct put *p)
{
	put_head(p, "dltraced_start_time_seconds", "gauge", "When tracing began, since the epoch; 0: not yet.");
	put_seconds(p, NULL, NULL, p->now->start_ns);
	put_head(p, "dltraced_end_time_seconds", "gauge", "When tracing ended, since the epoch; 0: not yet.");
	put_seconds(p, NULL, NULL, p->now->end_ns);
	put_head(p, "dltraced_cpu_seconds_total", "counter", "CPU time of dltraced itself, without its collectors.");
	put_seconds(p, "mode", "user", p->now->cpu_user_ns);
	put_seconds(p, "mode", "system", p->now->cpu_system_ns);
}

void metrics_put(FILE *out, const struct metrics_now *now)
{
	struct put p = { .out = out, .now = now };

	put_head(&p, "dltraced_info", "gauge", "The trace: its folder, and the version of dltraced.");
	put_series(&p, "", "folder", now->folder);
	fprintf(out, ",version=\"%s\"} 1\n", version_text);
	put_head(&p, "dltraced_tracing", "gauge", "1: rows are being recorded; 0: not yet, or it has ended.");
	put_u64(&p, NULL, NULL, now->tracing);
	put_head(&p, "dltraced_paused", "gauge", "1: nothing is written, for lack of space (--min-free).");
	put_u64(&p, NULL, NULL, now->paused);
	put_times(&p);
	put_probes(&p);
	put_head(&p, "dltraced_hook_runs_skipped_total", "counter",
		 "Runs of the system call hooks that the kernel skipped; some may belong to other processes.");
	put_u64(&p, NULL, NULL, now->counts->skipped);
	put_head(&p, "dltraced_output_lost_bytes_total", "counter",
		 "Bytes of the command's output that are missing in workload.log.");
	put_u64(&p, NULL, NULL, now->counts->log_lost);
	put_calls(&p);
	put_latencies(&p);
	put_disks(&p);
	for (size_t i = 0; i < ARRAY_SIZE(gauges); i++) {
		put_head(&p, gauges[i].name, "gauge", gauges[i].help);
		put_u64(&p, NULL, NULL, *(const uint64_t *)((const char *)now + gauges[i].member));
	}
}
