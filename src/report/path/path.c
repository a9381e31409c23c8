/* SPDX-License-Identifier: BSD-2-Clause */
/* The order in which files are read, each root's path walked, and cut. */
#include "report/path/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/gpu/gpus.h"
#include "report/path/chain.h"
#include "report/path/edges.h"
#include "report/path/limits.h"
#include "report/path/lives/cpus.h"
#include "report/path/lives/loading.h"
#include "report/path/roles.h"
#include "report/path/way.h"
#include "report/scan/part.h"
#include "report/scan/scan.h"

/* A shorter fault has no row in waits.out. */
#define PATH_FAULT_LEAST_NS NSEC_PER_MSEC
/* An interval of sched.out is a second, or somewhat longer on a busy machine. */
#define PATH_BEFORE_NS (10 * NSEC_PER_SEC)

/* What is read, and freed when the paths are known. */
struct path_source {
	struct report *report;
	struct path_lives lives;
	struct path_waits waits;
	struct path_shorts shorts;
	struct path_doings doings;
	struct path_tries tries;
	struct path_times times;
	struct path_way exposed[PATH_ROOTS_MAX], chain[PATH_ROOTS_MAX]; /* of each root */
	struct table files; /* the name of each, by FID */
	uint64_t last_tid, last_ns, last_fid; /* of the last call */
	uint32_t last_life, last_name;
};

static struct path_source *source_new(struct report *r)
{
	struct path_source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	source->report = r;
	path_waits_init(&source->waits, r, &source->lives, r->path->limits->waits);
	path_shorts_init(&source->shorts, &source->waits, r->path->limits->shorts);
	path_tries_init(&source->tries, &r->path->names);
	for (unsigned int i = 0; i < PATH_ROOTS_MAX; i++)
		source->exposed[i].max = source->chain[i].max = r->path->limits->pieces;
	table_init(&source->files, sizeof(uint32_t), REPORT_FILES_MAX);
	if (path_lives_init(&source->lives, &r->path->names) == 0)
		return source;
	path_lives_free(&source->lives);
	free(source);
	return NULL;
}

static void source_free(struct path_source *source)
{
	if (!source)
		return;
	for (unsigned int i = 0; i < PATH_ROOTS_MAX; i++) {
		path_way_free(&source->exposed[i]);
		path_way_free(&source->chain[i]);
	}
	table_free(&source->files);
	path_doings_free(&source->doings);
	path_tries_free(&source->tries);
	path_shorts_free(&source->shorts);
	path_waits_free(&source->waits);
	path_lives_free(&source->lives);
	free(source);
}

/* --- reading ------------------------------------------------------------------------------------------- */

/*
 * Sets READER, of a part, to give the rows from MARGIN before it on, to the end of the trace: what ends behind the part
 * may have begun in it, and an interval of sched.out that begins before it has waits which ended before it.
 */
static void widen(struct reader *reader, uint64_t margin_ns)
{
	reader->begin_ns -= MIN(reader->begin_ns, margin_ns);
	reader->end_ns = reader->end_ns ? UINT64_MAX : 0;
}

/* Gives all rows of FILE, whole, that the path through the part needs. AGAIN: others read and count them, too. */
static void walk_around(struct report *r, struct scan_file *file, struct scan_taker *taker, bool again)
{
	const struct window part = file->part, window = { file->reader.begin_ns, file->reader.end_ns };

	widen(&file->reader, PATH_BEFORE_NS);
	file->part = (struct window){ 0 };
	if (again)
		scan_walk_again(r->folder, file->name, taker);
	else
		scan_walk(r->folder, file->name, taker);
	file->part = part;
	file->reader.begin_ns = window.begin_ns;
	file->reader.end_ns = window.end_ns;
}

static int read_waits(struct path_source *source)
{
	struct scan_taker taker = { .take = path_waits_take, .own = &source->waits };
	struct scan_file *file = scan_file(source->report->folder, "waits");
	const struct notes notes = report_notes(source->report);

	source->waits.there = !file->error;
	if (source->waits.there) {
		walk_around(source->report, file, &taker, false);
		scan_note_header(file, taker.bad_rows, &notes);
		scan_note_error(file, &notes);
	}
	report_note_count(source->report, "waits", source->waits.strangers, "row is", "rows are",
			  "of threads that pids.out lacks, and left out");
	if (source->waits.full)
		report_note(source->report, "waits: there are too many rows: where the time went is not known");
	return path_waits_end(&source->waits);
}

