/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/status/frame_text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/text.h"
#include "base/util.h"
#include "cmd/status/frame.h"
#include "cmd/status/recent_text.h"
#include "os/terminal.h"

#define TEXT_ROWS 20 /* processes in a block, without a terminal */

static double per_s(uint64_t n, uint64_t ms)
{
	return ms ? (double)n * 1000 / (double)ms : 0;
}

/* Prints TEXT, from JSON, as a word of the text files. Both have a byte that is not UTF-8 as \\ooo. */
static void print_word(FILE *out, int width, const char *text)
{
	size_t len = strlen(text);
	autofree char *plain = malloc(len + 1), *word = malloc(TEXT_ESCAPED_MAX(len) + 4);

	if (!plain || !word)
		return;
	*text_put_str(word, plain, text_unescape(plain, text, len)) = '\0';
	fprintf(out, "%-*s", width, word);
}

static void print_sum(FILE *out, const struct frame_sum *s, uint64_t ms)
{
	double p99_ms = (double)s->p99_ns / 1e6, mib = 1 << 20;
	char share[16] = "-";

	if (s->reads)
		snprintf(share, sizeof(share), "%.1f", 100.0 * (double)s->disk_reads / (double)s->reads);
	/* with the two columns that stand before, a line has 80 characters */
	fprintf(out, " %8.1f %10.2f %11.2f %10.2f %5s %7.*f\n", per_s(s->calls, ms), per_s(s->read_bytes, ms) / mib,
		per_s(s->written_bytes, ms) / mib, per_s(s->fetched_bytes, ms) / mib, share, p99_ms < 1000 ? 3 : 0,
		p99_ms);
}

static void print_head(FILE *out, const struct frame_text *text, const struct frame *frame)
{
	unsigned long long s = frame->elapsed_ms / 1000;
	autofree char *state =
		util_fmt("%s %02llu:%02llu:%02llu  %llu rows  %llu lost  processes: %llu, with calls in %.1f s: %llu",
			 frame->phase, s / 3600, s / 60 % 60, s % 60, (unsigned long long)frame->rows,
			 (unsigned long long)frame->lost, (unsigned long long)frame->alive,
			 (double)frame->interval_ms / 1000, (unsigned long long)frame->with_calls);

	if (!state)
		return;
	/* the name is whole: it is the argument of stop and mark */
	fprintf(out, "%s%s%s\n", text->name,
		text->width && strlen(text->name) + 2 + strlen(state) > text->width ? "\n" : "  ", state);
	if (*frame->failed)
		fprintf(out, "failed: %s\n", frame->failed);
	fprintf(out, "%7s %-15s %8s %10s %11s %10s %5s %7s\n", "PID", "COMM", "CALLS/S", "READ_MiB/S", "WRITE_MiB/S",
		"DISK_MiB/S", "DISK%", "P99_MS");
}

static void print_call(FILE *out, const struct frame_call *c)
{
	fprintf(out, "%7llu ", (unsigned long long)c->tid);
	print_word(out, 15, c->comm);
	fprintf(out, " %9.2f %-16s ", (double)c->running_ms / 1000, c->name);
	print_word(out, 0, c->file);
	fputc('\n', out);
}

static void print_region(FILE *out, const struct frame_region *region)
{
	fprintf(out, "%7llu ", (unsigned long long)region->tid);
	print_word(out, 15, region->comm);
	fprintf(out, " %9.2f ", (double)region->running_ms / 1000);
	print_word(out, 0, region->name);
	if (*region->epoch)
		fprintf(out, " epoch=%s", region->epoch);
	if (*region->step)
		fprintf(out, " step=%s", region->step);
	fputc('\n', out);
}

/*
 * Prints a frame in about ROWS lines: calls in flight get at most a third of them, live regions at most a sixth,
 * processes the rest, and RECENT its own lines before the calls.
 */
