/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Epochs from lines that name neither begin nor end: "epoch 0: loss 1.23", which most scripts print after an epoch;
 * "Epoch 1/10", which others print before it; and progress bars. The lines of one epoch are a group. A score (struct
 * epoch_score) decides, for all groups of a log at once, on which side of their epochs the lines are. Pure.
 */
#ifndef REPORT_PHASES_EPOCHS_H
#define REPORT_PHASES_EPOCHS_H

#include <stdbool.h>
#include <stdint.h>

struct phase_entry;
struct phase_workers;
struct timeline;

#define EPOCH_GROUPS_MAX 16384

/* The consecutive lines about one epoch. */
struct epoch_group {
	int64_t number, rank; /* rank -1: not known, or several */
	uint64_t first_ns, last_ns; /* of its lines */
	uint64_t begin_ns; /* by the elapsed time that a bar shows; 0: none does */
	uint32_t lines;
	float first_part,
		last_part; /* progress that the first line shows, and the last line with any; 0 to 1; -1: none does */
	uint64_t part_ns; /* of the line with LAST_PART */
	bool first_result, last_result; /* whether the first line has a result; the last */
	bool barred; /* a bar without a number ended it */
};

struct epoch_groups {
	struct epoch_group *v;
	uint32_t n;
	uint64_t left_out; /* lines that found no room */
	uint64_t run_ns; /* when all of the training began, by the elapsed time in its last line; 0: not shown */
};

enum epoch_side {
	EPOCH_ENDS, /* the lines are at the end of their epoch */
	EPOCH_BEGINS, /* at its begin */
	EPOCH_LASTS, /* at both ends and in between */
};
extern const char *const epoch_side_names[];

/*
 * Points for the end of an epoch, less those for its begin, by each kind of evidence; 0 without it.
 *
 * WORDS: 2 for each epoch whose last line has a result or is past its middle, -2 for one without; the mean of all.
 *
 * WORKERS: 3 times the time before the first line with worker processes, as a part of that between two lines (1 at
 * most), less that after the last line; where the trace lacks the job's begin or end, that side counts half. And 1 for
 * each line that comes sooner after workers than before the next ones, -1 for one that does not, the mean of all.
 *
 * READING: as the first part of WORKERS, with the data that was read in place of the time with workers.
 *
 * LIFE: likewise with the time itself, and once, not 3 times.
 */
struct epoch_score {
	enum epoch_side side;
	bool assumed; /* the sum is less than EPOCH_SURE: the words decided */
	uint32_t lines, epochs;
	double words, workers, reading, life;
};

#define EPOCH_SURE 0.5

/* The extent of the trace, and whether the job began and ended in it. */
struct epoch_trace {
	uint64_t begin_ns, end_ns; /* 0: not known */
	bool begins, ends;
	const struct phase_workers *workers; /* NULL: not known */
	const struct timeline *timeline; /* NULL: rows have not been read */
};

/* Adds a line; counts it as left out when memory is out. */
void epoch_groups_add(struct epoch_groups *groups, const struct phase_entry *entry);
void epoch_groups_free(struct epoch_groups *g);

/* Decides which side of their epochs the lines of GROUPS are on; GROUPS has at least one. */
struct epoch_score epoch_side_of(const struct epoch_groups *groups, const struct epoch_trace *trace);

/* An epoch. SINCE_START: no line shows its begin, which is that of workers, reading or the trace. */
struct epoch_bounds {
	uint64_t begin_ns, end_ns;
	bool since_start, until_end; /* UNTIL_END: no line shows its end */
};
/* Returns the I-th epoch of G by SIDE. A begin before the first epoch's line is that of workers or data in T. */
struct epoch_bounds epoch_bounds_of(const struct epoch_groups *g, uint32_t i, enum epoch_side side,
				    const struct epoch_trace *t);
/* Returns when training began, when a line at FIRST_NS ends its first epoch and an epoch has GENERATIONS of workers. */
uint64_t epoch_start(const struct epoch_trace *t, uint64_t first_ns, uint32_t generations);

#endif
