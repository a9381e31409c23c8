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

void why_json_finding(struct json *json, const char *key, const struct finding *finding)
{
	json_object(json, key);
	json_str(json, "code", finding->rule->code);
	json_str(json, "title", finding->rule->title);
	json_f64(json, "share", finding->share);
	json_str(json, "caveat", finding->caveat);
	json_strs(json, "evidence", finding->evidence, finding->n);
	json_str(json, "advice", finding_advice(finding));
	json_f64(json, "measure", finding->measure);
	json_f64(json, "threshold", finding->rule->threshold);
	json_f64(json, "size_ns", finding->size.ns);
	json_f64(json, "size_share", finding->size.share);
	json_f64(json, "size_bytes", finding->size.bytes);
	json_end(json);
}

static void findings(const struct rules *rules, struct json *json)
{
	why_json_finding(json, "bottleneck", &rules->bottleneck);
	json_array(json, "rules");
	for (unsigned int i = 0; i < rules->n; i++)
		why_json_finding(json, NULL, &rules->found[i]);
	json_end(json);
	json_array(json, "facts");
	for (unsigned int i = 0; i < rules->n_facts; i++)
		why_json_finding(json, NULL, &rules->found[rules->n + i]);
	json_end(json);
	json_strs(json, "rules_missing", rules->missing, rules->n_missing);
}

static void trainers(const struct why *why, struct json *json)
{
	json_array(json, "trainers");
	for (uint32_t i = 0; i < why->n_trainers; i++) {
		const struct why_trainer *t = &why->trainer[i];

		json_object(json, NULL);
		json_u64(json, "pid", t->pid);
		json_u64(json, "begin_ns", t->begin_ns);
		json_u64(json, "end_ns", t->end_ns);
		json_str(json, "by", why_basis_names[t->basis]);
		json_u64_known(json, "waited_ns", why_knows_waits(t), t->waited_ns);
		json_u64(json, "loaders", t->loaders);
		json_end(json);
	}
	json_end(json);
}

static void waited(const struct why *why, struct json *json)
{
	json_object(json, "waited");
	json_f64(json, "share", share(why->waited_ns, why->window_ns));
	json_str(json, "by", why_basis_names[why->basis]);
	json_str(json, "seen_by", why_sight_names[why->seen]);
	if (why_any_by(why, WHY_BY_GPU))
		json_u64(json, "resolution_ns", why->gpus->sample_ns);
	trainers(why, json);
	json_strs(json, "notes", why->notes, why->n_notes);
	json_end(json);
}

void why_json(const struct report *r, struct json *j)
{
	const struct why *w = r->why;

	if (!w || !w->rules)
		return;
	findings(w->rules, j);
	waited(w, j);
}
