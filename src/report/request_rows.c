/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds rows of requests to disks to the report's sums. Allocates only for a new disk, or kind of request of one. */
#include <stdlib.h>

#include "base/util.h"
#include "report/disk/causes.h"
#include "report/rows_impl.h"
#include "report/timeline.h"

static bool is_memory(const char *disk)
{
	static const char *const memory_disks[] = { "pmem", "ram", "zram" };

	for (size_t i = 0; i < ARRAY_SIZE(memory_disks); i++)
		if (strncmp(disk, memory_disks[i], strlen(memory_disks[i])) == 0)
			return true;
	return false;
}

/*
 * Whether D is the lowest disk of its requests. A disk that takes bios passes them on to a disk below, where they have
 * rows again; only disks in memory do not.
 */
static bool is_lowest(const struct report_disk *d)
{
	return d->memory || !d->stacked;
}

static struct report_disk *disk_of(struct scan *scan)
{
	struct reader_field name = scan_field(scan, COL_DISK);
	struct report_disk *d = table_get(&scan->report->disks, table_key(name.p, name.len));

	if (!d)
		d = &scan->report->other_disk;
	if (!d->name[0]) {
		report_copy(d->name, sizeof(d->name), name);
		d->memory = is_memory(d->name);
	}
	d->stacked |= reader_flag(scan_field(scan, COL_FLAGS), "BIO");
	return d;
}

static enum report_t t_of(struct reader_field f)
{
	for (unsigned int t = 0; t < REPORT_TS; t++)
		if (f.len == 1 && f.p[0] == report_t_names[t])
			return (enum report_t)t;
	return REPORT_O;
}

static bool take_request(struct scan *scan)
{
	struct reader_field status = scan_field(scan, COL_STATUS);
	struct report_call_facts c = {
		.running = reader_is(status, "?"),
		.failed = status.len > 1 && status.p[0] == '-',
	};
	enum report_t t = t_of(scan_field(scan, COL_T));
	uint64_t bytes, queue_ns = 0;
	struct report_disk_op *op;
	struct report_disk *disk;

	if (!scan_u64(scan, COL_LAT_NS, &c.lat_ns) || !scan_u64(scan, COL_BYTES, &bytes))
		return false;
	scan_u64(scan, COL_QLAT_NS, &queue_ns); /* `-' where bios are not queued */
	disk = disk_of(scan);
	op = &disk->op[t];
	if (!op->lat && !(op->lat = calloc(1, sizeof(*op->lat))))
		return false;
	rows_add_to_op(scan->op, &c, is_lowest(disk));
	if (c.running) {
		rows_keep_longest(&scan->report->running, scan, c.lat_ns);
		return true;
	}
	bytes = c.failed ? 0 : bytes;
	op->requests++;
	op->bytes += bytes;
	op->queue_ns += queue_ns;
	hist_add(op->lat, c.lat_ns);
	if (scan->report->causes)
		report_causes_request(scan, t, bytes, c.lat_ns);
	if (is_lowest(disk))
		report_timeline_request(scan, scan_field(scan, COL_DISK), bytes, queue_ns, c.lat_ns);
	if (bytes)
		disk_limit_add(&disk->limit, scan->time_ns - MIN(c.lat_ns, scan->time_ns), scan->time_ns, bytes);
	disk->failed += c.failed;
	if (reader_flag(scan_field(scan, COL_FLAGS), "SELF")) {
		disk->self_requests++;
		disk->self_bytes += bytes;
	}
	if (is_lowest(disk) && (t == REPORT_R || t == REPORT_W)) {
		scan->op->bytes += bytes;
		scan->report->bio[t == REPORT_W].bytes += bytes;
		rows_add_to_op(&scan->report->bio[t == REPORT_W], &c, true);
		if (!c.failed)
			hist_add(&scan->report->bio[t == REPORT_W].size, bytes);
	}
	return true;
}

void report_request_rows(struct scan *s, unsigned int n)
{
	report_each_row(s, n, take_request);
}
