/* SPDX-License-Identifier: BSD-2-Clause */
/* The summaries of a report as JSON: docs/report-json.md has the names. */
#include "base/json.h"
#include "base/util.h"
#include "report/scan/spreads.h"
#include "report/scan/streams.h"
#include "report/scan/uses.h"
#include "report/show/summaries.h"

static void process(const struct report *r, struct json *j, uint64_t pid)
{
	const struct report_proc *p = table_find(&r->procs, pid);

	json_u64(j, "pid", pid);
	json_str(j, "comm", p ? p->comm : "");
	json_str(j, "rank", p && p->rank[0] ? p->rank : NULL);
}

/* --- how values are spread ------------------------------------------------------------------------- */

struct histogram_of {
	const char *probe, *of;
	bool bytes; /* not ns */
	uint64_t n, p50;
	uint64_t octaves[SPREAD_OCTAVES];
};

static void histogram(struct json *j, const struct histogram_of *t)
{
	json_object(j, NULL);
	if (t->probe)
		json_str(j, "probe", t->probe);
	json_str(j, "of", t->of);
	json_str(j, "unit", t->bytes ? "B" : "ns");
	json_u64(j, "n", t->n);
	json_u64(j, "p50", t->p50);
	json_row(j, "counts");
	for (unsigned int e = 0; e < SPREAD_OCTAVES; e++) {
		if (!t->octaves[e])
			continue;
		json_array(j, NULL);
		json_u64(j, NULL, e ? 1ULL << (e - 1) : 0);
		json_u64(j, NULL, t->octaves[e]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void column(struct json *j, const struct report_column *c, const struct hist *h, bool bytes)
{
	struct histogram_of t = { .probe = c->probe, .of = c->of, .bytes = bytes };

	if (!h)
		return;
	t.n = h->n;
	t.p50 = hist_quantile(h, 500);
	spread_octaves_of_hist(h, t.octaves);
	histogram(j, &t);
}

static void process_histograms(struct json *j, const struct report *r, const struct report_proc *proc)
{
	if (!proc->has_spreads)
		return;
	json_object(j, NULL);
	process(r, j, proc->pid);
	json_array(j, "histograms");
	for (unsigned int i = 0; i < REPORT_SPREADS; i++) {
		struct histogram_of t = { .of = report_spread_names[i] };

		if (!proc->spread[i])
			continue;
		t.bytes = i == REPORT_READ_BYTES || i == REPORT_WRITE_BYTES;
		t.n = proc->spread[i]->n;
		t.p50 = t.bytes ? spread_quantile_floor(proc->spread[i], 500) : spread_quantile(proc->spread[i], 500);
		spread_octaves(proc->spread[i], t.octaves);
		histogram(j, &t);
	}
	json_end(j);
	json_end(j);
}

static void spreads(const struct report *r, struct json *j)
{
	struct report_column columns[REPORT_COLUMNS_MAX];
	unsigned int n = report_columns(r, columns);

	json_array(j, "histograms");
	for (unsigned int i = 0; i < n; i++) {
		column(j, &columns[i], columns[i].lat, false);
		column(j, &columns[i], columns[i].size, true);
	}
	json_end(j);
	json_array(j, "process_histograms");
	for (unsigned int i = 0; i < MIN(r->n_top_procs, report_told(r, REPORT_TOP_PROCS, 2)); i++)
		process_histograms(j, r, &r->top_procs[i]);
	json_end(j);
}

/* --- who used what ----------------------------------------------------------------------------------- */

static void files(const struct report *r, struct json *j, const char *key, const struct report_top_file *top,
		  unsigned int n)
{
	n = MIN(n, report_told(r, REPORT_TOP, 1));
	json_array(j, key);
	for (unsigned int i = 0; i < n; i++) {
		const struct report_file *f = &top[i].sum;

		json_object(j, NULL);
		json_u64(j, "fid", top[i].fid);
		json_str(j, "path", top[i].path);
		json_str(j, "fstype", top[i].fstype);
		json_u64(j, "read_bytes", f->read_bytes);
		json_u64(j, "write_bytes", f->write_bytes);
		json_u64(j, "calls", f->calls);
		json_u64(j, "time_ns", f->time_ns);
		json_u64(j, "opens", f->opens);
		json_u64(j, "users", f->users);
		json_end(j);
	}
	json_end(j);
}

static void uses(const struct report *r, struct json *j, const char *key, const struct report_top_use *top,
		 unsigned int n)
{
	n = MIN(n, report_told(r, REPORT_TOP, 1));
	json_array(j, key);
	for (unsigned int i = 0; i < n; i++) {
		const struct report_use *u = &top[i].sum;

		json_object(j, NULL);
		process(r, j, top[i].pid);
		json_u64(j, "fid", top[i].fid);
		json_str(j, "path", top[i].path);
		json_u64(j, "read_bytes", u->read_bytes);
		json_u64(j, "write_bytes", u->write_bytes);
		json_u64(j, "calls", u->calls);
		json_u64(j, "time_ns", u->time_ns);
		json_end(j);
	}
	json_end(j);
}

static void shm(const struct report *r, struct json *j)
{
	const struct report_uses *u = r->uses;

	json_object(j, "shm");
	json_u64(j, "files", u->shm.n);
	json_array(j, "largest");
	for (unsigned int i = 0; i < MIN(u->n_top_shm, report_told(r, 2 * REPORT_TOP, 1)); i++) {
		const struct report_shm *s = &u->top_shm[i];

		json_object(j, NULL);
		json_u64(j, "fid", s->fid);
		json_str(j, "path", s->path);
		json_u64(j, "size_bytes", s->size);
		json_u64(j, "mappings", s->maps);
		json_u64(j, "mapped_bytes", s->map_bytes);
		json_u64(j, "calls", s->calls);
		json_u64(j, "time_ns", s->time_ns);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* --- what is no file, and what is printed ---------------------------------------------------------------- */

static void classes(const struct report_streams *u, struct json *j)
{
	json_array(j, "classes");
	for (unsigned int i = 0; i < u->n_classes; i++) {
		const struct report_class *c = &u->classes[i];

		if (!c->calls)
			continue;
		json_object(j, NULL);
		json_str(j, "class", c->name);
		json_u64(j, "files", c->files);
		json_u64(j, "calls", c->calls);
		json_u64(j, "reads", c->reads);
		json_u64(j, "read_bytes", c->read_bytes);
		json_u64(j, "writes", c->writes);
		json_u64(j, "write_bytes", c->write_bytes);
		json_u64(j, "time_ns", c->time_ns);
		json_end(j);
	}
	json_end(j);
}

static void logs(const struct report *r, struct json *j)
{
	const struct report_streams *u = r->streams;

	json_object(j, "logs");
	json_u64(j, "seen", u->logs.n);
	json_array(j, "busiest");
	for (unsigned int i = 0; i < MIN(u->n_top, report_told(r, REPORT_TOP, 1)); i++) {
		const struct report_log *l = &u->top[i];
		double rate = report_log_rate(l);
		char how[48];

		json_object(j, NULL);
		process(r, j, l->pid);
		json_u64(j, "fid", l->fid);
		json_str(j, "path", l->path);
		json_str(j, "as", report_log_how(l->how, how));
		json_u64(j, "writes", l->calls);
		json_u64(j, "write_bytes", l->bytes);
		json_u64(j, "time_ns", l->time_ns);
		if (rate >= 0)
			json_f64(j, "per_s", rate);
		else
			json_null(j, "per_s");
		if (l->gaps)
			json_u64(j, "gap_p50_ns", spread_quantile(l->gaps, 500));
		else
			json_null(j, "gap_p50_ns");
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

void report_summaries_json(const struct report *r, struct json *j)
{
	const struct report_uses *u = r->uses;

	if (r->only.path) {
		json_object(j, "only");
		json_str(j, "path", r->only.path[0] ? r->only.path : "/");
		json_u64(j, "rows", r->only.rows);
		json_u64(j, "left_out", r->only.left_out);
		json_end(j);
	}
	if (!u)
		return;
	spreads(r, j);
	files(r, j, "files_by_written", u->written, u->n_written);
	files(r, j, "files_by_opens", u->opened, u->n_opened);
	files(r, j, "files_shared", u->shared, u->n_shared);
	json_u64(j, "n_uses", u->uses.n);
	uses(r, j, "uses_by_bytes", u->by_bytes, u->n_by_bytes);
	uses(r, j, "uses_by_time", u->by_time, u->n_by_time);
	shm(r, j);
	classes(r->streams, j);
	logs(r, j);
}
