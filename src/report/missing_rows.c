/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Missing rows: those of each file, compared with the manifest's counts. Rows that were lost while tracing, or dropped
 * on purpose, are counted by the manifest itself; others were removed from the folder afterwards.
 */
#include "report/missing.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/scan/manifest_counts.h"
#include "report/scan/model.h"
#include "report/scan/scan.h"

/* The answer needs these files, too. The report may skip some of their rows, so their bytes are compared instead. */
static const char *const by_bytes[] = { "cpu", "gpu", "sched", "sched_switch" };

/* Numbers of rows of one file: those that are there, and the missing ones by cause. */
struct tally {
	uint64_t there, cut, surplus, dropped, summed;
	uint64_t lost; /* the trace does not show why */
	uint64_t lost_by[LOSSES];
};

/* Whether the answer needs rows of KIND: they show the trainers, their waits, and the files. */
static bool is_for_answer(enum report_kind kind)
{
	return missing_is_call(kind) || kind == REPORT_PIDS || kind == REPORT_FILES;
}

/* Returns a reason: N of ALL rows of NAME.out are missing. */
static struct missing_reason reason_of(enum missing_kind kind, const char *name, uint64_t n, uint64_t all,
				       const char *of)
{
	struct missing_reason reason = { .kind = kind, .n = n, .share = missing_part(n, all), .of = of };

	snprintf(reason.file, sizeof(reason.file), "%s", name);
	reason.matters = reason.share >= MISSING_MATTERS;
	reason.brief = util_fmt("%.1f %% of %s.out is missing", 100 * reason.share, name);
	return reason;
}

/* --- rows ---------------------------------------------------------------------------------------- */

/*
 * Takes the manifest's counts. Older traces have no reasons but UNSEEN. A damaged manifest cannot make the parts exceed
 * the whole.
 */
static void take_lost(struct tally *t, const struct manifest_probe *m)
{
	t->lost = MIN(m->lost, MISSING_COUNT_MAX);
	for (enum loss why = 0; why < LOSSES; why++) {
		uint64_t n = why == LOSS_UNSEEN ? MAX(m->lost_by[why], m->unseen) : m->lost_by[why];

		t->lost_by[why] = MIN(n, t->lost);
		t->lost -= t->lost_by[why];
	}
}

static struct tally tally_of(const struct report *report, enum report_kind kind)
{
	const struct manifest_probe *probe = manifest_probe(&report->manifest, report_kind_names[kind]);
	const struct scan_file *file = scan_file(report->folder, report_kind_names[kind]);
	const uint64_t rows = report->present[kind] ? file->reader.rows : 0,
		       bad = report->present[kind] ? MIN(file->bad_rows, rows) : 0;
	const uint64_t good = rows - bad;
	struct tally t = { .there = good - (report->present[kind] ? MIN(file->reader.outside, good) : 0) };

	if (probe) {
		uint64_t written = MIN(probe->rows, MISSING_COUNT_MAX),
			 counted = written - MIN(written, probe->dropped);

		take_lost(&t, probe);
		t.dropped = report_summed_rows(report, probe->name, written - counted);
		t.summed = report_summed_rows(report, probe->name, MIN(probe->summed, MISSING_COUNT_MAX));
		t.surplus = report->manifest.complete && rows > counted ? rows - counted : 0;
		t.cut = report->manifest.complete && counted > good ? counted - good : bad;
	}
	return t;
}

/*
 * Puts which segments of a split file are missing; false when none is known to be. DROPPED: --keep removed the first
 * ones.
 */
static bool put_segments(const struct reader *rd, bool dropped, FILE *out)
{
	if (!rd->n_segments)
		return false;
	if (rd->segments[rd->n_segments - 1].file.nr != SEGMENT_LAST)
		fputs("its last segment is missing", out);
	else if (rd->missing)
		fprintf(out, "segments between others are missing: %zu", rd->missing);
	else if (!dropped && rd->segments[0].file.nr != SEGMENT_LAST && rd->segments[0].file.nr > 1)
		fputs("its first segments are missing", out);
	else
		return false;
	return true;
}

/* Puts why rows of FILE are missing. */
static void put_cause(const struct scan_file *file, int dirfd, bool dropped, FILE *out)
{
	const struct reader *rd = &file->reader;
	char foreign[NAME_MAX + 1];

	if (segment_find_foreign(dirfd, file->name, foreign))
		fprintf(out, "unpack %s: files are read as text, and packed by gzip or zstd", foreign);
	else if (file->error == -ENOENT)
		fputs("the file is missing", out);
	else if (file->error == -EBADMSG || file->error == -ENODATA)
		fputs("it does not begin with dltraced's header", out);
	else if (file->error == -ENOTSUP || (rd->bad && rd->error == -ENOTSUP))
		fputs("they are compressed in a format that this dltraced was built without", out);
	else if (file->error < 0)
		fprintf(out, "%s", strerror(-file->error));
	else if (put_segments(rd, dropped, out))
		return;
	else if (rd->bad || rd->damaged)
		fprintf(out, "segments of it are damaged: %zu", rd->bad + rd->damaged);
	else if (rd->cut)
		fputs("it was cut off", out);
	else if (rd->bad_rows + file->bad_rows)
		fputs("lines in it are damaged", out);
	else
		fputs("it was cut off, or lines were removed from it", out);
}

