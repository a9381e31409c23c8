/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of the job's time the calls of a rule cost. Where the path is known, the cost of a kind of calls is its time
 * there: the rest of the loaders' time costs nothing. Where it is not known, the cost is at most the time in which any
 * process was in a call of the kind. A rule gets the part of it that its calls have of the time of all such calls.
 */
#include "report/rules/rules_impl.h"

#include <math.h>

#include "base/util.h"
#include "report/path/path.h"

#define LEAST_WINDOW 0.5 /* of the trace: a first process that ended early shows too little */
#define UNKNOWN_MATTERS 0.25 /* of the path: with more, what is known of it is not what the job's time was */

#define KIND(kind) (1ULL << PATH_##kind)
#define ANY UINT32_MAX

static const struct finding_size unknown = { (double)NAN, (double)NAN, (double)NAN };

bool rules_know_waits(const struct report *report)
{
	const struct report_path_root *root = report->path && report->path->n ? &report->path->root[0] : NULL;

	return root && root->end_ns > root->begin_ns &&
	       (double)(root->end_ns - root->begin_ns) >= LEAST_WINDOW * (double)report_duration_ns(report);
}

static double time_of(const struct report_path_root *root, uint64_t kinds, uint32_t roles)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < root->sums.n; i++) {
		const struct path_leaf *leaf = &root->sums.v[i].leaf;

		ns += kinds >> leaf->kind & 1 && roles >> leaf->role & 1 ? root->sums.v[i].ns : 0;
	}
	return (double)ns / (double)(root->end_ns - root->begin_ns);
}

double rules_path_part(const struct report *report, uint64_t kinds, uint32_t roles)
{
	const struct report_path_root *root = rules_know_waits(report) ? &report->path->root[0] : NULL;

	if (!root || time_of(root, KIND(UNKNOWN), ANY) > UNKNOWN_MATTERS)
		return (double)NAN;
	return time_of(root, kinds, roles);
}

/*
 * Returns the time from the first process's begin to the last one's end; without these in pids.out, the length of the
 * trace.
 */
static double life_of_job(const struct report *report)
{
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	for (uint32_t i = 0; i < report->procs.n; i++) {
		const struct report_proc *p = table_at(&report->procs, i);

		if (p->begin_ns)
			begin_ns = MIN(begin_ns, p->begin_ns);
		end_ns = MAX(end_ns, p->end_ns);
	}
	if (begin_ns >= end_ns) {
		begin_ns = report->first_ns;
		end_ns = report->last_ns;
	}
	return end_ns > begin_ns ? (double)(end_ns - begin_ns) : 0;
}

struct finding_size rules_size_of_life(const struct report *r, double ns)
{
	double life_ns = life_of_job(r);
	struct finding_size size = unknown;

	if (life_ns <= 0)
		return size;
	size.ns = MIN(ns, life_ns);
	size.share = size.ns / life_ns;
	return size;
}

struct finding_size rules_size_of_share(const struct report *report, double part)
{
	const struct report_path_root *root = rules_know_waits(report) ? &report->path->root[0] : NULL;
	struct finding_size size = unknown;

	if (isnan(part))
		return size;
	if (!root)
		return rules_size_of_life(report, part * life_of_job(report));
	size.share = MIN(part, 1);
	size.ns = size.share * (double)(root->end_ns - root->begin_ns);
	return size;
}

/* Returns the part of the path's time in calls of KIND; NAN: it is not known. */
static double part_of_kind(const struct report *report, enum why_kind kind)
{
	static const uint64_t kinds[WHY_KINDS] = {
		[WHY_READS] = KIND(DISK_READ) | KIND(CPU_READ),
		[WHY_WRITES] = KIND(DISK_WRITE) | KIND(DISK_SYNC) | KIND(CPU_WRITE),
		[WHY_OPENS] = KIND(DISK_METADATA) | KIND(CPU_METADATA),
	};

	return rules_path_part(report, kinds[kind], ANY);
}

struct finding_size rules_size(const struct report *r, enum why_kind kind, uint64_t part_ns)
{
	const struct why_kind_sum *sum = &r->why->kind[kind];
	const double part = sum->ns ? MIN((double)part_ns / (double)sum->ns, 1) : 0, whole = part_of_kind(r, kind);

	if (!isnan(whole))
		return rules_size_of_share(r, part * whole);
	return rules_size_of_life(r, part * (double)sum->busy_ns);
}

struct finding_size rules_size_of_all(const struct report *report, double part_ns)
{
	double all_ns = 0, busy_ns = 0, whole = 0, part;

	for (unsigned int k = 0; k < WHY_KINDS; k++) {
		all_ns += (double)report->why->kind[k].ns;
		busy_ns += (double)report->why->kind[k].busy_ns;
		whole += part_of_kind(report, (enum why_kind)k);
	}
	part = all_ns > 0 ? MIN(part_ns / all_ns, 1) : 0;
	if (!isnan(whole))
		return rules_size_of_share(report, part * whole);
	return rules_size_of_life(report, part * busy_ns);
}

struct finding_size rules_size_of_bytes(const struct report *r, enum why_kind kind, uint64_t bytes)
{
	const struct why_sums *s = sums(r);
	double all = (double)(kind == WHY_READS ? s->read_bytes : s->write_bytes);
	double ns = (double)(kind == WHY_READS ? s->read_files_ns : s->write_files_ns);
	struct finding_size size = rules_size(r, kind, all > 0 ? (uint64_t)(ns * MIN((double)bytes / all, 1)) : 0);

	size.bytes = (double)bytes;
	return size;
}

struct finding_size rules_size_of_reads(const struct report *r)
{
	return rules_size_of_bytes(r, WHY_READS, sums(r)->read_bytes);
}

struct finding_size rules_size_of_writes(const struct report *r)
{
	return rules_size_of_bytes(r, WHY_WRITES, sums(r)->write_bytes);
}
