/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the sources of phases in their order of preference. */
#include "report/phases/read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/notes.h"
#include "base/text.h"
#include "base/util.h"
#include "report/phases/collected.h"
#include "report/phases/log.h"
#include "report/phases/pfw.h"
#include "report/phases/read_impl.h"
#include "report/phases/regions.h"
#include "trace/outdir.h"
#include "trace/reader.h"
#include "trace/unpack.h"

void phase_note(const struct phase_reader *r, const char *fmt, ...)
{
	const struct notes notes = { r->phases->notes, &r->phases->n_notes, PHASES_NOTES_MAX };
	va_list ap;

	va_start(ap, fmt);
	notes_vadd(&notes, fmt, ap);
	va_end(ap);
}

static void read_named(struct phase_reader *r, const char *path)
{
	phase_log_read(r, util_open_regular(AT_FDCWD, path, 0), path, true);
}

/* Reads the logs that the user names. Returns how many; .pfw files are no logs, but regions. */
static unsigned int read_named_logs(struct phase_reader *reader)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < reader->options->n_logs; i++) {
		if (pfw_is(reader->options->logs[i]))
			continue;
		read_named(reader, reader->options->logs[i]);
		n++;
	}
	return n;
}

static void note_rows(struct phase_reader *r, const struct reader *rd, const char *file, uint64_t bad_rows)
{
	if (rd->bad_rows + bad_rows)
		phase_note(r, "%s: %s left out", file,
			   FMT_N(rd->bad_rows + bad_rows, "row could not be read and is",
				 "rows could not be read and are"));
	if (rd->cut)
		phase_note(r, "%s: the last row is cut off and is left out", file);
}

/*
 * Passes each row's TIMESTAMP and COLUMN to TAKE, which returns whether it could read them. Returns 0, or -errno
 * without a note.
 */
static int read_rows(struct phase_reader *reader, int dirfd, const char *file, const char *column,
		     bool (*take)(struct phase_reader *phase_reader, void *own, uint64_t ns, struct reader_field f),
		     void *own)
{
	struct reader rd;
	struct reader_row row;
	unsigned int stamp, at;
	uint64_t ns, bad_rows = 0;
	int got = reader_open(&rd, dirfd, file);

	if (got < 0)
		return got;
	window_read(reader->window, &rd);
	stamp = reader_column(&rd, "TIMESTAMP");
	at = reader_column(&rd, column);
	while ((got = reader_next(&rd, &row)) > 0)
		bad_rows +=
			!reader_u64(reader_field(&row, stamp), &ns) || !take(reader, own, ns, reader_field(&row, at));
	note_rows(reader, &rd, file, bad_rows);
	reader_close(&rd);
	return got;
}

static bool output_row(struct phase_reader *r, void *own, uint64_t ns, struct reader_field f)
{
	if (f.len > sizeof(r->text))
		return false;
	r->phases->printed_lines++;
	phase_log_line(r, own, r->text, text_unescape(r->text, f.p, f.len), ns);
	return true;
}

static bool mark_row(struct phase_reader *r, void *own, uint64_t ns, struct reader_field f)
{
	struct phase_entry mark = { .source = PHASE_MARKS, .name = r->text, .number = -1, .rank = -1, .at_ns = ns };

	if (f.len > sizeof(r->text))
		return false;
	mark.name_len = (uint32_t)applog_event(r->text, text_unescape(r->text, f.p, f.len), &mark.event);
	if (mark.name_len)
		phases_record(r->phases, &mark);
	return true;
}

/* Whether NAME is a log: NAME.log, or packed. */
static bool is_log(const char *name)
{
	size_t len = strlen(name);

	for (enum pack p = PACK_NONE; p < PACKS; p++) {
		size_t end = strlen(pack_suffixes[p]), log = strlen(".log");

		if (len > log + end && strcmp(name + len - end, pack_suffixes[p]) == 0 &&
		    memcmp(name + len - end - log, ".log", log) == 0)
			return true;
	}
	return false;
}

static void take_collected(void *ctx, int dirfd, const char *name, const char *path)
{
	if (is_log(name))
		phase_log_read(ctx, util_open_regular(dirfd, name, O_NOFOLLOW), path, false);
}

/* Reads workload.log, plain or packed by a user to save space. */
static void read_workload_log(struct phase_reader *r, int dirfd)
{
	char name[32];
	int fd = -ENOENT;

	for (enum pack p = PACK_NONE; p < PACKS && fd < 0; p++) {
		snprintf(name, sizeof(name), OUTDIR_LOG "%s", pack_suffixes[p]);
		fd = util_open_regular(dirfd, name, O_NOFOLLOW);
	}
	phase_log_read(r, fd, name, false);
}

/* Notes writes whose text is not in printed.out, for a job that prints lines about phases: some may be in them. */
static void note_unread(struct phase_reader *r, const struct manifest_facts *m)
{
	const struct manifest_probe *printed = manifest_probe(m, "printed");

	if (printed && printed->unread)
		phase_note(r,
			   "printed.out: %s too many or too long to be searched for lines about phases; --log keeps "
			   "all of it",
			   FMT_N(printed->unread, "write to the job's output was", "writes to the job's output were"));
}

