/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the job's time went, as JSON: docs/report-json.md has the names. The parts add up to the whole time. */
#include "base/json.h"
#include "base/util.h"
#include "report/gpu/gpus.h"
#include "report/path/path.h"
#include "report/scan/model.h"
#include "report/show/json.h"

#define PARTS_MAX 200U
#define PARTS_LEAST 16U

/* A part's time in each part of the training. */
static const char *const whens[PATH_WHENS] = { "before_ns", "first_epoch_ns", "later_ns", "after_ns" };

static void part(const struct path_names *names, const struct path_sum *sum, bool epochs, struct json *json)
{
	const char *process = path_name_text(names, sum->leaf.process);
	autofree char *thread = process && sum->leaf.thread ? util_fmt("%s's thread", process) : NULL;

	json_object(json, NULL);
	json_str(json, "kind", path_kinds[sum->leaf.kind].name);
	json_str(json, "what", path_kinds[sum->leaf.kind].phrase);
	json_str(json, "who", thread ? thread : process);
	json_str(json, "detail", path_name_text(names, sum->leaf.detail));
	json_u64(json, "ns", sum->ns);
	json_u64(json, "chain_ns", sum->chain_ns);
	json_str(json, "role", path_roles[sum->leaf.role]);
	json_str(json, "doing", path_does[sum->leaf.doing].name);
	json_bool(json, "starting", sum->leaf.starting);
	json_bool(json, "rank", sum->leaf.rank);
	json_bool(json, "gil", sum->leaf.gil);
	json_bool(json, "held", sum->leaf.held);
	json_bool(json, "inferred", sum->leaf.inferred);
	json_u64(json, "begin_ns", sum->first_ns);
	json_u64(json, "end_ns", sum->last_ns);
	for (unsigned int i = 0; epochs && i < PATH_WHENS; i++)
		json_u64(json, whens[i], sum->when_ns[i]);
	json_end(json);
}

/* Puts the parts from FIRST on as one. */
static void others(const struct path_sums *sums, uint32_t first, struct json *json)
{
	uint64_t ns = 0, chain_ns = 0;

	for (uint32_t i = first; i < sums->n; i++) {
		ns += sums->v[i].ns;
		chain_ns += sums->v[i].chain_ns;
	}
	json_object(json, NULL);
	json_str(json, "kind", "other");
	json_u64(json, "ns", ns);
	json_u64(json, "chain_ns", chain_ns);
	json_end(json);
}

static void parts(const struct report *r, const struct path_sums *sums, struct json *json)
{
	const uint32_t shown = MIN(sums->n, report_at_most(r, PARTS_MAX, PARTS_LEAST));

	json_array(json, "parts");
	for (uint32_t i = 0; i < shown; i++)
		part(&r->path->names, &sums->v[i], r->path->epochs > 0, json);
	if (shown < sums->n)
		others(sums, shown, json);
	json_end(json);
}

/* Puts what the rows of path_edges add up to. */
static void edges(const struct path_weight *all, struct json *json)
{
	json_object(json, "edges");
	json_u64(json, "waits", all->waits);
	json_u64(json, "wait_ns", all->wait_ns);
	json_u64(json, "path_ns", all->path_ns);
	json_end(json);
}

/* Puts the samples of the GPU that cut the path; null: there are none. */
static void gpu(const struct path_idle *idle, struct json *json)
{
	uint64_t sampled_ns = 0, idle_ns = 0;

	for (uint32_t i = 0; i < idle->n; i++) {
		sampled_ns += idle->sample[i].end_ns - idle->sample[i].begin_ns;
		idle_ns += idle->sample[i].idle_ns;
	}
	if (!idle->gpu) {
		json_null(json, "gpu");
		return;
	}
	json_object(json, "gpu");
	json_u64(json, "number", idle->gpu->nr);
	json_u64(json, "pid", idle->gpu->pid);
	json_u64(json, "sampled_ns", sampled_ns);
	json_u64(json, "idle_ns", idle_ns);
	json_end(json);
}

void report_path_json(const void *of, struct json *json)
{
	const struct report *r = of;
	const struct report_path_root *root;

	if (!r->path || !r->path->n) {
		json_null(json, "path");
		return;
	}
	root = &r->path->root[0];
	json_object(json, "path");
	json_u64(json, "root", root->pid);
	json_u64(json, "begin_ns", root->begin_ns);
	json_u64(json, "end_ns", root->end_ns);
	json_u64(json, "wall_ns", root->end_ns - root->begin_ns);
	parts(r, &root->sums, json);
	edges(&r->path->graph.all, json);
	gpu(&r->path->idle, json);
	json_end(json);
}
