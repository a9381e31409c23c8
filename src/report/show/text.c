/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A struct report as text for a terminal, one function per section, and its short form. A table's
 * header and lines share one format of strings.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/report.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "report/show/summaries.h"
#include "report/timeline.h"
#include "report/why/why.h"

#define TOP_WAITS 3
#define BAR "########################################"

#define FACT_LABEL "%-12s "
#define OP_LINE "%-12s %11s %8s %8s %10s %10s %9s %9s %9s\n"
#define SUM_LINE " %11s %8s %10s %9s %9s\n"
#define TYPE_LINE "%-8s %11s %10s %10s %11s %10s %10s\n"
#define SOURCE_LINE "%-13s %11s %10s %10s %9s %14s\n"
#define SIZE_LINE "%10s %-12s %11s %10s  %s\n"
#define FILE_LINE "%10s %10s %10s %9s  %s"
#define PROC_LINE "%8s %8s %10s %10s %10s %10s %10s %10s  %s"
#define CALL_LINE "%10s  %-10s %8s %8s  "
#define DISK_LINE "%2s %11s %10s %9s %9s %9s %8s%s\n"

static const char *const source_labels[REPORT_SOURCES] = {
	[REPORT_BUFFERED] = "buffered",	  [REPORT_DIRECT] = "O_DIRECT",
	[REPORT_REMOTE] = "network fs",	  [REPORT_NO_DISK] = "memory fs",
	[REPORT_NO_TYPE] = "unknown file",
};

