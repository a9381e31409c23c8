/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wall times of a matrix as an SVG: for each program two plots beside each other, with a line for each mode in
 * both. On the left are the times, a point for each run and a bar at the median; on the right the times in comparison
 * with dry runs, a point for each pair, a bar at the median of their ratios and one for its interval. Runs that do not
 * count are crosses.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/matrix.h"
#include "report/show/svg/matrix.h"
#include "report/show/svg/svg.h"

#define WIDTH 1190
#define LEFT 200 /* of the first plot, behind the names of modes */
#define TIMES 330 /* its width */
#define LEFT_RATIOS 690
#define RATIOS 290
#define GAP 12 /* between a plot and the text beside it */
#define LINE 22
#define HEAD 58 /* of a panel, before its first mode */
#define FOOT 34 /* its axes */
#define TICKS 5

/* CSS has lines of its own: */
/* clang-format off */
static const char style[] =
	"<style>text{font:13px sans-serif;fill:#222}.h{font-weight:bold}.a{stroke:#ccc}.z{stroke:#555}.p{fill:#3b78b5;fill-opacity:.55}"
	".i{stroke:#d1491b;stroke-opacity:.3;stroke-width:10}.m{stroke:#d1491b;stroke-width:2.5}.x{stroke:#999;stroke-width:1.5}"
	".s{fill:#666;font-size:12px}</style>\n";
/* clang-format on */

/* What a plot has on its axis: times in ns, or ratios less 1. */
struct quantity {
	const char *name, *title;
	int left, width;
	bool (*of_run)(const struct matrix_run *run, double *ret);
	bool (*of_mode)(const struct matrix_mode *mode, double *ret);
	double least_span; /* of its axis */
	bool relative; /* 0, the dry runs, is on the axis */
};

static bool time_of_run(const struct matrix_run *run, double *ret)
{
	*ret = (double)run->usage[USAGE_WALL_NS];
	return run->has[USAGE_WALL_NS];
}

static bool time_of_mode(const struct matrix_mode *mode, double *ret)
{
	*ret = (double)mode->sum[USAGE_WALL_NS].median;
	return mode->counted;
}

static bool ratio_of_run(const struct matrix_run *run, double *ret)
{
	const bool known = matrix_ratio(run, USAGE_WALL_NS, ret);

	*ret -= known;
	return known;
}

static bool ratio_of_mode(const struct matrix_mode *mode, double *ret)
{
	*ret = mode->sum[USAGE_WALL_NS].overhead;
	return mode->sum[USAGE_WALL_NS].pairs;
}

static const struct quantity times = {
	.name = "times",
	.title = "wall time",
	.left = LEFT,
	.width = TIMES,
	.of_run = time_of_run,
	.of_mode = time_of_mode,
	.least_span = 1000,
};
static const struct quantity ratios = {
	.name = "overhead",
	.title = "compared with dry runs, pair by pair",
	.left = LEFT_RATIOS,
	.width = RATIOS,
	.of_run = ratio_of_run,
	.of_mode = ratio_of_mode,
	.least_span = 0.01,
	.relative = true,
};

struct panel {
	uint32_t first, end; /* its modes */
	double y;
};

struct plot {
	const struct quantity *q;
	double low, high, step; /* of its axis; STEP 0: no run has a value */
};

static double x_of(const struct plot *p, double value)
{
	return p->q->left + p->q->width * (value - p->low) / (p->high - p->low);
}

static double y_of(const struct panel *p, uint32_t mode)
{
	return p->y + HEAD + LINE * (mode - p->first) + LINE / 2.0;
}

/* Returns the plot of QUANTITY: its axis has whole steps around all runs of PANEL. */
static struct plot plot_of(const struct matrix *matrix, const struct panel *panel, const struct quantity *quantity)
{
	const struct matrix_run **run = matrix->mode[panel->first].run,
				**end = matrix->mode[panel->end - 1].run + matrix->mode[panel->end - 1].runs;
	struct plot plot = { .q = quantity, .low = INFINITY, .high = -INFINITY };
	double value;

	for (; run < end; run++) {
		if (!quantity->of_run(*run, &value))
			continue;
		plot.low = fmin(plot.low, quantity->relative ? fmin(value, 0) : value);
		plot.high = fmax(plot.high, quantity->relative ? fmax(value, 0) : value);
	}
	if (plot.low > plot.high)
		return plot;
	plot.step = svg_step(fmax(plot.high - plot.low, fmax(plot.high / 100, quantity->least_span)), TICKS);
	plot.low = floor(plot.low / plot.step) * plot.step;
	plot.high = (floor(plot.high / plot.step) + 1) * plot.step;
	return plot;
}

