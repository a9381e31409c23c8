/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is missing of a trace, measured. Each file's rows are held against those that the manifest counts; what has no
 * rows at all (calls of probes that were off, requests of io_uring, 32-bit calls, processes that outlived the trace) is
 * named with its part of the whole where that is known.
 */
#include "report/missing.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/scan/model.h"
#include "report/scan/scan.h"
#include "report/why/rules.h"
#include "report/why/why.h"

/* Files whose rows are not read for the sums above, and on which the answer rests: looked at by their bytes. */
static const char *const by_bytes[] = { "sched", "sched_switch" };

#define COUNT_MAX (1ULL << 56) /* a manifest may be forged: sums of what it counts must fit */

/* Rows of one file: there and whole, and those that are not. */
struct tally {
	uint64_t there, cut, surplus, lost, dropped, summed;
};

static bool is_call(enum report_kind kind)
{
	return kind > REPORT_BIO;
}

/* Who trains and waits, and for which files, is known by them. */
static bool is_for_answer(enum report_kind kind)
{
	return is_call(kind) || kind == REPORT_PIDS || kind == REPORT_FILES;
}

static double part(uint64_t n, uint64_t of)
{
	return of ? (double)n / (double)of : 0;
}

/* --- rows ---------------------------------------------------------------------------------------- */

static struct tally tally_of(const struct report *r, enum report_kind kind)
{
	const struct manifest_probe *m = manifest_probe(&r->manifest, report_kind_names[kind]);
	const struct scan_file *f = scan_file(r->folder, report_kind_names[kind]);
	const uint64_t rows = r->present[kind] ? f->reader.rows : 0, bad = r->present[kind] ? MIN(f->bad_rows, rows) : 0;
	struct tally t = { .there = rows - bad };

	if (m) {
		uint64_t written = MIN(m->rows, COUNT_MAX), counted = written - MIN(written, m->dropped);

		t.lost = MIN(m->lost, COUNT_MAX);
		t.dropped = written - counted;
		t.summed = MIN(m->summed, COUNT_MAX);
		t.surplus = r->manifest.complete && rows > counted ? rows - counted : 0;
		t.cut = r->manifest.complete && counted > t.there ? counted - t.there : bad;
	}
	return t;
}

/* Which segments are not there, of a file that was split; false: none that is known of. DROPPED: --keep took the first. */
static bool put_segments(const struct reader *rd, bool dropped, FILE *out)
{
	if (!rd->n_segments)
		return false;
	if (rd->segments[rd->n_segments - 1].file.nr != SEGMENT_LAST)
		fputs("the last of its segments is not there", out);
	else if (rd->missing)
		fprintf(out, "segments between others are not there: %zu", rd->missing);
	else if (!dropped && rd->segments[0].file.nr != SEGMENT_LAST && rd->segments[0].file.nr > 1)
		fputs("the first of its segments are not there", out);
	else
		return false;
	return true;
}

/* Why rows of F are not there. */
static void put_cause(const struct scan_file *f, bool dropped, FILE *out)
{
	const struct reader *rd = &f->reader;

	if (f->error == -ENOENT)
		fputs("the file is not there", out);
	else if (f->error == -EBADMSG || f->error == -ENODATA)
		fputs("it does not begin with the header of dltraced", out);
	else if (f->error == -ENOTSUP || (rd->bad && rd->error == -ENOTSUP))
		fputs("they are packed as this dltraced was built without", out);
	else if (f->error < 0)
		fprintf(out, "%s", strerror(-f->error));
	else if (put_segments(rd, dropped, out))
		return;
	else if (rd->bad || rd->damaged)
		fprintf(out, "segments of it are damaged: %zu", rd->bad + rd->damaged);
	else if (rd->cut)
		fputs("it was cut off", out);
	else if (rd->bad_rows + f->bad_rows)
		fputs("lines in it are damaged", out);
	else
		fputs("it was cut off, or lines were taken out of it", out);
}

static void find_cut(struct report *r, enum report_kind kind, const struct tally *t)
{
	const struct scan_file *f = scan_file(r->folder, report_kind_names[kind]);
	struct missing_reason reason = {
		.kind = MISSING_CUT, .n = t->cut, .share = part(t->cut, t->cut + t->there), .of = "rows", .of_calls = is_call(kind),
	};
	autofree char *cause = NULL;
	size_t len;
	FILE *out = t->cut ? open_memstream(&cause, &len) : NULL;

	if (!out)
		return;
	put_cause(f, t->dropped, out);
	fclose(out);
	snprintf(reason.file, sizeof(reason.file), "%s", f->name);
	reason.matters = is_for_answer(kind) && reason.share >= MISSING_MATTERS;
	reason.brief = util_fmt("%.1f %% of %s.out is missing", 100 * reason.share, f->name);
	missing_add(&r->missing, reason, "%s.out: %s of %s rows are not in the file: %s", f->name, FMT_COUNT(t->cut),
		    FMT_COUNT(t->cut + t->there), cause);
}

