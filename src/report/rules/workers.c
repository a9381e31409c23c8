/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules about data loaders: what they hand over, and how they differ. */
#include "report/rules/rules_impl.h"

#include <math.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/path/path.h"
#include "report/scan/lookup.h"
#include "report/why/why_impl.h"

#define LEAST_NS 1e8 /* if the calls take less time in all, they do not matter */

/* --- loaders ---------------------------------------------------------------------------------- */

static const struct why_loader *loader_at(const struct report *r, uint32_t i)
{
	return *(struct why_loader **)table_at(&r->why->loaders, i);
}

/*
 * Returns how much more data the busiest loader read than the others of its generation on average: as a part, and in
 * bytes in *MORE.
 */
static double unequal_data(const struct report *report, const struct why_loader **most, double *more)
{
	double worst = 0;

	*more = 0;
	for (uint32_t i = 0; i < report->why->loaders.n; i++) {
		const struct why_loader *loader = loader_at(report, i);
		double others = 0;
		uint32_t n = 0;

		if (!loader || loader->number) /* once for each generation */
			continue;
		for (uint32_t k = 0; k < report->why->loaders.n; k++) {
			const struct why_loader *other = loader_at(report, k);

			if (!other || other->generation != loader->generation)
				continue;
			if (other->bytes > loader->bytes)
				loader = other;
			others += (double)other->bytes;
			n++;
		}
		others -= (double)loader->bytes;
		if (n > 1 && others > 0 && (double)loader->bytes >= 16 * MiB &&
		    (double)loader->bytes * (n - 1) / others > worst) {
			worst = (double)loader->bytes * (n - 1) / others;
			*more = (double)loader->bytes - others / (n - 1);
			*most = loader;
		}
	}
	return worst;
}

static double straggler_data(const struct report *r)
{
	const struct why_loader *l = NULL;
	double more;

	return unequal_data(r, &l, &more);
}

static struct finding_size size_of_more_data(const struct report *r)
{
	const struct why_loader *l = NULL;
	double more;

	unequal_data(r, &l, &more);
	return rules_size_of_bytes(r, WHY_READS, (uint64_t)more);
}

static void show_straggler_data(struct report *report, struct finding *finding)
{
	const struct why_loader *l = NULL;
	double more, times = unequal_data(report, &l, &more);

	if (l)
		finding_add(finding,
			    "loader %u of those that ran at that time, process %u, read %s from %.3f s to %.3f s: "
			    "%.1f times as much as the others on average",
			    l->number + 1, (unsigned int)l->pid, FMT_BYTES(l->bytes),
			    rules_seconds(report, l->begin_ns), rules_seconds(report, l->end_ns), times);
}

/* Returns the part of the loaders' time in calls that make, size and close files of shared memory; that time in *NS. */
static double shared_part(const struct report *report, double *ns)
{
	double lives_ns = 0;

	*ns = 0;
	for (uint32_t i = 0; i < report->why->loaders.n; i++) {
		const struct why_loader *l = loader_at(report, i);

		*ns += l ? l->shared_ns : 0;
		lives_ns += l ? (double)why_looked_at(&report->why->trainer[l->trainer], l->begin_ns, l->end_ns) : 0;
	}
	return lives_ns > 0 ? MIN(*ns / lives_ns, 1) : 0;
}

static double batch_copies(const struct report *r)
{
	double ns, part = shared_part(r, &ns);

	return ns >= LEAST_NS ? part : 0;
}

/* The cost of these calls: their part of the loaders' time on the path, or, where that is not known, of their lives. */
static struct finding_size size_of_batch_copies(const struct report *r)
{
	const double served = rules_path_part(r, UINT64_MAX, 1U << PATH_WORKER);
	double ns, part = shared_part(r, &ns);

	return rules_size_of_share(r, isnan(served) ? part : part * served);
}