static void put_bar(const char *class, double x1, double x2, double y1, double y2, FILE *out)
{
	fprintf(out, "<line class=\"%s\" x1=\"%.2f\" x2=\"%.2f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, x2, y1, y2);
}

static void put_value(const struct quantity *q, double value, FILE *out)
{
	if (q->relative)
		fprintf(out, value ? "%+.10g %%" : "%g %%", 100 * value);
	else
		fprintf(out, "%.10g s", value / NSEC_PER_SEC);
}

static void put_axis(const struct panel *panel, const struct plot *plot, FILE *out)
{
	const double bottom = panel->y + HEAD + LINE * (panel->end - panel->first);
	const int steps = (int)((plot->high - plot->low) / plot->step + 0.5);

	fprintf(out, "<text class=\"s\" x=\"%d\" y=\"%.1f\">%s</text>\n", plot->q->left, panel->y + 40, plot->q->title);
	for (int i = 0; i <= steps; i++) {
		const double at = plot->low + i * plot->step, value = fabs(at) < plot->step / 2 ? 0 : at,
			     x = x_of(plot, at);

		put_bar(plot->q->relative && !value ? "z" : "a", x, x, panel->y + HEAD - 8, bottom, out);
		fprintf(out, "<text class=\"s\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">", x, bottom + 16);
		put_value(plot->q, value, out);
		fputs("</text>\n", out);
	}
}

static void put_mark(const struct matrix_run *run, double x, double y, FILE *out)
{
	if (run->counted)
		fprintf(out, "<circle class=\"p\" cx=\"%.2f\" cy=\"%.1f\" r=\"4\">", x, y);
	else
		fprintf(out, "<path class=\"x\" d=\"M%.2f %.1fl8 8m0 -8l-8 8\">", x - 4, y - 4);
	fprintf(out, "<title>repetition %" PRIu64 ": %s", run->rep, FMT_NS(run->usage[USAGE_WALL_NS]));
	if (run->status)
		fprintf(out, ", status %" PRIu64, run->status);
	else if (run->lost)
		fputs(", lost rows", out);
	fputs(run->counted ? "</title></circle>\n" : "</title></path>\n", out);
}

/* The line of MODE in PLOT, at Y. */
static void put_line(const struct plot *plot, const struct matrix_mode *mode, double y, FILE *out)
{
	const struct matrix_sum *s = &mode->sum[USAGE_WALL_NS];
	double value;

	if (plot->q->relative && s->pairs)
		put_bar("i", x_of(plot, s->low), x_of(plot, s->high), y, y, out);
	for (uint64_t i = 0; i < mode->runs; i++)
		if (plot->q->of_run(mode->run[i], &value))
			put_mark(mode->run[i], x_of(plot, value), y, out);
	if (plot->q->of_mode(mode, &value))
		put_bar("m", x_of(plot, value), x_of(plot, value), y - 8, y + 8, out);
}

static void put_plot(const struct matrix *matrix, const struct panel *panel, const struct quantity *quantity, FILE *out)
{
	const struct plot plot = plot_of(matrix, panel, quantity);

	if (plot.step <= 0)
		return;
	fprintf(out, "<g class=\"%s\">\n", quantity->name);
	put_axis(panel, &plot, out);
	for (uint32_t i = panel->first; i < panel->end; i++)
		put_line(&plot, &matrix->mode[i], y_of(panel, i), out);
	fputs("</g>\n", out);
}

/* The name of MODE, and its numbers behind each plot. */
static void put_texts(const struct matrix_mode *mode, double y, FILE *out)
{
	const struct matrix_sum *sum = &mode->sum[USAGE_WALL_NS];

	fprintf(out, "<text text-anchor=\"end\" x=\"%d\" y=\"%.1f\">", LEFT - GAP, y + 4);
	svg_plain(out, mode->mode);
	fprintf(out, "</text>\n<text class=\"s\" x=\"%d\" y=\"%.1f\">", LEFT + TIMES + GAP, y + 4);
	if (mode->counted)
		fputs(FMT_NS(sum->median), out);
	else
		fputs("no run counts", out);
	if (mode->counted && mode->counted < mode->runs)
		fprintf(out, ", %" PRIu64 " of %" PRIu64 " runs", mode->counted, mode->runs);
	fputs("</text>\n", out);
	if (sum->pairs)
		fprintf(out, "<text class=\"s\" x=\"%d\" y=\"%.1f\">%+.1f %% (%+.1f to %+.1f %%)</text>\n",
			LEFT_RATIOS + RATIOS + GAP, y + 4, 100 * sum->overhead, 100 * sum->low, 100 * sum->high);
}

static void put_panel(const struct matrix *m, struct panel *p, FILE *out)
{
	fprintf(out, "<text class=\"h\" x=\"16\" y=\"%.1f\">", p->y + 22);
	svg_plain(out, m->mode[p->first].program);
	fputs("</text>\n", out);
	put_plot(m, p, &times, out);
	put_plot(m, p, &ratios, out);
	for (uint32_t i = p->first; i < p->end; i++)
		put_texts(&m->mode[i], y_of(p, i), out);
	p->y += HEAD + LINE * (p->end - p->first) + FOOT;
}

static bool begins_program(const struct matrix *m, uint32_t i)
{
	return !i || strcmp(m->mode[i].program, m->mode[i - 1].program) != 0;
}

void matrix_svg(const struct matrix *matrix, FILE *out)
{
	struct panel p = { .y = 0 };
	unsigned int height = 8;

	for (uint32_t i = 0; i < matrix->n_modes; i++)
		height += LINE + (begins_program(matrix, i) ? HEAD + FOOT : 0);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\">\n"
		"<title>Wall times by mode, and compared with dry runs: a point is a run, the bar the median, the wide "
		"bar an interval for it, a cross a run that does not count</title>\n",
		WIDTH, height, WIDTH, height);
	fputs(style, out);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", out);
	for (uint32_t i = 0; i < matrix->n_modes; i = p.end) {
		p.first = i;
		for (p.end = i + 1; p.end < matrix->n_modes && !begins_program(matrix, p.end); p.end++)
			;
		put_panel(matrix, &p, out);
	}
	fputs("</svg>\n", out);
}
