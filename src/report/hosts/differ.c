/* SPDX-License-Identifier: BSD-2-Clause */
/* See differ.h. */
#include "report/hosts/differ.h"

#include <math.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/hosts/hosts.h"
#include "report/report.h"
#include "report/rules/rules.h"
#include "report/why/why.h"

static const struct finding *answer_of(const struct report *r)
{
	return r->why && r->why->rules ? &r->why->rules->bottleneck : NULL;
}

/* Returns the part of its time that a host waited, by its answer; 0: it is not known to have waited. */
static double waited(const struct report *r)
{
	const struct finding *answer = answer_of(r);

	return answer && report_job_is_wait(answer->rule) && !isnan(answer->share) ? answer->share : 0;
}

static double lasted(const struct report *r)
{
	return (double)report_duration_ns(r);
}

static double moved(const struct report *r, bool write)
{
	return (double)r->rw[write].bytes;
}

static double read_bytes(const struct report *r)
{
	return moved(r, false);
}

static double written_bytes(const struct report *r)
{
	return moved(r, true);
}

static double read_ns(const struct report *r)
{
	return (double)r->rw[0].lat.sum;
}

static double write_ns(const struct report *r)
{
	return (double)r->rw[1].lat.sum;
}

static double open_ns(const struct report *r)
{
	return (double)r->op[REPORT_OPEN].lat.sum;
}

static double sync_ns(const struct report *r)
{
	return (double)r->op[REPORT_SYNC].lat.sum;
}

/*
 * What is compared. A share differs by its distance, anything else by the logarithm of a ratio, in which LEAST is added
 * on both sides: what is small on all hosts differs by chance.
 */
static const struct measure {
	const char *what;
	enum { SHARE, NS, BYTES } kind;
	double least;
	double (*get)(const struct report *r);
} measures[] = {
	{ "of its time it waited", SHARE, 0, waited },
	{ "long", NS, 1e9, lasted },
	{ "read", BYTES, 16U << 20, read_bytes },
	{ "written", BYTES, 16U << 20, written_bytes },
	{ "in reads", NS, 1e9, read_ns },
	{ "in writes", NS, 1e9, write_ns },
	{ "in opens", NS, 1e9, open_ns },
	{ "in syncs", NS, 1e9, sync_ns },
};

static int smaller(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double distance(const struct measure *measure, double value, double median)
{
	if (measure->kind == SHARE)
		return fabs(value - median);
	return fabs(log((value + measure->least) / (median + measure->least)));
}

/* Sets V[I] of each host to the measure in which it differs most, as far as the measures up to M have been compared. */
static void compare(const struct report_job *job, unsigned int m, double *sorted, struct job_differ *v)
{
	double median;

	for (unsigned int i = 0; i < job->n; i++)
		sorted[i] = measures[m].get(job->host[i].report);
	qsort(sorted, job->n, sizeof(*sorted), smaller);
	median = sorted[job->n / 2];
	for (unsigned int i = 0; i < job->n; i++) {
		const double value = measures[m].get(job->host[i].report);
		const double by = distance(&measures[m], value, median);

		if (m == 0 || by > v[i].by)
			v[i] = (struct job_differ){ i, by, m, value, median };
	}
}

/* Puts the N ones of V that differ most before the others. */
static void pick(struct job_differ *v, unsigned int all, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct job_differ most;
		unsigned int at = i;

		for (unsigned int k = i + 1; k < all; k++)
			if (v[k].by > v[at].by || (v[k].by == v[at].by && v[k].host < v[at].host))
				at = k;
		most = v[at];
		v[at] = v[i];
		v[i] = most;
	}
}

unsigned int report_job_differ(const struct report_job *job, struct job_differ ret[JOB_DIFFER_MAX])
{
	autofree struct job_differ *v = calloc(job->n, sizeof(*v));
	autofree double *sorted = calloc(job->n, sizeof(*sorted));

	if (job->n < JOB_DIFFER_FROM || !v || !sorted)
		return 0;
	for (unsigned int m = 0; m < ARRAY_SIZE(measures); m++)
		compare(job, m, sorted, v);
	pick(v, job->n, JOB_DIFFER_MAX);
	for (unsigned int i = 0; i < JOB_DIFFER_MAX; i++)
		ret[i] = v[i];
	return JOB_DIFFER_MAX;
}

static void put(const struct measure *m, double value, FILE *out)
{
	if (m->kind == SHARE)
		fprintf(out, "%.1f %%", 100 * value);
	else
		fputs(m->kind == NS ? FMT_NS((uint64_t)value) : FMT_BYTES((uint64_t)value), out);
}

void job_differ_text(const struct report_job *job, const struct job_differ *d, FILE *out)
{
	const struct measure *m = &measures[d->measure];

	fmt_plain(out, job->host[d->host].name, 0);
	fputs(": ", out);
	put(m, d->value, out);
	fprintf(out, " %s; the hosts' median: ", m->what);
	put(m, d->median, out);
	fputc('\n', out);
}
