/* SPDX-License-Identifier: BSD-2-Clause */
/* The summaries of a report for a terminal, a function per table. */
#include <inttypes.h>
#include <stdio.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/scan/spreads.h"
#include "report/scan/streams.h"
#include "report/scan/uses.h"
#include "report/show/summaries.h"

#define OCTAVE_LINE "%10s %-12s"
#define OCTAVE_CELL " %11s"
#define MEDIAN_LINE "%8s %9s %10s %9s %10s %9s %9s  "
#define FILE_LINE "%10s %10s %10s %9s %8s %8s  "
#define USE_LINE "%10s %10s %10s %9s %8s  "
#define SHM_LINE "%10s %9s %10s %9s %10s  "
#define CLASS_LINE "%8s %11s %11s %10s %11s %10s %10s\n"
#define LOG_LINE "%9s %10s %10s %9s %10s %8s  "

static void title(FILE *out, const char *text)
{
	fprintf(out, "\n%s\n", text);
}

static const char *comm_of(const struct report *r, uint64_t pid)
{
	const struct report_proc *p = table_find(&r->procs, pid);

	return p ? p->comm : "";
}

static void path_or_fid(FILE *out, const char *path, uint64_t fid)
{
	fputs(path ? "" : "FID ", out);
	fmt_text(out, path ? path : FMT_COUNT(fid), 0);
	fputc('\n', out);
}

void report_only_text(const struct report *r, FILE *out)
{
	if (!r->only.path)
		return;
	fputs("only         calls on files at or below ", out);
	fmt_text(out, r->only.path[0] ? r->only.path : "/", 0);
	fprintf(out, ": left out are %" PRIu64 " of %" PRIu64 " rows; disks are whole\n", r->only.left_out,
		r->only.rows);
}

/* --- how values are spread ------------------------------------------------------------------------- */

static void octave_heads(FILE *out, const struct report_column *columns, unsigned int n,
			 const struct hist *(*of)(const struct report_column *c))
{
	fprintf(out, OCTAVE_LINE, "FROM", "TO BELOW");
	for (unsigned int i = 0; i < n; i++) {
		char head[24];

		snprintf(head, sizeof(head), "%s%s", columns[i].of && columns[i].probe[0] == 'b' ? "bio " : "",
			 columns[i].of ? columns[i].of : columns[i].probe);
		if (of(&columns[i]))
			fprintf(out, OCTAVE_CELL, head);
	}
	fputc('\n', out);
}

static const struct hist *lat_of(const struct report_column *c)
{
	return c->lat;
}

static const struct hist *size_of(const struct report_column *c)
{
	return c->size;
}

/* A line for each power of two that has any, a cell for each column. */
static void octaves(const struct report *r, FILE *out, const char *text,
		    const struct hist *(*of)(const struct report_column *c), char *(*fmt)(char buf[FMT_MAX], uint64_t v))
{
	uint64_t counts[REPORT_COLUMNS_MAX][SPREAD_OCTAVES], sum[SPREAD_OCTAVES] = { 0 }, all = 0;
	struct report_column columns[REPORT_COLUMNS_MAX];
	unsigned int n = report_columns(r, columns);
	char from[FMT_MAX], to[FMT_MAX];

	for (unsigned int i = 0; i < n; i++) {
		if (!of(&columns[i]))
			continue;
		spread_octaves_of_hist(of(&columns[i]), counts[i]);
		for (unsigned int e = 0; e < SPREAD_OCTAVES; e++)
			sum[e] += counts[i][e];
		all += of(&columns[i])->n;
	}
	if (!all)
		return;
	title(out, text);
	octave_heads(out, columns, n, of);
	for (unsigned int e = 0; e < SPREAD_OCTAVES; e++) {
		if (!sum[e])
			continue;
		fprintf(out, OCTAVE_LINE, fmt(from, e ? 1ULL << (e - 1) : 0), e > 63 ? "-" : fmt(to, 1ULL << e));
		for (unsigned int i = 0; i < n; i++)
			if (of(&columns[i]))
				fprintf(out, OCTAVE_CELL, counts[i][e] ? FMT_COUNT(counts[i][e]) : "-");
		fputc('\n', out);
	}
}

