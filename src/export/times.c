/* SPDX-License-Identifier: BSD-2-Clause */
/* See times.h. Phases are taken from the first host that has them, and converted to the clocks of the other hosts. */
#include "export/times.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "export/phases.h"
#include "report/hosts/hosts.h"
#include "trace/probe.h"

/* --- phases -------------------------------------------------------------------------------------------------- */

struct named {
	const char *name;
	struct time_span *v;
	unsigned int n;
	char there[512]; /* the names that the trace has, for a message */
	size_t len;
};

static void note_name(struct named *of, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = of->there; (at = strstr(at, name)); at += len)
		if ((at == of->there || at[-1] == ' ') && (!at[len] || at[len] == ','))
			return;
	if (of->len + len + 3 < sizeof(of->there))
		of->len += (size_t)sprintf(of->there + of->len, "%s%s", of->len ? ", " : "", name);
}

/* Adds the phases of a folder that have the name, as times since ZERO_NS. Returns 0 or -ENOMEM. */
static int add_phases(struct named *of, const struct phases *phases, uint64_t zero_ns)
{
	for (enum phase_kind kind = 0; kind < PHASE_KINDS; kind++)
		for (uint32_t i = 0; i < phases_count(phases, kind); i++) {
			const struct phase *phase = phases_get(phases, kind, i);

			note_name(of, phases->names[phase->name].name);
			if (!phases_is_called(phases, phase, of->name) || phase->end_ns < phase->begin_ns ||
			    phase->end_ns < zero_ns)
				continue;
			struct time_span *v = realloc(of->v, (of->n + 1) * sizeof(*v));

			if (!v)
				return -ENOMEM;
			of->v = v;
			of->v[of->n++] = (struct time_span){ phase->begin_ns - MIN(phase->begin_ns, zero_ns),
							     phase->end_ns - zero_ns };
		}
	return 0;
}

