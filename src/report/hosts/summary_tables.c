/* SPDX-License-Identifier: BSD-2-Clause */
/* See summary_tables.h. */
#include "report/hosts/summary_tables.h"

#include <stddef.h>

#include "base/util.h"

#define MEMBER(key, kind, type, m)                                                          \
	{                                                                                   \
		key, MEMBER_##kind, offsetof(struct type, m), sizeof(((struct type *)0)->m) \
	} /* NOLINT(bugprone-macro-parentheses): a member */
#define OF_SUMMARY(key, kind, m) MEMBER(key, kind, summary, m)
#define OF_REPORT(key, kind, m) MEMBER(key, kind, report, m)
#define OF_MANIFEST(key, kind, m) MEMBER(key, kind, report, manifest.m)

const char *const summary_ofs[] = { "bytes", "calls", "processes", "rows", NULL };

const struct member summary_members[] = {
	OF_SUMMARY("summary", COUNT, version),         OF_SUMMARY("utc_minus_monotonic_ns", SIGNED, utc_ns),
	OF_SUMMARY("begin_ns", COUNT, begin_ns),       OF_SUMMARY("end_ns", COUNT, end_ns),
	OF_SUMMARY("clock_error_ns", COUNT, error_ns), OF_SUMMARY("synchronised", FLAG, synchronised),
	OF_SUMMARY("window_ns", DOUBLE, window_ns),    { 0 },
};

const struct member summary_report_members[] = {
	OF_REPORT("dir", OWNED, dir),
	OF_MANIFEST("host", TEXT, host),
	OF_MANIFEST("boot_id", TEXT, boot_id),
	OF_MANIFEST("version", TEXT, version),
	OF_MANIFEST("kernel", TEXT, kernel),
	OF_MANIFEST("user", TEXT, user),
	OF_MANIFEST("command", TEXT, argv),
	OF_MANIFEST("dltraced_command", TEXT, cmdline),
	OF_MANIFEST("start", TEXT, start_utc),
	OF_MANIFEST("manifest_start_ns", COUNT, start_ns),
	OF_MANIFEST("manifest_end_ns", COUNT, end_ns),
	OF_MANIFEST("has_status", FLAG, has_status),
	OF_MANIFEST("status", STATUS, status),
	OF_MANIFEST("complete", FLAG, complete),
	OF_MANIFEST("self_user_us", COUNT, self_user_us),
	OF_MANIFEST("self_system_us", COUNT, self_system_us),
	OF_REPORT("first_time", TEXT, first_time),
	OF_REPORT("first_ns", COUNT, first_ns),
	OF_REPORT("last_ns", COUNT, last_ns),
	OF_REPORT("trace_bytes", COUNT, trace_bytes),
	OF_REPORT("rows_missing", COUNT, rows_missing),
	OF_REPORT("calls", COUNT, missing.calls),
	OF_REPORT("calls_missing", COUNT, missing.calls_missing),
	OF_REPORT("nothing_missing", FLAG, missing.complete),
	OF_REPORT("read_error_ns", COUNT, clock_error_ns),
	OF_REPORT("clock_steps", COUNT, clock_steps),
	OF_REPORT("asleep_ns", COUNT, asleep_ns),
	OF_REPORT("map_calls", COUNT, map_calls),
	OF_REPORT("map_bytes", COUNT, map_bytes),
	OF_REPORT("processes", STATUS, n_procs),
	OF_REPORT("alloc", FLAG, alloc.present),
	OF_REPORT("alloc_peak_bytes", COUNT, alloc.n.peak_bytes),
	OF_REPORT("alloc_peak_blocks", COUNT, alloc.n.peak_blocks),
	OF_REPORT("alloc_blocks", COUNT, alloc.n.blocks),
	OF_REPORT("alloc_bytes", COUNT, alloc.n.bytes),
	OF_REPORT("alloc_short_blocks", COUNT, alloc.n.short_blocks),
	OF_REPORT("alloc_short_bytes", COUNT, alloc.n.short_bytes),
	OF_REPORT("alloc_never_freed_blocks", COUNT, alloc.n.left_blocks),
	OF_REPORT("alloc_never_freed_bytes", COUNT, alloc.n.left_bytes),
	OF_REPORT("alloc_frees", COUNT, alloc.n.frees),
	OF_REPORT("alloc_cross_thread_frees", COUNT, alloc.n.cross_frees),
	OF_REPORT("alloc_unknown_frees", COUNT, alloc.n.unknown_frees),
	OF_REPORT("alloc_failed", COUNT, alloc.n.failed),
	OF_REPORT("alloc_small_calls", COUNT, alloc.n.small_calls),
	OF_REPORT("alloc_small_bytes", COUNT, alloc.n.small_bytes),
	OF_REPORT("alloc_min_bytes", COUNT, alloc.min_bytes),
	OF_REPORT("only_path", OWNED, only.path),
	OF_REPORT("only_rows", COUNT, only.rows),
	OF_REPORT("only_left_out", COUNT, only.left_out),
	{ 0 },
};

/* --- arrays ------------------------------------------------------------------------------------------------------ */

static const struct member finding_members[] = {
	MEMBER("code", TEXT, summary_finding, code),
	MEMBER("title", TEXT, summary_finding, title),
	MEMBER("share", DOUBLE, summary_finding, share),
	MEMBER("is_answer", FLAG, summary_finding, is_answer),
	{ 0 },
};

