/* SPDX-License-Identifier: BSD-2-Clause */
/* Evidence that several folders are not hosts of one job: their names, machines and times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "report/hosts/hosts.h"
#include "report/scan/scan.h"

#define MORE_MAX 40

bool report_job_twice(char *const *dirs, unsigned int n, unsigned int *first, unsigned int *again)
{
	autofree struct stat *st = n <= JOB_HOSTS_MAX ? calloc(n, sizeof(*st)) : NULL;

	for (unsigned int i = 0; st && i < n; i++) {
		if (stat(dirs[i], &st[i]) < 0)
			continue; /* a missing folder has inode 0 here, which no folder has */
		for (unsigned int k = 0; k < i; k++) {
			if (st[k].st_dev != st[i].st_dev || st[k].st_ino != st[i].st_ino)
				continue;
			*first = k;
			*again = i;
			return true;
		}
	}
	return false;
}

static uint64_t until_ns(const struct report_job *job, unsigned int i)
{
	return report_job_after_ns(job, i) + report_duration_ns(job->host[i].report);
}

bool report_job_at_a_time(const struct report_job *job)
{
	uint64_t begin_ns = 0, end_ns = UINT64_MAX;

	for (unsigned int i = 0; i < job->n; i++) {
		begin_ns = MAX(begin_ns, report_job_after_ns(job, i));
		end_ns = MIN(end_ns, until_ns(job, i));
	}
	return begin_ns < end_ns;
}

/* Whether hosts I and K are of one boot. A host's name may be its container's. */
static bool is_machine_of(const struct report_job *job, unsigned int i, unsigned int k)
{
	const struct manifest_facts *a = &job->host[i].report->manifest, *b = &job->host[k].report->manifest;

	return a->boot_id[0] && strcmp(a->boot_id, b->boot_id) == 0;
}

static bool is_copy_of(const struct report_job *job, unsigned int i, unsigned int k)
{
	uint64_t start_ns = job->host[i].report->manifest.start_ns;

	return is_machine_of(job, i, k) && start_ns && start_ns == job->host[k].report->manifest.start_ns;
}

static bool is_beside(const struct report_job *job, unsigned int i, unsigned int k)
{
	return is_machine_of(job, i, k) && !is_copy_of(job, i, k) && report_job_after_ns(job, i) < until_ns(job, k) &&
	       report_job_after_ns(job, k) < until_ns(job, i);
}

/* Returns how many hosts have an earlier one for which IS holds; *FIRST, *AGAIN: the folders of the first such pair. */
static unsigned int count(const struct report_job *job,
			  bool (*is)(const struct report_job *job, unsigned int i, unsigned int k), const char **first,
			  const char **again)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < job->n; i++)
		for (unsigned int k = 0; k < i; k++) {
			if (!is(job, i, k))
				continue;
			if (n++ == 0) {
				*first = job->host[k].dir;
				*again = job->host[i].dir;
			}
			break;
		}
	return n;
}

/* Returns what to add where N pairs are such, and the first one is named: "" or " (and so are 2 more)". */
static const char *and_more(unsigned int n, char text[MORE_MAX])
{
	text[0] = '\0';
	if (n > 1)
		snprintf(text, MORE_MAX, " (and so %s %u more)", n == 2 ? "is" : "are", n - 1);
	return text;
}

void report_job_doubts(const struct report_job *job, struct report *total)
{
	const char *first = NULL, *again = NULL;
	char text[MORE_MAX];
	unsigned int n;

	if (!report_job_at_a_time(job))
		report_note(total,
			    "these traces do not overlap in time: runs one after the other are not hosts of one job, "
			    "use --compare for them; totals include all of them");
	n = count(job, is_copy_of, &first, &again);
	if (n)
		report_note(total,
			    "%s is a copy of the trace %s%s: its rows count twice in totals; leave it out, or use "
			    "--compare",
			    again, first, and_more(n, text));
	n = count(job, is_beside, &first, &again);
	if (n)
		report_note(total,
			    "%s and %s are traces of the same machine at the same time%s: disk requests, CPUs and GPUs "
			    "belong to the machine and count twice in totals; --compare reports each trace alone",
			    first, again, and_more(n, text));
}