static int find_phases(struct named *of, const struct report_job *job)
{
	int res = 0;

	for (unsigned int i = 0; i < job->n && res == 0 && !of->n; i++) {
		autoclose int dirfd = open(job->host[i].dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		struct phases *phases;

		if (dirfd < 0)
			return log_err_r(-errno, "%s: cannot be read", job->host[i].dir);
		res = export_phases(&phases, dirfd);
		if (res == 0) {
			const uint64_t begin_ns = report_job_begin_ns(job, i);

			res = add_phases(of, phases, begin_ns);
			phases_free(phases);
		}
	}
	if (res < 0 || of->n)
		return res;
	if (of->len)
		log_err("--phase: there is no phase '%s'; there are: %s", of->name, of->there);
	else
		log_err("--phase: the trace shows no phases of the job");
	return -ENODATA;
}

/* --- intervals ----------------------------------------------------------------------------------------------- */

static int by_begin(const void *a, const void *b)
{
	const struct time_span *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

unsigned int times_join(struct time_span *span, unsigned int n)
{
	unsigned int kept = 0;

	if (n)
		qsort(span, n, sizeof(*span), by_begin);
	for (unsigned int i = 0; i < n; i++) {
		if (span[i].begin_ns >= span[i].end_ns)
			continue;
		if (kept && span[i].begin_ns <= span[kept - 1].end_ns)
			span[kept - 1].end_ns = MAX(span[kept - 1].end_ns, span[i].end_ns);
		else
			span[kept++] = span[i];
	}
	return kept;
}

static uint64_t later(uint64_t ns, uint64_t by_ns)
{
	return by_ns > UINT64_MAX - ns ? UINT64_MAX : ns + by_ns;
}

static int make_hosts(struct export_times *times, const struct report_job *job, const struct named *of)
{
	times->host = calloc(job->n, sizeof(*times->host));
	if (!times->host)
		return -ENOMEM;
	times->n_hosts = job->n;
	for (unsigned int i = 0; i < job->n; i++) {
		struct host_times *host = &times->host[i];
		const uint64_t zero_ns = report_job_begin_ns(job, i);

		host->v = calloc(of->n + 1, sizeof(*host->v));
		if (!host->v)
			return -ENOMEM;
		for (host->n = 0; host->n < of->n; host->n++)
			host->v[host->n] = (struct time_span){ later(zero_ns, of->v[host->n].begin_ns),
							       later(zero_ns, of->v[host->n].end_ns) };
	}
	return 0;
}

/* Whether a host's trace has any time of T. A trace without a known end may have any. */
static bool is_any(const struct export_times *t, const struct report_job *job)
{
	bool any = false;

	for (unsigned int i = 0; i < job->n; i++)
		any |= times_overlap(t, i, job->host[i].begin_ns,
				     job->host[i].end_ns ? job->host[i].end_ns - 1 : UINT64_MAX);
	return any;
}

static int make(struct export_times *times, const struct times_options *options, const struct report_job *job)
{
	struct named of = { .name = options->phase };
	const uint64_t from_ns = moment_since(&options->from, job->begin_utc_ns);
	const uint64_t to_ns = options->to.given ? moment_since(&options->to, job->begin_utc_ns) : UINT64_MAX;
	int res = 0;

	if (to_ns <= from_ns) {
		log_err("--to: not later than --from, or than the start of the trace");
		return -EINVAL;
	}
	if (options->phase) {
		res = find_phases(&of, job);
	} else {
		of.v = malloc(sizeof(*of.v));
		res = of.v ? 0 : -ENOMEM;
		of.n = 1;
		if (res == 0)
			of.v[0] = (struct time_span){ from_ns, to_ns };
	}
	if (res == 0) {
		for (unsigned int i = 0; i < of.n; i++) {
			of.v[i].begin_ns = MAX(of.v[i].begin_ns, from_ns);
			of.v[i].end_ns = MIN(of.v[i].end_ns, to_ns);
		}
		of.n = times_join(of.v, of.n);
		res = make_hosts(times, job, &of);
	}
	free(of.v);
	return res;
}

int times_init(struct export_times *times, const struct times_options *options, char *const *dirs, unsigned int n)
{
	struct report_job job;
	unsigned int bad;
	int res;

	*times = (struct export_times){ 0 };
	if (!options->from.given && !options->to.given && !options->phase)
		return 0;
	res = report_job_open(&job, dirs, n, &bad);
	if (res < 0)
		return log_err_r(res,
				 "%s: its time_align.out does not say when it began, as --from, --to and --phase need",
				 dirs[MIN(bad, n - 1)]);
	res = make(times, options, &job);
	if (res == 0 && !is_any(times, &job)) {
		times_log_none(dirs, n);
		res = -ERANGE;
	}
	report_job_free(&job);
	if (res < 0)
		times_free(times);
	return res;
}

void times_log_none(char *const *dirs, unsigned int n)
{
	log_err("%s%s: the trace has no time from --from to --to, or in that --phase", dirs[0],
		n > 1 ? " and the others" : "");
}

void times_free(struct export_times *t)
{
	for (unsigned int i = 0; i < t->n_hosts; i++)
		free(t->host[i].v);
	free(t->host);
	*t = (struct export_times){ 0 };
}

bool times_cut(const struct export_times *t, const char *name)
{
	const struct probe *p = probes[probe_find(name)];

	return t->host && !(p && p->flags & PROBE_WHOLE);
}

bool times_have(const struct export_times *t, unsigned int i, uint64_t ns)
{
	return times_overlap(t, i, ns, ns);
}

bool times_overlap(const struct export_times *t, unsigned int i, uint64_t begin_ns, uint64_t end_ns)
{
	if (!t->host)
		return true;
	const struct host_times *host = &t->host[i];
	unsigned int low = 0, high = host->n;

	/* finds the first interval that ends after BEGIN_NS */
	while (low < high) {
		const unsigned int middle = (low + high) / 2;

		if (host->v[middle].end_ns > begin_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low < host->n && host->v[low].begin_ns <= end_ns;
}