static void title(FILE *out, const char *text)
{
	fprintf(out, "\n%s\n", text);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* --- run facts ------------------------------------------------------------------------------- */

static void fact(FILE *out, const char *label, const char *value)
{
	if (!value[0])
		return;
	fprintf(out, FACT_LABEL, label);
	fmt_text(out, value, 0);
	fputc('\n', out);
}

static void facts(const struct report *r, FILE *out)
{
	const struct manifest_facts *m = &r->manifest;
	uint64_t self_us = m->self_user_us + m->self_system_us;

	fact(out, "trace", r->dir);
	report_only_text(r, out);
	fact(out, "command", report_command(r));
	fact(out, "user", m->user);
	fact(out, "host", m->host);
	fact(out, "kernel", m->kernel);
	fact(out, "started", report_started(r));
	fact(out, "lasted", FMT_NS(report_duration_ns(r)));
	if (m->has_status)
		fprintf(out, FACT_LABEL "%s %d\n", "ended",
			WIFSIGNALED(m->status) ? "killed by signal" : "exit status",
			WIFSIGNALED(m->status) ? WTERMSIG(m->status) : WEXITSTATUS(m->status));
	fprintf(out, FACT_LABEL "%s, %s\n", "files", m->complete ? "complete" : "NOT complete",
		FMT_BYTES(r->trace_bytes));
	if (r->present[REPORT_TIME_ALIGN])
		fprintf(out, FACT_LABEL "UTC within %s, steps: %s%s%s\n", "clock",
			FMT_NS(r->clock_error_ns), FMT_COUNT(r->clock_steps),
			r->asleep_ns ? ", the machine slept for " : "", r->asleep_ns ? FMT_NS(r->asleep_ns) : "");
	if (self_us)
		fact(out, "dltraced CPU", FMT_NS(self_us * 1000));
	for (unsigned int i = 0; i < m->n_collectors; i++) {
		fprintf(out, FACT_LABEL, i ? "" : "collectors");
		fmt_text(out, m->collectors[i].name, 0);
		fputs(": ", out);
		fmt_text(out, m->collectors[i].state, 0);
		fputc('\n', out);
	}
}

/* --- sums ------------------------------------------------------------------------------------ */

static void op_line(FILE *out, const char *label, const struct report_op *op, const char *lost)
{
	const struct hist *lat = &op->lat;

	fprintf(out, OP_LINE, label, FMT_COUNT(op->rows), lost, FMT_COUNT(op->failed),
		op->bytes ? FMT_BYTES(op->bytes) : "-", lat->n ? FMT_NS(lat->sum) : "-",
		lat->n ? FMT_NS(hist_quantile(lat, 500)) : "-",
		lat->n ? FMT_NS(hist_quantile(lat, 990)) : "-", lat->n ? FMT_NS(lat->max) : "-");
}

static void ops(const struct report *r, FILE *out, bool sides)
{
	fprintf(out, OP_LINE, "PROBE", "ROWS", "LOST", "FAILED", "BYTES", "TIME", "P50", "P99",
		"MAX");
	for (enum report_kind kind = REPORT_BIO; kind < REPORT_KINDS; kind++) {
		const char *name = report_kind_names[kind];
		const struct manifest_probe *m = manifest_probe(&r->manifest, name);

		if (!r->present[kind])
			continue;
		op_line(out, name, &r->op[kind], m ? FMT_COUNT(m->lost) : "?");
		if (kind == REPORT_VFS_RW && sides) {
			op_line(out, "  reads", &r->rw[0], "");
			op_line(out, "  writes", &r->rw[1], "");
		}
	}
	for (unsigned int i = 0; sides && i < r->manifest.n_probes; i++) {
		const struct manifest_probe *m = &r->manifest.probes[i];

		if (report_is_told_by_manifest(m))
			fprintf(out, OP_LINE, m->name, FMT_COUNT(m->rows - MIN(m->rows, m->dropped)),
				FMT_COUNT(m->lost), "-", "-", "-", "-", "-", "-");
	}
}

static void sums(const struct report *r, FILE *out)
{
	if (r->n_sums == 0)
		return;
	title(out, "By rollup.out: rows that --keep dropped or --rollup-only did not write");
	fmt_text(out, "PROBE", 12);
	fprintf(out, SUM_LINE, "ROWS", "FAILED", "BYTES", "TIME", "MAX");
	for (unsigned int i = 0; i < r->n_sums; i++) {
		const struct report_sum *s = &r->sums[i];

		fmt_text(out, s->name, 12);
		fprintf(out, SUM_LINE, FMT_COUNT(s->rows), FMT_COUNT(s->failed),
			s->bytes ? FMT_BYTES(s->bytes) : "-", FMT_NS(s->lat_ns), FMT_NS(s->max_lat_ns));
	}
}

static void types(const struct report *r, FILE *out)
{
	title(out, "Read and written, by type of file");
	fprintf(out, TYPE_LINE, "TYPE", "READS", "BYTES", "TIME", "WRITES", "BYTES", "TIME");
	for (unsigned int t = 0; t < REPORT_TYPES; t++) {
		const struct report_type_sum *rd = &r->by_type[t][0], *wr = &r->by_type[t][1];

		if (rd->rows + wr->rows)
			fprintf(out, TYPE_LINE, report_type_names[t], FMT_COUNT(rd->rows),
				FMT_BYTES(rd->bytes), FMT_NS(rd->time_ns), FMT_COUNT(wr->rows),
				FMT_BYTES(wr->bytes), FMT_NS(wr->time_ns));
	}
}

static void sources(const struct report *r, FILE *out)
{
	title(out, "Where reads of regular files were served from");
	fprintf(out, SOURCE_LINE, "READS", "CALLS", "BYTES", "FROM DISK", "SHARE", "CALLS TO DISK");
	for (unsigned int i = 0; i < REPORT_SOURCES; i++) {
		const struct report_source_sum *src = &r->source[i];
		bool known = src->calls > src->unaccounted;
		char share[16] = "-";

		if (src->calls == 0)
			continue;
		if (i == REPORT_BUFFERED && known && src->bytes)
			snprintf(share, sizeof(share), "%.1f %%",
				 percent(src->disk_bytes, src->bytes));
		fprintf(out, SOURCE_LINE, source_labels[i], FMT_COUNT(src->calls),
			FMT_BYTES(src->bytes), known ? FMT_BYTES(src->disk_bytes) : "-", share,
			known ? FMT_COUNT(src->disk_calls) : "-");
	}
	fputs("FROM DISK is what these calls made the kernel fetch, read-ahead included; the\n"
	      "rest of the buffered bytes came from the page cache.\n", out);
	if (r->source[REPORT_BUFFERED].unaccounted)
		fprintf(out, "Buffered reads without an account of it (DISK_BYTES is -): %s.\n",
			FMT_COUNT(r->source[REPORT_BUFFERED].unaccounted));
	fprintf(out, "Reads through mmap are not covered; mappings of files made: %s, of %s.\n",
		FMT_COUNT(r->map_calls), FMT_BYTES(r->map_bytes));
}

static void read_sizes(const struct report *r, FILE *out)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(r->read_size); i++)
		most = MAX(most, r->read_size[i].calls);
	if (most == 0)
		return;
	title(out, "Sizes of reads from files (not from pipes, sockets, terminals, devices)");
	fprintf(out, SIZE_LINE, "FROM", "TO BELOW", "READS", "BYTES", "");
	for (unsigned int i = 0; i < ARRAY_SIZE(r->read_size); i++) {
		uint64_t calls = r->read_size[i].calls;
		size_t empty = (sizeof(BAR) - 1) * (most - calls) / most;

		if (calls)
			fprintf(out, SIZE_LINE, i ? FMT_BYTES(1ULL << (i - 1)) : "end",
				i == 0 ? "of file" : i < 64 ? FMT_BYTES(1ULL << i) : "-",
				FMT_COUNT(calls), FMT_BYTES(r->read_size[i].bytes), &BAR[empty]);
	}
}

