/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/gpu/gpus.h"

#include <errno.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/scan/model.h"
#include "report/scan/scan.h"

#define SAME_SAMPLE_NS (300 * 1000000ULL)
#define FIRST_SAMPLE_NS NSEC_PER_SEC /* length of the first sample, where nothing else is known */
#define MISSED 3 /* times the usual distance of samples: if it is longer, samples are missing */
#define SAMPLES_MAX ((1U << 21) / GPUS_MAX)
#define LEAST_WORK 0.01 /* of the busiest GPU's: a GPU with less has no part in the job's work */

/* --- gpu.out ---------------------------------------------------------------------------------------------------- */

static struct gpu *gpu_of(struct gpus *gpus, uint64_t nr)
{
	for (uint32_t i = 0; i < gpus->n; i++)
		if (gpus->v[i].nr == nr)
			return &gpus->v[i];
	if (gpus->n == GPUS_MAX || nr > UINT32_MAX)
		return NULL;
	gpus->v[gpus->n] = (struct gpu){ .nr = (uint32_t)nr, .idle.max = SAMPLES_MAX, .unused.max = SAMPLES_MAX };
	return &gpus->v[gpus->n++];
}

static void sample_ends(struct gpu *gpu)
{
	uint64_t length_ns = gpu->sample_ns - gpu->since_ns,
		 usual_ns = gpu->samples ? gpu->idle.total_ns / gpu->samples : 0;

	if (!gpu->since_ns || (usual_ns && length_ns > MISSED * usual_ns))
		length_ns = usual_ns ? usual_ns : FIRST_SAMPLE_NS;
	length_ns = MIN(length_ns, gpu->sample_ns);
	if (gpu->seen && gpu->sample_ns) {
		spans_append(&gpu->idle, gpu->sample_ns - length_ns, gpu->sample_ns, 1 - MIN(gpu->busy, 100) / 100);
		gpu->idle.total_ns += length_ns; /* until spans_close() this member has the length of all samples */
		gpu->samples++;
	} else if (gpu->sample_ns) {
		spans_append(&gpu->unused, gpu->sample_ns - length_ns, gpu->sample_ns, 1);
	}
	gpu->since_ns = gpu->sample_ns;
	gpu->busy = 0;
	gpu->seen = false;
}

static void take(struct report *report, const struct scan *scan)
{
	const uint64_t ns = scan->time_ns;
	uint64_t nr, pid, sm;
	struct report_proc *proc;
	struct gpu *gpu;

	if (!scan_has_number(scan, COL_TIMESTAMP) || !scan_u64(scan, COL_GPU, &nr) || !(gpu = gpu_of(report->gpus, nr)))
		return;
	if (ns > gpu->sample_ns + SAME_SAMPLE_NS || !gpu->sample_ns) {
		sample_ends(gpu);
		gpu->sample_ns = ns;
	}
	proc = scan_u64(scan, COL_GPU_PID, &pid) ? table_find(&report->procs, pid) : NULL;
	if (!proc || !proc->named)
		return;
	proc->on_gpu = true;
	gpu->seen = true;
	gpu->seen_ns = gpu->pid ? gpu->seen_ns : ns;
	gpu->pid = pid;
	if (scan_u64(scan, COL_GPU_SM, &sm)) {
		gpu->busy += (double)sm;
		gpu->numbers = true;
	}
}

/* --- gpu_dev.out -------------------------------------------------------------------------------------------------- */

/*
 * For some GPUs (parts of one, by MIG) and drivers, pmon does not show the use by process. But dmon shows the use of
 * the whole GPU: that counts as the job's, from the first sample with the job on that GPU to the last.
 */
