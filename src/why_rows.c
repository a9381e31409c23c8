/* SPDX-License-Identifier: BSD-2-Clause */
#include "why_rows.h"

#include <string.h>

#include "util.h"
#include "why_files.h"

#define SLOW_NS 200000 /* reads of which it is not known: longer ones have come from storage */

static inline bool begins(struct reader_field f, const char *with)
{
	return f.len >= strlen(with) && memcmp(f.p, with, strlen(with)) == 0;
}

/* Its file, where the report has sums of it. */
static inline const struct report_file *file_of(const struct scan *s, const struct report_call_facts *c)
{
	return c->file == &s->report->other_file ? NULL : c->file;
}

/* --- what is known of it -------------------------------------------------------------------------- */

/* It may come from a disk, and stay on one. */
static inline bool is_stored(const struct report_file *f)
{
	return f->type == REPORT_REG && f->medium != REPORT_MEMORY;
}

static inline bool is_direct(const struct scan *s)
{
	return scan_field(s, COL_FLAGS).p[0] == 'D';
}

/* Of a write: to FD 1 or 2. */
static inline bool is_standard(const struct scan *s)
{
	struct reader_field fd = scan_field(s, COL_FD);

	return fd.len == 1 && (fd.p[0] == '1' || fd.p[0] == '2');
}

static inline bool is_slow(const struct report_call_facts *c, uint64_t lat_ns)
{
	return lat_ns >= SLOW_NS + c->bytes; /* 1 GB/s */
}

/* Of a read or write of a file. */
static inline enum why_state state_of(const struct scan *s, const struct report_call_facts *c, const struct report_file *f)
{
	if (c->write)
		return f->medium == REPORT_MEMORY || f->type != REPORT_REG ? WHY_CPU : WHY_WRITE;
	if (f->medium == REPORT_MEMORY || (f->type != REPORT_REG && f->type != REPORT_BLK))
		return WHY_CACHE;
	if (c->disk_bytes || is_direct(s))
		return WHY_DISK;
	if (!is_slow(c, c->lat_ns))
		return WHY_CACHE;
	/* what a read before, of this process or of another, had begun to fetch is waited for in this one */
	return !c->accounted || f->medium == REPORT_NETWORK || why_fetched_lately(s->report, f, s->time_ns) ? WHY_DISK :
													       WHY_CACHE;
}

static inline uint32_t rw_flags(const struct scan *s, const struct report_call_facts *c, const struct report_file *f)
{
	enum why_state state;

	if (!f || !report_is_file((enum report_type)f->type))
		return WHY_QUEUE | (!c->write ? WHY_CALL_RECEIVES : is_standard(s) ? 0 : WHY_CALL_SENDS);
	state = state_of(s, c, f);
	if (c->write)
		return state | WHY_CALL_ON_FILE;
	return state | WHY_CALL_ON_FILE | (c->disk_bytes ? WHY_CALL_FETCHED : 0) |
	       (state == WHY_CACHE && is_slow(c, c->lat_ns) ? WHY_CALL_SLOW : 0);
}

static inline uint32_t open_flags(const struct scan *s, const struct report_file *f)
{
	uint32_t flags = WHY_META | WHY_CALL_ON_FILE;

	if (f && is_stored(f) && begins(scan_field(s, COL_FLAGS), "RDONLY"))
		flags |= WHY_CALL_SAMPLE;
	if (begins(scan_field(s, COL_FILE), "nvidia"))
		flags |= WHY_CALL_NVIDIA;
	return flags;
}

static inline uint32_t flags_of(const struct scan *s, const struct report_call_facts *c, const struct report_file *f)
{
	switch (s->kind) {
	case REPORT_VFS_RW:
		return rw_flags(s, c, f);
	case REPORT_OPEN:
		return open_flags(s, f);
	case REPORT_SYNC:
		return WHY_WRITE | WHY_CALL_ON_FILE;
	default:
		return !f || report_is_file((enum report_type)f->type) ? WHY_META | WHY_CALL_ON_FILE : WHY_OTHER;
	}
}

