/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the lines of one log, or of rows of output. */
#include "report/phases/log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fmt.h"
#include "dlt/workload.h"
#include "report/phases/read_impl.h"
#include "trace/unpack.h"

#define OWN_CLOCK_NS                                                                                               \
	NSEC_PER_SEC /* how far a program's own end may be from its line's time: the line has milliseconds, and is \
			written later */
#define PIECES_MAX 512 /* of a line that is redrawn; more are dropped, the first ones first */
/* a packed log is refused if its text is larger than both limits: repeated lines alone reach the ratio, too */
#define BOMB_BYTES (1U << 31)
#define BOMB_RATIO 300 /* times the packed size */

struct piece {
	const char *p;
	size_t len;
};

/* --- lines ------------------------------------------------------------------------------------------------ */

/* DLIO's log does not name its initialization, which lasts from its first line to the first epoch. */
static void dlio_init(struct phase_reader *r, struct phase_log *log, const struct applog_line *l, uint64_t at_ns)
{
	if (log->has_init || l->entry.source != PHASE_DLIO || l->entry.event != PHASE_BEGINS)
		return;
	log->has_init = true;
	if (log->first_ns && log->first_ns < at_ns)
		phases_add(r->phases, PHASE_DLIO, "init", log->first_ns, at_ns, true);
}

/* Whether the log is about the trace's time: it has a line within that, or lines before and after it. */
static bool is_of_trace(const struct phase_log *log)
{
	return log->within || (log->before && log->behind);
}

/* Notes on which side of the trace a line lies. A line in a row lies within, whatever its own time is. */
static void take_side(struct phase_reader *r, struct phase_log *log, uint64_t at_ns, bool is_row)
{
	bool before;
	uint64_t off_ns = phase_clock_outside(&r->clock, at_ns, &before);

	if (!log->off_ns)
		log->off_ns = off_ns;
	log->within |= is_row || !off_ns;
	log->before |= off_ns && before;
	log->behind |= off_ns && !before;
}

/* Returns the end of a phase whose line is of AT_NS: by the program's own begin, if that is of the same clock. */
static uint64_t end_of_whole(const struct phase_entry *t, uint64_t at_ns)
{
	uint64_t end_ns = t->begin_ns + t->lasted_ns;

	if (!t->begin_ns || end_ns < t->begin_ns || MAX(end_ns, at_ns) - MIN(end_ns, at_ns) > OWN_CLOCK_NS)
		return at_ns;
	return end_ns;
}

/* Takes a line that was written AGO_NS before its row. */
static void take_line(struct phase_reader *reader, struct phase_log *log, const char *line, size_t len, uint64_t row_ns,
		      uint64_t ago_ns)
{
	struct applog_line l;
	enum applog_found found = applog_parse(&l, reader->options->rules, line, len);
	uint64_t at_ns = 0;

	if (l.rule)
		log->rule_lines[l.rule - 1]++;
	row_ns -= MIN(ago_ns, row_ns);

	if (found == APPLOG_PHASE || (l.stamped && !log->first_ns))
		at_ns = row_ns ? phase_clock_in_row(&reader->clock, &l.time, row_ns) :
				 phase_clock_in_file(&reader->clock, &l.time, log->last_ns);
	if (l.stamped && !log->first_ns)
		log->first_ns = at_ns;
	log->broken += found == APPLOG_BROKEN;
	if (found != APPLOG_PHASE)
		return;
	if (!at_ns) {
		log->untimed++;
		return;
	}
	log->entries++;
	log->last_ns = at_ns;
	take_side(reader, log, at_ns, row_ns > 0);
	if (!log->passes)
		return;
	dlio_init(reader, log, &l, at_ns);
	l.entry.at_ns = l.entry.event == PHASE_WHOLE ? end_of_whole(&l.entry, at_ns) : at_ns;
	phases_record(reader->phases, &l.entry);
}

/* Finds for how long a bar has been going on, and the NUMBER of its epoch, by PIECE; false when that does not show it.
 */
static bool bar_ns(const struct phase_reader *r, struct piece piece, uint64_t *ns, int64_t *number)
{
	struct applog_line l;

	if (applog_parse(&l, r->options->rules, piece.p, piece.len) != APPLOG_PHASE || l.entry.event != PHASE_NEAR ||
	    !l.entry.words.has_elapsed)
		return false;
	*ns = l.entry.words.elapsed_ns;
	*number = l.entry.number;
	return true;
}