static void find_surplus(struct report *r, enum report_kind kind, const struct tally *t)
{
	const char *name = report_kind_names[kind];
	struct missing_reason reason = {
		.kind = MISSING_SURPLUS, .n = t->surplus, .share = part(t->surplus, t->there), .of = "rows",
	};

	if (!t->surplus)
		return;
	snprintf(reason.file, sizeof(reason.file), "%s", name);
	reason.matters = is_for_answer(kind) && reason.share >= MISSING_MATTERS;
	reason.brief = util_fmt("%.1f %% of %s.out is not of this trace", 100 * reason.share, name);
	missing_add(&r->missing, reason, "%s.out: %s of %s rows are more than dltraced has written: they are counted here, and may be of "
		    "another trace", name, FMT_COUNT(t->surplus), FMT_COUNT(t->there));
}

/* Ways in which rows that the manifest counts never were in a file, or are no more. */
static const struct way {
	enum missing_kind kind;
	size_t offset; /* in struct tally */
	const char *how;
} ways[] = {
	{ MISSING_LOST, offsetof(struct tally, lost), "were lost while tracing: there was no room for them in memory or on the disk" },
	{ MISSING_DROPPED, offsetof(struct tally, dropped), "were dropped by --keep: rollup.out has their sums" },
	{ MISSING_SUMMED, offsetof(struct tally, summed), "were only summed up (--rollup-only): rollup.out has their sums" },
};

static uint64_t by_way(const struct tally *t, const struct way *way)
{
	return *(const uint64_t *)((const char *)t + way->offset);
}

static uint64_t all_of(const struct tally *t)
{
	return t->there + t->cut + t->lost + t->dropped + t->summed;
}

/* Of all calls: one reason with each of their files. */
static void find_calls(struct report *r, const struct tally tallies[REPORT_KINDS], const struct way *way, uint64_t all)
{
	struct missing_reason reason = { .kind = way->kind, .of = "calls", .of_calls = true };
	autofree char *files = NULL;
	size_t len;
	FILE *out = open_memstream(&files, &len);
	enum report_kind worst = REPORT_VFS_RW;

	for (enum report_kind kind = REPORT_BIO + 1; out && kind < REPORT_KINDS; kind++) {
		const struct tally *t = &tallies[kind], *most = &tallies[worst];
		uint64_t n = by_way(t, way);

		if (n)
			fprintf(out, "%s%s %s", reason.n ? ", " : "", FMT_COUNT(n), report_kind_names[kind]);
		reason.n += n;
		if (part(n, all_of(t)) > part(by_way(most, way), all_of(most)))
			worst = kind;
	}
	if (!out)
		return;
	fclose(out);
	if (!reason.n)
		return;
	reason.share = part(reason.n, all);
	reason.matters = part(by_way(&tallies[worst], way), all_of(&tallies[worst])) >= MISSING_MATTERS;
	reason.brief = util_fmt("%.1f %% of the calls of %s are missing",
				100 * part(by_way(&tallies[worst], way), all_of(&tallies[worst])), report_kind_names[worst]);
	missing_add(&r->missing, reason, "%s of %s calls (%s) %s", FMT_COUNT(reason.n), FMT_COUNT(all), files, way->how);
}

static void find_others(struct report *r, enum report_kind kind, const struct tally *t, const struct way *way)
{
	const char *name = report_kind_names[kind];
	struct missing_reason reason = {
		.kind = way->kind, .n = by_way(t, way), .share = part(by_way(t, way), all_of(t)), .of = "rows",
	};

	if (!reason.n)
		return;
	snprintf(reason.file, sizeof(reason.file), "%s", name);
	reason.matters = is_for_answer(kind) && reason.share >= MISSING_MATTERS;
	reason.brief = util_fmt("%.1f %% of %s.out is missing", 100 * reason.share, name);
	missing_add(&r->missing, reason, "%s.out: %s of %s rows %s", name, FMT_COUNT(reason.n), FMT_COUNT(all_of(t)), way->how);
}

