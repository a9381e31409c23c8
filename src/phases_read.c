/* SPDX-License-Identifier: BSD-2-Clause */
/* See phases_read.h. Logs are read once, line by line, in a buffer of the longest line. */
#include "phases_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reader.h"
#include "text.h"
#include "unpack.h"
#include "util.h"
#include "wallclock.h"
#include "zone.h"

#define BUFFER_BYTES (4 * APPLOG_LINE_MAX)
#define LATE_NS (600 * NSEC_PER_SEC) /* of a line behind its time: a zone that is another's is further off */
#define BACK_NS NSEC_PER_SEC	     /* of lines of several ranks that do not come in order */
#define BOMB_BYTES (1U << 31) /* of text, */
#define BOMB_RATIO 300		     /* and so many times what it is packed: repeated lines get there */
#define COLLECTED "collected"
#define COLLECTED_DEPTH 8
#define COLLECTED_FILES 4096

struct phase_reader {
	struct phases *phases;
	const struct manifest_facts *manifest;
	const struct phases_options *options;
	void (*note)(void *ctx, const char *text);
	void *ctx;
	struct wallclock clock;
	struct zone zone;
	bool has_zone;
	uint64_t begin_ns, end_ns; /* of the trace; 0: not known */
	unsigned int collected;
	uint64_t told; /* lines about phases */
	char text[BUFFER_BYTES];
};

/* A log on the way. */
struct log {
	const char *name;
	uint64_t told, broken, untimed, outside;
	uint64_t last_ns;  /* of its last line with a time */
	uint64_t first_ns; /* of its first line as DLIO writes them */
	uint64_t off_ns;   /* the first line's distance to the trace */
	bool before;	   /* it is before the trace */
	bool has_init;
};

static void note(const struct phase_reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(const struct phase_reader *r, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	r->note(r->ctx, text);
	free(text);
}

/* --- when a line was written ---------------------------------------------------------------------------- */

/* By all zones' offsets and all settings of the clock: how many. */
static unsigned int instants(struct phase_reader *r, const struct applog_time *t, uint64_t ret[2 * WALLCLOCK_INSTANTS])
{
	int64_t utc_s[2] = { t->s };
	unsigned int zones = 1, n = 0;

	if (t->clock == APPLOG_NO_TIME || (t->clock == APPLOG_LOCAL && !r->has_zone))
		return 0;
	if (t->clock == APPLOG_LOCAL)
		zones = zone_utc(&r->zone, t->s, utc_s);
	for (unsigned int i = 0; i < zones; i++)
		if (utc_s[i] >= 0 && utc_s[i] < INT64_MAX / (int64_t)NSEC_PER_SEC)
			n += wallclock_mono(&r->clock, (uint64_t)utc_s[i] * NSEC_PER_SEC + t->ns, ret + n);
	return n;
}

/*
 * Of a line that a row tells of: the job's own time, since its output may come late out of a buffer. It counts for
 * nothing when it is later than the row or before the trace.
 */
static uint64_t when_in_row(struct phase_reader *r, const struct applog_time *t, uint64_t row_ns)
{
	uint64_t v[2 * WALLCLOCK_INSTANTS], best = 0;
	unsigned int n = instants(r, t, v);

	for (unsigned int i = 0; i < n; i++)
		if (v[i] <= row_ns && v[i] >= r->begin_ns && (t->clock == APPLOG_UTC || row_ns - v[i] <= LATE_NS))
			best = MAX(best, v[i]);
	return best ? best : row_ns;
}

/* How odd it would be that a line is of NS, behind one of LAST_NS. */
static unsigned int oddity(const struct phase_reader *r, uint64_t ns, uint64_t last_ns)
{
	bool outside = ns < r->begin_ns || (r->end_ns && ns > r->end_ns);

	return 2 * outside + (ns + BACK_NS < last_ns);
}

/* Of a line of a file: where its time is not one instant alone, that in the trace which goes on. 0: not known. */
static uint64_t when_in_file(struct phase_reader *r, const struct applog_time *t, uint64_t last_ns)
{
	uint64_t v[2 * WALLCLOCK_INSTANTS], best = 0;
	unsigned int n = instants(r, t, v), least = 4;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int odd = oddity(r, v[i], last_ns);

		if (odd > least || (odd == least && v[i] > best))
			continue;
		least = odd;
		best = MAX(v[i], 1); /* before the machine started */
	}
	return best;
}

/* --- lines ------------------------------------------------------------------------------------------------ */

/* DLIO tells no init: it is from its first line to the first epoch. */
static void dlio_init(struct phase_reader *r, struct log *log, const struct applog_line *l, uint64_t at_ns)
{
	if (log->has_init || l->told.source != PHASE_DLIO || l->told.event != PHASE_BEGINS)
		return;
	log->has_init = true;
	if (log->first_ns && log->first_ns < at_ns)
		phases_add(r->phases, PHASE_DLIO, "init", log->first_ns, at_ns, true);
}