static void show_batch_copies(struct report *report, struct finding *finding)
{
	const struct why_sums *s = sums(report);
	const bool allocates = s->shared_files[1] >= s->shared_files[0]; /* a file may be sized both ways */
	double ns, part = shared_part(report, &ns);

	finding_add(
		finding,
		"%s in /dev/shm with %s in all; making, sizing and closing them took loaders %s, %.1f %% of their time",
		FMT_N(s->shared_files[allocates], "file", "files"), FMT_BYTES(s->shared_bytes[allocates]),
		FMT_NS((uint64_t)ns), 100 * part);
	finding_add(finding, "copying the samples into them has no rows: it is in the loaders' time on CPUs");
	rules_show_when(report, finding);
}

static const struct why_epoch *worst_epoch(const struct report *report, double *ratio)
{
	const struct why_epoch *worst = NULL;

	*ratio = 0;
	for (uint32_t i = 0; i < report->why->n_epochs; i++) {
		const struct why_epoch *e = &report->why->epoch[i];

		if (e->slow_among < 2 || !e->slow_stands_out || e->median_worker_ns <= 0 ||
		    e->slow_worker_ns / e->median_worker_ns <= *ratio)
			continue;
		*ratio = e->slow_worker_ns / e->median_worker_ns;
		worst = e;
	}
	return worst;
}

static double slow_worker(const struct report *r)
{
	double ratio;

	worst_epoch(r, &ratio);
	return ratio;
}

/* The cost of a slow worker: the time beyond what the median worker takes for as many samples. */
static struct finding_size size_of_slow_worker(const struct report *r)
{
	double ratio;
	const struct why_epoch *e = worst_epoch(r, &ratio);

	return rules_size_of_all(r, e ? (e->slow_worker_ns - e->median_worker_ns) * (double)e->slow_samples : 0);
}

static void show_slow_worker(struct report *report, struct finding *finding)
{
	double ratio;
	const struct why_epoch *e = worst_epoch(report, &ratio);

	finding_add(finding,
		    "process %u spent %s in calls on files for each file that it opened to read; the "
		    "median of the %u that ran at the same time is %s, from %.3f s to %.3f s",
		    (unsigned int)e->slow_worker, FMT_NS((uint64_t)e->slow_worker_ns), e->slow_among,
		    FMT_NS((uint64_t)e->median_worker_ns), rules_seconds(report, e->begin_ns),
		    rules_seconds(report, e->end_ns));
}

const struct rule rules_of_workers[] = {
	{ .code = "batch-copies",
	  .title = "Loaders copy their batches into shared memory",
	  .number = "time of loaders in calls that make, size, close and remove files of shared memory, among all "
		    "their time; at least 0.1 s",
	  .threshold = 0.05,
	  .needs = RULE_SYNC | RULE_TRAINS,
	  .is_share = true,
	  .measure = batch_copies,
	  .size = size_of_batch_copies,
	  .evidence = show_batch_copies,
	  .advice = "Hand over fewer bytes: keep samples as uint8 and convert them on the GPU, crop and scale them in "
		    "the loader. Huge pages for /dev/shm (mount option huge=within_size) make its memory cheaper." },
	{ .code = "slow-worker",
	  .title = "One worker takes longer for a sample than the others",
	  .number = "longest time in calls on files for each file opened, in relation to the workers' median; of a "
		    "worker that opened at least 8 files and is 6 times as far from it as half of them",
	  .threshold = 2,
	  .needs = RULE_RW | RULE_OPEN,
	  .measure = slow_worker,
	  .size = size_of_slow_worker,
	  .evidence = show_slow_worker,
	  .advice = "See what its files have in common: size, folder, disk." },
	{ .code = "straggler-data",
	  .title = "One worker reads more than the others",
	  .number = "bytes that a loader read, in relation to the mean of the others of its generation; at least 16 "
		    "MiB",
	  .threshold = 1.5,
	  .needs = RULE_RW,
	  .measure = straggler_data,
	  .size = size_of_more_data,
	  .evidence = show_straggler_data,
	  .advice = "Deal samples out by their size." },
	{ .code = NULL },
};
