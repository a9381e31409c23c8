/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of measures: a new one is a line here. */
#include "report/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/failed/failures.h"
#include "report/files/streams.h"
#include "report/files/uses.h"
#include "report/path/path.h"
#include "report/rules/rules.h"
#include "report/why/why.h"

#define PHASES_SHOWN 24 /* names; the report of each trace has all */
#define EPOCHS_SHOWN 20

/* --- the table ----------------------------------------------------------------------------------- */

/* Returns the index of the measure; where there is none (*THERE is false), the index after the last one of its section.
 */
static size_t place_of(const struct compare *compare, const char *section, const char *name, bool *there)
{
	size_t behind = compare->n_measures;

	*there = false;
	for (size_t i = 0; i < compare->n_measures; i++) {
		const struct compare_measure *m = &compare->measure[i];

		if (strcmp(m->section, section) != 0)
			continue;
		behind = i + 1;
		*there = strcmp(m->name, name) == 0;
		if (*there)
			return i;
	}
	return behind;
}

static struct compare_measure *measure_of(struct compare *compare, const char *section, const char *name,
					  const char *unit)
{
	struct compare_measure *measure;
	bool there;
	size_t at = place_of(compare, section, name, &there);

	if (there)
		return &compare->measure[at];
	if (util_room(&compare->measure, compare->n_measures, sizeof(*measure)) < 0)
		return NULL;
	measure = &compare->measure[at];
	memmove(measure + 1, measure, (compare->n_measures++ - at) * sizeof(*measure));
	*measure = (struct compare_measure){ .unit = unit };
	snprintf(measure->section, sizeof(measure->section), "%s", section);
	snprintf(measure->name, sizeof(measure->name), "%s", name);
	for (unsigned int i = 0; i < COMPARE_MAX; i++)
		measure->value[i] = (double)NAN;
	return measure;
}

/* One trace's column, while it is filled. */
struct filler {
	struct compare *c;
	unsigned int trace;
	const char *section;
	int error;
};

static void put(struct filler *f, const char *name, const char *unit, double value)
{
	struct compare_measure *m = measure_of(f->c, f->section, name, unit);

	if (m)
		m->value[f->trace] = value;
	else
		f->error = -ENOMEM;
}

/* Puts the measure WHAT of NAME. */
static void put_of(struct filler *f, const char *name, const char *what, const char *unit, double value)
{
	char text[PHASE_LABEL_MAX + 32];

	snprintf(text, sizeof(text), "%s: %s", name, what);
	put(f, text, unit, value);
}

/* --- measures of calls ----------------------------------------------------------------------------- */

/* Puts how much failed that no program expects: of the failed calls, most are searches. */
static void put_failures(struct filler *filler, const struct report *report)
{
	double n[FAILURE_KINDS] = { 0 };

	for (uint32_t i = 0; report->failed && i < report->failed->n; i++)
		n[report->failed->v[i].kind] += (double)report->failed->v[i].n;
	put(filler, "failed, and not expected to", "", n[FAILURE_CALL]);
	put(filler, "processes ended by a signal or an error", "", n[FAILURE_SIGNAL] + n[FAILURE_STATUS]);
}

static void run(struct filler *filler, const struct report *report)
{
	const struct manifest_facts *facts = &report->manifest;
	double rows = 0, lost = 0, failed = 0;

	for (enum report_kind kind = REPORT_BIO; kind < REPORT_KINDS; kind++) {
		rows += (double)report->op[kind].rows;
		failed += (double)report->op[kind].failed;
	}
	for (unsigned int i = 0; i < facts->n_probes; i++)
		lost += (double)facts->probes[i].lost;
	put(filler, "lasted", "ns", (double)report_duration_ns(report));
	put(filler, "rows", "", rows);
	put(filler, "lost", "", facts->n_probes ? lost : (double)NAN);
	put(filler, "failed", "", failed);
	put_failures(filler, report);
	put(filler, "bytes read", "B", (double)report->rw[0].bytes);
	put(filler, "bytes written", "B", (double)report->rw[1].bytes);
	put(filler, "processes", "", report->n_procs);
	put(filler, "CPU time of dltraced", "ns",
	    report->has_manifest ? (double)(facts->self_user_us + facts->self_system_us) * 1000 : (double)NAN);
}

/* Puts the measures of OP; each is called NAME and what it measures. MOVES: OP has bytes. */
static void put_op(struct filler *f, const char *name, const struct report_op *op, bool moves)
{
	bool ended = op->lat.n > 0;

	put_of(f, name, "rows", "", (double)op->rows);
	if (moves)
		put_of(f, name, "bytes", "B", (double)op->bytes);
	put_of(f, name, "time", "ns", ended ? (double)op->lat.sum : (double)NAN);
	put_of(f, name, "p50", "ns", ended ? (double)hist_quantile(&op->lat, 500) : (double)NAN);
	put_of(f, name, "p99", "ns", ended ? (double)hist_quantile(&op->lat, 990) : (double)NAN);
}