#define MEDIAN_NS(p, what) ((p)->spread[what] ? FMT_NS(spread_quantile((p)->spread[what], 500)) : "-")
#define MEDIAN_BYTES(p, what) ((p)->spread[what] ? FMT_BYTES(spread_quantile_floor((p)->spread[what], 500)) : "-")

void report_medians_text(const struct report *r, FILE *out)
{
	bool begun = false;

	for (unsigned int i = 0; i < r->n_top_procs; i++) {
		const struct report_proc *proc = &r->top_procs[i];

		if (!proc->has_spreads)
			continue;
		if (!begun) {
			title(out, "Processes: medians of calls on files (SIZE: bytes moved; OTHER: close, mmap, create, "
				   "delete, sync)");
			fprintf(out, MEDIAN_LINE "%s\n", "PID", "READ", "SIZE", "WRITE", "SIZE", "OPEN", "OTHER", "COMM");
			begun = true;
		}
		fprintf(out, MEDIAN_LINE, FMT_COUNT(proc->pid), MEDIAN_NS(proc, REPORT_READ_NS),
			MEDIAN_BYTES(proc, REPORT_READ_BYTES), MEDIAN_NS(proc, REPORT_WRITE_NS),
			MEDIAN_BYTES(proc, REPORT_WRITE_BYTES), MEDIAN_NS(proc, REPORT_OPEN_NS),
			MEDIAN_NS(proc, REPORT_OTHER_NS));
		fmt_text(out, proc->comm, 0);
		fputc('\n', out);
	}
}

void report_spreads_text(const struct report *r, FILE *out)
{
	if (!r->uses)
		return;
	octaves(r, out, "Latencies: how many calls and requests took so long", lat_of, fmt_ns);
	octaves(r, out, "Sizes: how many calls and requests were of so many bytes (pipes and the like too)", size_of,
		fmt_bytes);
}

/* --- who used what ----------------------------------------------------------------------------------- */

static void files(FILE *out, const char *text, const struct report_top_file *top, unsigned int n)
{
	if (n == 0)
		return;
	title(out, text);
	fprintf(out, FILE_LINE "%s\n", "READ", "WRITTEN", "TIME", "CALLS", "OPENS", "USERS", "FILE");
	for (unsigned int i = 0; i < n; i++) {
		const struct report_file *f = &top[i].sum;

		fprintf(out, FILE_LINE, FMT_BYTES(f->read_bytes), FMT_BYTES(f->write_bytes), FMT_NS(f->time_ns),
			FMT_COUNT(f->calls), FMT_COUNT(f->opens), FMT_COUNT(f->users));
		path_or_fid(out, top[i].path, top[i].fid);
	}
}

static void uses(const struct report *r, FILE *out, const char *text, const struct report_top_use *top, unsigned int n)
{
	if (n == 0)
		return;
	title(out, text);
	fprintf(out, USE_LINE, "READ", "WRITTEN", "TIME", "CALLS", "PID");
	fmt_text(out, "COMM", 17);
	fputs("FILE\n", out);
	for (unsigned int i = 0; i < n; i++) {
		const struct report_use *u = &top[i].sum;

		fprintf(out, USE_LINE, FMT_BYTES(u->read_bytes), FMT_BYTES(u->write_bytes), FMT_NS(u->time_ns),
			FMT_COUNT(u->calls), FMT_COUNT(top[i].pid));
		fmt_text(out, comm_of(r, top[i].pid), 17);
		path_or_fid(out, top[i].path, top[i].fid);
	}
	if (r->uses->uses.n > n)
		fprintf(out, "of %u pairs of a process and a file\n", r->uses->uses.n);
}