static void count_outside(struct phase_reader *r, struct log *log, uint64_t at_ns)
{
	bool before = at_ns < r->begin_ns;

	if (!before && !(r->end_ns && at_ns > r->end_ns))
		return;
	if (!log->outside++) {
		log->before = before;
		log->off_ns = before ? r->begin_ns - at_ns : at_ns - r->end_ns;
	}
}

/* ROW_NS: the row's TIMESTAMP, 0 where it is not of one. */
static void take_line(struct phase_reader *r, struct log *log, const char *line, size_t len, uint64_t row_ns)
{
	struct applog_line l;
	enum applog_found found = applog_parse(&l, r->options->rules, line, len);
	uint64_t at_ns = 0;

	if (found == APPLOG_PHASE || (l.stamped && !log->first_ns))
		at_ns = row_ns ? when_in_row(r, &l.time, row_ns) : when_in_file(r, &l.time, log->last_ns);
	if (l.stamped && !log->first_ns)
		log->first_ns = at_ns;
	log->broken += found == APPLOG_BROKEN;
	if (found != APPLOG_PHASE)
		return;
	if (!at_ns) {
		log->untimed++;
		return;
	}
	log->told++;
	log->last_ns = at_ns;
	count_outside(r, log, at_ns);
	dlio_init(r, log, &l, at_ns);
	l.told.at_ns = at_ns;
	phases_tell(r->phases, &l.told);
}

static void note_log(struct phase_reader *r, const struct log *log, bool named)
{
	r->told += log->told;
	if (log->broken)
		note(r, "%s: %" PRIu64 " lines about phases are not whole and were left out", log->name, log->broken);
	if (log->untimed)
		note(r, "%s: %" PRIu64 " lines about phases have no time%s and were left out", log->name, log->untimed,
		     r->has_zone ? "" : ", or one of a zone that is not known (give it with --app-log-tz),");
	if (named && !log->told && !log->broken && !log->untimed)
		note(r, "%s: no line tells of a phase; --phase REGEX=NAME says which do", log->name);
	if (log->told && log->outside == log->told)
		note(r, "%s: all of its lines about phases are outside of the trace, the first by %" PRIu64 " s %s; if the log "
		     "was written in another time zone, give it with --app-log-tz", log->name,
		     (uint64_t)(log->off_ns / NSEC_PER_SEC), log->before ? "before its begin" : "behind its end");
}

/* --- files of lines ----------------------------------------------------------------------------------------- */