static struct path_times times_of(const struct path_source *source)
{
	const struct report *r = source->report;

	return (struct path_times){
		.begin_ns = r->manifest.start_ns ? r->manifest.start_ns : r->first_ns,
		.end_ns = r->manifest.end_ns ? r->manifest.end_ns : MAX(r->last_ns, source->waits.last_ns),
	};
}

/* The rows of an interval before or after the part that is reported are none of its own. */
static void add_use(struct path_cpu_use *use, const struct scan *s, const struct path_times *times)
{
	const uint64_t run_ns = scan_number(s, COL_RUN_NS);

	if (s->time_ns < times->begin_ns || s->time_ns > times->end_ns)
		return;
	use->all_ns += run_ns;
	use->job_ns += scan_is(s, COL_KIND, "target") ? run_ns : 0;
	use->others_ns += scan_is(s, COL_KIND, "other") ? run_ns : 0;
}

static bool take_sched(struct scan *s, void *own)
{
	struct path_source *source = own;

	add_use(&source->report->path->cpu_use, s, &source->times);
	return path_shorts_take(s, &source->shorts);
}

static int read_shorts(struct path_source *source)
{
	struct scan_taker taker = { .take = take_sched, .own = source };

	source->times = times_of(source);
	walk_around(source->report, scan_file(source->report->folder, "sched"), &taker, true);
	if (source->shorts.full)
		report_note(source->report,
			    "sched: there are too many rows for the path: later waits of less than 1 ms count as time "
			    "on a CPU there");
	return path_shorts_end(&source->shorts);
}

static void set_aside(struct path_source *source)
{
	for (uint32_t i = 1; i < source->lives.n_processes; i++) {
		struct path_process *process = &source->lives.process[i];
		const struct report_proc *proc = table_find(&source->report->procs, process->pid);

		process->aside = proc && proc->aside;
	}
}

static int read_all(struct path_source *source)
{
	struct scan_taker taker = { .take = path_lives_take, .own = &source->lives },
			  tries = { .take = path_tries_take, .own = &source->tries };
	int res;

	scan_walk_again(source->report->folder, "pids", &taker);
	res = path_lives_end(&source->lives);
	path_cpus_find(&source->lives, &source->report->manifest);
	set_aside(source);
	if (res == 0) {
		path_loading_before(&source->lives, source->report);
		res = read_waits(source);
	}
	if (res == 0 && !source->waits.full)
		res = read_shorts(source);
	scan_walk_again(source->report->folder, "meta_sums", &tries);
	return res < 0 ? res :
			 path_doings_read(&source->doings, &source->lives, source->report->folder->dirfd,
					  &source->report->manifest.window, source->report->path->limits->doings);
}

/* --- paths --------------------------------------------------------------------------------------------- */

/* Both ways through the time of ROOT; and GRAPH, which may be NULL: who waited for whom on the first one. */
static int walk(const struct path_source *source, const struct path_root *root, const uint8_t *roles,
		struct path_way *exposed, struct path_way *chain, struct path_graph *graph)
{
	struct path_edges edges = { .nodes = NULL };
	struct path_walk walk;
	int res = path_walk_init(&walk, &source->shorts, roles, path_way_take, exposed);

	walk.doings = &source->doings;
	walk.tries = &source->tries;
	walk.unended = !source->report->manifest.end_ns;
	if (res == 0 && graph)
		res = path_edges_init(&edges, &source->shorts, roles, root);
	if (res == 0) {
		walk.edges = graph ? &edges : NULL;
		path_walk(&walk, root->life, root->begin_ns, root->end_ns);
		walk.edges = NULL;
		path_polls_forget(&walk.polls);
		walk.own = chain;
		chain->sums->chain = chain->backwards = true;
		path_chain(&walk, root->life, root->begin_ns, root->end_ns);
		res = path_way_walked(exposed, source->lives.n);
	}
	if (res == 0 && graph)
		res = path_edges_end(&edges, graph);
	path_edges_free(&edges);
	path_walk_free(&walk);
	return res < 0 ? res : path_way_walked(chain, source->lives.n);
}

