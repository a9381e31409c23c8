/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The job's time by cause: the leaves of its path (report/path), added up. Where samples show how long its GPU was
 * idle, only that time counts: a GPU that works needs no other part of the job to be faster.
 */
#ifndef REPORT_RULES_SHARES_H
#define REPORT_RULES_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/path/path.h"

struct report;

#define SHARES_CAUSES_MAX 40

/* A cause, by the leaves that are of it. */
struct cause {
	const char *code;
	uint64_t kinds; /* bits */
	uint32_t roles; /* likewise */
	bool held, rank, starting, gil; /* only such leaves */
	enum path_doing doing; /* likewise; PATH_DOES_ANYTHING: all */
	bool few_cpus; /* only of threads that might not use all CPUs */
	bool cold, small; /* only where reads came from a disk; where syncs are of small writes */
	bool once; /* however long the job is */
	bool is_work; /* what the job is for */
	bool of_training; /* where the job trains, it is part of that, unless its GPU has samples */
};

/* The last one is what is not known. */
extern const struct cause shares_causes[];
extern const unsigned int shares_n_causes;

struct shares {
	const struct report *report;
	const struct report_path_root *root;
	bool cold, small_syncs;
	bool serves, on_gpu; /* there are processes that serve others; waits for a GPU */
	double late; /* of the time in a slow rank: the part in which others waited for it */
	double of[SHARES_CAUSES_MAX]; /* ns, of each cause */
	bool by_gpu; /* its samples cover most of the time */
	uint64_t sampled_ns, idle_ns; /* of the root's time: in samples of the GPU; the idle time by these */
	struct shares_idle {
		double ns, least_ns, most_ns; /* while the GPU was idle */
	} idle[SHARES_CAUSES_MAX];
};

/* False: there is no path. */
bool shares_of(const struct report *report, struct shares *shares);

/* Returns the job's time, ns; that which counts: in samples of its GPU, if it has them; NS as a part of that. */
uint64_t shares_wall(const struct shares *shares);
uint64_t shares_all(const struct shares *shares);
double shares_part(const struct shares *shares, uint64_t ns);

/* Returns the time of CAUSE that counts; all of it; and that of which nothing is known. */
uint64_t shares_ns(const struct shares *shares, const struct cause *cause);
uint64_t shares_path_ns(const struct shares *shares, const struct cause *cause);
uint64_t shares_unknown(const struct shares *shares);
/* Returns the cause with the most time but for BUT, and what is not known. */
const struct cause *shares_largest(const struct shares *shares, const struct cause *but);
/* Returns the cause that LEAF is of. */
const struct cause *shares_cause(const struct shares *shares, const struct path_leaf *leaf);
/* Whether the time of SUM, a part of the path, counts for CAUSE. */
bool shares_count(const struct shares *shares, const struct path_sum *sum, const struct cause *cause);
/*
 * Whose a sample's idle time is first: a GPU goes on with what it was given while the job works, runs dry while the job
 * waits, and has work as long as the job waits for it.
 */
enum shares_tier { SHARES_WAIT, SHARES_WORK, SHARES_FOR_GPU, SHARES_TIERS };

enum shares_tier shares_tier(const struct cause *cause);
/* Deals IDLE_NS, of a sample in which the path has NS of each tier, out to IDLE. */
void shares_idle_tiers(double idle_ns, const double ns[static SHARES_TIERS], double idle[static SHARES_TIERS]);
/* A process that others serve, or that uses a GPU or has steps, trains when it computes, or sleeps in place of a GPU.
 */
bool shares_train(const struct shares *shares);

#endif