static void probes(struct filler *filler, const struct report *report)
{
	for (enum report_kind kind = REPORT_BIO; kind < REPORT_KINDS; kind++) {
		if (!report->present[kind])
			continue;
		if (kind == REPORT_BIO) {
			put_op(filler, "disk reads", &report->bio[0], true);
			put_op(filler, "disk writes", &report->bio[1], true);
		} else if (kind == REPORT_VFS_RW) {
			put_op(filler, "reads", &report->rw[0], true);
			put_op(filler, "writes", &report->rw[1], true);
		} else {
			put_op(filler, report_kind_names[kind], &report->op[kind], false);
		}
	}
}

static void sources(struct filler *filler, const struct report *report)
{
	const struct report_source_sum *buffered = &report->source[REPORT_BUFFERED];
	bool known = buffered->calls > buffered->unaccounted;

	for (unsigned int i = 0; i < REPORT_SOURCES; i++) {
		if (!report->source[i].calls)
			continue;
		put_of(filler, report_source_names[i], "calls", "", (double)report->source[i].calls);
		put_of(filler, report_source_names[i], "bytes", "B", (double)report->source[i].bytes);
	}
	if (!buffered->calls)
		return;
	put(filler, "buffered: from disk", "B", known ? (double)buffered->disk_bytes : (double)NAN);
	put(filler, "buffered: calls to disk", "", known ? (double)buffered->disk_calls : (double)NAN);
	/* read-ahead that was not used may exceed the reads: then no share of the page cache is shown */
	put(filler, "buffered: from the page cache", "%",
	    known && buffered->bytes ? MAX(0, 100 * (1 - (double)buffered->disk_bytes / (double)buffered->bytes)) :
				       (double)NAN);
}

static void files(struct filler *filler, const struct report *report)
{
	double used = 0, opens = 0;

	for (uint32_t i = 0; i < report->files.n; i++) {
		const struct report_file *file = table_at(&report->files, i);

		used += report_is_file((enum report_type)file->type) && file->calls;
		opens += file->opens;
	}
	put(filler, "files with calls", "", used);
	put(filler, "opened", "", opens);
	if (report->uses)
		put(filler, "pairs of a process and a file", "", report->uses->uses.n);
	put(filler, "mappings: bytes", "B", (double)report->map_bytes);
}

/* Puts the mean of all samples of collectors. */
static void points(struct filler *filler, const struct timeline *timeline, const char *panel, const char *prefix)
{
	for (uint32_t i = 0; i < timeline->points.n; i++) {
		const struct timeline_points *timeline_points = *(void **)table_at(&timeline->points, i);
		double sum = 0, n = 0;
		char name[64];

		if (!timeline_points || strcmp(timeline_points->panel, panel) != 0)
			continue;
		for (unsigned int b = 0; b < TIMELINE_BINS; b++) {
			sum += (double)timeline_points->sum[b];
			n += timeline_points->n[b];
		}
		snprintf(name, sizeof(name), "%s %s", prefix, timeline_points->name);
		put(filler, name, timeline_points->unit, n > 0 ? sum / n : (double)NAN);
	}
}

static void cpu(struct filler *filler, const struct report *report)
{
	static const char *const names[] = {
		"running", "waiting for a CPU", "waiting for a disk", "blocked", "sleeping",
	};
	const struct timeline *timeline = report->timeline;

	if (!timeline)
		return;
	points(filler, timeline, "cpu", "CPU");
	points(filler, timeline, "gpu", "GPU");
	for (unsigned int i = 0; timeline->has_sched && i < ARRAY_SIZE(names); i++) {
		double sum = 0;

		for (unsigned int b = 0; b < TIMELINE_BINS; b++)
			sum += (double)timeline->sum[TIMELINE_RUN + i][b];
		put_of(filler, "threads", names[i], "ns", sum);
	}
}

/* Puts what programs allocated, with alloc.out. */
static void memory(struct filler *filler, const struct report *report)
{
	const struct report_alloc_counts *n = &report->alloc.n;

	if (!report->alloc.present)
		return;
	put(filler, "in use at most", "B", (double)n->peak_bytes);
	put(filler, "allocated", "B", (double)n->bytes);
	put(filler, "allocations", "", (double)n->blocks);
	put(filler, "freed within 10 ms", "B", (double)n->short_bytes);
	put(filler, "never freed", "B", (double)n->left_bytes);
}

