/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Epochs by lines that name neither their begins nor their ends: "epoch 0: loss 1.23", which most scripts print behind
 * an epoch, "Epoch 1/10", which others print before it, and bars that go on with it. Lines of one epoch are one group;
 * which side of it they are on is decided for all groups of a log at once, by a score (struct epoch_score). Pure.
 */
#ifndef REPORT_PHASES_EPOCHS_H
#define REPORT_PHASES_EPOCHS_H

#include <stdbool.h>
#include <stdint.h>

struct phase_entry;
struct phase_workers;
struct timeline;

#define EPOCH_GROUPS_MAX 16384

/* What is said of one epoch, by lines in a row. */
struct epoch_group {
	int64_t number, rank; /* rank -1: not said, or several */
	uint64_t first_ns, last_ns; /* of its lines */
	uint64_t begin_ns; /* by the time that a bar has been going on; 0: none says it */
	uint32_t lines;
	float first_part, last_part; /* -1: not said */
	bool first_result, last_result; /* its first line has one, its last */
	bool barred; /* a bar without a number has ended it */
};

struct epoch_groups {
	struct epoch_group *v;
	uint32_t n, room;
	uint64_t left_out; /* lines that found no room */
	uint64_t run_ns; /* all of the training began then, by its last line; 0: not said */
};

enum epoch_side {
	EPOCH_ENDS,   /* lines are at the end of their epoch */
	EPOCH_BEGINS, /* at its begin */
	EPOCH_LASTS,  /* at both and in between */
};
extern const char *const epoch_side_names[];

/*
 * Points for the end of an epoch, less those for its begin, by each evidence; 0 where there is none of it.
 *
 * WORDS: 2 for each epoch whose last line has a result or is past the middle of it, -2 for one without, the mean of all.
 * WORKERS: 3 times what the time before the first line has of worker processes, in parts of what lies between two lines
 * (1 at most), less that behind the last line; of a side on which the trace does not have the end of the job it is half
 * a part. And 1 for each line that comes sooner behind workers than before the next ones, -1 for one that does not, the
 * mean of all.
 * READING: 3 times the same as the first of WORKERS, of the data that was read.
 * LIFE: the same of the time itself, once.
 */
struct epoch_score {
	enum epoch_side side;
	bool assumed; /* all together are less than EPOCH_SURE: it is as the words have it */
	uint32_t lines, epochs;
	double words, workers, reading, life;
};

#define EPOCH_SURE 0.5

/* The whole trace: from when to when, and whether the job began, ended in it. */
struct epoch_trace {
	uint64_t begin_ns, end_ns; /* 0: not known */
	bool begins, ends;
	const struct phase_workers *workers; /* NULL: not known */
	const struct timeline *timeline; /* NULL: rows have not been read */
};

/* One more line; without memory it is counted as left out. */
void epoch_groups_add(struct epoch_groups *g, const struct phase_entry *e);
void epoch_groups_free(struct epoch_groups *g);

/* Which side the lines of G are on, at least one. */
struct epoch_score epoch_side_of(const struct epoch_groups *g, const struct epoch_trace *t);

/* An epoch; SINCE_START: its begin is not said, it is that of what there is to see. */
struct epoch_bounds {
	uint64_t begin_ns, end_ns;
	bool since_start, until_end; /* until_end: no line says its end */
};
/* The I-th epoch of G by SIDE; begins in front of the first one's line are those of workers or data in T. */
struct epoch_bounds epoch_bounds_of(const struct epoch_groups *g, uint32_t i, enum epoch_side side, const struct epoch_trace *t);
/* When training began that a line at FIRST_NS ends the first epoch of, EACH_NS long by others (0: not known). */
uint64_t epoch_start(const struct epoch_trace *t, uint64_t first_ns, uint32_t generations);

#endif
