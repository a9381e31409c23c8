/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/scan/model.h"

#include <stdarg.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"

const char *const report_kind_names[REPORT_KINDS] = {
	[REPORT_FILES] = "files",
	[REPORT_PIDS] = "pids",
	[REPORT_TIME_ALIGN] = "time_align",
	[REPORT_ROLLUP] = "rollup",
	[REPORT_BIO] = "bio",
	[REPORT_CLOSE] = "close",
	[REPORT_CREATE_DEL] = "create_del",
	[REPORT_MMAP] = "mmap",
	[REPORT_OPEN] = "open",
	[REPORT_SYNC] = "sync",
	[REPORT_VFS_RW] = "vfs_rw",
};

const char *const report_type_names[REPORT_TYPES] = {
	"unknown", "anon", "blk", "chr", "dir", "fifo", "memfd", "reg", "shm", "sock",
};

const char *const report_source_names[REPORT_SOURCES] = {
	[REPORT_BUFFERED] = "buffered", [REPORT_DIRECT] = "direct",   [REPORT_REMOTE] = "network",
	[REPORT_NO_DISK] = "memory",    [REPORT_NO_TYPE] = "unknown",
};

const char report_t_names[REPORT_TS] = { 'R', 'W', 'D', 'F', 'Z', 'O' };

void report_note(struct report *r, const char *fmt, ...)
{
	const struct notes notes = report_notes(r);
	va_list ap;

	va_start(ap, fmt);
	notes_vadd(&notes, fmt, ap);
	va_end(ap);
}

bool report_is_by_manifest(const struct manifest_probe *m)
{
	static const char *const own[] = { "marks", "printed", "workload" }; /* text, without rows of operations */

	for (unsigned int kind = 0; kind < REPORT_KINDS; kind++)
		if (strcmp(m->name, report_kind_names[kind]) == 0)
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strcmp(m->name, own[i]) == 0)
			return false;
	return !manifest_is_untraced(m);
}

uint64_t report_summed_rows(const struct report *r, const char *name, uint64_t n)
{
	if (!r->manifest.window.end_ns || !r->present[REPORT_ROLLUP])
		return n;
	for (unsigned int i = 0; i < r->n_sums; i++)
		if (strcmp(r->sums[i].name, name) == 0)
			return MIN(n, r->sums[i].rows);
	return 0;
}

void report_op_add(struct report_op *to, const struct report_op *op)
{
	to->rows += op->rows;
	to->failed += op->failed;
	to->running += op->running;
	to->bytes += op->bytes;
	hist_merge(&to->lat, &op->lat);
	hist_merge(&to->size, &op->size);
}

const char *report_command(const struct report *r)
{
	return r->manifest.argv[0] ? r->manifest.argv : r->manifest.cmdline;
}

bool report_is_of_part(const struct report *r, const struct report_proc *p)
{
	const struct window part = manifest_part(&r->manifest);

	return !part.end_ns || (p->begin_ns >= part.begin_ns && p->end_ns && p->end_ns < part.end_ns);
}

const char *report_started(const struct report *r)
{
	return r->manifest.start_utc[0] ? r->manifest.start_utc : r->first_time;
}

uint64_t report_duration_ns(const struct report *r)
{
	const struct manifest_facts *m = &r->manifest;

	if (m->start_ns && m->end_ns > m->start_ns)
		return m->end_ns - m->start_ns;
	return r->last_ns - r->first_ns;
}

void report_note_count(struct report *r, const char *what, uint64_t n, const char *one, const char *others,
		       const char *text)
{
	if (n)
		report_note(r, "%s: %s %s", what, FMT_N(n, one, others), text);
}
