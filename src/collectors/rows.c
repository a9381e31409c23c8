/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a tool's text to the rows of its file. Drain thread; knows nothing of processes.
 *
 * Columns are the tool's own: they come from the header line that it prints, so that another version with
 * other columns needs no change here. Only lines that fit the header in force become rows; all other text
 * stays in the file as a comment.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "collectors/collectors.h"
#include "collectors/kinds.h"
#include "trace/clock.h"

/* A piece of a line: [p, end). */
struct span {
	const char *p, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct span trim(struct span s)
{
	while (s.p < s.end && is_blank(*s.p))
		s.p++;
	while (s.p < s.end && is_blank(s.end[-1]))
		s.end--;
	return s;
}

/* Cuts the first word off REST. Returns false when there is none. */
static bool next_word(struct span *rest, struct span *word)
{
	*rest = trim(*rest);
	*word = *rest;
	while (rest->p < rest->end && !is_blank(*rest->p))
		rest->p++;
	word->end = rest->p;
	return word->p < word->end;
}

static bool is(const struct span *word, const char *text)
{
	size_t len = (size_t)(word->end - word->p);

	return text && len == strlen(text) && !memcmp(word->p, text, len);
}

static unsigned int count_words(struct span line)
{
	struct span word;
	unsigned int n = 0;

	while (next_word(&line, &word))
		n++;
	return n;
}

/* Clocks and dates do too, but no banner, average or message. */
static bool begins_with_digit(struct span s)
{
	return s.p < s.end && *s.p >= '0' && *s.p <= '9';
}

static bool has_word(struct span line, const char *text)
{
	struct span word;

	while (next_word(&line, &word))
		if (is(&word, text))
			return true;
	return false;
}

static bool has_header(const struct collector *c)
{
	return c->columns[0];
}

/* Line 2 is the header, so text that a tool prints before it has to wait. */
static void put_comment(struct collector *c, const char *text, size_t len)
{
	if (has_header(c)) {
		sink_text(&c->sink, text, len);
	} else if (len <= sizeof(c->held) - c->held_len) {
		memcpy(c->held + c->held_len, text, len);
		c->held_len += (uint32_t)len;
	}
}

static void comment_line(struct collector *collector, struct span line)
{
	char text[TEXT_ESCAPED_MAX(COLLECTOR_LINE_MAX) + 4], *p = text;
	struct span word;

	*p++ = '#';
	while (next_word(&line, &word)) {
		*p++ = ' ';
		p = text_put_piece(p, word.p, (size_t)(word.end - word.p));
	}
	*p++ = '\n';
	put_comment(collector, text, (size_t)(p - text));
}

static void header_line(struct collector *collector, struct span line)
{
	static const char ours[] = "TIMESTAMP\tTIME";
	char text[sizeof(ours) + TEXT_ESCAPED_MAX(COLLECTOR_LINE_MAX) + 64], *p = text;
	const char *first = collector->kind->first_column;
	struct span rest = line, word;
	unsigned int n = 0;
	size_t len;

	p = mempcpy(p, ours, sizeof(ours) - 1);
	while (next_word(&rest, &word)) {
		*p++ = '\t';
		if (n++ == 0 && first)
			p = stpcpy(p, first);
		else
			p = text_put_str(p, word.p, (size_t)(word.end - word.p));
	}
	*p++ = '\n';
	*p = '\0';
	len = (size_t)(p - text);

	if (!has_header(collector) && len < sizeof(collector->columns)) {
		memcpy(collector->columns, text, len + 1);
		sink_header(&collector->sink, text, len);
		sink_text(&collector->sink, collector->held, collector->held_len);
		collector->n_columns = n;
	} else if (!strcmp(text, collector->columns)) {
		collector->n_columns = n;
		collector->header_repeated = true;
	} else if (collector->n_columns || !has_header(collector)) {
		/* Other columns than in line 2: the lines after it must not pass for rows. */
		collector->n_columns = 0;
		comment_line(collector, line);
	}
}

static bool is_header(const struct collector_kind *k, bool hash, struct span line)
{
	return hash == k->header_hash && has_word(line, k->header_word) &&
	       (!k->first_column || begins_with_digit(line));
}

static bool is_row(const struct collector *c, bool hash, struct span line)
{
	const struct collector_kind *k = c->kind;
	unsigned int n = count_words(line);

	return !hash && c->n_columns && (!k->rows_are_dated || begins_with_digit(line)) &&
	       (n == c->n_columns || (k->last_is_text && n > c->n_columns));
}

/*
 * Is this one of the many rows that only some samples have? Samples are counted, by the row that begins
 * them, since a late one must not shift those after it.
 */
static bool is_thinned_out(struct collector *collector, struct span line)
{
	struct span word;

	if (collector->singles_every <= 1)
		return false;
	next_word(&line, &word);
	next_word(&line, &word);
	if (is(&word, collector->kind->whole_machine)) {
		collector->samples++;
		return false;
	}
	return !collector->samples || (collector->samples - 1) % collector->singles_every;
}

static void row_line(struct collector *collector, struct span line, const struct clock_map *clock, uint64_t now_ns)
{
	struct span rest = line, word;
	char *p = sink_begin(&collector->sink);

	p = text_put_u64(p, now_ns);
	*p++ = '\t';
	p = text_put_utc(p, clock_utc_ns(clock, now_ns), &collector->utc);
	for (unsigned int i = 1; next_word(&rest, &word); i++) {
		if (collector->kind->last_is_text && i == collector->n_columns)
			word.end = rest.p = line.end;
		/* The tools' own mark for "no value" is ours too. */
		if (is(&word, "-"))
			word.end = word.p;
		*p++ = '\t';
		p = text_put_str(p, word.p, (size_t)(word.end - word.p));
	}
	*p++ = '\n';
	sink_commit(&collector->sink, p, now_ns);
}

static void take_line(struct collector *collector, const struct clock_map *clock, uint64_t now_ns)
{
	bool hash = collector->line_len && collector->line[0] == '#';
	struct span line = trim((struct span){ collector->line + hash, collector->line + collector->line_len });
	bool after_header = collector->header_repeated;

	if (line.p == line.end)
		return;
	collector->header_repeated = false;
	if (is_header(collector->kind, hash, line))
		header_line(collector, line);
	else if (hash && after_header)
		return; /* the units below a repeated header: nvidia-smi's second header line */
	else if (!is_row(collector, hash, line))
		comment_line(collector, line);
	else {
		collector->noise_bytes = 0;
		if (!is_thinned_out(collector, line))
			row_line(collector, line, clock, now_ns);
	}
}

static void end_line(struct collector *c, const struct clock_map *clock, uint64_t now_ns)
{
	static const char overlong[] = "# a line of more than 4095 bytes left out\n";

	if (c->line_skip)
		put_comment(c, overlong, sizeof(overlong) - 1);
	else
		take_line(c, clock, now_ns);
	c->line_skip = false;
	c->line_len = 0;
}

static void take_text(struct collector *collector, const char *p, const char *end, const struct clock_map *clock,
		      uint64_t now_ns)
{
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = (size_t)((nl ? nl : end) - p);

		if (len < sizeof(collector->line) - collector->line_len) {
			memcpy(collector->line + collector->line_len, p, len);
			collector->line_len += (uint32_t)len;
		} else {
			collector->line_skip = true;
		}
		p += len;
		if (nl) {
			end_line(collector, clock, now_ns);
			p++;
		}
	}
}