static void find_cut(struct report *report, enum report_kind kind, const struct tally *tally)
{
	const struct scan_file *file = scan_file(report->folder, report_kind_names[kind]);
	struct missing_reason reason;
	autofree char *cause = NULL;
	size_t len;
	FILE *out = tally->cut ? open_memstream(&cause, &len) : NULL;

	if (!out)
		return;
	put_cause(file, report->folder->dirfd, tally->dropped, out);
	fclose(out);
	reason = reason_of(MISSING_CUT, file->name, tally->cut, tally->cut + tally->there, "rows");
	reason.matters &= is_for_answer(kind);
	reason.of_calls = missing_is_call(kind);
	missing_add(&report->missing, reason, "%s.out: %s of %s %s not in the file: %s", file->name,
		    FMT_COUNT(tally->cut), FMT_N(tally->cut + tally->there, "row", "rows"),
		    tally->cut == 1 ? "is" : "are", cause);
}

static void find_surplus(struct report *report, enum report_kind kind, const struct tally *tally)
{
	const char *name = report_kind_names[kind];
	struct missing_reason reason;

	if (!tally->surplus)
		return;
	reason = reason_of(MISSING_SURPLUS, name, tally->surplus, tally->there, "rows");
	reason.matters &= is_for_answer(kind);
	free(reason.brief);
	reason.brief = util_fmt("%.1f %% of %s.out is not of this trace", 100 * reason.share, name);
	missing_add(&report->missing, reason,
		    "%s.out: %s of %s %s more than dltraced has written: counted here, but perhaps of another trace",
		    name, FMT_COUNT(tally->surplus), FMT_N(tally->there, "row", "rows"),
		    tally->surplus == 1 ? "is" : "are");
}

/* The ways in which rows that the manifest counts may be missing from the files. */
#define OF_LOSS(why) offsetof(struct tally, lost_by[why])
static const struct way {
	enum missing_kind kind;
	size_t offset; /* in struct tally */
	const char *how; /* after "was" or "were"; NULL: as in loss_kinds */
} ways[] = {
	{ MISSING_LOST, offsetof(struct tally, lost),
	  "lost while tracing: there was no room for them in memory or on "
	  "the disk" },
	{ MISSING_LOST, OF_LOSS(LOSS_BUFFER) },
	{ MISSING_LOST, OF_LOSS(LOSS_IN_FLIGHT) },
	{ MISSING_LOST, OF_LOSS(LOSS_SKIPPED) },
	{ MISSING_LOST, OF_LOSS(LOSS_DISK) },
	{ MISSING_LOST, OF_LOSS(LOSS_STALLED) },
	{ MISSING_LOST, OF_LOSS(LOSS_UNMATCHED) },
	{ MISSING_UNSEEN, OF_LOSS(LOSS_UNSEEN), "not recorded: the kernel did not report the beginning or the end" },
	{ MISSING_DROPPED, offsetof(struct tally, dropped), "dropped by --keep: rollup.out has the sums" },
	{ MISSING_SUMMED, offsetof(struct tally, summed), "only summed up (--keep sums): rollup.out has the sums" },
};

static uint64_t by_way(const struct tally *t, const struct way *way)
{
	return *(const uint64_t *)((const char *)t + way->offset);
}

static uint64_t lost_of(const struct tally *t)
{
	uint64_t n = t->lost;

	for (enum loss why = 0; why < LOSSES; why++)
		n += t->lost_by[why];
	return n;
}

static uint64_t all_of(const struct tally *t)
{
	return t->there + t->cut + lost_of(t) + t->dropped + t->summed;
}

/* Returns the text after "7 of 12 calls were". */
static char *how_of(const struct way *way)
{
	enum loss why = way->how ? LOSSES : (way->offset - OF_LOSS(0)) / sizeof(uint64_t);

	return way->how ? util_fmt("%s", way->how) : util_fmt("lost while tracing: %s", loss_kinds[why].why);
}