static void top_file(FILE *out, const struct report_top_file *f)
{
	fprintf(out, FILE_LINE, FMT_BYTES(f->sum.read_bytes), FMT_BYTES(f->sum.write_bytes),
		FMT_NS(f->sum.time_ns), FMT_COUNT(f->sum.calls), f->path ? "" : "FID ");
	fmt_text(out, f->path ? f->path : FMT_COUNT(f->fid), 0);
	fputc('\n', out);
}

static void top_files(FILE *out, const char *text, const struct report_top_file *top,
		      unsigned int n)
{
	if (n == 0)
		return;
	title(out, text);
	fprintf(out, FILE_LINE "\n", "READ", "WRITTEN", "TIME", "CALLS", "FILE");
	for (unsigned int i = 0; i < n; i++)
		top_file(out, &top[i]);
}

static void procs(const struct report *r, FILE *out)
{
	if (r->n_top_procs == 0)
		return;
	title(out, "Processes, by time in calls on files (WAITING: in those on pipes, sockets, "
		   "terminals, devices)");
	fprintf(out, PROC_LINE "\n", "PID", "PPID", "READS", "BYTES", "WRITES", "BYTES", "TIME",
		"WAITING", "COMM");
	for (unsigned int i = 0; i < r->n_top_procs; i++) {
		const struct report_proc *p = &r->top_procs[i];

		fprintf(out, PROC_LINE, FMT_COUNT(p->pid), p->named ? FMT_COUNT(p->ppid) : "?",
			FMT_COUNT(p->reads), FMT_BYTES(p->read_bytes), FMT_COUNT(p->writes),
			FMT_BYTES(p->write_bytes), FMT_NS(p->file_ns), FMT_NS(p->wait_ns), "");
		fmt_text(out, p->comm, 0);
		if (p->rank[0])
			fputs(", rank ", out);
		fmt_text(out, p->rank, 0);
		fputc('\n', out);
	}
	if (r->n_procs > r->n_top_procs)
		fprintf(out, "and %u more\n", r->n_procs - r->n_top_procs);
}

/* --- single calls ---------------------------------------------------------------------------- */

static void call_tail(FILE *out, const char *comm, const char *time, const char *func,
		      const char *file)
{
	fmt_text(out, comm, 17);
	fmt_text(out, time, 32);
	fmt_text(out, func, 18);
	fmt_text(out, file, 0);
	fputc('\n', out);
}

static void call_line(FILE *out, const struct report_call *c)
{
	fprintf(out, CALL_LINE, FMT_NS(c->lat_ns), report_kind_names[c->kind], FMT_COUNT(c->pid),
		FMT_COUNT(c->tid));
	call_tail(out, c->comm, c->time, c->func, c->target);
}

static void calls(FILE *out, const char *text, const struct report_calls *list, unsigned int max)
{
	unsigned int n = MIN(list->n, max);

	if (n == 0)
		return;
	title(out, text);
	fprintf(out, CALL_LINE, "LATENCY", "PROBE", "PID", "TID");
	call_tail(out, "COMM", "ENDED", "FUNC", "FILE");
	for (unsigned int i = 0; i < n; i++)
		call_line(out, &list->call[i]);
	if (list->seen > n)
		fprintf(out, "the longest of %s\n", FMT_COUNT(list->seen));
}

/* --- disks ----------------------------------------------------------------------------------- */

static void disk(FILE *out, const struct report_disk *d)
{
	for (unsigned int t = 0; t < REPORT_TS; t++) {
		const struct report_disk_op *op = &d->op[t];
		char name[2] = { report_t_names[t] }, queued[16];

		if (op->requests == 0)
			continue;
		snprintf(queued, sizeof(queued), "%.1f %%", percent(op->queue_ns, op->lat->sum));
		fmt_text(out, d->name, 12);
		fprintf(out, DISK_LINE, name, FMT_COUNT(op->requests), FMT_BYTES(op->bytes),
			FMT_NS(hist_quantile(op->lat, 500)), FMT_NS(hist_quantile(op->lat, 990)),
			FMT_NS(op->lat->max), queued, d->stacked ? "  bios" : "");
	}
	if (d->failed)
		fprintf(out, "%14s failed: %s\n", "", FMT_COUNT(d->failed));
	if (d->self_requests)
		fprintf(out, "%14s by dltraced itself: %s, %s\n", "", FMT_COUNT(d->self_requests),
			FMT_BYTES(d->self_bytes));
}