/* The lines of R->text up to LEN; how many bytes are left at its begin. SKIP: in a line that is too long. */
static size_t take_lines(struct phase_reader *r, struct log *log, size_t len, bool *skip)
{
	char *line = r->text, *end = r->text + len, *newline;

	for (; (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1) {
		size_t n = (size_t)(newline - line);

		if (!*skip)
			take_line(r, log, line, n && newline[-1] == '\r' ? n - 1 : n, 0);
		*skip = false;
	}
	len = (size_t)(end - line);
	if (len > APPLOG_LINE_MAX) {
		if (!*skip)
			take_line(r, log, line, APPLOG_LINE_MAX, 0);
		*skip = true;
		return 0;
	}
	memmove(r->text, line, len);
	return len;
}

/* What is behind the last newline may be half a line. */
static void note_last(struct phase_reader *r, const struct log *log, size_t len)
{
	struct applog_line l;

	if (len && applog_parse(&l, r->options->rules, r->text, len) != APPLOG_NOTHING)
		note(r, "%s: its last line is about a phase, has no end and was left out", log->name);
}

/* What has been read of a packed log is more than a log has: somebody made it so. */
static bool is_bomb(const struct unpack *u)
{
	return u->pack != PACK_NONE && u->plain > BOMB_BYTES && u->plain / BOMB_RATIO > u->at;
}

static void note_packed(const struct phase_reader *r, const char *name, const struct unpack *u)
{
	if (u->cut)
		note(r, "%s: it is packed and cut off: what is there was read", name);
	if (u->damaged)
		note(r, "%s: it is packed and damaged: what is before that was read", name);
	if (is_bomb(u))
		note(r, "%s: it is packed and has more than %u GiB of text: the rest was not read", name, BOMB_BYTES >> 30);
}

static ssize_t read_text(struct phase_reader *r, struct log *log, struct unpack *u)
{
	size_t have = 0;
	bool skip = false;
	ssize_t got;

	while ((got = unpack_read(u, r->text + have, sizeof(r->text) - have)) > 0 && !is_bomb(u))
		have = take_lines(r, log, have + (size_t)got, &skip);
	if (!skip && got <= 0)
		note_last(r, log, have);
	return MIN(got, 0);
}

/* FD (taken over), packed or not: as long as the file was when it was opened, it may grow. */
static int read_log(struct phase_reader *r, int fd, const char *name, bool named)
{
	struct unpack_marks marks = { 0 };
	struct log log = { .name = name };
	struct unpack u = { 0 };
	struct stat st;
	int res = fstat(fd, &st) < 0 ? -errno : 0;

	if (res < 0)
		util_close(&fd);
	else
		res = unpack_open(&u, fd, unpack_sniff(fd), (uint64_t)st.st_size, &marks);
	if (res == 0) {
		res = (int)read_text(r, &log, &u);
		note_packed(r, name, &u);
		note_log(r, &log, named);
		unpack_close(&u);
	}
	unpack_marks_free(&marks);
	return res;
}

static const char *why_not(int error)
{
	return error == -EBADMSG ? "it is not a regular file" :
	       error == -ENOTSUP ? "this dltraced was built without what unpacks it: unpack it before" : strerror(-error);
}

/* FD or -errno. */
static void read_log_or_say(struct phase_reader *r, int fd, const char *name, bool named)
{
	int res = fd < 0 ? fd : read_log(r, fd, name, named);

	if (res < 0 && (named || fd >= 0))
		note(r, "%s: cannot be read: %s", name, why_not(res));
}

static void read_named(struct phase_reader *r, const char *path)
{
	read_log_or_say(r, util_open_regular(AT_FDCWD, path, 0), path, true);
}

/* --- what the folder holds ---------------------------------------------------------------------------------- */

static void note_rows(struct phase_reader *r, const struct reader *rd, const char *file, uint64_t bad_rows)
{
	if (rd->bad_rows + bad_rows)
		note(r, "%s: %" PRIu64 " rows could not be read and were left out", file, rd->bad_rows + bad_rows);
	if (rd->cut)
		note(r, "%s: the last row is cut off and was left out", file);
}

static bool clock_row(struct phase_reader *r, void *own, uint64_t ns, struct reader_field f)
{
	uint64_t real_ns;

	if (!reader_u64(f, &real_ns))
		return false;
	if (!r->begin_ns)
		r->begin_ns = ns;
	wallclock_add(&r->clock, ns, real_ns);
	return true;
}

/* Each row's TIMESTAMP and COLUMN to TAKE, which tells whether it could be read. 0, or -errno without a note. */
static int read_rows(struct phase_reader *r, int dirfd, const char *file, const char *column,
		     bool (*take)(struct phase_reader *r, void *own, uint64_t ns, struct reader_field f), void *own)
{
	struct reader rd;
	struct reader_row row;
	unsigned int stamp, at;
	uint64_t ns, bad_rows = 0;
	int got = reader_open(&rd, dirfd, file);

	if (got < 0)
		return got;
	stamp = reader_column(&rd, "TIMESTAMP");
	at = reader_column(&rd, column);
	while ((got = reader_next(&rd, &row)) > 0)
		bad_rows += !reader_u64(row.f[stamp], &ns) || !take(r, own, ns, row.f[at]);
	if (take != clock_row) /* who reads all of the folder tells it of that one */
		note_rows(r, &rd, file, bad_rows);
	reader_close(&rd);
	return got;
}

static bool output_row(struct phase_reader *r, void *own, uint64_t ns, struct reader_field f)
{
	if (f.len > sizeof(r->text))
		return false;
	take_line(r, own, r->text, text_unescape(r->text, f.p, f.len), ns);
	return true;
}

static bool mark_row(struct phase_reader *r, void *own, uint64_t ns, struct reader_field f)
{
	struct phase_told told = { .source = PHASE_MARKS, .name = r->text, .number = -1, .rank = -1, .at_ns = ns };

	if (f.len > sizeof(r->text))
		return false;
	told.name_len = (uint32_t)applog_event(r->text, text_unescape(r->text, f.p, f.len), &told.event);
	if (told.name_len)
		phases_tell(r->phases, &told);
	return true;
}

/* NAME.log, and packed. */
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

static void read_collected(struct phase_reader *r, int dirfd, const char *path, unsigned int depth);

static void collected_entry(struct phase_reader *r, int dirfd, const char *path, const char *name, unsigned int depth)
{
	autofree char *inner = util_fmt("%s/%s", path, name);
	autoclose int fd = -1;

	if (!inner || name[0] == '.' || r->collected == COLLECTED_FILES)
		return;
	r->collected++;
	if (is_log(name)) {
		read_log_or_say(r, util_open_regular(dirfd, name, O_NOFOLLOW), inner, false);
		return;
	}
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		read_collected(r, fd, inner, depth + 1);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_collected(struct phase_reader *r, int dirfd, const char *path, unsigned int depth)
{
	struct dirent **entries;
	int n = depth < COLLECTED_DEPTH ? scandirat(dirfd, ".", &entries, NULL, by_name) : 0;

	for (int i = 0; i < n; i++) {
		collected_entry(r, dirfd, path, entries[i]->d_name, depth);
		free(entries[i]);
	}
	if (n > 0 || (n == 0 && depth < COLLECTED_DEPTH))
		free(entries);
}

/* Plain, else packed by somebody to save space. */
static void read_workload_log(struct phase_reader *r, int dirfd)
{
	char name[32];
	int fd = -ENOENT;

	for (enum pack p = PACK_NONE; p < PACKS && fd < 0; p++) {
		snprintf(name, sizeof(name), "workload.log%s", pack_suffixes[p]);
		fd = util_open_regular(dirfd, name, O_NOFOLLOW);
	}
	read_log_or_say(r, fd, name, false);
}

static void read_folder(struct phase_reader *r, int dirfd)
{
	struct log log = { .name = "workload.out" };
	autoclose int fd = -1;
	int res = read_rows(r, dirfd, "workload.out", "TEXT", output_row, &log);

	note_log(r, &log, false);
	if (res == -ENOENT)
		read_workload_log(r, dirfd);
	if (r->told)
		return;
	fd = openat(dirfd, COLLECTED, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		read_collected(r, fd, COLLECTED, 0);
}

/* --- clocks and zones ------------------------------------------------------------------------------------------ */

static void read_clock(struct phase_reader *r, int dirfd)
{
	const struct manifest_facts *m = r->manifest;
	struct applog_time utc;

	r->begin_ns = m->start_ns;
	r->end_ns = m->end_ns;
	read_rows(r, dirfd, "time_align.out", "REALTIME_NS", clock_row, NULL);
	if (!r->clock.n && m->start_ns && applog_stamp(&utc, m->start_utc, strlen(m->start_utc), NULL) &&
	    utc.clock == APPLOG_UTC && utc.s > 0)
		wallclock_add(&r->clock, m->start_ns, (uint64_t)utc.s * NSEC_PER_SEC + utc.ns);
}

/* That of the option, else the host's, as the manifest tells it. */
static void find_zone(struct phase_reader *r)
{
	const struct manifest_facts *m = r->manifest;
	const char *link = strstr(m->localtime, "zoneinfo/");
	char *end;
	long offset_s = strtol(m->utc_offset_s, &end, 10);

	if (r->options->zone) {
		r->has_zone = zone_parse(&r->zone, r->options->zone);
		if (!r->has_zone)
			note(r, "--app-log-tz %s: this machine knows no such time zone", r->options->zone);
		return;
	}
	if (m->tz[0])
		r->has_zone = zone_parse(&r->zone, m->tz);
	else if (link)
		r->has_zone = zone_parse(&r->zone, link + strlen("zoneinfo/"));
	if (r->has_zone || !m->utc_offset_s[0] || *end || labs(offset_s) > 15L * 3600)
		return;
	/* what this machine does not know is as it was at the begin */
	r->zone = (struct zone){ .offset_s = (int32_t)offset_s };
	r->has_zone = true;
}

static void note_pairs(struct phase_reader *r)
{
	const struct phases *p = r->phases;

	if (p->unpaired)
		note(r, "phases: %" PRIu64 " begins or ends have no other side and were left out", p->unpaired);
	if (p->left_out)
		note(r, "phases: too many: %" PRIu64 " were left out", p->left_out);
}

int phases_read(struct phases **ret, int dirfd, const struct manifest_facts *m, const struct phases_options *o,
		void (*note_fn)(void *ctx, const char *text), void *ctx)
{
	static const struct phases_options none;
	autofree struct phase_reader *r = calloc(1, sizeof(*r));
	struct phases *p = phases_new();
	int res;

	if (!r || !p) {
		phases_free(p);
		return -ENOMEM;
	}
	r->phases = p;
	r->manifest = m;
	r->options = o ? o : &none;
	r->note = note_fn;
	r->ctx = ctx;
	read_clock(r, dirfd);
	find_zone(r);
	for (unsigned int i = 0; i < r->options->n_logs; i++)
		read_named(r, r->options->logs[i]);
	if (!r->options->n_logs)
		read_folder(r, dirfd);
	read_rows(r, dirfd, "marks.out", "TEXT", mark_row, NULL);
	res = phases_close(p, r->begin_ns);
	note_pairs(r);
	if (res < 0) {
		phases_free(p);
		return res;
	}
	*ret = p;
	return 0;
}
