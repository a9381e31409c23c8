/* SPDX-License-Identifier: BSD-2-Clause */
/* What the job did while its GPU was idle, and while it worked: its path, cut by the GPU's samples. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/gpu/gpus.h"
#include "report/rules/rules_impl.h"
#include "report/rules/shares.h"

#define LEAST_SHOWN 0.03 /* of the GPU's time of that state */
#define SHOWN_MAX 4

/* A kind of leaf in a role. */
struct did {
	enum path_kind kind;
	enum path_role role;
	double ns[2]; /* while the GPU worked; while it was idle */
};

struct doings {
	struct did v[PATH_KINDS * PATH_ROLES];
	double all_ns[2];
};

static struct did *did(struct doings *doings, const struct path_leaf *leaf)
{
	return &doings->v[leaf->kind * PATH_ROLES + leaf->role];
}

static enum shares_tier tier_of(const struct shares *shares, const struct path_leaf *leaf)
{
	return shares_tier(shares_cause(shares, leaf));
}

/* Adds the parts of a sample, N of them. */
static void add_sample(const struct shares *shares, const struct path_sample *sample, const struct path_idle_part *part,
		       uint32_t n, struct doings *doings)
{
	const struct path_sum *sums = shares->root->sums.v;
	double ns[SHARES_TIERS] = { 0 }, idle[SHARES_TIERS];

	for (uint32_t i = 0; i < n; i++)
		ns[tier_of(shares, &sums[part[i].sum].leaf)] += (double)part[i].ns;
	shares_idle_tiers((double)sample->idle_ns, ns, idle);
	for (uint32_t i = 0; i < n; i++) {
		const struct path_leaf *leaf = &sums[part[i].sum].leaf;
		const enum shares_tier tier = tier_of(shares, leaf);
		const double idle_ns = idle[tier] * ((double)part[i].ns / MAX(ns[tier], 1.0));
		struct did *of = did(doings, leaf);

		of->kind = leaf->kind;
		of->role = leaf->role;
		of->ns[1] += idle_ns;
		of->ns[0] += (double)part[i].ns - idle_ns;
		doings->all_ns[1] += idle_ns;
		doings->all_ns[0] += (double)part[i].ns - idle_ns;
	}
}

static void find(const struct shares *shares, struct doings *doings)
{
	const struct path_idle *idle = &shares->report->path->idle;
	uint32_t from = 0;

	for (uint32_t i = 0; i < idle->n; i++) {
		uint32_t n = 0;

		while (from + n < idle->n_parts && idle->part[from + n].sample == i)
			n++;
		add_sample(shares, &idle->sample[i], &idle->part[from], n, doings);
		from += n;
	}
}

static int by_busy(const void *a, const void *b)
{
	const struct did *x = a, *y = b;

	return (x->ns[0] < y->ns[0]) - (x->ns[0] > y->ns[0]);
}

static int by_idle(const void *a, const void *b)
{
	const struct did *x = a, *y = b;

	return (x->ns[1] < y->ns[1]) - (x->ns[1] > y->ns[1]);
}

/* Returns what the job did most while its GPU was idle, or worked; NULL: nothing, or memory is out. */
static char *text_of(struct doings *doings, bool idle)
{
	static const char *const roles[PATH_ROLES] = { [PATH_WORKER] = ", a worker", [PATH_CHILD] = ", a program" };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	qsort(doings->v, ARRAY_SIZE(doings->v), sizeof(*doings->v), idle ? by_idle : by_busy);
	for (unsigned int i = 0; i < SHOWN_MAX; i++) {
		const struct did *of = &doings->v[i];

		if (of->ns[idle] < LEAST_SHOWN * doings->all_ns[idle] || of->ns[idle] <= 0)
			break;
		fprintf(out, "%s%s%s %.0f %%", i ? "; " : "", path_kinds[of->kind].phrase, roles[of->role] ?: "",
			rules_percent(of->ns[idle], doings->all_ns[idle]));
	}
	fclose(out);
	return text;
}

/* Shows what others of the job's GPUs did, as these wait for the one that is late. */
static void show_others(const struct gpus *gpus, const struct gpu *slowest, struct finding *finding)
{
	const struct gpu *best = NULL;
	unsigned int n = 0;

	for (uint32_t i = 0; i < gpus->n; i++) {
		const struct gpu *gpu = &gpus->v[i];

		if (!gpu->pid || !gpu->numbers)
			continue;
		n++;
		if (gpu != slowest && (!best || gpu_idle_ns(gpu) < gpu_idle_ns(best)))
			best = gpu;
	}
	if (best)
		finding_add(finding,
			    "that one of the job's %u GPUs was idle for longest, GPU %" PRIu32
			    " of process %llu for least, %s: a GPU that waits for another (NCCL) counts as busy",
			    n, best->nr, (unsigned long long)best->pid, FMT_NS(gpu_idle_ns(best)));
}

void rules_show_gpu(struct report *report, struct finding *finding)
{
	const struct path_idle *idle = &report->path->idle;
	autofree struct doings *doings = calloc(1, sizeof(*doings));
	autofree char *text = NULL;
	const struct report_proc *proc;
	struct shares shares;
	bool works;

	if (!doings || !shares_of(report, &shares) || !shares.by_gpu)
		return;
	proc = table_find(&report->procs, idle->gpu->pid);
	works = finding->rule == &rule_gpu_bound;
	find(&shares, doings);
	text = text_of(doings, !works);
	finding_add(finding,
		    "GPU %" PRIu32
		    ", of process %llu%s%s, was idle for %.1f %% of %s, by samples of %.2f s; %s the job was, by its "
		    "path: %s",
		    idle->gpu->nr, (unsigned long long)idle->gpu->pid, proc && proc->rank[0] ? ", rank " : "",
		    proc ? proc->rank : "", rules_percent((double)shares.idle_ns, (double)shares.sampled_ns),
		    FMT_NS(shares.sampled_ns), (double)report->gpus->sample_ns / NSEC_PER_SEC,
		    works ? "while it worked" : "then", text && text[0] ? text : "-");
	show_others(report->gpus, idle->gpu, finding);
}