static int walk_all(struct path_source *source, struct report_path *path)
{
	struct path_root roots[PATH_ROOTS_MAX];
	unsigned int n = path_roots(&source->lives, source->report->manifest.workload_pid, times_of(source), roots);

	for (unsigned int i = 0; i < n; i++) {
		const struct path_process *process = path_lives_process(&source->lives, roots[i].life);
		struct report_path_root *root = &path->root[path->n];
		uint8_t *roles = path_roles_of(&source->shorts, &roots[i]);
		struct path_slow_rank slow;
		int res = roles ? path_ranks_find(&source->shorts, &roots[i], roles, &slow) : -ENOMEM;

		if (res == 0 && i == 0)
			path->slow_rank = slow;
		*root = (struct report_path_root){ .pid = process->pid, .name = process->name };
		root->begin_ns = roots[i].begin_ns;
		root->end_ns = roots[i].end_ns;
		path_sums_init(&root->sums);
		source->exposed[i].sums = source->chain[i].sums = &root->sums;
		path->n++;
		if (res == 0)
			res = walk(source, &roots[i], roles, &source->exposed[i], &source->chain[i],
				   i == 0 ? &path->graph : NULL);
		if (res == 0 && i == 0)
			res = path_spins_find(&source->shorts, &roots[i], roles, &source->exposed[i], &path->spin);
		free(roles);
		if (res < 0)
			return res;
	}
	return 0;
}

/* --- calls --------------------------------------------------------------------------------------------- */

/* Whether the row is of a request of io_uring or libaio, which is on its way while the thread does other things. */
static bool is_request(const struct scan *s)
{
	const struct reader_field func = scan_field(s, COL_FUNC);

	return memchr(func.p, ':', func.len);
}

/* Returns what a call is for the path; PATH_CUT_KINDS: nothing. */
static enum path_cut_kind cut_of(const struct scan *s, const struct report_call_facts *c)
{
	if ((c->file && !c->on_file) || c->again || is_request(s) || scan_is_stray_close(s, c))
		return PATH_CUT_KINDS;
	switch (s->kind) {
	case REPORT_VFS_RW:
		return c->write ? PATH_CUT_WRITE : PATH_CUT_READ;
	case REPORT_SYNC:
		return PATH_CUT_WRITE;
	case REPORT_OPEN: /* that of a descriptor that was open already has no call */
		return scan_is(s, COL_FUNC, "snapshot") ? PATH_CUT_KINDS : PATH_CUT_METADATA;
	case REPORT_CREATE_DEL: /* an open that creates its file has two rows, with the same time */
		return scan_is(s, COL_FUNC, "create") ? PATH_CUT_KINDS : PATH_CUT_METADATA;
	case REPORT_CLOSE:
		return PATH_CUT_METADATA;
	default:
		return PATH_CUT_KINDS;
	}
}

static uint32_t name_of(struct path_source *source, const struct scan *s, const struct report_call_facts *c)
{
	uint32_t *name;

	if (!c->file || !c->fid)
		return 0;
	if (c->fid == source->last_fid)
		return source->last_name;
	name = table_get(&source->files, c->fid);
	if (name && !*name)
		*name = path_name_pattern(source->lives.names, scan_field(s, COL_FILE));
	source->last_fid = c->fid;
	return source->last_name = name ? *name : 0;
}

/* A thread's calls mostly come one after the other. */
static uint32_t life_of(struct path_source *source, const struct report_call_facts *c, uint64_t at_ns)
{
	if (c->tid != source->last_tid || at_ns < source->last_ns || at_ns - source->last_ns > NSEC_PER_SEC) {
		source->last_life = path_lives_find(&source->lives, c->tid, at_ns);
		source->last_tid = c->tid;
		source->last_ns = at_ns;
	}
	return source->last_life;
}

void report_path_call(struct report_path *path, const struct scan *s, const struct report_call_facts *c)
{
	struct path_source *source = path->source;
	const enum path_cut_kind kind = source ? cut_of(s, c) : PATH_CUT_KINDS;
	const uint64_t begin_ns = s->time_ns - c->lat_ns;
	uint32_t life, name;

	if (kind == PATH_CUT_KINDS)
		return;
	life = life_of(source, c, s->time_ns);
	if (!life)
		return;
	if (s->kind == REPORT_OPEN && c->file && c->file->software)
		path_loading_open(&source->lives, life, begin_ns, s->time_ns);
	name = name_of(source, s, c);
	for (unsigned int i = 0; i < path->n; i++) {
		path_cuts_call(&source->exposed[i].cuts, life, begin_ns, s->time_ns, kind, name);
		path_cuts_call(&source->chain[i].cuts, life, begin_ns, s->time_ns, kind, name);
	}
}

