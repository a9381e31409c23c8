/* SPDX-License-Identifier: BSD-2-Clause */
/* See summary_tables.h. */
#include "report/hosts/summary_tables.h"

#include <stddef.h>

#include "base/util.h"

#define OF_SUMMARY(key, kind, m) JSON_MEMBER(key, kind, summary, m)
#define OF_REPORT(key, kind, m) JSON_MEMBER(key, kind, report, m)
#define OF_MANIFEST(key, kind, m) JSON_MEMBER(key, kind, report, manifest.m)

const char *const summary_ofs[] = { "bytes", "calls", "processes", "rows", NULL };

const struct json_member summary_members[] = {
	OF_SUMMARY("summary", JSON_U64, version),          OF_SUMMARY("utc_minus_monotonic_ns", JSON_S64, utc_ns),
	OF_SUMMARY("begin_ns", JSON_U64, begin_ns),        OF_SUMMARY("end_ns", JSON_U64, end_ns),
	OF_SUMMARY("clock_error_ns", JSON_U64, error_ns),  OF_SUMMARY("synchronised", JSON_BOOL, synchronised),
	OF_SUMMARY("window_ns", MEMBER_DOUBLE, window_ns), { 0 },
};

const struct json_member summary_report_members[] = {
	OF_REPORT("dir", MEMBER_OWNED, dir),
	OF_MANIFEST("host", JSON_TEXT, host),
	OF_MANIFEST("boot_id", JSON_TEXT, boot_id),
	OF_MANIFEST("version", JSON_TEXT, version),
	OF_MANIFEST("kernel", JSON_TEXT, kernel),
	OF_MANIFEST("user", JSON_TEXT, user),
	OF_MANIFEST("command", JSON_TEXT, argv),
	OF_MANIFEST("dltraced_command", JSON_TEXT, cmdline),
	OF_MANIFEST("start", JSON_TEXT, start_utc),
	OF_MANIFEST("manifest_start_ns", JSON_U64, start_ns),
	OF_MANIFEST("manifest_end_ns", JSON_U64, end_ns),
	OF_MANIFEST("has_status", JSON_BOOL, has_status),
	OF_MANIFEST("status", JSON_INT, status),
	OF_MANIFEST("complete", JSON_BOOL, complete),
	OF_MANIFEST("self_user_us", JSON_U64, self_user_us),
	OF_MANIFEST("self_system_us", JSON_U64, self_system_us),
	OF_REPORT("first_time", JSON_TEXT, first_time),
	OF_REPORT("first_ns", JSON_U64, first_ns),
	OF_REPORT("last_ns", JSON_U64, last_ns),
	OF_REPORT("trace_bytes", JSON_U64, trace_bytes),
	OF_REPORT("rows_missing", JSON_U64, rows_missing),
	OF_REPORT("calls", JSON_U64, missing.calls),
	OF_REPORT("calls_missing", JSON_U64, missing.calls_missing),
	OF_REPORT("nothing_missing", JSON_BOOL, missing.complete),
	OF_REPORT("read_error_ns", JSON_U64, clock_error_ns),
	OF_REPORT("clock_steps", JSON_U64, clock_steps),
	OF_REPORT("asleep_ns", JSON_U64, asleep_ns),
	OF_REPORT("map_calls", JSON_U64, map_calls),
	OF_REPORT("map_bytes", JSON_U64, map_bytes),
	OF_REPORT("processes", JSON_INT, n_procs),
	OF_REPORT("alloc", JSON_BOOL, alloc.present),
	OF_REPORT("alloc_peak_bytes", JSON_U64, alloc.n.peak_bytes),
	OF_REPORT("alloc_peak_blocks", JSON_U64, alloc.n.peak_blocks),
	OF_REPORT("alloc_blocks", JSON_U64, alloc.n.blocks),
	OF_REPORT("alloc_bytes", JSON_U64, alloc.n.bytes),
	OF_REPORT("alloc_short_blocks", JSON_U64, alloc.n.short_blocks),
	OF_REPORT("alloc_short_bytes", JSON_U64, alloc.n.short_bytes),
	OF_REPORT("alloc_never_freed_blocks", JSON_U64, alloc.n.left_blocks),
	OF_REPORT("alloc_never_freed_bytes", JSON_U64, alloc.n.left_bytes),
	OF_REPORT("alloc_frees", JSON_U64, alloc.n.frees),
	OF_REPORT("alloc_cross_thread_frees", JSON_U64, alloc.n.cross_frees),
	OF_REPORT("alloc_unknown_frees", JSON_U64, alloc.n.unknown_frees),
	OF_REPORT("alloc_failed", JSON_U64, alloc.n.failed),
	OF_REPORT("alloc_small_calls", JSON_U64, alloc.n.small_calls),
	OF_REPORT("alloc_small_bytes", JSON_U64, alloc.n.small_bytes),
	OF_REPORT("alloc_min_bytes", JSON_U64, alloc.min_bytes),
	OF_REPORT("only_path", MEMBER_OWNED, only.path),
	OF_REPORT("only_rows", JSON_U64, only.rows),
	OF_REPORT("only_left_out", JSON_U64, only.left_out),
	{ 0 },
};