const struct member_list summary_lists[] = {
	{ "findings", finding_members, offsetof(struct summary, finding), sizeof(struct summary_finding), RULES_MAX + 1,
	  offsetof(struct summary, n_findings), NULL },
	{ 0 },
};

static const struct member file_members[] = { { "there", MEMBER_FLAG, 0, sizeof(bool) }, { 0 } };
static const struct member note_members[] = { { "text", MEMBER_OWNED, 0, sizeof(char *) }, { 0 } };

static const struct member op_members[] = {
	MEMBER("rows", COUNT, report_op, rows),
	MEMBER("failed", COUNT, report_op, failed),
	MEMBER("running", COUNT, report_op, running),
	MEMBER("bytes", COUNT, report_op, bytes),
	MEMBER("latency_ns", HIST, report_op, lat),
	MEMBER("size_bytes", HIST, report_op, size),
	{ 0 },
};

static const struct member probe_members[] = {
	MEMBER("name", TEXT, manifest_probe, name),        MEMBER("backend", TEXT, manifest_probe, backend),
	MEMBER("rows", COUNT, manifest_probe, rows),       MEMBER("lost", COUNT, manifest_probe, lost),
	MEMBER("dropped", COUNT, manifest_probe, dropped), { 0 },
};

static const struct member collector_members[] = {
	MEMBER("name", TEXT, manifest_collector, name),
	MEMBER("state", TEXT, manifest_collector, state),
	{ 0 },
};

static const struct member sum_members[] = {
	MEMBER("name", TEXT, report_sum, name),
	MEMBER("rows", COUNT, report_sum, rows),
	MEMBER("failed", COUNT, report_sum, failed),
	MEMBER("bytes", COUNT, report_sum, bytes),
	MEMBER("time_ns", COUNT, report_sum, lat_ns),
	MEMBER("max_ns", COUNT, report_sum, max_lat_ns),
	{ 0 },
};

/* Two of report.by_type, and a counter of report.read_size: offsets alone. */
struct type_sides {
	struct report_type_sum side[2];
};

struct size_sum {
	uint64_t calls, bytes;
};

static const struct member type_members[] = {
	MEMBER("reads", COUNT, type_sides, side[0].rows),
	MEMBER("read_bytes", COUNT, type_sides, side[0].bytes),
	MEMBER("read_ns", COUNT, type_sides, side[0].time_ns),
	MEMBER("writes", COUNT, type_sides, side[1].rows),
	MEMBER("write_bytes", COUNT, type_sides, side[1].bytes),
	MEMBER("write_ns", COUNT, type_sides, side[1].time_ns),
	{ 0 },
};

static const struct member source_members[] = {
	MEMBER("calls", COUNT, report_source_sum, calls),
	MEMBER("bytes", COUNT, report_source_sum, bytes),
	MEMBER("disk_bytes", COUNT, report_source_sum, disk_bytes),
	MEMBER("disk_calls", COUNT, report_source_sum, disk_calls),
	MEMBER("unaccounted", COUNT, report_source_sum, unaccounted),
	{ 0 },
};

static const struct member size_members[] = {
	MEMBER("calls", COUNT, size_sum, calls),
	MEMBER("bytes", COUNT, size_sum, bytes),
	{ 0 },
};

static const struct member reason_members[] = {
	MEMBER("code", CODE, missing_reason, kind),
	MEMBER("file", TEXT, missing_reason, file),
	MEMBER("count", COUNT, missing_reason, n),
	MEMBER("share", DOUBLE, missing_reason, share),
	MEMBER("of", OF, missing_reason, of),
	MEMBER("matters", FLAG, missing_reason, matters),
	MEMBER("of_calls", FLAG, missing_reason, of_calls),
	MEMBER("brief", OWNED, missing_reason, brief),
	MEMBER("text", OWNED, missing_reason, text),
	{ 0 },
};

static const char *const sides[] = { "reads", "writes" };

#define FIXED(key, members, m, names)                                                         \
	{                                                                                     \
		key, members, offsetof(struct report, m), sizeof(((struct report *)0)->m[0]), \
			ARRAY_SIZE(((struct report *)0)->m), 0, names                         \
	}
#define COUNTED(key, members, m, n)                                                           \
	{                                                                                     \
		key, members, offsetof(struct report, m), sizeof(((struct report *)0)->m[0]), \
			ARRAY_SIZE(((struct report *)0)->m), offsetof(struct report, n), NULL \
	}

const struct member_list summary_report_lists[] = {
	FIXED("files", file_members, present, report_kind_names),
	FIXED("rows", op_members, op, report_kind_names),
	FIXED("reads_and_writes", op_members, rw, sides),
	FIXED("requests", op_members, bio, sides),
	FIXED("types", type_members, by_type, report_type_names),
	FIXED("read_sources", source_members, source, report_source_names),
	FIXED("read_sizes", size_members, read_size, NULL),
	COUNTED("probes", probe_members, manifest.probes, manifest.n_probes),
	COUNTED("collectors", collector_members, manifest.collectors, manifest.n_collectors),
	COUNTED("rollup", sum_members, sums, n_sums),
	COUNTED("missing_reasons", reason_members, missing.reason, missing.n),
	COUNTED("notes", note_members, notes, n_notes),
	{ 0 },
};
