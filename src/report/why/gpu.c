/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpu.out, from `nvidia-smi pmon`: when the GPUs of the target were idle. At each sample it has a line for each process
 * of each GPU, with the mean since the last sample: a GPU that is 60 % busy was idle for 40 % of that time, but it is
 * not known when.
 */
#include "report/why/why_impl.h"

#include <inttypes.h>

#include "base/util.h"
#include "report/scan/scan.h"

#define SAME_SAMPLE_NS (300 * 1000000ULL)
#define FIRST_SAMPLE_NS NSEC_PER_SEC /* length of the first sample, where nothing else is known */
#define MISSED 3 /* times the usual distance of samples: if it is longer, samples are missing */

static struct why_gpu *gpu_of(struct why *w, uint64_t nr)
{
	for (uint32_t i = 0; i < w->n_gpus; i++)
		if (w->gpu[i].nr == nr)
			return &w->gpu[i];
	if (w->n_gpus == WHY_GPUS_MAX || nr > UINT32_MAX)
		return NULL;
	w->gpu[w->n_gpus] = (struct why_gpu){ .nr = (uint32_t)nr };
	w->gpu[w->n_gpus].idle.max = WHY_WAITS_MAX / WHY_GPUS_MAX;
	return &w->gpu[w->n_gpus++];
}

static void sample_ends(struct why_gpu *gpu)
{
	uint64_t length_ns = gpu->sample_ns - gpu->since_ns,
		 usual_ns = gpu->samples ? gpu->idle.total_ns / gpu->samples : 0;

	if (gpu->seen && gpu->sample_ns) {
		if (!gpu->since_ns || (usual_ns && length_ns > MISSED * usual_ns))
			length_ns = usual_ns ? usual_ns : FIRST_SAMPLE_NS;
		length_ns = MIN(length_ns, gpu->sample_ns);
		spans_append(&gpu->idle, gpu->sample_ns - length_ns, gpu->sample_ns, 1 - MIN(gpu->busy, 100) / 100);
		gpu->idle.total_ns += length_ns; /* until spans_close() this member has the length of all samples */
		gpu->samples++;
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
	struct why_gpu *gpu;

	if (!scan_has_number(scan, COL_TIMESTAMP) || !scan_u64(scan, COL_GPU, &nr) || !(gpu = gpu_of(report->why, nr)))
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

/*
 * For some GPUs (parts of one, by MIG) and drivers, pmon does not show the use by process. But dmon shows the use of
 * the whole GPU: that counts as the job's, from the first sample with the job on that GPU to the last.
 */
static void read_devices(struct report *report)
{
	uint64_t ns, nr, sm, last_ns[WHY_GPUS_MAX] = { 0 };
	struct scan s = { .report = report };
	struct why *why = report->why;

	if (scan_begin(&s, report->folder, "gpu_dev") < 0)
		return;
	while (scan_next(&s) > 0)
		for (uint32_t i = 0; i < why->n_gpus; i++) {
			struct why_gpu *g = &why->gpu[i];

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

/* Sums of all samples: their lengths and their number. */
static void sum_up(struct why *why, uint64_t *ns, uint64_t *samples)
{
	for (uint32_t i = 0; i < why->n_gpus; i++) {
		struct why_gpu *gpu = &why->gpu[i];

		for (size_t k = 0; k < gpu->idle.n && gpu->numbers; k++)
			*ns += gpu->idle.v[k].end_ns - gpu->idle.v[k].begin_ns;
		*samples += gpu->numbers ? gpu->idle.n : 0;
		spans_close(&gpu->idle);
		if (gpu->pid && !gpu->numbers)
			why_note(why, "GPU %u: gpu.out and gpu_dev.out have no numbers of its use", gpu->nr);
		else if (gpu->by_device)
			why_note(why,
				 "GPU %u: its use is that of all processes, from gpu_dev.out: gpu.out has no numbers",
				 gpu->nr);
	}
}

void why_read_gpu(struct report *report)
{
	struct scan s = { .report = report };
	struct why *why = report->why;
	uint64_t samples = 0, ns = 0;

	if (scan_begin(&s, report->folder, "gpu") < 0)
		return;
	while (scan_next(&s) > 0)
		take(report, &s);
	for (uint32_t i = 0; i < why->n_gpus; i++) {
		struct why_gpu *g = &why->gpu[i];

		sample_ends(g);
		g->by_device = g->pid && !g->numbers;
		if (g->by_device)
			spans_free(&g->idle);
	}
	read_devices(report);
	sum_up(why, &ns, &samples);
	why->gpu_sample_ns = samples ? ns / samples : 0;
}
