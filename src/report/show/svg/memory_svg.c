/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The map of memory as an SVG: a path for each share and kind of access, in units of cells, so that its size is that of
 * the picture's structure; the allocated blocks; the names of files and stacks; an axis of time.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/memory/memory_map.h"
#include "report/show/svg/memory.h"
#include "report/show/svg/svg.h"

#define WIDTH 1100
#define LEFT 240 /* of the plot */
#define RIGHT (WIDTH - 20)
#define TOP 66
#define HEIGHT 560 /* of the plot */
#define FOOT 66
#define NAME 36 /* characters of a name */
#define COMMAND 120 /* bytes of the command line */
#define NAME_STEP 12 /* between names */
#define TICKS 8

/* CSS has lines of its own: */
/* clang-format off */
static const char style[] =
	"<style>text{font:12px sans-serif;fill:#222}.t{font-weight:bold;font-size:14px}.s{fill:#666;font-size:11px}"
	".n{font-size:11px;text-anchor:end}.h0{fill:#2271b8}.h1{fill:#238a4f}.h2{fill:#7a52b3}.h3{fill:#d9650f}"
	".l1{fill-opacity:.2}.l2{fill-opacity:.31}.l3{fill-opacity:.43}.l4{fill-opacity:.54}.l5{fill-opacity:.66}.l6{fill-opacity:.77}"
	".l7{fill-opacity:.89}.b{fill:#000;fill-opacity:.05}.f{stroke:#333;stroke-opacity:.6;stroke-width:.7}.g{stroke:#ccc}"
	".p{stroke:#999;stroke-dasharray:3 2}</style>\n";
/* clang-format on */

static const char *const hues[CELLS_HUES] = {
	[CELLS_UNKNOWN] = "touched",
	[CELLS_READ] = "not written",
	[CELLS_MIXED] = "written, less than half",
	[CELLS_WRITTEN] = "written",
};

struct plot {
	const struct memory_map *m;
	double x, y; /* of a bin, of a line, in pixels */
};

static double y_of(const struct plot *p, double line)
{
	return TOP + line * p->y;
}

/* Puts the text NAME cut to what fits. */
static void put_name(const char *name, FILE *out)
{
	const size_t len = strlen(name);
	autofree char *cut = len > NAME ? util_fmt("...%s", name + len - NAME + 3) : NULL;

	/* the end of an escape or of a character may be cut: text is safe all the same */
	svg_text(out, cut ? cut : name);
}

static void put_paths(const struct cells_rect *rects, uint32_t n, FILE *out)
{
	for (unsigned int hue = 0; hue < CELLS_HUES; hue++)
		for (unsigned int level = 1; level <= CELLS_LEVELS; level++) {
			bool any = false;

			for (uint32_t i = 0; i < n; i++) {
				const struct cells_rect *r = &rects[i];

				if (r->hue != hue || r->level != level)
					continue;
				if (!any)
					fprintf(out, "<path class=\"h%u l%u\" d=\"", hue, level);
				fprintf(out, "M%u %uh%uv%uh-%uz", r->x, r->y, r->w, r->h, r->w);
				any = true;
			}
			if (any)
				fputs("\"/>\n", out);
		}
}

static void put_cells(const struct plot *p, FILE *out)
{
	uint32_t n;
	autofree struct cells_rect *rects = cells_rects(&p->m->cells, 1, &n);

	fprintf(out,
		"<g id=\"touched\" shape-rendering=\"crispEdges\" transform=\"translate(%d %d) scale(%.6g %.6g)\">\n",
		LEFT, TOP, p->x, p->y);
	put_paths(rects, n, out);
	fputs("</g>\n", out);
}

/* Returns the place of NS on the axis of bins. */
static double bin_of(const struct memory_map *m, uint64_t ns)
{
	return ns > m->begin_ns ? fmin((double)(ns - m->begin_ns) / (double)m->bin_ns, m->cells.bins) : 0;
}

static void put_blocks(const struct plot *plot, FILE *out)
{
	const struct memory_map *map = plot->m;

	fprintf(out, "<g id=\"blocks\" class=\"b%s\" transform=\"translate(%d %d) scale(%.6g %.6g)\">\n",
		map->options.borderless ? "" : " f", LEFT, TOP, plot->x, plot->y);
	for (uint32_t i = 0; i < map->n_blocks; i++) {
		const struct memory_block *b = &map->block[i];
		const double x = bin_of(map, b->b.begin_ns), end = bin_of(map, b->b.end_ns);

		if (end > x)
			fprintf(out, "<path vector-effect=\"non-scaling-stroke\" d=\"M%.6g %.6gh%.6gv%.6gh-%.6gz\"/>\n",
				x, b->y, end - x, b->height, end - x);
	}
	fputs("</g>\n", out);
}

static void put_names(const struct plot *plot, FILE *out)
{
	double free = 0; /* where the next name may be */

	fputs("<g id=\"names\">\n", out);
	for (uint32_t i = 0; i < plot->m->n_names; i++) {
		const struct memory_name *name = &plot->m->name[i];
		const double y = y_of(plot, name->line + name->lines / 2.0) + 4;

		if (y < free)
			continue;
		fprintf(out, "<text class=\"n\" x=\"%d\" y=\"%.1f\">", LEFT - 8, y);
		put_name(name->text, out);
		fprintf(out, "<title>process %" PRIu64 ": ", name->pid);
		svg_text(out, name->text);
		fputs("</title></text>\n", out);
		free = y + NAME_STEP;
	}
	fputs("</g>\n", out);
}