static void shm(const struct report_uses *u, FILE *out)
{
	if (!u->n_top_shm)
		return;
	title(out, "Shared memory in /dev/shm (MAPPED: the lengths of all its mappings; SIZE: the largest that was seen)");
	fprintf(out, SHM_LINE "%s\n", "SIZE", "MAPPINGS", "MAPPED", "CALLS", "TIME", "FILE");
	for (unsigned int i = 0; i < u->n_top_shm; i++) {
		const struct report_shm *s = &u->top_shm[i];

		fprintf(out, SHM_LINE, FMT_BYTES(s->size), FMT_COUNT(s->maps), FMT_BYTES(s->map_bytes),
			FMT_COUNT(s->calls), FMT_NS(s->time_ns));
		path_or_fid(out, s->path, s->fid);
	}
	if (u->shm.n > u->n_top_shm)
		fprintf(out, "and %u more\n", u->shm.n - u->n_top_shm);
}

void report_uses_text(const struct report *r, FILE *out)
{
	const struct report_uses *u = r->uses;

	if (!u)
		return;
	files(out, "Files with the most bytes written", u->written, u->n_written);
	files(out, "Files opened most often", u->opened, u->n_opened);
	files(out, "Files that several processes used, by bytes (USERS: with more than a close)", u->shared, u->n_shared);
	uses(r, out, "Processes and their files with the most bytes", u->by_bytes, u->n_by_bytes);
	uses(r, out, "Processes and their files with the most time (in calls still running too)", u->by_time, u->n_by_time);
	shm(u, out);
}

/* --- what is no file, and what is printed ---------------------------------------------------------------- */

static void classes(const struct report_streams *u, FILE *out)
{
	bool begun = false;

	for (unsigned int i = 0; i < u->n_classes; i++) {
		const struct report_class *c = &u->classes[i];

		if (!c->calls)
			continue;
		if (!begun) {
			title(out, "Pipes, sockets, terminals, devices and the like, by class (TIME: of all calls on them)");
			fmt_text(out, "CLASS", 20);
			fprintf(out, CLASS_LINE, "FILES", "CALLS", "READS", "BYTES", "WRITES", "BYTES", "TIME");
			begun = true;
		}
		fmt_text(out, c->name, 20);
		fprintf(out, CLASS_LINE, FMT_COUNT(c->files), FMT_COUNT(c->calls), FMT_COUNT(c->reads),
			FMT_BYTES(c->read_bytes), FMT_COUNT(c->writes), FMT_BYTES(c->write_bytes), FMT_NS(c->time_ns));
	}
}

static void logs(const struct report *r, FILE *out)
{
	const struct report_streams *u = r->streams;

	if (!u->n_top)
		return;
	title(out, "Output and logs: stdout, stderr, files appended to or called .log (GAP: median between two writes)");
	fprintf(out, LOG_LINE, "WRITES", "BYTES", "TIME", "PER S", "GAP", "PID");
	fmt_text(out, "COMM", 17);
	fmt_text(out, "AS", 15);
	fputs("FILE\n", out);
	for (unsigned int i = 0; i < u->n_top; i++) {
		const struct report_log *l = &u->top[i];
		double rate = report_log_rate(l);
		char per_s[24] = "-", how[48];

		if (rate >= 0)
			snprintf(per_s, sizeof(per_s), "%.3g", rate);
		fprintf(out, LOG_LINE, FMT_COUNT(l->calls), FMT_BYTES(l->bytes), FMT_NS(l->time_ns), per_s,
			l->gaps ? FMT_NS(spread_quantile(l->gaps, 500)) : "-", FMT_COUNT(l->pid));
		fmt_text(out, comm_of(r, l->pid), 17);
		fmt_text(out, report_log_how(l->how, how), 15);
		path_or_fid(out, l->path, l->fid);
	}
	if (u->logs.n > u->n_top)
		fprintf(out, "and %u more\n", u->logs.n - u->n_top);
}

void report_streams_text(const struct report *r, FILE *out)
{
	if (!r->streams)
		return;
	classes(r->streams, out);
	logs(r, out);
}