/*
 * A bar is redrawn many times in one line, of which the time of its end is known. A piece is older than the last one by
 * the difference of the elapsed times that both show. Pieces are taken backwards.
 */
static void take_pieces(struct phase_reader *reader, struct phase_log *log, const struct piece *pieces, size_t n,
			uint64_t row_ns)
{
	uint64_t ago_ns[PIECES_MAX], last_ns = 0, ns;
	int64_t last = -1, number;
	bool any = false;

	for (size_t i = n; i--;) {
		ago_ns[i] = i + 1 < n ? ago_ns[i + 1] : 0;
		if (!bar_ns(reader, pieces[i], &ns, &number))
			continue;
		if (any) /* an earlier epoch's bar: it ended when the next epoch's bar began */
			ago_ns[i] += number == last ? last_ns - MIN(ns, last_ns) : last_ns;
		any = true;
		last_ns = ns;
		last = number;
	}
	for (size_t i = 0; i < n; i++)
		take_line(reader, log, pieces[i].p, pieces[i].len, row_ns, ago_ns[i]);
}

/*
 * Removes escapes for terminals and splits the line into redrawn pieces, of which the last PIECES_MAX are kept. Returns
 * how many.
 */
static size_t split(char *line, size_t len, struct piece pieces[PIECES_MAX])
{
	size_t n = 0;
	char *out = line, *begin = line;

	for (const char *p = line, *end = line + len;; p++) {
		if (p == end || *p == '\r' || *p == '\b') {
			if (n == PIECES_MAX)
				memmove(pieces, pieces + 1, --n * sizeof(*pieces));
			if (out > begin)
				pieces[n++] = (struct piece){ begin, (size_t)(out - begin) };
			begin = out;
			if (p == end)
				return n;
		} else if (*p == '\033' && p + 1 < end && p[1] == '[') {
			p = applog_escape_end(p, end) - 1;
		} else {
			*out++ = *p;
		}
	}
}

/* Whether the line has control characters, as redrawn ones do. */
static bool is_drawn(const char *line, size_t len)
{
	return memchr(line, '\r', len) || memchr(line, '\033', len) || memchr(line, '\b', len);
}

void phase_log_line(struct phase_reader *reader, struct phase_log *log, char *line, size_t len, uint64_t row_ns)
{
	struct piece pieces[PIECES_MAX];

	if (is_drawn(line, len)) {
		size_t n = split(line, len, pieces);

		/* the number at the end of a row that continues in the next row may be cut */
		take_pieces(reader, log, pieces, n - (n > 0 && row_ns && len >= DLT_TEXT_MAX), row_ns);
	} else {
		take_line(reader, log, line, len, row_ns, 0);
	}
}

static void note_rules(struct phase_reader *r, const struct phase_log *log)
{
	for (unsigned int i = 0; i < r->phases->n_rules; i++) {
		r->phases->rules[i].lines += log->rule_lines[i];
		r->options->rules->rule[i].lines += log->rule_lines[i];
	}
}

void phase_log_note(struct phase_reader *reader, const struct phase_log *log, bool named)
{
	note_rules(reader, log);
	reader->entries += log->passes ? log->entries : 0;
	if (log->broken)
		phase_note(reader, "%s: %s left out", log->name,
			   FMT_N(log->broken, "line about phases is incomplete and is",
				 "lines about phases are incomplete and are"));
	if (log->untimed)
		phase_note(reader, "%s: %s no time%s and %s left out", log->name,
			   FMT_N(log->untimed, "line about phases has", "lines about phases have"),
			   reader->clock.has_zone ? "" :
						    ", or a time in an unknown time zone (give it with --app-log-tz),",
			   log->untimed == 1 ? "is" : "are");
	if (named && !log->entries && !log->broken && !log->untimed)
		phase_note(reader, "%s: no line marks a phase; name those that do with --phase REGEX=NAME", log->name);
	if (log->entries && !is_of_trace(log))
		phase_note(reader,
			   "%s: all of its lines about phases are outside of the trace, the first by %" PRIu64
			   " s %s, and are left out; if the log was written in another time zone, give it with "
			   "--app-log-tz",
			   log->name, (uint64_t)(log->off_ns / NSEC_PER_SEC),
			   log->before ? "before it began" : "after it ended");
}

