/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/brief.h"

#include <inttypes.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/files/uses.h"
#include "report/scan/functions.h"
#include "report/scan/part.h"
#include "report/scan/scan.h"
#include "report/timeline.h"

#define BUCKETS 64

/* A row: calls of a process on a file. */
struct sums {
	uint64_t pid, fid, count, empty, bytes, ns, max_ns, span_ns;
	uint64_t bucket[BUCKETS]; /* calls of 2^N to 2^(N + 1) - 1 ns */
	bool write;
	struct report_proc *proc;
	struct report_file *file;
};

/* Parses TIMES, as "1024=7,2048=1". False where it is something else. */
static bool parse_times(const struct scan *scan, struct reader_field times, struct sums *sums)
{
	const char *p = times.p, *end = times.p + times.len;

	while (p < end) {
		const char *equals = memchr(p, '=', (size_t)(end - p));
		const char *comma = memchr(p, ',', (size_t)(end - p)) ?: end;
		uint64_t from_ns, n;

		if (!equals || equals > comma ||
		    !reader_u64((struct reader_field){ .p = p, .len = (uint32_t)(equals - p) }, &from_ns) ||
		    !reader_u64((struct reader_field){ .p = equals + 1, .len = (uint32_t)(comma - equals - 1) }, &n) ||
		    !from_ns)
			return false;
		sums->bucket[63 - __builtin_clzll(from_ns)] += scan_clipped(scan, n);
		p = comma + 1;
	}
	return true;
}

static struct report_proc *proc_of(struct report *r, struct scan *s, uint64_t pid)
{
	struct report_proc *p = table_get(&r->procs, pid);

	if (!p)
		return &r->other_proc;
	p->pid = pid;
	if (!p->comm[0])
		report_copy(p->comm, sizeof(p->comm), scan_field(s, COL_COMM));
	return p;
}

static bool parse(struct scan *scan, struct sums *sums)
{
	struct report *r = scan->report;

	if (!scan_u64(scan, COL_PID, &sums->pid) || !scan_u64(scan, COL_FID, &sums->fid) ||
	    !scan_u64(scan, COL_SPAN_NS, &sums->span_ns) || !parse_times(scan, scan_field(scan, COL_TIMES), sums))
		return false;
	for (unsigned int i = 0; i < BUCKETS; i++)
		sums->count += sums->bucket[i];
	sums->bytes = scan_clipped(scan, scan_number(scan, COL_BYTES));
	sums->empty = MIN(scan_clipped(scan, scan_number(scan, COL_EMPTY)), sums->count);
	sums->ns = scan_clipped(scan, scan_number(scan, COL_TIME_NS));
	sums->max_ns = scan_number(scan, COL_MAX_NS);
	sums->write = scan_is(scan, COL_RW, "W");
	sums->proc = proc_of(r, scan, sums->pid);
	sums->file = table_get(&r->files, sums->fid) ?: &r->other_file;
	r->unknown_files += sums->file->row == 0 && sums->file->calls == 0 && sums->file != &r->other_file;
	return true;
}

/* --- what they add to ------------------------------------------------------------------------------------------ */

/* The latencies of a bucket count as its middle, but their sum is exact, and the longest. */
static void add_to_op(struct report_op *op, const struct sums *sums)
{
	const uint64_t lat_sum = op->lat.sum + sums->ns, size_sum = op->size.sum + sums->bytes,
		       full = sums->count - sums->empty;

	op->rows += sums->count;
	op->bytes += sums->bytes;
	for (unsigned int i = 0; i < BUCKETS; i++)
		hist_add_many(&op->lat, MIN((1ULL << i) + (1ULL << i) / 2, sums->max_ns), sums->bucket[i]);
	hist_add_many(&op->lat, sums->max_ns, 0);
	op->lat.sum = lat_sum;
	hist_add_many(&op->size, 0, sums->empty);
	hist_add_many(&op->size, full ? sums->bytes / full : 0, full);
	op->size.sum = size_sum;
}

static void add_to_proc(struct report_proc *p, const struct sums *sums, uint64_t begin_ns)
{
	const bool data = sums->file->data;

	p->calls += sums->count;
	p->file_ns += sums->ns;
	if (sums->write) {
		p->writes += sums->count;
		p->write_bytes += sums->bytes;
		p->data_written += data ? sums->bytes : 0;
		return;
	}
	p->reads += sums->count;
	p->read_bytes += sums->bytes;
	p->data_read += data ? sums->bytes : 0;
	for (uint64_t i = 0; data && i < MIN(sums->count, FIRST_DATA_CALLS); i++)
		first_data_take(&p->first_data, begin_ns, sums->bytes / sums->count);
}

