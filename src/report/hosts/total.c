/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of all hosts of a job. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "report/hosts/hosts.h"
#include "report/report.h"
#include "report/rows.h"
#include "report/scan/scan.h"

static struct manifest_probe *probe_of(struct manifest_facts *m, const char *name)
{
	for (unsigned int i = 0; i < m->n_probes; i++)
		if (strcmp(m->probes[i].name, name) == 0)
			return &m->probes[i];
	if (m->n_probes == MANIFEST_PROBES_MAX)
		return NULL;
	snprintf(m->probes[m->n_probes].name, sizeof(m->probes[0].name), "%s", name);
	return &m->probes[m->n_probes++];
}

/* A probe whose losses one manifest does not count is left out: then `lost' is not known. */
static void add_manifest(struct manifest_facts *sum, const struct manifest_facts *facts)
{
	for (unsigned int i = 0; i < facts->n_probes; i++) {
		struct manifest_probe *p = probe_of(sum, facts->probes[i].name);

		if (!p)
			continue;
		p->lost += facts->probes[i].lost;
		p->rows += facts->probes[i].rows;
		p->dropped += facts->probes[i].dropped;
	}
	sum->self_user_us += facts->self_user_us;
	sum->self_system_us += facts->self_system_us;
	sum->complete &= facts->complete;
}

static void add_sums(struct report *sum, const struct report *r)
{
	for (unsigned int i = 0; i < r->n_sums; i++) {
		const struct report_sum *s = &r->sums[i];

		report_sum_add(report_sum_of(sum, (struct reader_field){ s->name, strlen(s->name) }), s);
	}
}

/* Adds FROM to TO: structs that have only uint64_t members. */
static void add_all(void *to, const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		((uint64_t *)to)[i] += ((const uint64_t *)from)[i];
}

static void add_rest(struct report *sum, const struct report *report)
{
	add_all(sum->by_type, report->by_type, sizeof(sum->by_type));
	add_all(sum->source, report->source, sizeof(sum->source));
	add_all(sum->read_size, report->read_size, sizeof(sum->read_size));
	sum->map_calls += report->map_calls;
	sum->map_bytes += report->map_bytes;
	sum->trace_bytes += report->trace_bytes;
	sum->clock_steps += report->clock_steps;
	sum->n_procs += report->n_procs;
	sum->only.rows += report->only.rows;
	sum->only.left_out += report->only.left_out;
}

/* Sums of peaks are of no moment. */
static void add_alloc(struct report_alloc *sum, const struct report_alloc *a)
{
	sum->present |= a->present;
	add_all(&sum->n, &a->n, sizeof(sum->n));
	sum->min_bytes = MAX(sum->min_bytes, a->min_bytes);
}

static void add(struct report *sum, const struct report *report)
{
	for (unsigned int i = 0; i < REPORT_KINDS; i++) {
		sum->present[i] |= report->present[i];
		report_op_add(&sum->op[i], &report->op[i]);
	}
	for (unsigned int i = 0; i < 2; i++) {
		report_op_add(&sum->rw[i], &report->rw[i]);
		report_op_add(&sum->bio[i], &report->bio[i]);
	}
	add_manifest(&sum->manifest, &report->manifest);
	add_sums(sum, report);
	add_rest(sum, report);
	add_alloc(&sum->alloc, &report->alloc);
}

/* Appends TEXT to BUF after a comma; cut where it does not fit. */
static void list(char *buf, size_t size, const char *text)
{
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%s%s", len ? ", " : "", text);
}

/* Keeps in COMMON what all hosts share. */
static void keep_common(char *common, size_t size, const char *text, bool first)
{
	if (first)
		snprintf(common, size, "%s", text);
	else if (strcmp(common, text) != 0)
		common[0] = '\0';
}

static void describe(struct report *sum, const struct report_job *job)
{
	struct manifest_facts *facts = &sum->manifest;
	struct text_utc_cache cache = { 0 };
	uint64_t span_ns = 0;

	facts->complete = true;
	/* the first host's: others mostly differ in the rank, and each host's report has its own */
	snprintf(facts->argv, sizeof(facts->argv), "%s", report_command(job->host[0].report));
	for (unsigned int i = 0; i < job->n; i++) {
		const struct report *report = job->host[i].report;

		list(facts->host, sizeof(facts->host), job->host[i].name);
		keep_common(facts->version, sizeof(facts->version), report->manifest.version, i == 0);
		keep_common(facts->kernel, sizeof(facts->kernel), report->manifest.kernel, i == 0);
		keep_common(facts->user, sizeof(facts->user), report->manifest.user, i == 0);
		span_ns = MAX(span_ns, job->host[i].end_ns - report_job_begin_ns(job, i));
		if (report->manifest.has_status && (!facts->has_status || facts->status == 0)) {
			facts->has_status = true;
			facts->status = report->manifest.status;
		}
	}
	*text_put_utc(facts->start_utc, job->begin_utc_ns, &cache) = '\0';
	facts->start_ns = 1;
	facts->end_ns = 1 + span_ns;
}

static void note(struct report *sum, const struct report_job *job)
{
	for (unsigned int i = 0; i < job->n && !job->between_known; i++)
		if (!job->host[i].synchronised)
			report_note(sum,
				    "%s: its clock was not synchronized, or this is not known: its difference from the "
				    "others is unknown",
				    job->host[i].name);
	for (unsigned int i = 0; i < job->n; i++)
		for (unsigned int k = 0; k < job->host[i].report->n_notes; k++)
			report_note(sum, "%s: %s", job->host[i].name, job->host[i].report->notes[k]);
}

/* Adds all hosts' reasons, each under its host's name. */
static void add_missing(struct report_missing *sum, const struct report_missing *m, const char *host)
{
	sum->calls += m->calls;
	sum->calls_missing += m->calls_missing;
	for (unsigned int i = 0; i < m->n; i++) {
		struct missing_reason reason = m->reason[i];

		reason.brief = reason.brief ? util_fmt("%s: %s", host, reason.brief) : NULL;
		missing_add(sum, reason, "%s: %s", host, m->reason[i].text);
	}
}

struct report *report_job_total(const struct report_job *job, unsigned int *n_doubts)
{
	struct report *sum = calloc(1, sizeof(*sum));
	char dirs[4096] = "";

	if (!sum)
		return NULL;
	describe(sum, job);
	for (unsigned int i = 0; i < job->n; i++) {
		list(dirs, sizeof(dirs), job->host[i].dir);
		add(sum, job->host[i].report);
		add_missing(&sum->missing, &job->host[i].report->missing, job->host[i].name);
	}
	missing_end(&sum->missing);
	if (job->host[0].report->only.path)
		sum->only.path = strdup(job->host[0].report->only.path);
	sum->clock_error_ns = job->read_error_ns;
	report_job_doubts(job, sum);
	*n_doubts = sum->n_notes;
	note(sum, job);
	sum->dir = strdup(dirs);
	if (!sum->dir) {
		report_free(sum);
		return NULL;
	}
	return sum;
}
