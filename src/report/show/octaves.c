/* SPDX-License-Identifier: BSD-2-Clause */
/* How latencies and sizes are spread, for a terminal: a line for each power of two, a column for each probe or side of it. */
#include <stdio.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/scan/spreads.h"
#include "report/show/show.h"

#define OCTAVE_LINE "%10s %-12s"
#define OCTAVE_CELL " %11s"

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
	fprintf(out, "\n%s\n", text);
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

void report_octaves_text(const struct report *r, FILE *out)
{
	if (!r->uses)
		return;
	octaves(r, out, "Latencies: how many calls and requests took so long", lat_of, fmt_ns);
	octaves(r, out, "Sizes: how many calls and requests were of so many bytes (pipes and the like too)", size_of,
		fmt_bytes);
}