static bool has_file(int dirfd, const char *name)
{
	struct reader r;
	const bool has = reader_open(&r, dirfd, name) == 0;

	if (has)
		reader_close(&r);
	return has;
}

/*
 * Whether printed.out is read in place of workload.out, which has the times at which the relay got the lines, up to a
 * tenth of a second late: it has the times of the writes, if it has all lines about phases. It need not have those that
 * only rules of this report match.
 */
static bool is_by_writes(const struct phase_reader *reader, const struct manifest_probe *printed)
{
	return printed && printed->rows && !printed->unread && !(reader->options->rules && reader->options->rules->n);
}

static int read_printed(struct phase_reader *reader, struct phase_log *log, int dirfd,
			const struct manifest_facts *facts, bool kept)
{
	const struct manifest_probe *printed = manifest_probe(facts, "printed");
	int res;

	if (kept && !is_by_writes(reader, printed))
		return 0;
	log->name = "printed.out";
	res = read_rows(reader, dirfd, "printed.out", "TEXT", output_row, log);
	reader->phases->printed_lines = printed ? printed->lines : 0;
	if (log->entries && !kept)
		note_unread(reader, facts);
	return res;
}

static void read_folder(struct phase_reader *reader, int dirfd, const struct manifest_facts *facts)
{
	struct phase_log log = { .passes = true };
	const bool kept = reader->phases->printed_kept = has_file(dirfd, "workload.out");
	int res = read_printed(reader, &log, dirfd, facts, kept);

	if (kept && !log.entries) {
		log = (struct phase_log){ .name = "workload.out", .passes = true };
		reader->phases->printed_lines = 0;
		res = read_rows(reader, dirfd, "workload.out", "TEXT", output_row, &log);
	}
	if (log.entries)
		reader->phases->printed_lines = 0;
	phase_log_note(reader, &log, false);
	if (res == -ENOENT)
		read_workload_log(reader, dirfd);
	if (!reader->entries)
		collected_each(dirfd, take_collected, reader);
}

/* Takes the trace's begin, end and zone. */
static void know_clock(struct phase_reader *r, const struct manifest_facts *m)
{
	phase_clock_host(&r->clock, m);
	if (r->options->zone && !phase_clock_zone(&r->clock, r->options->zone))
		phase_note(r, "--app-log-tz %s: this machine knows no such time zone", r->options->zone);
	phase_clock_guess(&r->clock, m);
}

static void note_pairs(struct phase_reader *r)
{
	const struct phases *p = r->phases;

	if (p->unpaired)
		phase_note(r, "phases: %s left out",
			   FMT_N(p->unpaired, "beginning or end has no counterpart and is",
				 "beginnings or ends have no counterpart and are"));
	if (p->left_out)
		phase_note(r, "phases: too many: %" PRIu64 " left out", p->left_out);
}

/* Makes room for counting the lines that each rule of --phase matches. */
static int begin_rules(struct phase_reader *reader)
{
	const struct applog_rules *rules = reader->options->rules;
	struct phases *phases = reader->phases;

	if (!rules || !rules->n)
		return 0;
	phases->rules = calloc(rules->n, sizeof(*phases->rules));
	if (!phases->rules)
		return -ENOMEM;
	for (; phases->n_rules < rules->n; phases->n_rules++) {
		phases->rules[phases->n_rules].text = strdup(rules->rule[phases->n_rules].text);
		if (!phases->rules[phases->n_rules].text)
			return -ENOMEM;
	}
	return 0;
}

static void note_rules(const struct phase_reader *r)
{
	for (unsigned int i = 0; i < r->phases->n_rules; i++)
		if (!r->phases->rules[i].lines)
			phase_note(r, "--phase %s: no line of a log matched", r->phases->rules[i].text);
}

int phases_read(struct phases **ret, int dirfd, const struct manifest_facts *facts,
		const struct phases_options *options, const struct phase_clock *clock)
{
	static const struct phases_options none;
	autofree struct phase_reader *reader = calloc(1, sizeof(*reader));
	struct phases *phases = phases_new();
	int res;

	if (!reader || !phases) {
		phases_free(phases);
		return -ENOMEM;
	}
	reader->phases = phases;
	reader->options = options ? options : &none;
	reader->clock = *clock;
	reader->window = &facts->window;
	know_clock(reader, facts);
	res = begin_rules(reader);
	if (res == 0)
		res = phase_workers_read(&phases->workers, dirfd, facts->end_ns);
	if (res < 0) {
		phases_free(phases);
		return res;
	}
	phases_trace(phases, reader->clock.begin_ns, facts->end_ns, facts->workload_pid && !phases->workers.attached,
		     facts->complete && facts->workload_pid && facts->has_status);
	phase_regions_read(reader, dirfd);
	if (!read_named_logs(reader))
		read_folder(reader, dirfd, facts);
	read_rows(reader, dirfd, "marks.out", "TEXT", mark_row, NULL);
	res = phases_close(phases, reader->clock.begin_ns);
	note_pairs(reader);
	note_rules(reader);
	if (res < 0) {
		phases_free(phases);
		return res;
	}
	*ret = phases;
	return 0;
}