static void disks(const struct report *r, FILE *out)
{
	if (r->disks.n == 0)
		return;
	title(out, "Disks, whole machine (QUEUED: share of the latency before the driver had it)");
	fmt_text(out, "DISK", 12);
	fprintf(out, DISK_LINE, "T", "REQUESTS", "BYTES", "P50", "P99", "MAX", "QUEUED", "");
	for (uint32_t i = 0; i < r->disks.n; i++)
		disk(out, table_at(&r->disks, i));
}

static void notes(const struct report *r, FILE *out)
{
	title(out, "What is missing");
	for (unsigned int i = 0; i < r->n_notes; i++) {
		fputs("- ", out);
		fmt_text(out, r->notes[i], 0);
		fputc('\n', out);
	}
	if (r->n_notes == 0)
		fputs("nothing that dltraced knows of\n", out);
}

void report_text(const struct report *r, FILE *out)
{
	why_answer(r, out);
	facts(r, out);
	why_findings(r, out);
	why_epochs_text(r, out);
	title(out, "Rows by probe (TIME: all latencies, but of calls still running)");
	ops(r, out, true);
	sums(r, out);
	report_phases_text(r, out);
	types(r, out);
	sources(r, out);
	read_sizes(r, out);
	report_spreads_text(r, out);
	top_files(out, "Files with the most bytes", r->top_bytes, r->n_top_bytes);
	top_files(out, "Files with the most time (in calls still running too)", r->top_time,
		  r->n_top_time);
	report_uses_text(r, out);
	procs(r, out);
	report_medians_text(r, out);
	report_streams_text(r, out);
	calls(out, "Slowest calls on files", &r->slow, REPORT_TOP);
	calls(out, "Longest waits on pipes, sockets, terminals, devices", &r->waits, TOP_WAITS);
	calls(out, "Still running at the end", &r->running, REPORT_TOP);
	calls(out, "Still waiting at the end on pipes, sockets, terminals, devices",
	      &r->running_waits, TOP_WAITS);
	disks(r, out);
	notes(r, out);
}

/* --- the short form: 20 lines at most -------------------------------------------------------- */

static void short_files(FILE *out, const char *label, const struct report_top_file *top,
			unsigned int n)
{
	for (unsigned int i = 0; i < MIN(n, 3); i++) {
		fprintf(out, FACT_LABEL, i ? "" : label);
		top_file(out, &top[i]);
	}
}

static void short_sums(const struct report *r, FILE *out)
{
	uint64_t rows = 0, bytes = 0;

	for (unsigned int i = 0; i < r->n_sums; i++) {
		rows += r->sums[i].rows;
		bytes += r->sums[i].bytes;
	}
	if (rows)
		fprintf(out, "in rollup.out alone: %s rows, %s\n", FMT_COUNT(rows), FMT_BYTES(bytes));
}

void report_short(const struct report *r, FILE *out)
{
	const struct report_source_sum *src = &r->source[REPORT_BUFFERED];

	fmt_text(out, report_command(r), 0);
	fprintf(out, ": %s, trace of %s in ", FMT_NS(report_duration_ns(r)),
		FMT_BYTES(r->trace_bytes));
	fmt_text(out, r->dir, 0);
	fputc('\n', out);
	ops(r, out, false);
	short_sums(r, out);
	if (src->bytes && src->calls > src->unaccounted)
		fprintf(out, "buffered reads of regular files: %s, of that from disk: %.1f %%\n",
			FMT_BYTES(src->bytes), percent(src->disk_bytes, src->bytes));
	if (r->n_top_time)
		fprintf(out, FACT_LABEL FILE_LINE "\n", "", "READ", "WRITTEN", "TIME", "CALLS",
			"FILE");
	short_files(out, "most bytes", r->top_bytes, r->n_top_bytes);
	short_files(out, "most time", r->top_time, r->n_top_time);
	if (r->slow.n) {
		fprintf(out, FACT_LABEL, "slowest");
		call_line(out, &r->slow.call[0]);
	}
	if (r->running.seen)
		fprintf(out, "calls still running at the end: %s\n", FMT_COUNT(r->running.seen));
	if (r->n_notes) {
		fmt_text(out, r->notes[0], 0);
		fprintf(out, r->n_notes > 1 ? " (%u more: see dltraced report)\n" : "\n",
			r->n_notes - 1);
	}
}

int report_summary(const char *dir, int dirfd, FILE *out)
{
	const struct report_options o = { .brief = true };
	struct report *r;
	int res = report_load_at(&r, dir, dirfd, &o);

	if (res < 0)
		return res;
	report_short(r, out);
	report_free(r);
	return 0;
}
