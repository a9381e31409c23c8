/* SPDX-License-Identifier: BSD-2-Clause */
/* Completes the hosts' reports: one axis, a name for each, and their totals. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/hosts/hosts.h"
#include "report/timeline.h"

/* --- one axis --------------------------------------------------------------------------------------- */

/* Returns 0 or -ENOMEM. */
static int align(struct report_job *job)
{
	autofree struct timeline **all = calloc(job->n, sizeof(*all));

	if (job->by_summaries)
		return 0;
	if (!all)
		return -ENOMEM;
	for (unsigned int i = 0; i < job->n; i++) {
		struct timeline *t = all[i] = job->host[i].report->timeline;

		t->host = job->host[i].name;
		t->host_begin_ns = job->host[i].begin_ns;
		t->host_end_ns = job->host[i].end_ns = t->end_ns;
	}
	timeline_align(all, job->n);
	return 0;
}

/* --- hosts ----------------------------------------------------------------------------------------- */

static void name_hosts(struct report_job *job)
{
	for (unsigned int i = 0; i < job->n; i++) {
		struct job_host *host = &job->host[i];
		const char *name = host->report->manifest.host[0] ? host->report->manifest.host : host->dir;
		unsigned int same = 1;

		for (unsigned int k = 0; k < i; k++) {
			const struct manifest_facts *m = &job->host[k].report->manifest;

			same += strcmp(name, m->host[0] ? m->host : job->host[k].dir) == 0;
		}
		if (same > 1)
			snprintf(host->name, sizeof(host->name), "%.250s (%u)", name, same);
		else
			snprintf(host->name, sizeof(host->name), "%.250s", name);
	}
}

/*
 * Returns the error between two hosts: the sum of the two largest errors of reading a clock and, if WHOLE, of the
 * clocks themselves.
 */
static uint64_t sum_of_two(const struct report_job *job, bool whole)
{
	uint64_t first = 0, second = 0;

	for (unsigned int i = 0; i < job->n; i++) {
		uint64_t ns = job->host[i].report->clock_error_ns + (whole ? job->host[i].error_ns : 0);

		second = MAX(second, MIN(ns, first));
		first = MAX(first, ns);
	}
	return first + second;
}

/* Whether all folders are of one boot, and so on one clock. */
static bool is_one_machine(const struct report_job *job)
{
	const char *boot = job->host[0].report->manifest.boot_id;

	for (unsigned int i = 0; i < job->n; i++)
		if (strcmp(boot, job->host[i].report->manifest.boot_id) != 0)
			return false;
	return boot[0];
}

static void note_error(struct report_job *job)
{
	bool one = is_one_machine(job);

	job->read_error_ns = sum_of_two(job, false);
	job->between_ns = one ? job->read_error_ns : sum_of_two(job, true);
	job->between_known = true;
	for (unsigned int i = 0; !one && i < job->n; i++)
		job->between_known &= job->host[i].synchronised;
}

int report_job_close(struct report_job *job)
{
	name_hosts(job);
	if (align(job) < 0)
		return -ENOMEM;
	note_error(job);
	job->total = report_job_total(job, &job->n_doubts);
	return job->total ? 0 : -ENOMEM;
}
