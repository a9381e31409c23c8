/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replays an epoch: a trainer and its workers as torch/utils/data/dataloader.py has them (2.15). prefetch * workers
 * indices are put at the start, one more when a batch is taken; index I goes to worker I mod workers, or without
 * in_order to the next one that has less than prefetch of them; batches are taken in order, or without in_order as they
 * come. CPUs are shared evenly by the threads that want one, and a limited disk by its readers. Pure.
 */
#ifndef REPORT_WHATIF_REPLAY_H
#define REPORT_WHATIF_REPLAY_H

#include "report/whatif/model.h"

#define WHATIF_COPY_BYTES_PER_NS 4.0 /* of a checkpoint that is written in the background: memory to memory */

struct whatif_run {
	double total_ns;
	double exposed_ns; /* the trainer's waits for batches, and taking them */
	double steady_ns, steady_exposed_ns; /* of these, after the first prefetch * workers batches */
	double worked_ns; /* the workers made batches, added up */
	double workers_busy; /* the same as a share of their time from the first batch to the last one's end */
	double cpus_busy; /* of the CPUs' time */
	double storage_busy; /* of the limited disk's, which was empty of tokens */
	double queued_ns; /* threads of the job waited for each other's CPUs, added up */
};

/* Returns 0 with *RUN, -ENOMEM, or -EINVAL for a model without batches or with more than WHATIF_WORKERS_MAX workers. */
int whatif_replay(const struct whatif_model *model, struct whatif_run *run);

#endif