static void print_frame(FILE *out, const struct frame_text *text, const struct frame *frame,
			const struct recent_text *recent, unsigned int rows)
{
	unsigned int calls = MIN(frame->n_calls, rows / 3), regions = MIN(frame->n_regions, rows / 6);
	unsigned int others = calls + regions + (regions ? 2 : 0) + 5 + !!*frame->failed,
		     left = rows > others ? rows - others : 1;

	print_head(out, text, frame);
	fprintf(out, "%7s %-15s", "all", "");
	print_sum(out, &frame->all, frame->interval_ms);
	for (unsigned int i = 0; i < MIN(frame->n_sums, left); i++) {
		fprintf(out, "%7llu ", (unsigned long long)frame->sums[i].pid);
		print_word(out, 15, frame->sums[i].comm);
		print_sum(out, &frame->sums[i], frame->interval_ms);
	}
	recent_text(recent, out);
	if (regions)
		fprintf(out, "\n%7s %-15s %9s %s\n", "TID", "COMM", "RUNNING_S", "REGION");
	for (unsigned int i = 0; i < regions; i++)
		print_region(out, &frame->regions[i]);
	if (calls)
		fprintf(out, "\n%7s %-15s %9s %-16s %s\n", "TID", "COMM", "RUNNING_S", "CALL", "FILE");
	for (unsigned int i = 0; i < calls; i++)
		print_call(out, &frame->calls[i]);
}

/* On a terminal of ROWS rows the last seconds are shown where they take half of them at most. */
static void print_within(FILE *out, const struct frame_text *text, const struct frame *frame, const char *line,
			 unsigned int rows)
{
	struct recent_text recent;
	const unsigned int lines = recent_text_read(&recent, line);

	if (text->terminal && lines > rows / 2)
		recent.n = 0;
	print_frame(out, text, frame, &recent, text->terminal && recent.n ? rows - lines : rows);
}

/* Prints the LEN bytes of LINE; of one that is longer than the width, as much as fits before three dots. */
static void put_line(const struct frame_text *text, const char *line, size_t len)
{
	static const char dots[] = "...";
	size_t fits = text->width ? (size_t)fmt_fits(line, text->width) : len;

	if (fits >= len)
		fwrite(line, 1, len, stdout);
	else
		printf("%.*s%s", fmt_fits(line, text->width - (unsigned int)strlen(dots)), line, dots);
}

/* Prints LINES, at most ROWS, each with END behind it. */
static void put_lines(const struct frame_text *text, const char *lines, unsigned int rows, const char *end)
{
	for (const char *line = lines; *line && rows; rows--) {
		size_t len = strcspn(line, "\n");

		put_line(text, line, len);
		fputs(end, stdout);
		line += len + (line[len] == '\n');
	}
}

static void redraw(const struct frame_text *text, const char *lines, const struct winsize *size)
{
	fputs(text->frames ? "\033[H" : "\033[2J\033[H", stdout);
	put_lines(text, lines, size->ws_row - 1U, "\033[K\n");
	fputs("\033[J", stdout);
}

/*
 * Returns a copy of TEXT without a terminal's escape sequences, as names come from other users. NULL when there is no
 * memory.
 */
static char *tame(const char *text)
{
	char *tamed = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&tamed, &len);

	for (size_t n; out && *text; text += n + (text[n] == '\n')) {
		autofree char *line = strndup(text, n = strcspn(text, "\n"));

		fmt_text(out, line ? line : "", 0);
		fputc('\n', out);
	}
	if (out && fclose(out))
		free(TAKE_PTR(tamed));
	return tamed;
}

void frame_text_show(struct frame_text *text, const struct frame *frame, const char *recent)
{
	struct winsize size = {};
	autofree char *lines = NULL, *tamed = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&lines, &len);

	if (!out)
		return;
	if (text->terminal && (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col))
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	text->width = terminal_limit(STDOUT_FILENO); /* a window may change its size */
	print_within(out, text, frame, recent, text->terminal ? size.ws_row : TEXT_ROWS + 5 + LIVE_CALLS_MAX);
	if (fclose(out) || !(tamed = tame(lines)))
		return;
	if (text->terminal) {
		redraw(text, tamed, &size);
	} else {
		fputs(text->frames ? "\n" : "", stdout);
		put_lines(text, tamed, UINT_MAX, "\n");
	}
	text->frames++;
}
