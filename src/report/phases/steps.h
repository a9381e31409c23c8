/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps of training from the program's own regions (regions.out). A step of a thread ends with its compute.step and
 * begins where the last one ended. So the steps add up to the thread's time, including checkpoints and evaluations
 * between them. Within a step each instant belongs to the innermost of the thread's regions: a step is the sum of its
 * parts, to the nanosecond. What the thread does after its last step, up to the end of its last region, belongs to the
 * last step's epoch. Rows come in order of their ends, as in the file. Memory is bounded.
 */
#ifndef REPORT_PHASES_STEPS_H
#define REPORT_PHASES_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/phases/skew.h"
#include "report/phases/step_region.h"
#include "report/phases/step_times.h"
#include "stats/spans.h"
#include "stats/table.h"

#define STEPS_SLOWEST 10
#define STEPS_TRAINERS_MAX SKEW_PROCESSES_MAX

enum step_part {
	STEP_FETCH, /* dataloader.*, data.* */
	STEP_COMPUTE, /* compute.*, device.* */
	STEP_CHECKPOINT, /* checkpoint.* */
	STEP_COMM, /* comm.* */
	STEP_OTHER, /* in no region, or in one of another category */
	STEP_PARTS,
};

struct hist;

/* The steps of one process in one epoch. */
struct step_sum {
	uint64_t pid;
	int64_t epoch; /* -1: not given */
	uint64_t n, wall_ns, part_ns[STEP_PARTS];
	uint64_t begin_ns, end_ns; /* of the first step; of the last one, or of what comes behind it */
	uint64_t samples; /* that its regions of compute name; 0: none does */
	uint64_t p50_ns, p99_ns, max_ns; /* at the end */
	uint64_t first_fetch_ns; /* how long the epoch's first fetch took */
	struct hist *hist;
};

/* A process that has steps: what its first thread with steps did. */
struct step_trainer {
	uint64_t pid, tid;
	uint64_t n, wall_ns;
	uint64_t begin_ns, end_ns; /* of the first step; of the last one, or of what comes behind it */
	uint64_t save_ns; /* in checkpoint.save */
	struct spans spans[STEP_OTHER]; /* exact unions of its regions of each part, whatever lies within these */
	struct step_times times;
	/* Steps without their checkpoints, and without the first of each epoch. */
	struct hist *steady;
	uint64_t steady_p50_ns, steady_p99_ns; /* at the end */
};

/* What goes on while a step fetches. */
enum step_io {
	STEP_IO_DISK, /* reads that fetch from storage, and page faults that wait for it */
	STEP_IO_CACHE, /* other reads */
	STEP_IO_NAMES, /* opens, closes, and calls that make, remove, rename and size files */
	STEP_IO_WRITE,
	STEP_IOS,
};

struct step {
	uint64_t pid;
	int64_t epoch, number; /* -1: not given */
	uint64_t begin_ns, wall_ns, part_ns[STEP_PARTS];
	uint64_t io_ns[STEP_IOS]; /* only in SLOWEST: sums of the process and its loaders while the step fetched */
};

struct phase_steps {
	/*
	 * The names of regions that end steps, as NAME or as CATEGORY.NAME, without case; the caller's, to be set
	 * before the first row. None: "step" and "compute".
	 */
	const char *const *names;
	unsigned int n_names;
	bool named; /* a region had one of NAMES */
	struct step_sum *sums; /* in order of their first steps */
	uint32_t n_sums;
	struct step slowest[STEPS_SLOWEST]; /* by WALL_NS, the longest first */
	uint32_t n_slowest;
	struct step_trainer *trainers; /* STEPS_TRAINERS_MAX, in order of their first steps */
	uint32_t n_trainers;
	struct skew skew; /* of the first SKEW_PROCESSES_MAX trainers, by their places */
	uint64_t left_out; /* steps of more epochs and threads than there is room for */
	struct table threads, by_epoch;
	size_t spans_room; /* of all sets of spans */
};

void phase_steps_init(struct phase_steps *s);
void phase_steps_take(struct phase_steps *steps, const struct step_region *region);
/* Returns what of a step the region is. */
enum step_part phase_steps_part(const struct phase_steps *steps, const struct step_region *region);
/* Returns whether there are any, of the rows so far. */
bool phase_steps_any(struct phase_steps *steps);
/* To be called after the last row. */
void phase_steps_end(struct phase_steps *steps);
void phase_steps_free(struct phase_steps *steps);
/*
 * Adds I/O of the process OF, or of one of its loaders, to those of its slowest steps that fetched meanwhile; after the
 * end.
 */
void phase_steps_io(struct phase_steps *s, struct step_trainer *of, enum step_io what, uint64_t begin_ns,
		    uint64_t end_ns);
/* Returns the process PID; NULL: it has no steps. */
struct step_trainer *phase_steps_trainer(const struct phase_steps *s, uint64_t pid);

#endif
