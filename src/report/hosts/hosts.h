/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several trace folders as one job on several hosts: totals, each host's report, and what happened when on
 * one axis of UTC. Each host's rows are on its own clock: the possible difference of clocks is reported, not corrected.
 */
#ifndef REPORT_HOSTS_HOSTS_H
#define REPORT_HOSTS_HOSTS_H

#include "report/scan/model.h"

#define JOB_HOSTS_MAX 1024

struct job_host {
	const char *dir;
	char name[300]; /* of the host; with a number if it has several folders */
	struct report *report;
	int64_t utc_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC, at its begin */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; END_NS: by its manifest, 0: not known; once the job is closed, of
				      its last row */
	uint64_t error_ns; /* of its UTC: the error of reading its clock, plus the clock's own */
	bool synchronised;
};

struct report_job {
	struct job_host *host;
	unsigned int n;
	struct report *total; /* sums of all that can be added up, nothing else */
	uint64_t begin_utc_ns;
	uint64_t read_error_ns; /* of reading the clock: the sum of the two largest hosts' errors */
	uint64_t between_ns; /* how far the clocks of two hosts may differ; see known_between */
	bool between_known;
	bool by_summaries; /* the reports have only what a summary has: see summary.h */
	unsigned int
		n_doubts; /* so many of the total's notes, the first ones, are doubts that these are hosts of one job */
};

/* Whether two of the N folders DIRS, *FIRST and *AGAIN, are one folder, under any names. A missing folder does not
 * count. */
bool report_job_twice(char *const *dirs, unsigned int n, unsigned int *first, unsigned int *again);

/*
 * Finds when each of the N folders begins, by their manifests and time_align.out. Returns 0; -ENODATA when *BAD does
 * not have it; -ERANGE when *BAD cannot be on one axis with the others; -E2BIG; -ENOMEM; -errno of *BAD.
 */
int report_job_open(struct report_job *ret, char *const *dirs, unsigned int n, unsigned int *bad);
/* Opens it likewise with hosts that READ, which returns 0 or -errno, makes of their names. */
int report_job_open_by(struct report_job *ret, char *const *names, unsigned int n, unsigned int *bad,
		       int (*read)(struct job_host *host));
/* Returns where host I's timeline has to begin, so that all hosts have one axis. */
uint64_t report_job_begin_ns(const struct report_job *job, unsigned int i);
/* Returns how much later than the first host I began. */
uint64_t report_job_after_ns(const struct report_job *job, unsigned int i);
/* Completes the job when all hosts' reports are loaded. Returns 0 or -ENOMEM. */
int report_job_close(struct report_job *job);
/* Makes JOB that of the part W of each host, before their reports are loaded. */
void report_job_narrow(struct report_job *job, const struct window *w);
void report_job_free(struct report_job *job);

/* Whether the hosts were traced at the same time; if not, they are mostly successive runs. */
bool report_job_at_a_time(const struct report_job *job);
/* Returns the sums of all hosts; the first *N_DOUBTS of its notes are by report_job_doubts(). NULL when memory is out.
 */
struct report *report_job_total(const struct report_job *job, unsigned int *n_doubts);
/* Adds notes to TOTAL: evidence that they are not hosts of one job, or that sums are wrong. */
void report_job_doubts(const struct report_job *job, struct report *total);

struct finding;
struct rule;

/* Whether RULE, a host's answer, is a cause of waits: neither training nor an unknown one. */
bool report_job_is_wait(const struct rule *rule);
/*
 * Finds the answer for all hosts. Its share is the mean of the hosts' shares, weighted by their time. Returns false
 * when nothing is known of any host. The result is released by finding_free().
 */
bool report_job_why(const struct report_job *job, struct finding *ret);

#endif