static inline struct callstore_row row_of(const struct scan *s, const struct report_call_facts *c, const struct report_file *f)
{
	return (struct callstore_row){
		.end_ns = s->time_ns, .pid = c->pid, .tid = c->tid, .lat_ns = c->lat_ns,
		.file = f ? (uint64_t)(f - (const struct report_file *)s->report->files.values) : c->fid,
		.flags = flags_of(s, c, f) | (f ? WHY_CALL_FILE : 0),
	};
}

static inline bool is_call(const struct scan *s)
{
	return s->kind != REPORT_OPEN || !scan_is(s, COL_FUNC, "snapshot");
}

/* --- sums ----------------------------------------------------------------------------------------- */

static inline struct why_transfer transfer_of(const struct scan *s, const struct report_call_facts *c)
{
	struct why_transfer x = { .call = c, .end_ns = s->time_ns, .lat_ns = c->lat_ns, .direct = is_direct(s) };

	if (!scan_u64(s, COL_REQUESTED, &x.requested))
		x.requested = 0;
	x.has_offset = scan_u64(s, COL_OFFSET, &x.offset);
	return x;
}

static inline void add_write(struct why_sums *sums, const struct scan *s, const struct report_call_facts *c)
{
	sums->written_bytes += c->bytes;
	if (!is_standard(s))
		return;
	sums->stdout_writes++;
	sums->stdout_bytes += c->bytes;
	sums->stdout_ns += c->lat_ns;
}

static inline void add_rw(const struct scan *s, const struct report_call_facts *c, const struct report_file *f)
{
	struct why_sums *sums = &s->report->why->sums;
	struct why_transfer x;

	if (c->write)
		add_write(sums, s, c);
	if (!f || !is_stored(f))
		return;
	*(c->write ? &sums->write_files_ns : &sums->read_files_ns) += c->lat_ns;
	if (f->medium == REPORT_NETWORK)
		sums->network_ns += c->lat_ns;
	if (!c->done)
		return;
	if (!c->write)
		c->proc->stored_read += c->bytes;
	x = transfer_of(s, c);
	why_add_transfer(s->report, &x);
}

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

static void add_open(const struct scan *s, const struct report_call_facts *c, uint32_t flags)
{
	struct why_sums *sums = &s->report->why->sums;

	sums->opens++;
	sums->opens_failed += c->failed;
	sums->open_ns += c->lat_ns;
	sums->opens_read += (flags & WHY_CALL_SAMPLE) != 0;
	count_open_now(sums, s->time_ns);
}

static void add_other(const struct scan *s, const struct report_call_facts *c, uint32_t flags)
{
	struct why_sums *sums = &s->report->why->sums;

	if (s->kind == REPORT_SYNC) {
		sums->syncs++;
		sums->sync_ns += c->lat_ns;
	} else if (flags & WHY_CALL_ON_FILE) {
		sums->meta_ns += c->lat_ns;
	}
}

void why_rows_take(const struct scan *s, const struct report_call_facts *c)
{
	const struct report_file *f = file_of(s, c);
	struct callstore_row row;

	if (!is_call(s))
		return;
	row = row_of(s, c, f);
	callstore_add(&s->report->why->calls->store, &row);
	if (s->kind == REPORT_VFS_RW)
		add_rw(s, c, f);
	else if (s->kind == REPORT_OPEN)
		add_open(s, c, row.flags);
	else
		add_other(s, c, row.flags);
}

/* --- again ---------------------------------------------------------------------------------------- */

void why_rows_begin_again(struct report *r, enum report_kind kind)
{
	if (kind == REPORT_VFS_RW)
		why_forget_fetched(r->why);
}

bool why_rows_again(const struct scan *s, const struct report_call_facts *c, struct callstore_row *row)
{
	const struct report_file *f = file_of(s, c);

	if (!is_call(s))
		return false;
	*row = row_of(s, c, f);
	if (s->kind == REPORT_VFS_RW && f && is_stored(f) && c->done && !c->write && c->bytes && c->disk_bytes)
		why_fetched(s->report, f, s->time_ns);
	return true;
}
