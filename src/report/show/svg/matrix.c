/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a matrix: its runs, and for each number of wait4(2) that a comparison needs the modes. */
#include "report/show/svg/matrix.h"

#include <string.h>

#include "base/fmt.h"
#include "base/json.h"
#include "base/util.h"
#include "report/matrix.h"

#define RUN(key, head, kind, width, member) key, head, kind, width, 0, VIEW_AT(struct matrix_run, member)
#define USED(key, head, kind, width, u) RUN(key, head, kind, width, usage[u]), VIEW_KNOWN(struct matrix_run, has[u])

VIEW_GET(counted, struct matrix, m, struct matrix_run, run)
{
	cell->n = run->counted;
	if (run->status)
		snprintf(cell->shown, sizeof(cell->shown), "status %llu", (unsigned long long)run->status);
	else if (run->lost)
		snprintf(cell->shown, sizeof(cell->shown), "lost rows");
	else if (!run->counted)
		snprintf(cell->shown, sizeof(cell->shown), "no numbers");
}

VIEW_GET(run_name, struct matrix, m, struct matrix_run, run)
{
	snprintf(cell->shown, sizeof(cell->shown), "%s.%s.%llu", run->program, run->mode, (unsigned long long)run->rep);
}

VIEW_GET(node, struct matrix, m, struct matrix_run, run)
{
	cell->text = *(const char *const *)view_at(run, c);
	cell->known = strcmp(cell->text, "-") != 0;
}

static const struct view_column run_columns[] = {
	{ RUN("order", "ORDER", VIEW_ID, 5, order), .what = "of running, from 1 on" },
	{ RUN("program", NULL, VIEW_TEXT, 0, program) },
	{ RUN("mode", NULL, VIEW_TEXT, 0, mode) },
	{ RUN("rep", NULL, VIEW_ID, 0, rep), .what = "the repetition, from 1 on" },
	{ RUN("dry", NULL, VIEW_FLAG, 0, dry) },
	{ RUN("mem", NULL, VIEW_TEXT, 0, mem), .get = node, .what = "the NUMA node of its memory; null: any" },
	{ RUN("cpu", NULL, VIEW_TEXT, 0, cpu), .get = node, .what = "of its CPUs" },
	{ RUN("status", NULL, VIEW_ID, 0, status) },
	{ RUN("lost", NULL, VIEW_COUNT, 0, lost), VIEW_KNOWN(struct matrix_run, has_lost), .what = "rows" },
	{ "counted", "COUNTED", VIEW_FLAG, 11, .get = counted,
	  .what = "in the other tables: its status is 0, and it has lost nothing" },
	{ USED("wall_ns", "WALL", VIEW_NS, 8, USAGE_WALL_NS) },
	{ USED("user_ns", "USER", VIEW_NS, 8, USAGE_USER_NS) },
	{ USED("system_ns", "SYSTEM", VIEW_NS, 8, USAGE_SYSTEM_NS) },
	{ USED("max_rss_bytes", "MAX RSS", VIEW_BYTES, 9, USAGE_MAX_RSS_BYTES) },
	{ USED("minor_faults", NULL, VIEW_COUNT, 0, USAGE_MINOR_FAULTS) },
	{ USED("major_faults", NULL, VIEW_COUNT, 0, USAGE_MAJOR_FAULTS) },
	{ USED("voluntary_switches", NULL, VIEW_COUNT, 0, USAGE_VOLUNTARY_SWITCHES) },
	{ USED("involuntary_switches", NULL, VIEW_COUNT, 0, USAGE_INVOLUNTARY_SWITCHES) },
	{ RUN("seed", NULL, VIEW_ID, 0, seed) },
	{ RUN("command", NULL, VIEW_TEXT, 0, command) },
	{ NULL, "RUN", VIEW_TEXT, 0, .get = run_name },
	{ 0 },
};

static const struct view view_runs = {
	.key = "runs",
	.title = "Runs, in their order",
	.what = "the runs, in their order",
	.columns = run_columns,
	VIEW_POINTED(struct matrix, run, n_runs),
};

/* --- the modes ------------------------------------------------------------------------------------------------- */

VIEW_GET(runs, struct matrix, m, struct matrix_mode, mode)
{
	snprintf(cell->shown, sizeof(cell->shown), "%llu of %llu", (unsigned long long)mode->counted,
		 (unsigned long long)mode->runs);
}

VIEW_GET(mode_name, struct matrix, m, struct matrix_mode, mode)
{
	snprintf(cell->shown, sizeof(cell->shown), "%s.%s", mode->program, mode->mode);
}

/* A share of the number at C's place, which may be negative. */
VIEW_GET(change, struct matrix, m, struct matrix_mode, mode)
{
	const struct matrix_sum *s = &mode->sum[c->arg];

	cell->f = *(const double *)view_at(mode, c);
	cell->known = s->pairs > 0;
	if (cell->known)
		snprintf(cell->shown, sizeof(cell->shown), "%+.1f %%", 100 * cell->f);
}

