/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/why/rows.h"

#include <string.h>

#include "base/util.h"
#include "report/files/software.h"
#include "report/scan/syncs.h"
#include "report/why/rw.h"

static inline bool begins(struct reader_field f, const char *with)
{
	return f.len >= strlen(with) && memcmp(f.p, with, strlen(with)) == 0;
}

/* --- facts of a row --------------------------------------------------------------------------------- */

/* Whether the row is on software. A failed open, or a file for which the table has no room, is judged by its path. */
static inline bool is_software(const struct scan *s, const struct report_file *f)
{
	if (f)
		return f->software;
	return (s->kind == REPORT_OPEN || s->kind == REPORT_CREATE_DEL) && report_is_software(scan_field(s, COL_PATH));
}

/*
 * Whether the row makes, sizes, closes or removes a file of shared memory. Such a call is work of the CPU, and waits
 * for no disk. A file that is opened to be read may be data that somebody has copied to /dev/shm: that is an open like
 * others.
 */
static inline bool is_shared(const struct scan *s, const struct report_file *f)
{
	if (!f || (f->type != REPORT_SHM && f->type != REPORT_MEMFD) || s->kind == REPORT_VFS_RW)
		return false;
	return s->kind == REPORT_SYNC ? !scan_is_sync(s) :
					s->kind != REPORT_OPEN || !begins(scan_field(s, COL_FLAGS), "RDONLY");
}

static inline uint32_t open_flags(const struct scan *s, const struct report_file *f)
{
	uint32_t flags = WHY_META | WHY_CALL_ON_FILE | (is_software(s, f) ? WHY_CALL_SOFTWARE : 0);

	if (f && f->data && why_is_stored(f) && begins(scan_field(s, COL_FLAGS), "RDONLY"))
		flags |= WHY_CALL_SAMPLE;
	return flags;
}

static inline uint32_t flags_of(const struct scan *scan, const struct report_call_facts *facts,
				const struct report_file *file)
{
	if (is_shared(scan, file))
		return WHY_CPU | WHY_CALL_SHARED;
	if (scan_is_stray_close(scan, facts))
		return WHY_CPU;
	switch (scan->kind) {
	case REPORT_VFS_RW:
		return why_rw_flags(scan, facts, file);
	case REPORT_OPEN:
		return open_flags(scan, file);
	case REPORT_SYNC:
		if (scan_is_sync(scan))
			return WHY_WRITE | WHY_CALL_ON_FILE;
		/* fall through */
	default:
		if (file && !facts->on_file)
			return WHY_OTHER;
		return WHY_META | WHY_CALL_ON_FILE | (is_software(scan, file) ? WHY_CALL_SOFTWARE : 0);
	}
}

static inline bool is_call(const struct scan *s)
{
	if (s->kind == REPORT_OPEN)
		return !scan_is(s, COL_FUNC, "snapshot");
	/* an open that creates its file has a second row, in create_del.out, with the same time */
	return s->kind != REPORT_CREATE_DEL || !scan_is(s, COL_FUNC, "create");
}

/* --- sums ----------------------------------------------------------------------------------------- */

static void count_open_now(struct why_sums *sums, uint64_t at_ns)
{
	if (at_ns - sums->opens_second_ns >= NSEC_PER_SEC) {
		sums->opens_second_ns = at_ns;
		sums->opens_second = 0;
	}
	if (++sums->opens_second > sums->opens_peak) {
		sums->opens_peak = sums->opens_second;
		sums->opens_peak_ns = sums->opens_second_ns;
	}
}

/* Adds a size that a file of shared memory has got. Programs set it by ftruncate(2), fallocate(2) or both. */
static void add_shared(const struct scan *s, const struct report_call_facts *c)
{
	struct why_sums *sums = &s->report->why->sums;
	const bool allocates = scan_is(s, COL_FUNC, "fallocate") || scan_is(s, COL_FUNC, "io_uring:fallocate");
	uint64_t len;

	if (s->kind != REPORT_SYNC || c->failed || !scan_u64(s, COL_LEN, &len) || !len)
		return;
	sums->shared_files[allocates]++;
	sums->shared_bytes[allocates] += len;
}