/* --- arrays ------------------------------------------------------------------------------------------------------ */

static const struct json_member finding_members[] = {
	JSON_MEMBER("code", JSON_TEXT, summary_finding, code),
	JSON_MEMBER("title", JSON_TEXT, summary_finding, title),
	JSON_MEMBER("share", MEMBER_DOUBLE, summary_finding, share),
	JSON_MEMBER("is_answer", JSON_BOOL, summary_finding, is_answer),
	{ 0 },
};

const struct member_list summary_lists[] = {
	{ "findings", finding_members, offsetof(struct summary, finding), sizeof(struct summary_finding), RULES_MAX + 1,
	  offsetof(struct summary, n_findings), NULL },
	{ 0 },
};

static const struct json_member file_members[] = { { "there", JSON_BOOL, 0, sizeof(bool) }, { 0 } };
static const struct json_member note_members[] = { { "text", MEMBER_OWNED, 0, sizeof(char *) }, { 0 } };

static const struct json_member op_members[] = {
	JSON_MEMBER("rows", JSON_U64, report_op, rows),
	JSON_MEMBER("failed", JSON_U64, report_op, failed),
	JSON_MEMBER("running", JSON_U64, report_op, running),
	JSON_MEMBER("bytes", JSON_U64, report_op, bytes),
	JSON_MEMBER("latency_ns", MEMBER_HIST, report_op, lat),
	JSON_MEMBER("size_bytes", MEMBER_HIST, report_op, size),
	{ 0 },
};

static const struct json_member probe_members[] = {
	JSON_MEMBER("name", JSON_TEXT, manifest_probe, name),
	JSON_MEMBER("backend", JSON_TEXT, manifest_probe, backend),
	JSON_MEMBER("rows", JSON_U64, manifest_probe, rows),
	JSON_MEMBER("lost", JSON_U64, manifest_probe, lost),
	JSON_MEMBER("dropped", JSON_U64, manifest_probe, dropped),
	{ 0 },
};

static const struct json_member collector_members[] = {
	JSON_MEMBER("name", JSON_TEXT, manifest_collector, name),
	JSON_MEMBER("state", JSON_TEXT, manifest_collector, state),
	{ 0 },
};

static const struct json_member sum_members[] = {
	JSON_MEMBER("name", JSON_TEXT, report_sum, name),
	JSON_MEMBER("rows", JSON_U64, report_sum, rows),
	JSON_MEMBER("failed", JSON_U64, report_sum, failed),
	JSON_MEMBER("bytes", JSON_U64, report_sum, bytes),
	JSON_MEMBER("time_ns", JSON_U64, report_sum, lat_ns),
	JSON_MEMBER("max_ns", JSON_U64, report_sum, max_lat_ns),
	{ 0 },
};

/* Two of report.by_type, and a counter of report.read_size: offsets alone. */
struct type_sides {
	struct report_type_sum side[2];
};

struct size_sum {
	uint64_t calls, bytes;
};

static const struct json_member type_members[] = {
	JSON_MEMBER("reads", JSON_U64, type_sides, side[0].rows),
	JSON_MEMBER("read_bytes", JSON_U64, type_sides, side[0].bytes),
	JSON_MEMBER("read_ns", JSON_U64, type_sides, side[0].time_ns),
	JSON_MEMBER("writes", JSON_U64, type_sides, side[1].rows),
	JSON_MEMBER("write_bytes", JSON_U64, type_sides, side[1].bytes),
	JSON_MEMBER("write_ns", JSON_U64, type_sides, side[1].time_ns),
	{ 0 },
};

static const struct json_member source_members[] = {
	JSON_MEMBER("calls", JSON_U64, report_source_sum, calls),
	JSON_MEMBER("bytes", JSON_U64, report_source_sum, bytes),
	JSON_MEMBER("disk_bytes", JSON_U64, report_source_sum, disk_bytes),
	JSON_MEMBER("disk_calls", JSON_U64, report_source_sum, disk_calls),
	JSON_MEMBER("unaccounted", JSON_U64, report_source_sum, unaccounted),
	{ 0 },
};

static const struct json_member size_members[] = {
	JSON_MEMBER("calls", JSON_U64, size_sum, calls),
	JSON_MEMBER("bytes", JSON_U64, size_sum, bytes),
	{ 0 },
};

static const struct json_member reason_members[] = {
	JSON_MEMBER("code", MEMBER_CODE, missing_reason, kind),
	JSON_MEMBER("file", JSON_TEXT, missing_reason, file),
	JSON_MEMBER("count", JSON_U64, missing_reason, n),
	JSON_MEMBER("share", MEMBER_DOUBLE, missing_reason, share),
	JSON_MEMBER("of", MEMBER_OF, missing_reason, of),
	JSON_MEMBER("matters", JSON_BOOL, missing_reason, matters),
	JSON_MEMBER("of_calls", JSON_BOOL, missing_reason, of_calls),
	JSON_MEMBER("brief", MEMBER_OWNED, missing_reason, brief),
	JSON_MEMBER("text", MEMBER_OWNED, missing_reason, text),
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
