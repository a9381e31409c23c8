/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpu.out, from `nvidia-smi pmon`: when the GPUs of the target were idle. At each sample it has a line for each process of
 * each GPU, with the mean since the last sample: a GPU that is 60 % busy was idle for 40 % of that time, but it is not known
 * when.
 */
#include "report/why/why_impl.h"

#include <inttypes.h>

#include "base/util.h"
#include "report/scan/scan.h"

#define SAME_SAMPLE_NS (300 * 1000000ULL)
#define FIRST_SAMPLE_NS NSEC_PER_SEC /* length of the first sample, where nothing else is known */
#define MISSED 3		     /* times the usual distance of samples: if it is longer, samples are missing */

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

static void sample_ends(struct why_gpu *g)
{
	uint64_t length_ns = g->sample_ns - g->since_ns, usual_ns = g->samples ? g->idle.total_ns / g->samples : 0;

	if (g->seen && g->sample_ns) {
		if (!g->since_ns || (usual_ns && length_ns > MISSED * usual_ns))
			length_ns = usual_ns ? usual_ns : FIRST_SAMPLE_NS;
		length_ns = MIN(length_ns, g->sample_ns);
		spans_append(&g->idle, g->sample_ns - length_ns, g->sample_ns, 1 - MIN(g->busy, 100) / 100);
		g->idle.total_ns += length_ns; /* until spans_close() this member has the length of all samples */
		g->samples++;
	}
	g->since_ns = g->sample_ns;
	g->busy = 0;
	g->seen = false;
}

static void take(struct report *r, const struct scan *s)
{
	const uint64_t ns = s->time_ns;
	uint64_t nr, pid, sm;
	struct report_proc *p;
	struct why_gpu *g;

	if (!scan_has_number(s, COL_TIMESTAMP) || !scan_u64(s, COL_GPU, &nr) || !(g = gpu_of(r->why, nr)))
		return;
	if (ns > g->sample_ns + SAME_SAMPLE_NS || !g->sample_ns) {
		sample_ends(g);
		g->sample_ns = ns;
	}
	p = scan_u64(s, COL_GPU_PID, &pid) ? table_find(&r->procs, pid) : NULL;
	if (!p || !p->named)
		return;
	p->on_gpu = true;
	g->seen = true;
	g->seen_ns = g->pid ? g->seen_ns : ns;
	g->pid = pid;
	if (scan_u64(s, COL_GPU_SM, &sm)) {
		g->busy += (double)sm;
		g->numbers = true;
	}
}

/*
 * For some GPUs (parts of one, by MIG) and drivers, pmon does not show the use by process. But dmon shows the use of the
 * whole GPU: that counts as the job's, from the first sample with the job on that GPU to the last.
 */
static void read_devices(struct report *r)
{
	uint64_t ns, nr, sm, last_ns[WHY_GPUS_MAX] = { 0 };
	struct scan s = { .report = r };
	struct why *w = r->why;

	if (scan_begin(&s, r->folder, "gpu_dev") < 0)
		return;
	while (scan_next(&s) > 0)
		for (uint32_t i = 0; i < w->n_gpus; i++) {
			struct why_gpu *g = &w->gpu[i];

			if (!g->by_device || !scan_u64(&s, COL_GPU, &nr) || nr != g->nr || !scan_u64(&s, COL_GPU_SM, &sm) ||
			    !scan_u64(&s, COL_TIMESTAMP, &ns) || ns < g->seen_ns || ns > g->sample_ns + NSEC_PER_SEC)
				continue;
			if (last_ns[i])
				spans_append(&g->idle, last_ns[i], ns, 1 - (double)MIN(sm, 100) / 100);
			last_ns[i] = ns;
			g->numbers = true;
		}
}

/* Sums of all samples: their lengths and their number. */
static void sum_up(struct why *w, uint64_t *ns, uint64_t *samples)
{
	for (uint32_t i = 0; i < w->n_gpus; i++) {
		struct why_gpu *g = &w->gpu[i];

		for (size_t k = 0; k < g->idle.n && g->numbers; k++)
			*ns += g->idle.v[k].end_ns - g->idle.v[k].begin_ns;
		*samples += g->numbers ? g->idle.n : 0;
		spans_close(&g->idle);
		w->has_gpu |= g->numbers;
		if (g->pid && !g->numbers)
			why_note(w, "GPU %u: gpu.out and gpu_dev.out have no numbers of its use", g->nr);
		else if (g->by_device)
			why_note(w,
				 "GPU %u: its use is that of all processes, from gpu_dev.out: gpu.out has no numbers",
				 g->nr);
	}
}

void why_read_gpu(struct report *r)
{
	struct scan s = { .report = r };
	struct why *w = r->why;
	uint64_t samples = 0, ns = 0;

	if (scan_begin(&s, r->folder, "gpu") < 0)
		return;
	while (scan_next(&s) > 0)
		take(r, &s);
	for (uint32_t i = 0; i < w->n_gpus; i++) {
		struct why_gpu *g = &w->gpu[i];

		sample_ends(g);
		g->by_device = g->pid && !g->numbers;
		if (g->by_device)
			spans_free(&g->idle);
	}
	read_devices(r);
	sum_up(w, &ns, &samples);
	w->gpu_sample_ns = samples ? ns / samples : 0;
}
