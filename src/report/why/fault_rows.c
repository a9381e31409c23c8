/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault.out in the walk through the calls: page faults that waited for a disk are stretches of time like reads that
 * fetched. Faults that the kernel made for a call are in that call's time already.
 */
#include "base/util.h"
#include "report/why/walk.h"

#define ROWS_LEAST 0.8 /* of the time that threads wait in page faults: if the rows have less, too much is left out */

static void next_fault(struct why_fault_rows *f)
{
	f->more = false;
	while (f->open && scan_next(&f->scan) > 0)
		if (scan_has_number(&f->scan, COL_TIMESTAMP) && scan_has_number(&f->scan, COL_LAT_NS) &&
		    scan_is(&f->scan, COL_FUNC, "user")) {
			f->more = true;
			return;
		}
}

/* Returns the time that the target's threads waited for a disk in page faults, by the sums of sched.out; 0 without
 * these. */
static uint64_t waited_by_sums(struct report *report)
{
	struct scan s = { .report = report };
	uint64_t ns = 0;

	if (scan_begin(&s, report->folder, "sched") < 0)
		return 0;
	while (scan_next(&s) > 0)
		if (scan_is(&s, COL_CALL, "fault"))
			ns += scan_number(&s, COL_DISK_NS);
	return ns;
}

/*
 * A fault on a page that read-ahead is reading already waits for it, but is not a major fault (filemap_fault(),
 * mm/filemap.c), so it has no row. If the sums have much more time than the rows, the sums are the better source.
 */
bool why_faults_are_rows(struct report *r)
{
	struct scan s = { .report = r };
	uint64_t timed = 0, others = 0, ns = 0;

	if (scan_begin(&s, r->folder, "fault") < 0)
		return false;
	while (scan_next(&s) > 0) {
		bool is_timed = scan_has_number(&s, COL_LAT_NS);

		timed += is_timed;
		others += !is_timed;
		ns += is_timed ? scan_number(&s, COL_LAT_NS) : 0;
	}
	if (timed < others) /* the kernel had no hook for their begins */
		return false;
	return ns >= ROWS_LEAST * (double)waited_by_sums(r);
}

void why_fault_rows_open(struct why_fault_rows *f, struct report *r)
{
	f->open = r->why->has_faults && scan_begin(&f->scan, r->folder, "fault") == 0;
	next_fault(f);
}

void why_fault_rows_take(struct why_walk *walk)
{
	const struct scan *scan = &walk->fault_rows.scan;
	const uint64_t pid = scan_number(scan, COL_PID), lat_ns = scan_number(scan, COL_LAT_NS);
	const uint64_t begin_ns = scan->time_ns - MIN(lat_ns, scan->time_ns);
	struct why_stretch x = { .r = walk->r, .why = walk->why, .role = why_role_of(walk, pid), .state = WHY_DISK };
	const bool main = scan_number(scan, COL_TID) == pid;
	struct why_loader *loader = x.role->loader;
	struct why_trainer *trainer = x.role->trainer;

	if (loader || trainer)
		why_add_io(&x, begin_ns, scan->time_ns);
	if (loader) {
		loader->fault_ns +=
			main ? (double)why_looked_at(&walk->why->trainer[loader->trainer], begin_ns, scan->time_ns) : 0;
		why_loader_add(&x, begin_ns, scan->time_ns);
	} else if (trainer && main) {
		trainer->fault_ns += (double)why_looked_at(trainer, begin_ns, scan->time_ns);
		cover_add(x.role->main, begin_ns, scan->time_ns, why_trainer_stretch, &x);
	}
	next_fault(&walk->fault_rows);
}