static void add_to_file(struct report *r, const struct sums *sums)
{
	struct report_use *use = r->uses ? report_uses_of(r->uses, sums->pid, sums->fid) : NULL;

	sums->file->calls += sums->count;
	sums->file->time_ns += sums->ns;
	sums->file->read_bytes += sums->write ? 0 : sums->bytes;
	sums->file->write_bytes += sums->write ? sums->bytes : 0;
	if (r->uses && !use)
		r->uses->left_out += sums->count;
	if (!use)
		return;
	if (!use->used) {
		use->used = 1;
		sums->file->users++;
	}
	use->calls += sums->count;
	use->time_ns += sums->ns;
	use->read_bytes += sums->write ? 0 : sums->bytes;
	use->write_bytes += sums->write ? sums->bytes : 0;
}

static void add_to_types(struct report *r, const struct sums *sums)
{
	struct report_type_sum *type = &r->by_type[sums->file->type][sums->write];

	type->rows += sums->count;
	type->bytes += sums->bytes;
	type->time_ns += sums->ns;
}

/* No disk was needed, so all came from the page cache, or from memory. Sizes are known only as their mean. */
static void add_reads(struct report *r, const struct sums *sums)
{
	const uint64_t full = sums->count - sums->empty, mean = full ? sums->bytes / full : 0;
	const unsigned int size = mean ? 64 - (unsigned int)__builtin_clzll(mean) : 0;
	enum report_source of = REPORT_BUFFERED;

	r->read_size[0].calls += sums->empty;
	r->read_size[size].calls += full;
	r->read_size[size].bytes += sums->bytes;
	if (sums->file->type != REPORT_REG && sums->file->type != REPORT_UNKNOWN)
		return;
	if (sums->file->type == REPORT_UNKNOWN)
		of = REPORT_NO_TYPE;
	else if (sums->file->medium == REPORT_NETWORK)
		of = REPORT_REMOTE;
	else if (sums->file->medium == REPORT_MEMORY)
		of = REPORT_NO_DISK;
	r->source[of].calls += sums->count;
	r->source[of].bytes += sums->bytes;
}

static void add_to_timeline(const struct scan *scan, const struct sums *sums)
{
	const enum timeline_heat heat = sums->write ? TIMELINE_H_WRITE : TIMELINE_H_READ;
	struct timeline *t = scan->report->timeline;
	const uint64_t at_ns = scan->time_ns;
	uint32_t bin;

	if (!t || !timeline_has(t, at_ns))
		return;
	bin = timeline_bin(t, at_ns);
	timeline_spread(t, sums->write ? TIMELINE_WRITES : TIMELINE_READS, at_ns, sums->span_ns, sums->count);
	timeline_spread(t, sums->write ? TIMELINE_WRITE_BYTES : TIMELINE_READ_BYTES, at_ns, sums->span_ns, sums->bytes);
	timeline_busy(t, sums->pid, sums->write ? TIMELINE_B_WRITE : TIMELINE_B_READ, at_ns, sums->span_ns, sums->ns);
	for (unsigned int i = 0; i < BUCKETS; i++)
		t->heat[heat][bin][i] += (uint32_t)sums->bucket[i];
	t->has_heat[heat] = true;
	if (sums->file->data && !sums->write)
		report_timeline_data(t, bin, at_ns - MIN(at_ns, sums->span_ns), sums->bytes);
}

static bool is_elsewhere(struct report *r, const struct sums *sums)
{
	if (!r->only.path)
		return false;
	r->only.rows += sums->count;
	r->only.left_out += sums->file->inside ? 0 : sums->count;
	return !sums->file->inside;
}

static bool take(struct scan *scan)
{
	struct report *r = scan->report;
	struct sums sums = { .count = 0 };

	if (!parse(scan, &sums))
		return false;
	if (is_elsewhere(r, &sums))
		return true;
	add_to_op(&report_func_of(scan, sums.write)->op, &sums);
	add_to_proc(sums.proc, &sums, scan->time_ns - MIN(sums.span_ns, scan->time_ns));
	add_to_file(r, &sums);
	add_to_types(r, &sums);
	if (!sums.write)
		add_reads(r, &sums);
	add_to_timeline(scan, &sums);
	r->brief[sums.write].calls += sums.count;
	r->brief[sums.write].bytes += sums.bytes;
	return true;
}

void report_brief_read(struct report *r)
{
	struct scan scan = { .report = r, .kind = REPORT_VFS_RW };
	uint64_t bad_rows = 0;
	int n;

	if (scan_begin(&scan, r->folder, "vfs_rw_sums") < 0)
		return;
	if (r->timeline)
		timeline_begin(r->timeline, r->first_ns);
	while ((n = scan_next(&scan)) > 0)
		bad_rows += !take(&scan);
	scan.file->error = n;
	scan.file->bad_rows = bad_rows;
}

static void part_note(struct report *r)
{
	const struct report_brief *read = &r->brief[0], *write = &r->brief[1];

	if (read->calls + write->calls)
		report_note(
			r,
			"vfs_rw: %s (%s) and %s (%s), short and without a disk, are only in sums (--min-latency): in "
			"all totals, but in no list of single calls and no thread's time",
			FMT_N(read->calls, "read", "reads"), FMT_BYTES(read->bytes),
			FMT_N(write->calls, "write", "writes"), FMT_BYTES(write->bytes));
}

const struct report_part report_brief_part = {
	.note = part_note,
};