VIEW_GET(interval, struct matrix, m, struct matrix_mode, mode)
{
	const struct matrix_sum *s = &mode->sum[c->arg];

	cell->known = s->pairs > 0;
	if (cell->known)
		snprintf(cell->shown, sizeof(cell->shown), "%+.1f to %+.1f %%", 100 * s->low, 100 * s->high);
}

#define MODE(key, head, kind, width, member) key, head, kind, width, 0, VIEW_AT(struct matrix_mode, member)
#define SUM(u, key, head, kind, member, known)                                                 \
	{                                                                                      \
		MODE(key, head, kind, 9, sum[u].member), VIEW_KNOWN(struct matrix_mode, known) \
	}
#define CHANGE(u, key, head, width, member, text)                                                        \
	{                                                                                                \
		MODE(key, head, VIEW_SHARE, width, sum[u].member), .get = change, .arg = u, .what = text \
	}

/* The columns of a number: UNIT is the end of their names. */
#define COLUMNS(u, kind, unit)                                                                                       \
	{                                                                                                            \
		{ MODE("program", NULL, VIEW_TEXT, 0, program) }, { MODE("mode", NULL, VIEW_TEXT, 0, mode) },        \
			{ NULL, "RUNS", VIEW_COUNT, 10, .get = runs }, { MODE("runs", NULL, VIEW_COUNT, 0, runs) },  \
			{ MODE("counted", NULL, VIEW_COUNT, 0, counted) },                                           \
			SUM(u, "median_" unit, "MEDIAN", kind, median, counted),                                     \
			SUM(u, "min_" unit, "MIN", kind, min, counted),                                              \
			SUM(u, "max_" unit, "MAX", kind, max, counted),                                              \
			SUM(u, "mean_" unit, "MEAN", kind, mean, counted),                                           \
			SUM(u, "stdev_" unit, "STDEV", kind, stdev, many),                                           \
			{ MODE("pairs", NULL, VIEW_COUNT, 0, sum[u].pairs), .what = "of a traced and a dry run" },   \
			CHANGE(u, "overhead", "OVERHEAD", 9, overhead, "the median of the ratios of pairs, less 1"), \
			CHANGE(u, "overhead_low", NULL, 0, low, "an interval that holds the true median"),           \
			CHANGE(u, "overhead_high", NULL, 0, high, NULL),                                             \
			CHANGE(u, "confidence", NULL, 0, confidence, "with this probability"),                       \
			{ NULL, "BETWEEN", VIEW_COUNT, 17, .get = interval, .arg = u },                              \
			{ NULL, "MODE", VIEW_TEXT, 0, .get = mode_name }, { 0 },                                     \
	}
#define MODES(name, u, kind, unit, head, text)                                     \
	static const struct view_column name##_columns[] = COLUMNS(u, kind, unit); \
	static const struct view view_##name = {                                   \
		.key = #name,                                                      \
		.title = head,                                                     \
		.what = text,                                                      \
		.columns = name##_columns,                                         \
		VIEW_POINTED(struct matrix, mode, n_modes),                        \
	}

MODES(wall, USAGE_WALL_NS, VIEW_NS, "ns", "Wall time", "wall times by program and mode, of the runs that are counted");
MODES(user, USAGE_USER_NS, VIEW_NS, "ns", "CPU time in the program", "likewise CPU times in user mode");
MODES(system, USAGE_SYSTEM_NS, VIEW_NS, "ns", "CPU time in the kernel", "likewise CPU times in the kernel");
MODES(max_rss, USAGE_MAX_RSS_BYTES, VIEW_BYTES, "bytes", "Most memory of a process",
      "likewise the most resident memory");

static void notes_text(const void *of, FILE *out)
{
	const struct matrix *m = of;

	fputs("\nOVERHEAD is the median of the ratios to the dry runs with the same nodes, pair by pair, BETWEEN an "
	      "interval\n"
	      "for it: of 95 %, or with fewer than 6 pairs from the smallest to the largest ratio.\n",
	      out);
	if (m->left_out)
		fprintf(out, "%llu of %s %s not counted: failed, or lost rows.\n", (unsigned long long)m->left_out,
			FMT_N(m->n_runs, "run", "runs"), m->left_out == 1 ? "is" : "are");
}

const struct view_section matrix_sections[] = {
	{ &view_runs },    { &view_wall },         { &view_user }, { &view_system },
	{ &view_max_rss }, { .text = notes_text }, { 0 },
};

void matrix_text(const struct matrix *m, FILE *out)
{
	view_sections_text(matrix_sections, m, false, out);
}

void matrix_json(const struct matrix *m, struct json *j)
{
	json_object(j, NULL);
	view_sections_json(matrix_sections, m, 0, false, j);
	json_end(j);
}