static void take_fault(struct report *r, const struct scan *s)
{
	struct report_path *path = r->path;
	struct path_source *source = path->source;
	const uint64_t begin_ns = s->time_ns - MIN(scan_number(s, COL_LAT_NS), s->time_ns);
	const uint32_t life = source ? path_lives_find(&source->lives, scan_number(s, COL_TID), s->time_ns) : 0;
	uint32_t name;

	if (!life || s->time_ns - begin_ns < PATH_FAULT_LEAST_NS)
		return;
	name = path_name_pattern(source->lives.names, scan_field(s, COL_FILE));
	for (unsigned int i = 0; i < path->n; i++) {
		path_way_fault(&source->exposed[i], life, begin_ns, s->time_ns, name);
		path_way_fault(&source->chain[i], life, begin_ns, s->time_ns, name);
	}
}

static int ways_end(struct path_source *source, struct report_path *path)
{
	const struct path_epochs epochs = path_epochs_of(source->report->phases);
	struct timeline *timeline = source->report->timeline;
	int res = path->n ? path_idle_init(&path->idle, gpus_slowest(source->report->gpus), path->root[0].begin_ns,
					   path->root[0].end_ns, path->limits->samples, path->limits->idle) :
			    0;

	path_loading_end(&source->lives, source->report);
	path->epochs = epochs.n;
	if (timeline)
		timeline->has_path = path->n > 0;
	for (unsigned int i = 0; i < path->n && res == 0; i++) {
		struct path_sums *sums = &path->root[i].sums;

		sums->chain = false;
		path_way_end(&source->exposed[i], &source->lives, &epochs,
			     i ? (struct path_also){ 0 } : (struct path_also){ timeline, &path->idle, &path->workers });
		sums->chain = true;
		path_way_end(&source->chain[i], &source->lives, &epochs, (struct path_also){ 0 });
		res = path_sums_end(sums);
		if (res == 0 && i == 0)
			res = path_idle_end(&path->idle, sums);
	}
	return res;
}

/* --- the part ------------------------------------------------------------------------------------------ */

static void path_clear(struct report_path *path)
{
	for (unsigned int i = 0; i < path->n; i++)
		path_sums_free(&path->root[i].sums);
	path_idle_free(&path->idle);
	table_free(&path->workers);
	path->graph = (struct path_graph){ .n_nodes = 0 };
	path->n = 0;
}

static int part_new(struct report *r, const struct report_options *o)
{
	if (o->path)
		return 0;
	r->path = calloc(1, sizeof(*r->path));
	if (!r->path)
		return -ENOMEM;
	r->path->limits = o->path_limits ?: &path_limits_usual;
	table_init_pids(&r->path->workers, sizeof(uint64_t), REPORT_PROCS_MAX);
	path_names_init(&r->path->names);
	r->also_fault = take_fault;
	return 0;
}

static void drop(struct report *r)
{
	report_note(r, "where the time went: not enough memory");
	path_clear(r->path);
}

static void part_begin(struct report *r)
{
	const struct notes notes = report_notes(r);
	struct path_source *source;
	int res;

	if (!r->path)
		return;
	scan_note_error(scan_file(r->folder, "waits"), &notes);
	if (scan_file(r->folder, "waits")->error && scan_file(r->folder, "sched")->error)
		return;
	r->path->source = source = source_new(r);
	res = source ? read_all(source) : -ENOMEM;
	if (res == 0 && !source->waits.full)
		res = walk_all(source, r->path);
	if (res < 0)
		drop(r);
}

static void part_end(struct report *r)
{
	if (!r->path)
		return;
	if (r->path->source && ways_end(r->path->source, r->path) < 0)
		drop(r);
	source_free(r->path->source);
	r->path->source = NULL;
}

static void part_free(struct report *r)
{
	if (!r->path)
		return;
	source_free(r->path->source);
	path_clear(r->path);
	path_names_free(&r->path->names);
	free(r->path);
}

const struct report_part report_path_part = {
	.new = part_new,
	.begin = part_begin,
	.end = part_end,
	.free = part_free,
};
