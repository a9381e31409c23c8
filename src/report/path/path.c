/* SPDX-License-Identifier: BSD-2-Clause */
/* The order in which files are read, and each root's path walked. */
#include "report/path/path.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/path/chain.h"
#include "report/path/shorts.h"
#include "report/path/walk.h"
#include "report/scan/part.h"
#include "report/scan/scan.h"

/* What is read, and freed when the paths are known. */
struct source {
	struct report *report;
	struct path_lives lives;
	struct path_waits waits;
	struct path_shorts shorts;
};

static int source_init(struct source *source, struct report *r)
{
	source->report = r;
	path_waits_init(&source->waits, r, &source->lives);
	path_shorts_init(&source->shorts, &source->waits);
	return path_lives_init(&source->lives, &r->path->names);
}

static void source_free(struct source *source)
{
	path_shorts_free(&source->shorts);
	path_waits_free(&source->waits);
	path_lives_free(&source->lives);
}

/* --- reading ------------------------------------------------------------------------------------------- */

/* Gives all rows of FILE, which others may have read and counted, and which do not count twice. */
static void walk_again(struct report *r, struct scan_file *file, struct scan_taker *taker)
{
	struct reader *reader = &file->reader;
	const uint64_t rows = reader->rows, outside = reader->outside, bad_rows = reader->bad_rows;

	scan_walk(r->folder, file->name, taker);
	reader->rows = rows;
	reader->outside = outside;
	reader->bad_rows = bad_rows;
}

/* Gives all rows of FILE from the window's begin on: a wait that ends behind the window may have begun in it. */
static void walk_to_end(struct report *r, struct scan_file *file, struct scan_taker *taker)
{
	const uint64_t end_ns = file->reader.end_ns;

	file->reader.end_ns = end_ns ? UINT64_MAX : 0;
	scan_walk(r->folder, file->name, taker);
	file->reader.end_ns = end_ns;
}

static int read_waits(struct source *source)
{
	struct scan_taker taker = { .take = path_waits_take, .own = &source->waits };
	struct scan_file *file = scan_file(source->report->folder, "waits");
	const struct notes notes = report_notes(source->report);

	walk_to_end(source->report, file, &taker);
	scan_note_header(file, taker.bad_rows, &notes);
	scan_note_error(file, &notes);
	report_note_count(source->report, "waits", source->waits.strangers, "row is", "rows are",
			  "of threads that pids.out lacks, and left out");
	if (source->waits.full)
		report_note(source->report, "waits: there are too many rows: where the time went is not known");
	return path_waits_end(&source->waits);
}

static int read_shorts(struct source *source)
{
	struct scan_taker taker = { .take = path_shorts_take, .own = &source->shorts };

	walk_again(source->report, scan_file(source->report->folder, "sched"), &taker);
	if (source->shorts.full)
		report_note(source->report,
			    "sched: there are too many rows for the path: later waits of less than 1 ms count as time "
			    "on a CPU there");
	return path_shorts_end(&source->shorts);
}

static int read_all(struct source *source)
{
	struct scan_taker taker = { .take = path_lives_take, .own = &source->lives };
	int res;

	walk_again(source->report, scan_file(source->report->folder, "pids"), &taker);
	res = path_lives_end(&source->lives);
	if (res == 0)
		res = read_waits(source);
	if (res == 0 && !source->waits.full)
		res = read_shorts(source);
	return res;
}

/* --- paths --------------------------------------------------------------------------------------------- */

static struct path_times times_of(const struct source *source)
{
	const struct report *r = source->report;

	return (struct path_times){
		.begin_ns = r->manifest.start_ns ? r->manifest.start_ns : r->first_ns,
		.end_ns = r->manifest.end_ns ? r->manifest.end_ns : MAX(r->last_ns, source->waits.last_ns),
	};
}

/* Both ways through the time of ROOT. */
static int walk(const struct source *source, const struct path_root *root, struct path_sums *sums)
{
	struct path_walk way;
	int res = path_walk_init(&way, &source->shorts, path_sums_take, sums);

	if (res == 0) {
		path_walk(&way, root->life, root->begin_ns, root->end_ns);
		path_polls_forget(&way.polls);
		sums->chain = true;
		path_chain(&way, root->life, root->begin_ns, root->end_ns);
		res = path_sums_end(sums);
	}
	path_walk_free(&way);
	return res;
}

static int walk_all(const struct source *source, struct report_path *path)
{
	struct path_root roots[PATH_ROOTS_MAX];
	unsigned int n = path_roots(&source->lives, source->report->manifest.workload_pid, times_of(source), roots);

	for (unsigned int i = 0; i < n; i++) {
		const struct path_process *process = path_lives_process(&source->lives, roots[i].life);
		struct report_path_root *root = &path->root[path->n];
		int res;

		*root = (struct report_path_root){ .pid = process->pid, .name = process->name };
		root->begin_ns = roots[i].begin_ns;
		root->end_ns = roots[i].end_ns;
		path_sums_init(&root->sums);
		res = walk(source, &roots[i], &root->sums);
		path->n++;
		if (res < 0)
			return res;
	}
	return 0;
}

/* --- the part ------------------------------------------------------------------------------------------ */

static void path_clear(struct report_path *path)
{
	for (unsigned int i = 0; i < path->n; i++)
		path_sums_free(&path->root[i].sums);
	path->n = 0;
}

static int part_new(struct report *r, const struct report_options *o)
{
	if (o->path)
		return 0;
	r->path = calloc(1, sizeof(*r->path));
	if (!r->path)
		return -ENOMEM;
	path_names_init(&r->path->names);
	return 0;
}

static void part_read(struct report *r)
{
	struct source source = { .report = NULL };
	const struct notes notes = report_notes(r);
	int res;

	if (!r->path)
		return;
	if (scan_file(r->folder, "waits")->error) {
		scan_note_error(scan_file(r->folder, "waits"), &notes);
		return;
	}
	res = source_init(&source, r);
	if (res == 0)
		res = read_all(&source);
	if (res == 0 && !source.waits.full)
		res = walk_all(&source, r->path);
	if (res < 0) {
		report_note(r, "where the time went: not enough memory");
		path_clear(r->path);
	}
	source_free(&source);
}

static void part_free(struct report *r)
{
	if (!r->path)
		return;
	path_clear(r->path);
	path_names_free(&r->path->names);
	free(r->path);
}

const struct report_part report_path_part = {
	.new = part_new,
	.read = part_read,
	.free = part_free,
};
