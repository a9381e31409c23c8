/* SPDX-License-Identifier: BSD-2-Clause */
/* From the report's rows of calls to those of why, right away or by way of callstore.h. */
#include "why_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_scan.h"
#include "util.h"
#include "why.h"

struct why_calls_text {
	struct reader reader;
	struct scan scan;
};

/* --- keeping -------------------------------------------------------------------------------------- */

void why_calls_init(struct why_calls *c)
{
	*c = (struct why_calls){ 0 };
	callstore_init(&c->store);
}

void why_calls_free(struct why_calls *c)
{
	callstore_free(&c->store);
}

void why_calls_begin(struct why_calls *c, enum report_kind kind)
{
	c->part[kind].begin = c->part[kind].end = callstore_part(&c->store);
}

void why_calls_end(struct why_calls *c, enum report_kind kind)
{
	c->part[kind].end = callstore_part(&c->store);
}

static inline bool begins(struct reader_field f, const char *with)
{
	return f.len >= strlen(with) && memcmp(f.p, with, strlen(with)) == 0;
}

static inline void add_open(const struct scan *s, struct callstore_row *row)
{
	if (begins(scan_field(s, COL_FLAGS), "RDONLY"))
		row->flags |= WHY_CALL_RDONLY;
	if (begins(scan_field(s, COL_FILE), "nvidia"))
		row->flags |= WHY_CALL_NVIDIA;
}

static inline void add_transfer(const struct scan *s, const struct report_call_facts *facts, struct callstore_row *row)
{
	uint64_t fd = 0;

	row->flags |= CALLSTORE_TRANSFER | (facts->write ? WHY_CALL_WRITE : 0) | (facts->done ? WHY_CALL_DONE : 0);
	row->bytes = row->requested = facts->bytes;
	if (facts->write && scan_u64(s, COL_FD, &fd) && (fd == 1 || fd == 2))
		row->flags |= WHY_CALL_STANDARD;
	if (!facts->file || !report_is_file(facts->file->type))
		return;
	if (!scan_u64(s, COL_REQUESTED, &row->requested))
		row->requested = 0;
	if (scan_u64(s, COL_OFFSET, &row->offset))
		row->flags |= WHY_CALL_OFFSET;
	if (facts->accounted)
		row->flags |= WHY_CALL_ACCOUNTED;
	row->disk_bytes = facts->accounted ? facts->disk_bytes : 0;
	if (scan_field(s, COL_FLAGS).p[0] == 'D')
		row->flags |= WHY_CALL_DIRECT;
}

/* False: it is no call. */
static inline bool row_of(const struct scan *s, const struct report_call_facts *facts, struct callstore_row *row)
{
	const struct report *r = s->report;

	*row = (struct callstore_row){
		.end_ns = s->time_ns, .pid = facts->pid, .tid = facts->tid, .lat_ns = facts->lat_ns,
		.flags = facts->failed ? WHY_CALL_FAILED : 0,
	};
	if (facts->file) {
		bool foreign = facts->file == &r->other_file;

		row->file = foreign ? facts->fid : (uint64_t)(facts->file - (const struct report_file *)r->files.values);
		row->flags |= foreign ? WHY_CALL_FID | WHY_CALL_FOREIGN : WHY_CALL_FID;
	}
	if (s->kind == REPORT_VFS_RW)
		add_transfer(s, facts, row);
	else if (s->kind == REPORT_OPEN)
		add_open(s, row);
	return s->kind != REPORT_OPEN || !scan_is(s, COL_FUNC, "snapshot");
}

void why_calls_keep(struct why_calls *c, const struct scan *s, const struct report_call_facts *facts)
{
	struct callstore_row row;

	if (row_of(s, facts, &row))
		callstore_add(&c->store, &row);
}

/* --- once more from text -------------------------------------------------------------------------- */

static int open_text(struct why_calls_stream *s, int dirfd, enum report_kind kind)
{
	autofree char *file = util_fmt("%s.out", report_kind_names[kind]);
	int res;

	s->text = file ? calloc(1, sizeof(*s->text)) : NULL;
	if (!s->text)
		return -ENOMEM;
	res = reader_open(&s->text->reader, dirfd, file);
	s->text->scan = (struct scan){ .report = s->report, .kind = kind };
	if (res == 0)
		report_scan_columns(&s->text->scan, &s->text->reader);
	return res;
}

/* As report_rows.c takes them, and leaves out what is damaged. */
static bool parse(struct scan *s, struct callstore_row *row)
{
	const bool rw = s->kind == REPORT_VFS_RW;
	const struct reader_field ret = scan_field(s, rw ? COL_RETURNED : COL_RET);
	const bool running = reader_is(ret, "?");
	struct report_call_facts facts = { .failed = ret.len > 1 && ret.p[0] == '-' };

	if (!scan_u64(s, COL_TIMESTAMP, &s->time_ns) || !scan_u64(s, COL_PID, &facts.pid) ||
	    !scan_u64(s, COL_TID, &facts.tid) || !(scan_u64(s, COL_LAT_NS, &facts.lat_ns) || running))
		return false;
	if (scan_u64(s, COL_FID, &facts.fid)) {
		facts.file = table_find(&s->report->files, facts.fid);
		facts.file = facts.file ? facts.file : &s->report->other_file;
	}
	if (rw) {
		facts.write = scan_is(s, COL_RW, "W");
		facts.done = scan_u64(s, COL_RETURNED, &facts.bytes);
		facts.accounted = scan_u64(s, COL_DISK_BYTES, &facts.disk_bytes);
		if (!facts.done && !facts.failed && !running && !reader_is(ret, "-"))
			return false;
	}
	return row_of(s, &facts, row);
}

static int next_of_text(struct why_calls_text *t, struct callstore_row *row)
{
	int res;

	while ((res = reader_next(&t->reader, t->scan.ahead)) > 0) {
		report_scan_numbers(&t->scan, 1);
		if (parse(&t->scan, row))
			return 1;
	}
	return res;
}

/* --- streams -------------------------------------------------------------------------------------- */

int why_calls_open(struct why_calls_stream *s, struct report *r, int dirfd, enum report_kind kind)
{
	const struct why_calls *c = r->why->calls;
	int res;

	*s = (struct why_calls_stream){ .report = r };
	if (!r->present[kind])
		return -ENOENT;
	res = c->store.failed ? open_text(s, dirfd, kind) : callstore_open(&s->kept, &c->store, c->part[kind]);
	if (res < 0)
		why_calls_close(s);
	return res;
}

int why_calls_next(struct why_calls_stream *s, struct why_call_row *row)
{
	const struct table *files = &s->report->files;
	struct callstore_row *kept = &row->kept;
	int res = s->text ? next_of_text(s->text, kept) : callstore_next(&s->kept, kept);

	if (res <= 0)
		return res;
	kept->lat_ns = MIN(kept->lat_ns, kept->end_ns);
	row->begin_ns = kept->end_ns - kept->lat_ns;
	row->fid = 0;
	row->file = NULL;
	if (kept->flags & WHY_CALL_FOREIGN) {
		row->fid = kept->file;
	} else if (kept->flags & WHY_CALL_FID) {
		row->fid = table_key_at(files, (uint32_t)kept->file);
		row->file = table_at(files, (uint32_t)kept->file);
	}
	return 1;
}

void why_calls_close(struct why_calls_stream *s)
{
	callstore_close(&s->kept);
	if (s->text)
		reader_close(&s->text->reader);
	free(s->text);
	*s = (struct why_calls_stream){ 0 };
}
