/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of measures: a new one is a line here. */
#include "report/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/files/streams.h"
#include "report/files/uses.h"
#include "report/rules/rules.h"
#include "report/why/why.h"

#define PHASES_SHOWN 24 /* names; the report of each trace has all */
#define EPOCHS_SHOWN 20

/* --- the table ----------------------------------------------------------------------------------- */

/* Returns the index of the measure; where there is none (*THERE is false), the index after the last one of its section. */
static size_t place_of(const struct compare *c, const char *section, const char *name, bool *there)
{
	size_t behind = c->n_measures;

	*there = false;
	for (size_t i = 0; i < c->n_measures; i++) {
		const struct compare_measure *m = &c->measure[i];

		if (strcmp(m->section, section) != 0)
			continue;
		behind = i + 1;
		*there = strcmp(m->name, name) == 0;
		if (*there)
			return i;
	}
	return behind;
}

static struct compare_measure *measure_of(struct compare *c, const char *section, const char *name, const char *unit)
{
	struct compare_measure *m;
	bool there;
	size_t at = place_of(c, section, name, &there);

	if (there)
		return &c->measure[at];
	if (c->n_measures == c->room) {
		size_t room = c->room ? 2 * c->room : 64;

		m = reallocarray(c->measure, room, sizeof(*m));
		if (!m)
			return NULL;
		c->measure = m;
		c->room = room;
	}
	m = &c->measure[at];
	memmove(m + 1, m, (c->n_measures++ - at) * sizeof(*m));
	*m = (struct compare_measure){ .unit = unit };
	snprintf(m->section, sizeof(m->section), "%s", section);
	snprintf(m->name, sizeof(m->name), "%s", name);
	for (unsigned int i = 0; i < COMPARE_MAX; i++)
		m->value[i] = (double)NAN;
	return m;
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

static void run(struct filler *f, const struct report *r)
{
	const struct manifest_facts *m = &r->manifest;
	double rows = 0, lost = 0, failed = 0;

	for (enum report_kind kind = REPORT_BIO; kind < REPORT_KINDS; kind++) {
		rows += (double)r->op[kind].rows;
		failed += (double)r->op[kind].failed;
	}
	for (unsigned int i = 0; i < m->n_probes; i++)
		lost += (double)m->probes[i].lost;
	put(f, "lasted", "ns", (double)report_duration_ns(r));
	put(f, "rows", "", rows);
	put(f, "lost", "", m->n_probes ? lost : (double)NAN);
	put(f, "failed", "", failed);
	put(f, "bytes read", "B", (double)r->rw[0].bytes);
	put(f, "bytes written", "B", (double)r->rw[1].bytes);
	put(f, "processes", "", r->n_procs);
	put(f, "CPU time of dltraced", "ns",
	    r->has_manifest ? (double)(m->self_user_us + m->self_system_us) * 1000 : (double)NAN);
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

static void probes(struct filler *f, const struct report *r)
{
	for (enum report_kind kind = REPORT_BIO; kind < REPORT_KINDS; kind++) {
		if (!r->present[kind])
			continue;
		if (kind == REPORT_BIO) {
			put_op(f, "disk reads", &r->bio[0], true);
			put_op(f, "disk writes", &r->bio[1], true);
		} else if (kind == REPORT_VFS_RW) {
			put_op(f, "reads", &r->rw[0], true);
			put_op(f, "writes", &r->rw[1], true);
		} else {
			put_op(f, report_kind_names[kind], &r->op[kind], false);
		}
	}
}

static void sources(struct filler *f, const struct report *r)
{
	const struct report_source_sum *buffered = &r->source[REPORT_BUFFERED];
	bool known = buffered->calls > buffered->unaccounted;

	for (unsigned int i = 0; i < REPORT_SOURCES; i++) {
		if (!r->source[i].calls)
			continue;
		put_of(f, report_source_names[i], "calls", "", (double)r->source[i].calls);
		put_of(f, report_source_names[i], "bytes", "B", (double)r->source[i].bytes);
	}
	if (!buffered->calls)
		return;
	put(f, "buffered: from disk", "B", known ? (double)buffered->disk_bytes : (double)NAN);
	put(f, "buffered: calls to disk", "", known ? (double)buffered->disk_calls : (double)NAN);
	/* read-ahead that was not used may exceed the reads: then no share of the page cache is shown */
	put(f, "buffered: from the page cache", "%",
	    known && buffered->bytes ? MAX(0, 100 * (1 - (double)buffered->disk_bytes / (double)buffered->bytes)) :
				       (double)NAN);
}

static void files(struct filler *f, const struct report *r)
{
	double used = 0, opens = 0;

	for (uint32_t i = 0; i < r->files.n; i++) {
		const struct report_file *file = table_at(&r->files, i);

		used += report_is_file((enum report_type)file->type) && file->calls;
		opens += file->opens;
	}
	put(f, "files with calls", "", used);
	put(f, "opened", "", opens);
	if (r->uses)
		put(f, "pairs of a process and a file", "", r->uses->uses.n);
	put(f, "mappings: bytes", "B", (double)r->map_bytes);
}

/* Puts the mean of all samples of collectors. */
static void points(struct filler *f, const struct timeline *t, const char *panel, const char *prefix)
{
	for (uint32_t i = 0; i < t->points.n; i++) {
		const struct timeline_points *p = *(void **)table_at(&t->points, i);
		double sum = 0, n = 0;
		char name[64];

		if (!p || strcmp(p->panel, panel) != 0)
			continue;
		for (unsigned int b = 0; b < TIMELINE_BINS; b++) {
			sum += (double)p->sum[b];
			n += p->n[b];
		}
		snprintf(name, sizeof(name), "%s %s", prefix, p->name);
		put(f, name, p->unit, n > 0 ? sum / n : (double)NAN);
	}
}

static void cpu(struct filler *f, const struct report *r)
{
	static const char *const names[] = {
		"running", "waiting for a CPU", "waiting for a disk", "blocked", "sleeping",
	};
	const struct timeline *t = r->timeline;

	if (!t)
		return;
	points(f, t, "cpu", "CPU");
	points(f, t, "gpu", "GPU");
	for (unsigned int i = 0; t->has_sched && i < ARRAY_SIZE(names); i++) {
		double sum = 0;

		for (unsigned int b = 0; b < TIMELINE_BINS; b++)
			sum += (double)t->sum[TIMELINE_RUN + i][b];
		put_of(f, "threads", names[i], "ns", sum);
	}
}

/* Puts what programs allocated, with alloc.out. */
static void memory(struct filler *f, const struct report *r)
{
	const struct report_alloc_counts *n = &r->alloc.n;

	if (!r->alloc.present)
		return;
	put(f, "in use at most", "B", (double)n->peak_bytes);
	put(f, "allocated", "B", (double)n->bytes);
	put(f, "allocations", "", (double)n->blocks);
	put(f, "freed within 10 ms", "B", (double)n->short_bytes);
	put(f, "never freed", "B", (double)n->left_bytes);
}

/* --- waits and phases -------------------------------------------------------------------------------- */

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : (double)NAN;
}

static void waits(struct filler *f, const struct report *r)
{
	const struct why *w = r->why;

	if (!w || !w->rules || !(w->window_ns > 0))
		return;
	put(f, "trainers waited", "%", percent(w->waited_ns, w->window_ns));
	for (unsigned int s = 0; s < WHY_STATES && w->waited_ns > 0; s++)
		put_of(f, "of that for", why_state_names[s], "%", percent(w->blame_ns[s], w->waited_ns));
}

/* Puts all phases of a name together. */
static void phases(struct filler *f, const struct report *r)
{
	const struct phases *p = r->phases;
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
		put_of(f, p->names[name].name, "times", "", times);
		put_of(f, p->names[name].name, "total", "ns", ns);
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
static void epochs(struct filler *f, const struct report *r)
{
	for (uint32_t i = 0; r->why && i < MIN(r->why->n_epochs, EPOCHS_SHOWN); i++) {
		const struct why_epoch *e = &r->why->epoch[i];
		char name[PHASE_LABEL_MAX + 16];
		unsigned int same = 1;

		for (uint32_t k = 0; k < i; k++)
			same += strcmp(r->why->epoch[k].name, e->name) == 0;
		if (same > 1)
			snprintf(name, sizeof(name), "%s (%u)", e->name, same);
		else
			snprintf(name, sizeof(name), "%s", e->name);
		if (e->phase != PHASES_NONE)
			epoch(f, e, name);
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
	{ "Run", run }, { "Probes", probes }, { "Reads of regular files", sources }, { "Files", files },
	{ "CPU and GPU", cpu }, { "Memory that programs allocated", memory }, { "Waits of those that train", waits }, { "Phases", phases }, { "Epochs", epochs },
};

int compare_init(struct compare *c, struct report *const *r, unsigned int n)
{
	*c = (struct compare){ .trace = r, .n = MIN(n, COMPARE_MAX) };
	for (size_t s = 0; s < ARRAY_SIZE(sections); s++)
		for (unsigned int i = 0; i < c->n; i++) {
			struct filler f = { .c = c, .trace = i, .section = sections[s].section };

			sections[s].put(&f, r[i]);
			if (f.error) {
				compare_free(c);
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
