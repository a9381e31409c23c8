/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What why does with a row of vfs_rw; rows.h has the other rows. As these are most rows of a trace, the code is in a
 * header, to be inlined where they are taken.
 */
#ifndef REPORT_WHY_RW_H
#define REPORT_WHY_RW_H

#include "report/scan/scan.h"
#include "report/why/call.h"
#include "report/why/files.h"

#define WHY_SLOW_NS                                                                                      \
	200000 /* if it is not known whether a read fetched, a longer one counts as fetched from storage \
		*/

/* Returns the row's file, if the report has sums of it; else NULL. */
static inline const struct report_file *why_row_file(const struct scan *s, const struct report_call_facts *c)
{
	return c->file == &s->report->other_file ? NULL : c->file;
}

/* Whether F lies on a disk or network, so that reads may fetch, and writes stay. */
static inline bool why_is_stored(const struct report_file *f)
{
	return f->type == REPORT_REG && f->medium != REPORT_MEMORY;
}

static inline bool why_is_direct(const struct scan *s)
{
	return scan_field(s, COL_FLAGS).p[0] == 'D';
}

#define WHY_OUTPUT_BYTES 8192 /* the buffer of Python's standard output; a write of more is data, not lines */

/* Whether a write's descriptor is standard output or error: 1 or 2. */
static inline bool why_is_standard(const struct scan *s)
{
	struct reader_field fd = scan_field(s, COL_FD);

	return fd.len == 1 && (fd.p[0] == '1' || fd.p[0] == '2');
}

/* Whether a write to FD 1 or 2 may be for people: it is short, and goes to no regular file but a log. */
static inline bool why_is_output(const struct report_call_facts *c)
{
	return c->bytes <= WHY_OUTPUT_BYTES && (!c->file || c->type != REPORT_REG || c->file->log);
}

static inline bool why_is_slow(const struct report_call_facts *c)
{
	return c->lat_ns >= WHY_SLOW_NS + c->bytes; /* 1 GB/s */
}

/* Returns the state of a process in a read or write of FILE. */
static inline enum why_state why_rw_state(const struct scan *scan, const struct report_call_facts *facts,
					  const struct report_file *file)
{
	bool disk;

	if (facts->write)
		return file->medium == REPORT_MEMORY || file->type != REPORT_REG ? WHY_CPU : WHY_WRITE;
	if (file->medium == REPORT_MEMORY || (file->type != REPORT_REG && file->type != REPORT_BLK))
		return WHY_CACHE;
	/* without a branch, as the processor cannot predict whether a read fetches */
	disk = (facts->disk_bytes != 0) | why_is_direct(scan);
	/* this read may have waited for pages that an earlier read, of this process or another, had begun to fetch */
	if (why_is_slow(facts) && !disk)
		disk = !facts->accounted || file->medium == REPORT_NETWORK ||
		       why_fetched_lately(scan->report, file, scan->time_ns);
	return disk ? WHY_DISK : WHY_CACHE;
}

static inline void why_software_add(const struct report_call_facts *c)
{
	c->proc->software_ns += c->lat_ns;
	c->proc->software_calls++;
}

static inline uint32_t why_software_flag(const struct report_file *f)
{
	return f && f->software ? WHY_CALL_SOFTWARE : 0;
}

static inline uint32_t why_rw_flags(const struct scan *scan, const struct report_call_facts *facts,
				    const struct report_file *file)
{
	if (!file || !facts->on_file) {
		if (!facts->write)
			return WHY_QUEUE | WHY_CALL_RECEIVES;
		return WHY_QUEUE | (why_is_standard(scan) ? 0 : WHY_CALL_SENDS);
	}
	return why_rw_state(scan, facts, file) | WHY_CALL_ON_FILE | why_software_flag(file);
}

/* Returns the parts of a row that the second pass needs; FLAGS are enum why_call_flag. */
static inline struct callstore_row why_row_of(const struct scan *s, const struct report_call_facts *c,
					      const struct report_file *f, uint32_t flags)
{
	return (struct callstore_row){
		.end_ns = s->time_ns,
		.pid = c->pid,
		.tid = c->tid,
		.lat_ns = c->lat_ns,
		.file = f ? why_file_index(s->report, f) : c->fid,
		.flags = flags | (f ? WHY_CALL_FILE : 0),
	};
}

static inline struct why_transfer why_rw_transfer(const struct scan *s, const struct report_call_facts *c)
{
	return (struct why_transfer){
		.file = c->file,
		.pid = c->pid,
		.fid = c->fid,
		.fd = scan_number(s, COL_FD),
		.bytes = c->bytes,
		.disk_bytes = c->disk_bytes,
		.end_ns = s->time_ns,
		.lat_ns = c->lat_ns,
		.requested = MAX(scan_number(s, COL_REQUESTED), c->bytes),
		.offset = scan_number(s, COL_OFFSET),
		.write = c->write,
		.accounted = c->accounted,
		.has_offset = c->plain || scan_has_number(s, COL_OFFSET),
		.direct = why_is_direct(s),
		.append = c->write && reader_flag(scan_field(s, COL_FLAGS), "APPEND"),
	};
}

static inline void why_rw_add_write(struct why *why, const struct scan *scan, const struct report_call_facts *facts)
{
	struct why_output *output;

	why->sums.written_bytes += facts->bytes;
	if (!why_is_standard(scan) || !why_is_output(facts))
		return;
	output = table_get(&why->output, facts->fid + 1);
	if (!output)
		return;
	output->fid = facts->fid;
	output->writes++;
	output->bytes += facts->bytes;
	output->ns += facts->lat_ns;
}

/* Adds a call on software, which no rule about data counts. */
static inline void why_rw_add_software(const struct scan *s, const struct report_call_facts *c,
				       const struct report_file *f)
{
	struct why_file *sums = why_file_of(s->report, f);

	why_kind_add(s->report->why, c->write ? WHY_WRITES : WHY_READS, s->time_ns, c->lat_ns);
	why_software_add(c);
	if (!sums || c->write || !c->disk_bytes)
		return;
	sums->disk_bytes += c->disk_bytes;
	why_fetched(s->report, f, s->time_ns);
}

static inline void why_rw_add(const struct scan *scan, const struct report_call_facts *facts,
			      const struct report_file *file)
{
	struct why_sums *sums = &scan->report->why->sums;
	struct why_transfer x;

	if (facts->write)
		why_rw_add_write(scan->report->why, scan, facts);
	if (!file || !why_is_stored(file))
		return;
	if (file->software) {
		why_rw_add_software(scan, facts, file);
		return;
	}
	if (facts->write)
		sums->write_files_ns += facts->lat_ns;
	else
		sums->read_files_ns += facts->lat_ns;
	why_kind_add(scan->report->why, facts->write ? WHY_WRITES : WHY_READS, scan->time_ns, facts->lat_ns);
	if (!facts->done)
		return;
	if (!facts->write)
		facts->proc->stored_read += facts->bytes;
	x = why_rw_transfer(scan, facts);
	why_add_transfer(scan->report, &x);
}

/* Takes the current row of S, of which C has the facts. */
static inline void why_rw_take(const struct scan *s, const struct report_call_facts *c)
{
	const struct report_file *f = why_row_file(s, c);
	const struct callstore_row row = why_row_of(s, c, f, why_rw_flags(s, c, f));

	callstore_add(&s->report->why->calls->store, &row);
	why_rw_add(s, c, f);
}

#endif
