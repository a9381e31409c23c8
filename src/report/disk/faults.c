/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/disk/faults.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/scan/part.h"

static int part_new(struct report *r, const struct report_options *o)
{
	struct report_faults *f = r->faults = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	table_init(&f->files, sizeof(struct report_fault_sum), FAULTS_FILES_MAX);
	table_init(&f->last, sizeof(uint64_t), FAULTS_USES_MAX);
	return 0;
}

static void part_free(struct report *r)
{
	struct report_faults *f = r->faults;

	if (!f)
		return;
	table_free(&f->files);
	table_free(&f->last);
	free(f);
}

static void add(struct report_fault_sum *to, uint64_t ns, uint64_t bytes)
{
	to->n++;
	to->ns += ns;
	to->bytes += bytes;
}

/*
 * Compares a fault at OFFSET, which fetched BYTES, with the process's last one in the file. It goes on from there if it
 * is not before it and no farther behind it than one fetch reaches; otherwise it is a jump.
 */
static void place(struct report_faults *faults, uint64_t key, uint64_t offset, uint64_t bytes, uint64_t ns)
{
	uint64_t *last = key ? table_get(&faults->last, key) : NULL;
	const uint64_t near = MAX(bytes, FAULTS_NEAR_BYTES);

	if (!last)
		return;
	if (*last) {
		const bool jump = offset + 1 < *last || offset + 1 - *last > near;

		faults->placed++;
		faults->jumps += jump;
		faults->jumps_ns += jump ? ns : 0;
	}
	*last = 1 + offset;
}

static void took(void *ctx, uint64_t begin_ns, uint64_t end_ns)
{
	*(uint64_t *)ctx += end_ns - begin_ns;
}

static struct report_fault_sum *sum_of(struct report_faults *faults, bool swap, bool kernel, bool of_file)
{
	if (swap)
		return &faults->swap;
	if (kernel)
		return &faults->kernel;
	return of_file ? &faults->file : &faults->other;
}

static bool take(struct scan *scan, void *own)
{
	struct report *report = own;
	struct report_faults *faults = report->faults;
	const uint64_t bytes = scan_number(scan, COL_DISK_BYTES),
		       ns = MIN(scan_number(scan, COL_LAT_NS), scan->time_ns);
	const bool kernel = scan_is(scan, COL_FUNC, "kernel"), swap = scan_is(scan, COL_KIND, "swap");
	uint64_t fid = 0, offset;
	struct report_fault_sum *file;

	if (!scan_has_number(scan, COL_PID))
		return false;
	faults->untimed += !scan_has_number(scan, COL_LAT_NS);
	scan_u64(scan, COL_FID, &fid);
	add(sum_of(faults, swap, kernel, fid), kernel ? 0 : ns, bytes);
	file = fid ? table_get(&faults->files, fid) : NULL;
	if (file)
		add(file, kernel ? 0 : ns, bytes);
	if (report->also_fault)
		report->also_fault(report, scan);
	if (kernel)
		return true;
	cover_add(&faults->cover, scan->time_ns - ns, scan->time_ns, took, &faults->busy_ns);
	if (fid && scan_u64(scan, COL_OFFSET, &offset))
		place(faults, report_pair_key(scan_number(scan, COL_PID), fid), offset, bytes, ns);
	return true;
}

static void part_read(struct report *r)
{
	struct scan_taker taker = { .take = take, .own = r };

	r->faults->present = scan_walk(r->folder, "fault", &taker)->error == 0;
}

struct report_fault_sum report_faults_of(const struct report *r, uint64_t fid)
{
	const struct report_fault_sum *sum = r->faults ? table_find(&r->faults->files, fid) : NULL;

	return sum ? *sum : (struct report_fault_sum){ 0 };
}

const struct report_part report_faults_part = {
	.new = part_new,
	.read = part_read,
	.free = part_free,
};
