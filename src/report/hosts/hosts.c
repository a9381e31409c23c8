/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/hosts/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/util.h"
#include "report/report.h"
#include "trace/reader.h"

#define APART_NS (100ULL * 24 * 3600 * NSEC_PER_SEC) /* hosts of one job do not begin so far apart */

/* --- clocks ---------------------------------------------------------------------------------------- */

/*
 * Reads the first row of time_align.out, HOST's clock. Before any report, since reports need the begin of the common
 * axis.
 */
static int read_first_row(struct job_host *host, int dirfd)
{
	struct reader_row row;
	uint64_t mono_ns, real_ns;
	struct reader rd;
	int res = reader_open(&rd, dirfd, "time_align.out");

	if (res < 0)
		return res == -ENOENT ? -ENODATA : res;
	res = reader_next(&rd, &row) > 0 && reader_u64(reader_field(&row, reader_column(&rd, "TIMESTAMP")), &mono_ns) &&
			      reader_u64(reader_field(&row, reader_column(&rd, "REALTIME_NS")), &real_ns) &&
			      mono_ns <= INT64_MAX && real_ns <= INT64_MAX ?
		      0 :
		      -ENODATA;
	if (res == 0) {
		host->utc_ns = (int64_t)real_ns - (int64_t)mono_ns;
		host->begin_ns = mono_ns;
	}
	reader_close(&rd);
	return res;
}

static int read_clock(struct job_host *host)
{
	autoclose int dirfd = open(host->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autofree struct manifest_facts *facts = calloc(1, sizeof(*facts));
	int res;

	if (dirfd < 0)
		return -errno;
	if (!facts)
		return -ENOMEM;
	res = read_first_row(host, dirfd);
	if (res < 0)
		return res;
	/* fields that the manifest lacks stay unknown */
	manifest_read_at(facts, dirfd);
	if (facts->start_ns && (facts->cut_begin_ns || facts->start_ns < host->begin_ns))
		host->begin_ns = facts->start_ns;
	host->end_ns = facts->end_ns;
	host->error_ns = MAX(facts->clock_maxerror_us, facts->clock_maxerror_at_end_us) * 1000;
	host->synchronised = facts->clock_synchronised && (facts->clock_synchronised_at_end || !facts->complete);
	return 0;
}

int report_job_open_by(struct report_job *ret, char *const *names, unsigned int n, unsigned int *bad,
		       int (*read)(struct job_host *host))
{
	struct report_job job = { .host = calloc(n, sizeof(*job.host)), .n = n, .begin_utc_ns = UINT64_MAX };
	int res = job.host ? 0 : -ENOMEM;

	if (n > JOB_HOSTS_MAX)
		res = -E2BIG;

	for (*bad = 0; res == 0 && *bad < n; ++*bad) {
		struct job_host *host = &job.host[*bad];

		host->dir = names[*bad];
		res = read(host);
		if (res < 0)
			break;
		job.begin_utc_ns = MIN(job.begin_utc_ns, (uint64_t)((int64_t)host->begin_ns + host->utc_ns));
	}
	/* a host's own clock must reach back to the begin of the first host */
	for (unsigned int i = 0; res == 0 && i < n; i++) {
		const struct job_host *host = &job.host[i];
		int64_t begin = (int64_t)job.begin_utc_ns - host->utc_ns;

		*bad = i;
		if (begin <= 0 || host->begin_ns - (uint64_t)begin > APART_NS)
			res = -ERANGE;
	}
	if (res < 0) {
		job.n = job.host ? n : 0;
		report_job_free(&job);
		return res;
	}
	*ret = job;
	return 0;
}

int report_job_open(struct report_job *ret, char *const *dirs, unsigned int n, unsigned int *bad)
{
	return report_job_open_by(ret, dirs, n, bad, read_clock);
}

uint64_t report_job_begin_ns(const struct report_job *job, unsigned int i)
{
	return (uint64_t)((int64_t)job->begin_utc_ns - job->host[i].utc_ns);
}

uint64_t report_job_after_ns(const struct report_job *job, unsigned int i)
{
	return job->host[i].begin_ns - report_job_begin_ns(job, i);
}

void report_job_narrow(struct report_job *job, const struct window *w)
{
	job->begin_utc_ns = UINT64_MAX;
	for (unsigned int i = 0; i < job->n; i++) {
		struct job_host *host = &job->host[i];

		host->begin_ns = MAX(host->begin_ns, w[i].begin_ns);
		job->begin_utc_ns = MIN(job->begin_utc_ns, (uint64_t)((int64_t)host->begin_ns + host->utc_ns));
	}
}

void report_job_free(struct report_job *job)
{
	for (unsigned int i = 0; i < job->n; i++)
		report_free(job->host[i].report);
	report_free(job->total);
	free(job->host);
	*job = (struct report_job){ 0 };
}
