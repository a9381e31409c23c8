/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the report's rows of calls into those of why: kept in callstore.h, or read again. */
#include "report/why/calls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/scan/scan.h"
#include "report/why/rows.h"

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

/* --- once more from text -------------------------------------------------------------------------- */

static int open_text(struct why_calls_stream *s, enum report_kind kind)
{
	s->text = calloc(1, sizeof(*s->text));
	if (!s->text)
		return -ENOMEM;
	*s->text = (struct scan){ .report = s->report, .kind = kind };
	why_rows_begin_again(s->report, kind);
	return scan_begin(s->text, s->report->folder, report_kind_names[kind]);
}

/* Takes the same rows as report/rows.c, and drops the same. */
static bool parse(struct scan *scan, struct callstore_row *row)
{
	const bool rw = scan->kind == REPORT_VFS_RW;
	const struct reader_field ret = scan_field(scan, rw ? COL_RETURNED : COL_RET);
	const bool running = reader_is(ret, "?");
	struct report_call_facts facts = { .rw = rw, .failed = ret.len > 1 && ret.p[0] == '-' };

	if (!scan_u64(scan, COL_TIMESTAMP, &scan->time_ns) || !scan->time_ns || !scan_u64(scan, COL_PID, &facts.pid) ||
	    !scan_u64(scan, COL_TID, &facts.tid) || !(scan_u64(scan, COL_LAT_NS, &facts.lat_ns) || running))
		return false;
	facts.lat_ns = MIN(facts.lat_ns, scan->time_ns);
	if (scan_u64(scan, COL_FID, &facts.fid)) {
		facts.file = table_find(&scan->report->files, facts.fid);
		facts.file = facts.file ? facts.file : &scan->report->other_file;
		facts.type = (enum report_type)facts.file->type;
	}
	facts.on_file = report_is_file(facts.type);
	if (rw) {
		facts.write = scan_is(scan, COL_RW, "W");
		facts.done = scan_u64(scan, COL_RETURNED, &facts.bytes);
		facts.accounted = scan_u64(scan, COL_DISK_BYTES, &facts.disk_bytes);
		if (!facts.done && !facts.failed && !running && !reader_is(ret, "-"))
			return false;
	}
	return why_rows_again(scan, &facts, row);
}

int why_calls_next_of_text(struct why_calls_stream *s, struct callstore_row *row)
{
	int res;

	while ((res = scan_next(s->text)) > 0)
		if (parse(s->text, row))
			return 1;
	return res;
}

/* --- streams -------------------------------------------------------------------------------------- */

int why_calls_open(struct why_calls_stream *stream, struct report *report, enum report_kind kind)
{
	const struct why_calls *c = report->why->calls;
	int res;

	*stream = (struct why_calls_stream){ .report = report };
	if (!report->present[kind])
		return -ENOENT;
	res = c->store.failed ? open_text(stream, kind) : callstore_open(&stream->kept, &c->store, c->part[kind]);
	if (res < 0)
		why_calls_close(stream);
	return res;
}

void why_calls_close(struct why_calls_stream *s)
{
	callstore_close(&s->kept);
	free(s->text);
	*s = (struct why_calls_stream){ 0 };
}
