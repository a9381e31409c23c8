/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wall times of a matrix as an SVG: a panel for each program with an axis of its own, in it a line for each mode with a
 * point for each run, and a bar at the median. Runs that do not count are crosses.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/matrix.h"
#include "report/show/matrix.h"
#include "report/show/svg.h"

#define WIDTH 860
#define LEFT 210 /* of the axis */
#define RIGHT (WIDTH - 150)
#define LINE 22
#define HEAD 44 /* of a panel, before its first mode */
#define FOOT 34 /* its axis */
#define TICKS 5

static const char style[] =
	"<style>text{font:13px sans-serif;fill:#222}.h{font-weight:bold}.a{stroke:#ccc}.p{fill:#3b78b5;fill-opacity:.55}"
	".m{stroke:#d1491b;stroke-width:2.5}.x{stroke:#999;stroke-width:1.5}.s{fill:#666;font-size:12px}</style>\n";

struct panel {
	uint32_t first, end; /* its modes */
	double low, high;    /* of its axis, ns */
	double y;
};

static double x_of(const struct panel *p, double ns)
{
	return LEFT + (RIGHT - LEFT) * (ns - p->low) / (p->high - p->low);
}

/* Sets the axis of P, whole steps around all its runs. Returns its step; 0: no run has a time. */
static double find_axis(const struct matrix *m, struct panel *p)
{
	const struct matrix_run **run = m->mode[p->first].run, **end = m->mode[p->end - 1].run + m->mode[p->end - 1].runs;
	double step;

	p->low = INFINITY;
	p->high = 0;
	for (; run < end; run++) {
		if (!(*run)->has[USAGE_WALL_NS])
			continue;
		p->low = fmin(p->low, (double)(*run)->usage[USAGE_WALL_NS]);
		p->high = fmax(p->high, (double)(*run)->usage[USAGE_WALL_NS]);
	}
	if (p->low > p->high)
		return 0;
	step = svg_step(fmax(p->high - p->low, fmax(p->high / 100, 1000)), TICKS);
	p->low = floor(p->low / step) * step;
	p->high = (floor(p->high / step) + 1) * step;
	return step;
}

static void put_axis(const struct panel *p, double step, FILE *out)
{
	const double bottom = p->y + HEAD + LINE * (p->end - p->first);

	for (double at = p->low; at <= p->high + step / 2; at += step)
		fprintf(out, "<line class=\"a\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
			"<text class=\"s\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
			x_of(p, at), x_of(p, at), p->y + HEAD - 8, bottom, x_of(p, at), bottom + 16, FMT_NS((uint64_t)(at + 0.5)));
}

static void put_run(const struct panel *p, const struct matrix_run *run, double y, FILE *out)
{
	const double x = x_of(p, (double)run->usage[USAGE_WALL_NS]);

	if (run->counted)
		fprintf(out, "<circle class=\"p\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n", x, y);
	else
		fprintf(out, "<path class=\"x\" d=\"M%.1f %.1fl8 8m0 -8l-8 8\"/>\n", x - 4, y - 4);
}

static void put_mode(const struct matrix *m, const struct panel *p, uint32_t nr, bool axis, FILE *out)
{
	const struct matrix_mode *mode = &m->mode[nr];
	const struct matrix_sum *s = &mode->sum[USAGE_WALL_NS];
	const double y = p->y + HEAD + LINE * (nr - p->first) + LINE / 2.0, at = axis ? x_of(p, (double)s->median) : 0;

	fprintf(out, "<text text-anchor=\"end\" x=\"%d\" y=\"%.1f\">", LEFT - 12, y + 4);
	svg_plain(out, mode->mode);
	fputs("</text>\n", out);
	for (uint64_t i = 0; axis && i < mode->runs; i++)
		if (mode->run[i]->has[USAGE_WALL_NS])
			put_run(p, mode->run[i], y, out);
	if (axis && mode->counted)
		fprintf(out, "<line class=\"m\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", at, at, y - 8, y + 8);
	fprintf(out, "<text class=\"s\" x=\"%d\" y=\"%.1f\">", RIGHT + 12, y + 4);
	if (!mode->counted)
		fputs("no run counts", out);
	else if (s->pairs)
		fprintf(out, "%s, %+.1f %%", FMT_NS(s->median), 100 * s->overhead);
	else
		fputs(FMT_NS(s->median), out);
	fputs("</text>\n", out);
}

static void put_panel(const struct matrix *m, struct panel *p, FILE *out)
{
	const double step = find_axis(m, p);

	fprintf(out, "<text class=\"h\" x=\"16\" y=\"%.1f\">", p->y + 22);
	svg_plain(out, m->mode[p->first].program);
	fputs("</text>\n", out);
	if (step > 0)
		put_axis(p, step, out);
	for (uint32_t i = p->first; i < p->end; i++)
		put_mode(m, p, i, step > 0, out);
	p->y += HEAD + LINE * (p->end - p->first) + FOOT;
}

static bool begins_program(const struct matrix *m, uint32_t i)
{
	return !i || strcmp(m->mode[i].program, m->mode[i - 1].program) != 0;
}

void matrix_svg(const struct matrix *m, FILE *out)
{
	struct panel p = { .y = 0 };
	unsigned int height = 8;

	for (uint32_t i = 0; i < m->n_modes; i++)
		height += LINE + (begins_program(m, i) ? HEAD + FOOT : 0);
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\">\n"
		"<title>Wall times by mode: a point is a run, the bar the median, a cross a run that does not count</title>\n",
		WIDTH, height, WIDTH, height);
	fputs(style, out);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", out);
	for (uint32_t i = 0; i < m->n_modes; i = p.end) {
		p.first = i;
		for (p.end = i + 1; p.end < m->n_modes && !begins_program(m, p.end); p.end++)
			;
		put_panel(m, &p, out);
	}
	fputs("</svg>\n", out);
}