static void read_devices(struct report *report)
{
	uint64_t ns, nr, sm, last_ns[GPUS_MAX] = { 0 };
	struct scan s = { .report = report };
	struct gpus *gpus = report->gpus;

	if (scan_begin(&s, report->folder, "gpu_dev") < 0)
		return;
	while (scan_next(&s) > 0)
		for (uint32_t i = 0; i < gpus->n; i++) {
			struct gpu *g = &gpus->v[i];

			if (!g->by_device || !scan_u64(&s, COL_GPU, &nr) || nr != g->nr ||
			    !scan_u64(&s, COL_GPU_SM, &sm) || !scan_u64(&s, COL_TIMESTAMP, &ns) || ns < g->seen_ns ||
			    ns > g->sample_ns + NSEC_PER_SEC)
				continue;
			if (last_ns[i])
				spans_append(&g->idle, last_ns[i], ns, 1 - (double)MIN(sm, 100) / 100);
			last_ns[i] = ns;
			g->numbers = true;
		}
}

/* --- all GPUs ----------------------------------------------------------------------------------------------------- */

/* Sums of all samples: their lengths and their number. */
static void sum_up(struct gpus *gpus)
{
	uint64_t ns = 0, samples = 0;

	for (uint32_t i = 0; i < gpus->n; i++) {
		struct gpu *gpu = &gpus->v[i];

		for (size_t k = 0; k < gpu->idle.n && gpu->numbers; k++)
			ns += gpu->idle.v[k].end_ns - gpu->idle.v[k].begin_ns;
		samples += gpu->numbers ? gpu->idle.n : 0;
		spans_close(&gpu->idle);
		spans_close(&gpu->unused);
	}
	gpus->sample_ns = samples ? ns / samples : 0;
}

static void part_begin(struct report *report)
{
	struct scan s = { .report = report };
	struct gpus *gpus = report->gpus;

	if (!gpus || scan_begin(&s, report->folder, "gpu") < 0)
		return;
	while (scan_next(&s) > 0)
		take(report, &s);
	for (uint32_t i = 0; i < gpus->n; i++) {
		struct gpu *gpu = &gpus->v[i];

		sample_ends(gpu);
		gpu->by_device = gpu->pid && !gpu->numbers;
		if (gpu->by_device)
			spans_free(&gpu->idle);
	}
	read_devices(report);
	sum_up(gpus);
}

static int part_new(struct report *report, const struct report_options *options)
{
	report->gpus = options->path ? NULL : calloc(1, sizeof(*report->gpus));
	return report->gpus || options->path ? 0 : -ENOMEM;
}

static void part_free(struct report *report)
{
	for (uint32_t i = 0; report->gpus && i < report->gpus->n; i++) {
		spans_free(&report->gpus->v[i].idle);
		spans_free(&report->gpus->v[i].unused);
	}
	free(report->gpus);
}

const struct report_part report_gpu_part = {
	.new = part_new,
	.begin = part_begin,
	.free = part_free,
};

/* --- one of them -------------------------------------------------------------------------------------------------- */

uint64_t gpu_idle_ns(const struct gpu *gpu)
{
	return gpu->idle.total_ns;
}

/* Returns how long GPU worked in the samples with the target. */
static uint64_t busy_ns(const struct gpu *gpu)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < gpu->idle.n; i++)
		ns += gpu->idle.v[i].end_ns - gpu->idle.v[i].begin_ns;
	return ns - MIN(ns, gpu->idle.total_ns);
}

const struct gpu *gpus_slowest(const struct gpus *gpus)
{
	const struct gpu *slowest = NULL;
	uint64_t most_ns = 0;

	for (uint32_t i = 0; gpus && i < gpus->n; i++)
		most_ns = MAX(most_ns, gpus->v[i].pid ? busy_ns(&gpus->v[i]) : 0);
	for (uint32_t i = 0; gpus && i < gpus->n; i++) {
		const struct gpu *gpu = &gpus->v[i];

		if (!gpu->pid || !gpu->numbers || (double)busy_ns(gpu) < LEAST_WORK * (double)most_ns)
			continue;
		if (!slowest || gpu_idle_ns(gpu) > gpu_idle_ns(slowest))
			slowest = gpu;
	}
	return slowest;
}
