/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hosts of a job that differ most from the others, and in what: a job of many hosts is as fast as its slowest one,
 * and the reports of all the others are alike. What is compared is in summaries as well.
 */
#ifndef REPORT_HOSTS_DIFFER_H
#define REPORT_HOSTS_DIFFER_H

#include <stdio.h>

struct report_job;

#define JOB_DIFFER_MAX 3
#define JOB_DIFFER_FROM 5 /* with fewer hosts, all are shown */

struct job_differ {
	unsigned int host; /* its place in the job */
	double by; /* how much it differs: a share's distance from the hosts' median, or the logarithm of the ratio */
	unsigned int measure; /* in which it differs most */
	double value, median; /* of that measure */
};

/*
 * Puts the hosts that differ most into RET, the one that differs most first; of hosts that differ equally the first.
 * Returns their number: 0 with fewer than JOB_DIFFER_FROM hosts, or without memory.
 */
unsigned int report_job_differ(const struct report_job *job, struct job_differ ret[JOB_DIFFER_MAX]);

/* Prints the line about D. */
void job_differ_text(const struct report_job *job, const struct job_differ *d, FILE *out);

#endif