/* The bytes of NAME.out, where it is one plain file, against the manifest's. */
static void find_short(struct report *r, const char *name)
{
	const struct manifest_probe *m = manifest_probe(&r->manifest, name);
	const struct scan_file *f = m && m->rows > m->dropped && r->manifest.complete ? scan_file(r->folder, name) : NULL;
	struct missing_reason reason = { .kind = MISSING_CUT, .of = "bytes", .matters = true };
	uint64_t there, counted;

	if (!f || (f->error == 0 && (f->reader.n_segments > 1 || f->reader.growing_pack != PACK_NONE)))
		return;
	there = f->error == 0 ? f->reader.growing_bytes : 0;
	counted = m->bytes - MIN(m->bytes, m->dropped_bytes);
	if (there >= counted)
		return;
	reason.n = counted - there;
	reason.share = part(reason.n, counted);
	snprintf(reason.file, sizeof(reason.file), "%s", name);
	reason.matters = reason.share >= MISSING_MATTERS;
	reason.brief = util_fmt("%.1f %% of %s.out is missing", 100 * reason.share, name);
	missing_add(&r->missing, reason, "%s.out: %s of %s are not in the file: %s", name, FMT_BYTES(reason.n), FMT_BYTES(counted),
		    f->error == -ENOENT ? "it is not there" : f->error < 0 ? "it cannot be read" : "it was cut off");
}

