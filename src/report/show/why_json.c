/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the job waited, as JSON: docs/report-json.md has the names. */
#include <math.h>

#include "base/json.h"
#include "base/util.h"
#include "report/phases/phases.h"
#include "report/rules/rules.h"
#include "report/scan/model.h"
#include "report/show/show.h"
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
	json_str(j, "caveat", f->caveat);
	json_strs(j, "evidence", f->evidence, f->n);
	json_str(j, "advice", f->rule->advice);
	json_f64(j, "measure", f->measure);
	json_f64(j, "threshold", f->rule->threshold);
	json_f64(j, "size_ns", f->size.ns);
	json_f64(j, "size_share", f->size.share);
	json_f64(j, "size_bytes", f->size.bytes);
	json_end(j);
}

static void findings(const struct rules *rules, struct json *j)
{
	why_json_finding(j, "bottleneck", &rules->bottleneck);
	json_array(j, "rules");
	for (unsigned int i = 0; i < rules->n; i++)
		why_json_finding(j, NULL, &rules->found[i]);
	json_end(j);
	json_array(j, "facts");
	for (unsigned int i = 0; i < rules->n_facts; i++)
		why_json_finding(j, NULL, &rules->found[rules->n + i]);
	json_end(j);
	json_strs(j, "rules_missing", rules->missing, rules->n_missing);
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
		json_u64_known(j, "waited_ns", why_knows_waits(t), t->waited_ns);
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
	json_str(j, "seen_by", why_sight_names[w->seen]);
	if (why_any_by(w, WHY_BY_GPU))
		json_u64(j, "resolution_ns", w->gpu_sample_ns);
	json_object(j, "for");
	for (unsigned int s = 0; s < WHY_STATES; s++)
		json_f64(j, why_state_names[s], share(w->blame_ns[s], w->waited_ns));
	json_f64(j, "straggler", share(w->straggler_ns, w->waited_ns));
	json_end(j);
	trainers(w, j);
	json_strs(j, "notes", w->notes, w->n_notes);
	json_end(j);
}

void why_json(const struct report *r, struct json *j)
{
	const struct why *w = r->why;

	if (!w || !w->rules)
		return;
	findings(w->rules, j);
	waited(w, j);
}