/*
 * Whether nobody has ended the open: a signal has (EINTR, ERESTARTSYS of the kernel), or the trace's end. It has no
 * file, which may be a FIFO.
 */
static bool is_broken_off(const struct scan *scan, const struct report_call_facts *facts)
{
	return facts->running || (facts->failed && (scan_is(scan, COL_RET, "-4") || scan_is(scan, COL_RET, "-512")));
}

static void add_open(const struct scan *scan, const struct report_call_facts *facts, uint32_t flags)
{
	struct why_sums *sums = &scan->report->why->sums;

	sums->opens++;
	sums->opens_failed += facts->failed;
	sums->opens_failed_ns += facts->failed ? facts->lat_ns : 0;
	/* a FIFO waits for its other end, and a terminal for its line: not for storage */
	if ((facts->file && !facts->on_file) || is_broken_off(scan, facts))
		return;
	why_kind_add(scan->report->why, WHY_OPENS, scan->time_ns, facts->lat_ns);
	if (flags & WHY_CALL_SOFTWARE) {
		why_software_add(facts);
		return;
	}
	sums->open_ns += facts->lat_ns;
	sums->opens_read += (flags & WHY_CALL_SAMPLE) != 0;
	if (flags & WHY_CALL_SAMPLE)
		count_open_now(sums, scan->time_ns);
}

static void add_other(const struct scan *scan, const struct report_call_facts *facts, uint32_t flags)
{
	struct why_sums *sums = &scan->report->why->sums;

	if (flags & WHY_CALL_SHARED) {
		add_shared(scan, facts);
	} else if (scan->kind == REPORT_SYNC && scan_is_sync(scan)) {
		sums->syncs++;
		sums->sync_ns += facts->lat_ns;
		why_kind_add(scan->report->why, WHY_WRITES, scan->time_ns, facts->lat_ns);
	} else if (flags & WHY_CALL_ON_FILE) {
		why_kind_add(scan->report->why, WHY_OPENS, scan->time_ns, facts->lat_ns);
		if (flags & WHY_CALL_SOFTWARE)
			why_software_add(facts);
		else
			sums->meta_ns += facts->lat_ns;
	}
}

void why_rows_begin(struct report *r)
{
	/* only rows of one file are sorted by time: those of the next file lie before and after these */
	for (unsigned int k = 0; r->why && k < WHY_KINDS; k++) {
		r->why->kind[k].cover.n = 0;
		r->why->kind[k].cover.floor_ns = 0;
	}
}

void why_rows_take(const struct scan *scan, const struct report_call_facts *facts)
{
	const struct report_file *file = why_row_file(scan, facts);
	struct callstore_row row;

	if (!is_call(scan))
		return;
	row = why_row_of(scan, facts, file, flags_of(scan, facts, file));
	callstore_add(&scan->report->why->calls->store, &row);
	if (scan->kind == REPORT_OPEN && !(row.flags & WHY_CALL_SHARED))
		add_open(scan, facts, row.flags);
	else
		add_other(scan, facts, row.flags);
}

/* --- the second pass -------------------------------------------------------------------------------- */

void why_rows_begin_again(struct report *r, enum report_kind kind)
{
	if (kind == REPORT_VFS_RW)
		why_forget_fetched(r->why);
}

bool why_rows_again(const struct scan *s, const struct report_call_facts *c, struct callstore_row *row)
{
	const struct report_file *f = why_row_file(s, c);

	if (!is_call(s))
		return false;
	*row = why_row_of(s, c, f, flags_of(s, c, f));
	if (s->kind == REPORT_VFS_RW && f && why_is_stored(f) && c->done && !c->write && c->bytes && c->disk_bytes)
		why_fetched(s->report, f, s->time_ns);
	return true;
}