void report_missing_files(struct report *r)
{
	struct tally tallies[REPORT_KINDS];
	uint64_t all = 0, missing = 0;

	for (enum report_kind kind = 0; kind < REPORT_KINDS; kind++) {
		const struct tally *t = &tallies[kind];

		tallies[kind] = tally_of(r, kind);
		find_cut(r, kind, t);
		find_surplus(r, kind, t);
		for (size_t i = 0; i < ARRAY_SIZE(ways) && !is_call(kind); i++)
			find_others(r, kind, t, &ways[i]);
		r->rows_missing += kind >= REPORT_BIO ? t->cut + t->lost : 0;
		if (is_call(kind)) {
			all += all_of(t);
			missing += all_of(t) - t->there;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		find_calls(r, tallies, &ways[i], all);
	for (size_t i = 0; i < ARRAY_SIZE(by_bytes); i++)
		find_short(r, by_bytes[i]);
	r->missing.calls = all - missing;
	r->missing.calls_missing = missing;
	for (unsigned int i = 0; i < r->missing.n; i++)
		if (missing_is_damage(&r->missing.reason[i]))
			report_note(r, "%s", r->missing.reason[i].text);
}

/* --- what has no rows ---------------------------------------------------------------------------- */

static void find_no_end(struct report *r)
{
	struct missing_reason reason = { .kind = MISSING_NO_END, .share = (double)NAN, .matters = true };

	if (!r->has_manifest) {
		reason.brief = strdup("manifest.json is not there");
		missing_add(&r->missing, reason, "manifest.json is not there, or not whole: how many rows are missing is not known");
	} else if (!r->manifest.complete) {
		reason.brief = strdup("the trace has no end");
		missing_add(&r->missing, reason, "the trace has no end: it still runs, or dltraced was killed; what came behind the last rows "
			    "is missing");
	}
}

/* Processes of the job that ended in the trace, and the CPU time that they had. */
static void count_processes(const struct report *r, uint64_t *lives, uint64_t *cpu_us)
{
	*lives = *cpu_us = 0;
	for (uint32_t i = 0; i < r->procs.n; i++) {
		const struct report_proc *p = table_at(&r->procs, i);

		*lives += p->lives;
		*cpu_us += (p->user_ns + p->sys_ns) / 1000;
	}
}

static void find_left_running(struct report *r)
{
	const struct manifest_facts *m = &r->manifest;
	const uint64_t n = MIN(m->left_running, COUNT_MAX), cpu_us = MIN(m->left_running_cpu_us, COUNT_MAX);
	/* else it was ended on demand: by stop, a signal, --duration */
	const bool behind_job = m->workload_end_ns && m->workload_end_ns <= m->end_ns;
	struct missing_reason reason = {
		.kind = behind_job ? MISSING_LEFT_RUNNING : MISSING_ENDED_BEFORE, .n = n, .of = "processes",
	};
	uint64_t lives, ended_us;
	double cpu;

	if (!n)
		return;
	count_processes(r, &lives, &ended_us);
	reason.share = part(n, MAX(lives, n));
	cpu = part(cpu_us, cpu_us + ended_us);
	reason.matters = behind_job && (reason.share >= MISSING_MATTERS || cpu >= MISSING_MATTERS);
	reason.brief = util_fmt("%s of the job's %s processes went on", FMT_COUNT(n), FMT_COUNT(MAX(lives, n)));
	missing_add(&r->missing, reason, "%s of the job's %s processes %s still running when the trace ended%s (%s; %.1f %% of the job's CPU "
		    "time until then)%s", FMT_COUNT(n), FMT_COUNT(MAX(lives, n)), n == 1 ? "was" : "were",
		    behind_job ? "" : ", before the job", m->left_comms, 100 * cpu, behind_job ? "; --wait-all traces them" : "");
}

/* Names with commas between them, of the kinds of calls of which IS is true; whether there is any. */
static bool put_kinds(const struct report *r, bool (*is)(const struct report *r, enum report_kind kind), char *names, size_t size)
{
	names[0] = '\0';
	for (enum report_kind kind = 0; kind < REPORT_KINDS; kind++) {
		size_t len = strlen(names);

		if (is(r, kind))
			snprintf(names + len, size - len, "%s%s", len ? ", " : "", report_kind_names[kind]);
	}
	return names[0] != '\0';
}

static bool is_untraced(const struct report *r, enum report_kind kind)
{
	const struct manifest_probe *m = manifest_probe(&r->manifest, report_kind_names[kind]);

	return m && manifest_is_untraced(m);
}

/* Requests to disks are the machine's, and no part of the answer. */
static bool is_not_recorded(const struct report *r, enum report_kind kind)
{
	return is_call(kind) && r->manifest.n_probes && !manifest_probe(&r->manifest, report_kind_names[kind]);
}

static void find_kinds(struct report *r)
{
	struct missing_reason reason = { .kind = MISSING_UNTRACED, .share = (double)NAN, .matters = true };
	char names[160];

	if (put_kinds(r, is_untraced, names, sizeof(names))) {
		reason.brief = util_fmt("%s could not be traced", names);
		missing_add(&r->missing, reason, "%s could not be traced: how many rows that would be is not known", names);
	}
	reason.kind = MISSING_NOT_RECORDED;
	if (put_kinds(r, is_not_recorded, names, sizeof(names))) {
		reason.brief = util_fmt("calls of %s were not recorded", names);
		missing_add(&r->missing, reason, "calls of %s were not recorded (--probes): how many there were is not known", names);
	}
}

static void find_io_uring(struct report *r)
{
	struct missing_reason reason = { .kind = MISSING_IO_URING, .share = (double)NAN, .matters = true };

	if (!r->manifest.uring_why[0] || !r->uses_uring)
		return;
	reason.brief = strdup("requests of io_uring were not recorded");
	missing_add(&r->missing, reason, "the job uses io_uring, whose requests were not recorded: %s", r->manifest.uring_why);
}

/* Calls that were counted by the kernel side, of any kind: on files are some of them at most. */
static void find_counted(struct report *r, enum missing_kind kind, uint64_t n, const char *brief, const char *text)
{
	struct missing_reason reason = { .kind = kind, .n = n, .of = "calls" };

	if (!n)
		return;
	reason.share = (double)n / ((double)n + (double)r->missing.calls);
	reason.matters = reason.share >= MISSING_MATTERS;
	reason.brief = util_fmt("%s may be up to %.1f %% of the calls", brief, 100 * reason.share);
	missing_add(&r->missing, reason, "%s %s: %.1f %% of the calls at most", FMT_COUNT(n), text, 100 * reason.share);
}

/* Those of which no other note says so. */
static void note_reasons(struct report *r)
{
	for (unsigned int i = 0; i < r->missing.n; i++) {
		const struct missing_reason *reason = &r->missing.reason[i];

		if (reason->kind == MISSING_LEFT_RUNNING || reason->kind == MISSING_NOT_RECORDED ||
		    reason->kind == MISSING_IO_URING || reason->kind == MISSING_SKIPPED)
			report_note(r, "%s", reason->text);
	}
}

void report_missing_end(struct report *r)
{
	struct rules *rules = r->why ? r->why->rules : NULL;

	find_no_end(r);
	find_left_running(r);
	find_kinds(r);
	find_io_uring(r);
	find_counted(r, MISSING_COMPAT, r->manifest.compat_calls, "32-bit calls, which have no rows,",
		     "32-bit calls of the job were counted and have no rows");
	find_counted(r, MISSING_SKIPPED, r->manifest.skipped_runs, "calls whose hooks the kernel left out",
		     "times the kernel left out a hook, for a call of the job or of another process");
	missing_end(&r->missing);
	note_reasons(r);
	if (rules && r->missing.caveat)
		rules->bottleneck.caveat = strdup(r->missing.caveat);
}