/* Finds missing calls: one reason for each of their files. */
static void find_calls(struct report *report, const struct tally tallies[REPORT_KINDS], const struct way *way,
		       uint64_t all)
{
	struct missing_reason reason = { .kind = way->kind, .of = "calls", .of_calls = true };
	autofree char *files = NULL, *how = NULL;
	size_t len;
	FILE *out = open_memstream(&files, &len);
	enum report_kind worst = REPORT_VFS_RW;
	double share;

	for (enum report_kind kind = REPORT_BIO + 1; out && kind < REPORT_KINDS; kind++) {
		const struct tally *t = &tallies[kind], *most = &tallies[worst];
		uint64_t n = by_way(t, way);

		if (n)
			fprintf(out, "%s%s %s", reason.n ? ", " : "", FMT_COUNT(n), report_kind_names[kind]);
		reason.n += n;
		if (missing_part(n, all_of(t)) > missing_part(by_way(most, way), all_of(most)))
			worst = kind;
	}
	if (!out)
		return;
	fclose(out);
	if (!reason.n)
		return;
	how = how_of(way);
	share = missing_part(by_way(&tallies[worst], way), all_of(&tallies[worst]));
	reason.share = missing_part(reason.n, all);
	reason.matters = share >= MISSING_MATTERS;
	reason.brief = util_fmt("%.1f %% of the calls of %s are missing", 100 * share, report_kind_names[worst]);
	missing_add(&report->missing, reason, "%s of %s (%s) %s %s", FMT_COUNT(reason.n), FMT_N(all, "call", "calls"),
		    files, reason.n == 1 ? "was" : "were", how ? how : "");
}

/* Finds the rows of NAME.out that are missing in one way. FOR_ANSWER: the answer needs them. */
static void find_lost(struct report *report, const char *name, const struct tally *tally, const struct way *way,
		      bool for_answer)
{
	struct missing_reason reason;
	autofree char *how = NULL;

	if (!by_way(tally, way))
		return;
	how = how_of(way);
	reason = reason_of(way->kind, name, by_way(tally, way), all_of(tally), "rows");
	reason.matters &= for_answer;
	missing_add(&report->missing, reason, "%s.out: %s of %s %s %s", name, FMT_COUNT(reason.n),
		    FMT_N(all_of(tally), "row", "rows"), reason.n == 1 ? "was" : "were", how ? how : "");
}

/* --- bytes --------------------------------------------------------------------------------------- */

/* Finds rows of NAME that the manifest counts as lost: one reason for each of their causes, of which collectors have
 * none. */
static void find_lost_of(struct report *r, const char *name)
{
	const struct manifest_probe *m = manifest_probe(&r->manifest, name);
	const struct manifest_counts c = manifest_counts_of(&r->manifest, name);
	struct tally t = { .there = MIN(c.rows, MISSING_COUNT_MAX), .lost = MIN(c.lost, MISSING_COUNT_MAX) };

	if (m)
		take_lost(&t, m);
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		find_lost(r, name, &t, &ways[i], true);
}

static void find_by_bytes(struct report *r, const char *name)
{
	uint64_t counted, n = manifest_counts_bytes_short(&r->manifest, r->folder, name, &counted);

	find_lost_of(r, name);
	if (n)
		missing_add(&r->missing, reason_of(MISSING_CUT, name, n, counted, "bytes"),
			    "%s.out: %s of %s are not in the file: %s", name, FMT_BYTES(n), FMT_BYTES(counted),
			    scan_file(r->folder, name)->error == -ENOENT ? "it is not there" : "it was cut off");
}

void report_missing_files(struct report *report)
{
	struct tally tallies[REPORT_KINDS];
	uint64_t all = 0, missing = 0;

	for (enum report_kind kind = 0; kind < REPORT_KINDS; kind++) {
		const struct tally *tally = &tallies[kind];

		tallies[kind] = tally_of(report, kind);
		find_cut(report, kind, tally);
		find_surplus(report, kind, tally);
		for (size_t i = 0; i < ARRAY_SIZE(ways) && !missing_is_call(kind); i++)
			find_lost(report, report_kind_names[kind], tally, &ways[i], is_for_answer(kind));
		report->rows_missing +=
			kind >= REPORT_BIO ? tally->cut + lost_of(tally) - tally->lost_by[LOSS_UNSEEN] : 0;
		if (missing_is_call(kind)) {
			all += all_of(tally);
			missing += all_of(tally) - tally->there;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		find_calls(report, tallies, &ways[i], all);
	for (size_t i = 0; i < ARRAY_SIZE(by_bytes); i++)
		find_by_bytes(report, by_bytes[i]);
	report->missing.calls = all - missing;
	report->missing.calls_missing = missing;
	for (unsigned int i = 0; i < report->missing.n; i++)
		if (missing_is_damage(&report->missing.reason[i]))
			report_note(report, "%s", report->missing.reason[i].text);
}
