/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the job waited, as JSON: docs/report-json.md has the names. */
#include <math.h>

#include "base/json.h"
#include "base/util.h"
#include "report/phases/phases.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "report/why/rules.h"
#include "report/why/why.h"

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : (double)NAN;
}

void why_json_finding(struct json *j, const char *key, const struct finding *f)
{
	json_object(j, key);
	json_str(j, "code", f->rule->code);
	json_str(j, "title", f->rule->title);
	json_f64(j, "share", f->share);
	json_array(j, "evidence");
	for (unsigned int i = 0; i < f->n; i++)
		json_str(j, NULL, f->evidence[i]);
	json_end(j);
	json_str(j, "advice", f->rule->advice);
	json_f64(j, "measure", f->measure);
	json_f64(j, "threshold", f->rule->threshold);
	json_end(j);
}

static void findings(const struct rules *rules, struct json *j)
{
	why_json_finding(j, "bottleneck", &rules->bottleneck);
	json_array(j, "rules");
	for (unsigned int i = 0; i < rules->n; i++)
		why_json_finding(j, NULL, &rules->found[i]);
	json_end(j);
	json_array(j, "rules_missing");
	for (unsigned int i = 0; i < rules->n_missing; i++)
		json_str(j, NULL, rules->missing[i]);
	json_end(j);
}

static void trainers(const struct why *w, struct json *j)
{
	json_array(j, "trainers");
	for (uint32_t i = 0; i < w->n_trainers; i++) {
		const struct why_trainer *t = &w->trainer[i];

		json_object(j, NULL);
		json_u64(j, "pid", t->pid);
		json_u64(j, "begin_ns", t->begin_ns);
		json_u64(j, "end_ns", t->end_ns);
		json_str(j, "by", why_basis_names[t->basis]);
		if (why_tells(t))
			json_u64(j, "waited_ns", t->waited_ns);
		else
			json_null(j, "waited_ns");
		json_u64(j, "loaders", t->loaders);
		json_end(j);
	}
	json_end(j);
}

static void waited(const struct why *w, struct json *j)
{
	json_object(j, "waited");
	json_f64(j, "share", share(w->waited_ns, w->window_ns));
	json_f64(j, "unseen_share", share(w->unseen_ns, w->window_ns));
	json_str(j, "by", why_basis_names[w->basis]);
	if (why_sight_names[w->seen])
		json_str(j, "seen_by", why_sight_names[w->seen]);
	else
		json_null(j, "seen_by");
	if (why_any_by(w, WHY_BY_GPU))
		json_u64(j, "resolution_ns", w->gpu_sample_ns);
	json_object(j, "for");
	for (unsigned int s = 0; s < WHY_STATES; s++)
		json_f64(j, why_state_names[s], share(w->blame_ns[s], w->waited_ns));
	json_f64(j, "straggler", share(w->straggler_ns, w->waited_ns));
	json_end(j);
	trainers(w, j);
	json_array(j, "notes");
	for (unsigned int i = 0; i < w->n_notes; i++)
		json_str(j, NULL, w->notes[i]);
	json_end(j);
	json_end(j);
}

static void sizes(const struct why_epoch *e, struct json *j)
{
	json_array(j, "read_sizes");
	for (unsigned int i = 0; i < ARRAY_SIZE(e->size); i++) {
		if (!e->size[i])
			continue;
		json_object(j, NULL);
		json_u64(j, "from", i ? 1ULL << (i - 1) : 0);
		json_u64(j, "to", i ? (1ULL << (i - 1)) * 2 - 1 : 0);
		json_u64(j, "calls", e->size[i]);
		json_end(j);
	}
	json_end(j);
}

static void slow_files(const struct report *r, const struct why_epoch *e, struct json *j)
{
	json_array(j, "slowest_files");
	for (unsigned int i = 0; i < MIN(e->n_slow, report_told(r, WHY_SLOW_FILES, 1)); i++) {
		json_object(j, NULL);
		json_u64(j, "fid", e->slow[i].fid);
		json_str(j, "path", e->slow[i].path);
		json_u64(j, "read_ns", e->slow[i].time_ns);
		json_u64(j, "read_bytes", e->slow[i].bytes);
		json_u64(j, "calls", e->slow[i].calls);
		json_end(j);
	}
	json_end(j);
}

/* What comes of a file that the trace has not is not known. */
static void count(struct json *j, const char *key, uint64_t v, bool known)
{
	if (known)
		json_u64(j, key, v);
	else
		json_null(j, key);
}

static void epoch(const struct report *r, const struct why_epoch *e, struct json *j)
{
	const bool rw = r->present[REPORT_VFS_RW], disk = rw && why_knows_disk(e);

	json_object(j, NULL);
	json_str(j, "name", e->name);
	json_u64(j, "begin_ns", e->begin_ns);
	json_u64(j, "end_ns", e->end_ns);
	json_f64(j, "waited_share", share((double)e->waited_ns, (double)e->waitable_ns));
	count(j, "samples", e->samples, r->present[REPORT_OPEN]);
	count(j, "reads", e->reads, rw);
	count(j, "read_bytes", e->read_bytes, rw);
	count(j, "disk_bytes", e->disk_bytes, disk);
	count(j, "cache_bytes", e->read_bytes > e->disk_bytes ? e->read_bytes - e->disk_bytes : 0, disk);
	count(j, "disk_reads", e->disk_reads, disk);
	json_f64(j, "sequential_share", share((double)e->sequential, (double)e->placed));
	count(j, "again_bytes", e->again_bytes, rw);
	count(j, "writes", e->writes, rw);
	count(j, "write_bytes", e->write_bytes, rw);
	sizes(e, j);
	slow_files(r, e, j);
	json_object(j, "workers");
	count(j, "count", e->workers, r->present[REPORT_PIDS]);
	if (e->workers) {
		json_u64(j, "slowest_pid", e->slow_worker);
		json_f64(j, "slowest_ns", e->slow_worker_ns);
		json_f64(j, "median_ns", e->median_worker_ns);
	}
	json_end(j);
	json_end(j);
}

void why_json(const struct report *r, struct json *j)
{
	const struct why *w = r->why;
	uint32_t n;

	if (!w || !w->rules)
		return;
	n = MIN(w->n_epochs, report_told(r, WHY_EPOCHS_MAX, 4));
	findings(w->rules, j);
	waited(w, j);
	json_array(j, "epochs");
	for (uint32_t i = 0; i < n; i++)
		epoch(r, &w->epoch[i], j);
	json_end(j);
	if (n < w->n_epochs)
		json_u64(j, "epochs_left_out", w->n_epochs - n);
}