/* --- files of lines ----------------------------------------------------------------------------------------- */

/*
 * Takes the lines in the first LEN bytes of READER->text. Returns how many bytes are left at its begin. SKIP: within a
 * line that is too long.
 */
static size_t take_lines(struct phase_reader *reader, struct phase_log *log, size_t len, bool *skip)
{
	char *line = reader->text, *end = reader->text + len, *newline;

	for (; (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1) {
		size_t n = (size_t)(newline - line);

		if (!*skip)
			phase_log_line(reader, log, line, n && newline[-1] == '\r' ? n - 1 : n, 0);
		*skip = false;
	}
	len = (size_t)(end - line);
	if (len > APPLOG_LINE_MAX) {
		if (!*skip)
			phase_log_line(reader, log, line, APPLOG_LINE_MAX, 0);
		*skip = true;
		return 0;
	}
	memmove(reader->text, line, len);
	return len;
}

/* Notes text after the last newline, which may be half a line. */
static void note_last(struct phase_reader *r, const struct phase_log *log, size_t len)
{
	struct applog_line l;

	if (len && applog_parse(&l, r->options->rules, r->text, len) != APPLOG_NOTHING)
		phase_note(r, "%s: its last line is about a phase, is incomplete and is left out", log->name);
}

/* Whether the text of a packed log is larger than any log's, as only a hostile file's is. */
static bool is_bomb(const struct unpack *u)
{
	return u->pack != PACK_NONE && u->plain > BOMB_BYTES && u->plain / BOMB_RATIO > u->at;
}

static void note_packed(const struct phase_reader *r, const char *name, const struct unpack *u)
{
	if (u->cut)
		phase_note(r, "%s: it is compressed and cut off: the rest was read", name);
	if (u->damaged)
		phase_note(r, "%s: it is compressed and damaged: the part before the damage was read", name);
	if (is_bomb(u))
		phase_note(r, "%s: it is compressed and has more than %u GiB of text: the rest was not read", name,
			   BOMB_BYTES >> 30);
}

/* Reads all of the log, or as much as shows that it is about the trace's time. */
static ssize_t read_text(struct phase_reader *reader, struct phase_log *log, struct unpack *unpack)
{
	size_t have = 0;
	bool skip = false;
	ssize_t got = 1;

	while ((log->passes || !is_of_trace(log)) &&
	       (got = unpack_read(unpack, reader->text + have, sizeof(reader->text) - have)) > 0 && !is_bomb(unpack))
		have = take_lines(reader, log, have + (size_t)got, &skip);
	if (!skip && got <= 0)
		note_last(reader, log, have);
	return MIN(got, 0);
}

/* Looks through the log first, and passes it to the phases when it is about the trace's time. */
static int read_twice(struct phase_reader *r, struct phase_log *log, struct unpack *u)
{
	int res = (int)read_text(r, log, u);

	if (res < 0 || !is_of_trace(log))
		return res;
	*log = (struct phase_log){ .name = log->name, .passes = true };
	res = unpack_seek(u, 0);
	return res < 0 ? res : (int)read_text(r, log, u);
}

/* Reads the log FD (taken over), packed or not, up to the length at which it was opened: it may grow. */
static int read_log(struct phase_reader *reader, int fd, const char *name, bool named)
{
	struct unpack_marks marks = { 0 };
	struct phase_log log = { .name = name };
	struct unpack u = { 0 };
	struct stat st;
	int res = fstat(fd, &st) < 0 ? -errno : 0;

	if (res < 0)
		util_close(&fd);
	else
		res = unpack_open(&u, fd, unpack_sniff(fd), (uint64_t)st.st_size, &marks);
	if (res == 0) {
		res = read_twice(reader, &log, &u);
		note_packed(reader, name, &u);
		phase_log_note(reader, &log, named);
		unpack_close(&u);
	}
	unpack_marks_free(&marks);
	return res;
}

static const char *why_not(int error)
{
	if (error == -EBADMSG)
		return "it is not a regular file";
	return error == -ENOTSUP ? "this dltraced was built without a library that unpacks it: unpack it first" :
				   strerror(-error);
}

void phase_log_read(struct phase_reader *r, int fd, const char *name, bool named)
{
	int res = fd < 0 ? fd : read_log(r, fd, name, named);

	if (res < 0 && (named || fd >= 0))
		phase_note(r, "%s: cannot be read: %s", name, why_not(res));
}