static void finish(struct collector *collector)
{
	static const char none[] = "# no sample\n";

	/* A line without its end may be cut within a number: no row. */
	if (collector->line_len && !collector->line_skip)
		comment_line(collector, (struct span){ collector->line, collector->line + collector->line_len });
	if (!has_header(collector)) {
		sink_text(&collector->sink, collector->held, collector->held_len);
		sink_text(&collector->sink, none, sizeof(none) - 1);
	}
	util_close(&collector->read_fd);
}

bool collector_read(struct collector *c, const struct clock_map *clock)
{
	static const char noise[] = "# 1 MiB without a row: reading stopped\n";
	/* Read before the pipe: everything written before the end is in the pipe by then. */
	bool done = atomic_load(&c->done);
	char buf[1 << 14];
	ssize_t n;

	if (c->read_fd < 0)
		return true;
	n = read(c->read_fd, buf, sizeof(buf));
	if (n < 0 && (errno == EINTR || (errno == EAGAIN && !done)))
		return false;
	if (n <= 0) {
		finish(c);
		return true;
	}
	c->noise_bytes += (uint32_t)n;
	take_text(c, buf, buf + n, clock, clock_now_ns(CLOCK_MONOTONIC));
	if (c->noise_bytes <= COLLECTOR_NOISE_MAX)
		return false;
	atomic_store(&c->noisy, true);
	put_comment(c, noise, sizeof(noise) - 1);
	finish(c);
	return true;
}
