/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The running traces as a table. A trace has a row of the columns that fit the width, and lines below it with the rest.
 * Its name is whole, as it is the argument of other commands: one that is too long for its column has lines of its own.
 */
#include "cmd/status/status_table.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "base/wrap.h"

#define NAME_MIN 12U
#define NAME_MAX_COLUMNS 32U
#define INDENT 2U
#define TARGET_MAX 160U /* of a target: it may be a cgroup's path, of 4 KiB */

/* Formats 1234567 as 1.2M, a word. A TEXT that is no number stays. */
static const char *count(char buf[FMT_MAX], const char *text)
{
	char *end;
	double x = strtod(text, &end);

	return end == text ? text : fmt_si(buf, x, "", "");
}

/* Formats bytes in powers of 1024, as everywhere: 1.18MiB. */
static const char *bytes(char buf[FMT_MAX], const char *text)
{
	char *end, *blank;
	double x = strtod(text, &end);

	if (end == text)
		return text;
	blank = strchr(fmt_bytes(buf, (uint64_t)x), ' ');
	if (blank)
		memmove(blank, blank + 1, strlen(blank));
	return buf;
}

static const char *hours(char buf[FMT_MAX], const char *seconds)
{
	char *end;
	unsigned long s = strtoul(seconds, &end, 10);

	if (end == seconds)
		return seconds;
	snprintf(buf, FMT_MAX, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	return buf;
}

/* --- columns ------------------------------------------------------------------------------------------ */

static const char *user_of(const struct trace *t, char buf[TRACE_USER_MAX])
{
	return trace_user(t, buf);
}

static const char *pid_of(const struct trace *t, char buf[TRACE_USER_MAX])
{
	return t->pid;
}

static const char *phase_of(const struct trace *t, char buf[TRACE_USER_MAX])
{
	return t->phase;
}

static const char *elapsed_of(const struct trace *t, char buf[TRACE_USER_MAX])
{
	return hours(buf, t->elapsed_s);
}

static const char *rows_of(const struct trace *t, char buf[TRACE_USER_MAX])
{
	return count(buf, t->rows);
}

static const char *lost_of(const struct trace *t, char buf[TRACE_USER_MAX])
{
	return count(buf, t->lost);
}

/* The most important first: a narrow terminal has no room for the last ones. */
static const struct column {
	const char *head;
	int width; /* negative: to the left */
	const char *(*text)(const struct trace *t, char buf[TRACE_USER_MAX]);
} columns[] = {
	{ "PID", 7, pid_of },         { "PHASE", -8, phase_of }, { "USER", -8, user_of },
	{ "ELAPSED", 8, elapsed_of }, { "ROWS", 6, rows_of },    { "LOST", 6, lost_of },
};

/* Returns how many of the columns fit beside a name, and in *NAME the columns for that. */
static unsigned int those_that_fit(unsigned int width, unsigned int *name)
{
	unsigned int used = 0, n;

	for (n = 0; n < ARRAY_SIZE(columns); n++) {
		unsigned int more = 1 + (unsigned int)abs(columns[n].width);

		if (used + more + NAME_MIN > width)
			break;
		used += more;
	}
	*name = MIN(width - used, NAME_MAX_COLUMNS);
	return n;
}

static char *shown(const char *text)
{
	char *buf = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&buf, &len);

	if (!out)
		return NULL;
	fmt_text(out, text, 0);
	if (fclose(out))
		free(TAKE_PTR(buf));
	return buf;
}

/* Prints TEXT in a column of WIDTH, without blanks behind the LAST; one that is too long ends with a +, as in ps(1). */
static void put_cell(FILE *out, const char *text, int width, bool last)
{
	autofree char *all = shown(text);
	unsigned int left = (unsigned int)abs(width);

	fputc(' ', out);
	if (all && strlen(all) > left)
		fprintf(out, "%.*s+", fmt_fits(all, left - 1), all);
	else
		fprintf(out, "%*s", last && width < 0 ? 0 : width, all ? all : "");
}

/* Prints the name; where it is longer than its column, in lines of its own. */
static void put_name(FILE *out, const char *name, unsigned int columns_of_name, unsigned int width)
{
	autofree char *all = shown(name);

	if (all && (size_t)fmt_fits(all, columns_of_name) < strlen(all)) {
		wrap_text(out, name, 0, width);
		fprintf(out, "%*s", (int)columns_of_name, "");
	} else {
		fmt_text(out, name, (int)columns_of_name);
	}
}

void status_head(FILE *out, unsigned int width)
{
	unsigned int name, n = those_that_fit(width, &name);

	fprintf(out, "%-*s", (int)name, "NAME");
	for (unsigned int i = 0; i < n; i++)
		put_cell(out, columns[i].head, columns[i].width, i + 1 == n);
	fputc('\n', out);
}

/* --- the lines below a row ------------------------------------------------------------------------------ */

static void put_details(FILE *text, const struct trace *trace, unsigned int from)
{
	char buf[TRACE_USER_MAX], rows_s[FMT_MAX], size[FMT_MAX], size_s[FMT_MAX], left[FMT_MAX];
	const bool cut = strlen(trace->target) > TARGET_MAX;

	for (unsigned int i = from; i < ARRAY_SIZE(columns); i++)
		fprintf(text, "%s %s, ", columns[i].head, columns[i].text(trace, buf));
	fprintf(text, "%s rows/s, %s written, %s/s, %s free, target %.*s%s", count(rows_s, trace->rows_s),
		bytes(size, trace->bytes), bytes(size_s, trace->bytes_s), bytes(left, trace->free_bytes),
		fmt_fits(trace->target, TARGET_MAX), trace->target, cut ? "..." : "");
	if (strcmp(trace->collectors, "-") != 0)
		fprintf(text, ", collectors %s", trace->collectors);
}

static void put_below(FILE *out, const struct trace *trace, unsigned int from, unsigned int width)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *line = open_memstream(&text, &len);

	if (!line)
		return;
	put_details(line, trace, from);
	if (!fclose(line))
		wrap_from(out, INDENT, text, width);
}

void status_row(FILE *out, const struct trace *trace, unsigned int width, unsigned int limit)
{
	unsigned int name, n = those_that_fit(width, &name);
	autofree char *folder = util_fmt("folder %s", trace->dir);
	char buf[TRACE_USER_MAX];

	put_name(out, trace_called(trace), name, width);
	for (unsigned int i = 0; i < n; i++)
		put_cell(out, columns[i].text(trace, buf), columns[i].width, i + 1 == n);
	fputc('\n', out);
	if (!trace->silent)
		put_below(out, trace, n, width);
	if (folder && !trace->silent)
		wrap_from(out, INDENT, folder, limit ? limit : UINT_MAX);
}
