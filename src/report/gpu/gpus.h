/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpu.out, from `nvidia-smi pmon`: how long the GPUs of the target were idle. At each sample it has a line for each
 * process of each GPU, with the mean since the last sample: a GPU that is 60 % busy was idle for 40 % of that time, but
 * it is not known when. What is busy is that a kernel ran, be it one that waits for another GPU (NCCL).
 */
#ifndef REPORT_GPU_GPUS_H
#define REPORT_GPU_GPUS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/scan/part.h"
#include "stats/spans.h"

#define GPUS_MAX 64

struct gpu {
	uint32_t nr;
	uint64_t pid; /* of the target, that used it last; 0: none did */
	uint64_t samples, sample_ns, since_ns; /* the sample that is being read, and since when it is one */
	double busy;
	uint64_t seen_ns;
	bool seen, numbers, by_device; /* the target uses it; gpu.out has `sm'; the numbers come from gpu_dev.out */
	struct spans idle; /* the samples with the target, each by how much of it is idle */
	struct spans unused; /* the samples without the target */
};

struct gpus {
	struct gpu v[GPUS_MAX];
	uint32_t n;
	uint64_t sample_ns; /* mean distance of samples */
};

/*
 * Reads gpu.out, and gpu_dev.out for GPUs of which it has no numbers, once the processes are known; marks those that
 * use a GPU.
 */
extern const struct report_part report_gpu_part;

/*
 * Returns the GPU of the target that was idle for longest, of those that worked for a hundredth of what the busiest one
 * did: while that one gets no work, the others wait for it in their collectives, which count as work. NULL: none has
 * numbers.
 */
const struct gpu *gpus_slowest(const struct gpus *gpus);
/* Returns how long GPU was idle in the samples with the target. */
uint64_t gpu_idle_ns(const struct gpu *gpu);

#endif