/* --- waits and phases -------------------------------------------------------------------------------- */

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : (double)NAN;
}

/* Puts the parts of the path, added up by what they are. */
static void path(struct filler *f, const struct report *r)
{
	const struct report_path_root *root = r->path && r->path->n ? &r->path->root[0] : NULL;

	if (!root)
		return;
	put(f, "lasted", "ns", (double)(root->end_ns - root->begin_ns));
	for (unsigned int kind = 0; kind < PATH_KINDS; kind++) {
		double ns = 0;

		for (uint32_t i = 0; i < root->sums.n; i++)
			ns += root->sums.v[i].leaf.kind == kind ? (double)root->sums.v[i].ns : 0;
		if (ns > 0)
			put(f, path_kinds[kind].phrase, "ns", ns);
	}
}

static void waits(struct filler *f, const struct report *r)
{
	const struct why *w = r->why;

	if (!w || !w->rules || !(w->window_ns > 0))
		return;
	put(f, "trainers waited", "%", percent(w->waited_ns, w->window_ns));
}

/* Puts all phases of a name together. */
static void phases(struct filler *filler, const struct report *report)
{
	const struct phases *p = report->phases;
	uint32_t n = p ? MIN(p->n_names, PHASES_SHOWN) : 0;

	for (uint32_t name = 0; name < n; name++) {
		double ns = 0, times = 0;

		for (uint32_t i = 0; i < p->all.n; i++) {
			const struct phase *phase = &p->all.v[i];

			if (phase->name != name)
				continue;
			ns += (double)(phase->end_ns - phase->begin_ns);
			times++;
		}
		if (times == 0)
			continue;
		put_of(filler, p->names[name].name, "times", "", times);
		put_of(filler, p->names[name].name, "total", "ns", ns);
	}
}

/* Puts the measures of an epoch. NAME: no epoch before it has this name. */
static void epoch(struct filler *f, const struct why_epoch *e, const char *name)
{
	put_of(f, name, "lasted", "ns", (double)(e->end_ns - e->begin_ns));
	put_of(f, name, "waited", "%", percent((double)e->waited_ns, (double)e->waitable_ns));
	put_of(f, name, "samples", "", (double)e->samples);
	put_of(f, name, "bytes read", "B", (double)e->read_bytes);
	put_of(f, name, "from disk", "B", e->reads && e->unaccounted >= e->reads ? (double)NAN : (double)e->disk_bytes);
}

/* Numbers the epochs itself where the log does not. */
static void epochs(struct filler *filler, const struct report *report)
{
	for (uint32_t i = 0; report->why && i < MIN(report->why->n_epochs, EPOCHS_SHOWN); i++) {
		const struct why_epoch *why_epoch = &report->why->epoch[i];
		char name[PHASE_LABEL_MAX + 16];
		unsigned int same = 1;

		for (uint32_t k = 0; k < i; k++)
			same += strcmp(report->why->epoch[k].name, why_epoch->name) == 0;
		if (same > 1)
			snprintf(name, sizeof(name), "%s (%u)", why_epoch->name, same);
		else
			snprintf(name, sizeof(name), "%s", why_epoch->name);
		if (why_epoch->phase != PHASES_NONE)
			epoch(filler, why_epoch, name);
	}
}

const struct rules *compare_rules(const struct report *r)
{
	return r->why ? r->why->rules : NULL;
}

static const struct {
	const char *section;
	void (*put)(struct filler *f, const struct report *r);
} sections[] = {
	{ "Run", run },
	{ "The path of the first process", path },
	{ "Probes", probes },
	{ "Reads of regular files", sources },
	{ "Files", files },
	{ "CPU and GPU", cpu },
	{ "Memory that programs allocated", memory },
	{ "Waits of those that train", waits },
	{ "Phases", phases },
	{ "Epochs", epochs },
};

int compare_init(struct compare *compare, struct report *const *r, unsigned int n)
{
	*compare = (struct compare){ .trace = r, .n = MIN(n, COMPARE_MAX) };
	for (size_t s = 0; s < ARRAY_SIZE(sections); s++)
		for (unsigned int i = 0; i < compare->n; i++) {
			struct filler f = { .c = compare, .trace = i, .section = sections[s].section };

			sections[s].put(&f, r[i]);
			if (f.error) {
				compare_free(compare);
				return f.error;
			}
		}
	return 0;
}

void compare_free(struct compare *c)
{
	free(c->measure);
	*c = (struct compare){ 0 };
}

double compare_ratio(const struct compare_measure *m, unsigned int i)
{
	return m->value[0] != 0 ? m->value[i] / m->value[0] : (double)NAN;
}