static void put_parts(const struct plot *p, FILE *out)
{
	for (uint32_t i = 1; i < p->m->n_parts; i++)
		if (p->m->part[i].pid != p->m->part[i - 1].pid || p->m->part[i].lines * p->y > 3)
			fprintf(out, "<line class=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.2f\" y2=\"%.2f\"/>\n",
				p->m->part[i].pid == p->m->part[i - 1].pid ? "g" : "p", LEFT, RIGHT,
				y_of(p, p->m->part[i].line), y_of(p, p->m->part[i].line));
}

static void put_axis(const struct plot *plot, uint64_t zero_ns, FILE *out)
{
	const struct memory_map *map = plot->m;
	const double zero = ((double)map->begin_ns - (double)zero_ns) / NSEC_PER_SEC;
	const double span = (double)map->bin_ns * map->cells.bins / NSEC_PER_SEC;
	const double step = svg_step(span, TICKS);

	for (double at = ceil(zero / step) * step; at <= zero + span + step / 1e6; at += step) {
		const double x = LEFT + (RIGHT - LEFT) * (at - zero) / span;

		fprintf(out,
			"<line stroke=\"#888\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/><text class=\"s\" "
			"text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%.10g s</text>\n",
			x, x, TOP + HEIGHT, TOP + HEIGHT + 5, x, TOP + HEIGHT + 18, fabs(at) < step / 1e6 ? 0 : at);
	}
}

static void put_legend(const struct report *report, FILE *out)
{
	const struct memory_map *map = report->memory;
	int x = LEFT;

	for (unsigned int hue = 0; hue < CELLS_HUES; hue++) {
		for (unsigned int level = 1; level <= CELLS_LEVELS; level++)
			fprintf(out, "<rect class=\"h%u l%u\" x=\"%d\" y=\"%d\" width=\"7\" height=\"10\"/>", hue,
				level, x + 7 * ((int)level - 1), TOP + HEIGHT + 32);
		fprintf(out, "<text class=\"s\" x=\"%d\" y=\"%d\">%s</text>\n", x + 62, TOP + HEIGHT + 41, hues[hue]);
		x += 62 + 12 + 6 * (int)strlen(hues[hue]);
	}
	fprintf(out,
		"<text class=\"s\" x=\"%d\" y=\"%d\">light to dark: the share of a cell that was touched, from an "
		"eighth to all; frames: %" PRIu32 " of %" PRIu64 " allocated blocks of %s and more</text>\n",
		LEFT, TOP + HEIGHT + 58, map->n_blocks, map->all_blocks, FMT_BYTES(map->options.min_bytes));
}

static void put_command(const char *command, FILE *out)
{
	autofree char *cut = strlen(command) > COMMAND ? strndup(command, COMMAND) : NULL;

	svg_plain(out, cut ? cut : command);
	fputs(cut ? "..." : "", out);
}

static void put_head(const struct report *report, FILE *out)
{
	const struct memory_map *map = report->memory;
	const char *before = "; by ";

	fputs("<text class=\"t\" x=\"16\" y=\"24\">Memory: ", out);
	put_command(report_command(report), out);
	fprintf(out, "</text>\n<text class=\"s\" x=\"16\" y=\"44\">a cell is %s of addresses and %s",
		FMT_BYTES(map->line_bytes), FMT_NS(map->bin_ns));
	for (enum access_source i = 0; i < ACCESS_SOURCES; i++)
		if (report->accesses->by[i]) {
			fprintf(out, "%s%s", before, access_source_names[i]);
			before = ", ";
		}
	if (map->parts_left_out + map->processes_left_out)
		fprintf(out, "; %s and %s are left out",
			FMT_N(map->processes_left_out, "small process", "small processes"),
			FMT_N(map->parts_left_out, "small range of addresses", "small ranges of addresses"));
	fputs("</text>\n", out);
}

bool report_has_memory(const struct report *r)
{
	return r->memory != NULL;
}

void report_memory_svg(const struct report *report, FILE *out)
{
	const struct memory_map *map = report->memory;
	const struct plot p = { map, (double)(RIGHT - LEFT) / map->cells.bins, (double)HEIGHT / map->cells.lines };

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
		"<title>Memory over time: addresses that were touched, without the gaps between them, and allocated "
		"blocks</title>\n",
		WIDTH, TOP + HEIGHT + FOOT, WIDTH, TOP + HEIGHT + FOOT);
	fputs(style, out);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", out);
	put_head(report, out);
	fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#fafbfc\"%s/>\n", LEFT, TOP,
		RIGHT - LEFT, HEIGHT, map->options.borderless ? "" : " stroke=\"#999\"");
	put_parts(&p, out);
	put_cells(&p, out);
	put_blocks(&p, out);
	put_names(&p, out);
	put_axis(&p, report->manifest.start_ns ? report->manifest.start_ns : map->begin_ns, out);
	put_legend(report, out);
	fputs("</svg>\n", out);
}
