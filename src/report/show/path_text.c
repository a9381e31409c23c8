/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the job's time went, for a terminal: the largest parts, and what sets the pace if that is something else. */
#include <math.h>
#include <stdio.h>

#include "base/fmt.h"
#include "base/util.h"
#include "base/wrap.h"
#include "report/path/path.h"
#include "report/scan/model.h"
#include "report/show/text.h"

#define PARTS 6 /* lines, with that of the others */
#define LEAST 0.005 /* of the time: smaller parts are added up */
#define PACE 0.1 /* the chain has so much more, or less, of its largest part than the path has */
#define MOST 0.5 /* of the time: where more is not known, what processes did says more */
#define INDENT 10 /* columns before a part's words */

struct printer {
	const struct report *report;
	const struct report_path_root *root;
	unsigned int width; /* 0: any */
	FILE *out;
};

static double share(const struct report_path_root *root, uint64_t ns)
{
	return (double)ns / (double)(root->end_ns - root->begin_ns);
}

static const char *const roles[PATH_ROLES] = {
	[PATH_OWN] = "",
	[PATH_WORKER] = ", a worker",
	[PATH_CHILD] = ", one of many",
};

/* Puts what SUM is: "reading from disk: x.bin (python's thread)". Names are escaped, as in the files. */
static void words(const struct report *report, const struct path_leaf *leaf, FILE *line)
{
	const char *detail = path_name_text(&report->path->names, leaf->detail);
	const char *process = path_name_text(&report->path->names, leaf->process);

	fputs(path_kinds[leaf->kind].phrase, line);
	if (detail)
		fprintf(line, ": %s", detail);
	if (process)
		fprintf(line, " (%s%s%s%s%s%s%s%s%s)", process, leaf->thread ? "'s thread" : "", roles[leaf->role],
			path_does[leaf->doing].words, leaf->starting ? ", loading its program" : "",
			leaf->rank ? ", the slow rank" : "", leaf->gil ? ", with Python's lock" : "",
			leaf->held ? ", with a lock on a file" : "", leaf->inferred ? "; inferred" : "");
}

/* Prints TEXT after INDENT columns that are in use. */
static void end_line(const struct printer *to, const char *text, unsigned int indent)
{
	if (to->width)
		wrap_text(to->out, text, indent, to->width);
	else
		fmt_line(to->out, "", text);
}

static void put_part(const struct printer *to, const struct path_sum *sum)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *line = open_memstream(&text, &len);

	if (!line)
		return;
	words(to->report, &sum->leaf, line);
	if (fclose(line) != 0)
		return;
	fprintf(to->out, "%5.1f %%   ", 100 * share(to->root, sum->ns));
	end_line(to, text, INDENT);
}

/* Prints the largest parts, and the sum of the others. */
static void put_parts(const struct printer *to)
{
	const struct path_sums *sums = &to->root->sums;
	uint64_t rest_ns = to->root->end_ns - to->root->begin_ns;
	uint32_t n = 0;

	for (; n < sums->n && n + 1 < PARTS && share(to->root, sums->v[n].ns) >= LEAST; n++) {
		put_part(to, &sums->v[n]);
		rest_ns -= sums->v[n].ns;
	}
	if (rest_ns)
		fprintf(to->out, "%5.1f %%   other\n", 100 * share(to->root, rest_ns));
}

/* Returns the largest part of the chain if it is another part of the path by far, else NULL. */
static const struct path_sum *pace_of(const struct report_path_root *root)
{
	const struct path_sum *most = NULL;

	for (uint32_t i = 0; i < root->sums.n; i++)
		if (!most || root->sums.v[i].chain_ns > most->chain_ns)
			most = &root->sums.v[i];
	return most && fabs(share(root, most->chain_ns) - share(root, most->ns)) > PACE ? most : NULL;
}

static void put_pace(const struct printer *to)
{
	const struct path_sum *pace = pace_of(to->root);
	autofree char *text = NULL;
	size_t len = 0;
	FILE *line = pace ? open_memstream(&text, &len) : NULL;

	if (!line)
		return;
	fprintf(line, "what sets the pace: %.1f %% ", 100 * share(to->root, pace->chain_ns));
	words(to->report, &pace->leaf, line);
	if (fclose(line) == 0)
		end_line(to, text, 0);
}

bool path_is_known(const struct report *report)
{
	const struct report_path_root *root = report->path && report->path->n ? &report->path->root[0] : NULL;
	uint64_t unknown_ns = 0;

	for (uint32_t i = 0; root && i < root->sums.n; i++)
		unknown_ns += root->sums.v[i].leaf.kind == PATH_UNKNOWN ? root->sums.v[i].ns : 0;
	return root && share(root, unknown_ns) < MOST;
}

void path_text(const struct report *report, unsigned int width, FILE *out)
{
	const struct report_path *path = report->path;
	struct printer to = { .report = report, .width = width, .out = out };
	autofree char *head = NULL;

	if (!path_is_known(report))
		return;
	to.root = &path->root[0];
	head = util_fmt("where the job's %s went (as its first process saw it; adds up to 100 %%):",
			FMT_NS(to.root->end_ns - to.root->begin_ns));
	if (width)
		fputc('\n', out);
	end_line(&to, head ? head : "", 0);
	put_parts(&to);
	put_pace(&to);
	if (!width)
		fputc('\n', out);
}
