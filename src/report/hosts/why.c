/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bottleneck of a job on several hosts, from the findings of each. Hosts train in step: if one waits, the others
 * wait for it, in calls that look like work. So a wait on any host counts more than the finding that other hosts did
 * not wait.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "report/hosts/hosts.h"
#include "report/rules/rules.h"
#include "report/why/why.h"

#define HOSTS_SHOWN 8

static const struct why *why_of(const struct report_job *job, unsigned int i)
{
	const struct why *w = job->host[i].report->why;

	return w && w->rules ? w : NULL;
}

/* Returns the part of the host's time that its finding CODE covers; 0: it has no such finding. */
static double share_of(const struct why *w, const char *code)
{
	const struct rules *rules = w->rules;
	const struct finding *f = strcmp(rules->bottleneck.rule->code, code) == 0 ? &rules->bottleneck : NULL;

	for (unsigned int i = 0; !f && i < rules->n; i++)
		if (strcmp(rules->found[i].rule->code, code) == 0)
			f = &rules->found[i];
	return f && !isnan(f->share) ? f->share : 0;
}

/* Returns the mean share of all hosts, weighted by their windows. NAN: none has a window. */
static double mean_share(const struct report_job *job, const char *code)
{
	double sum = 0, all = 0;

	for (unsigned int i = 0; i < job->n; i++) {
		const struct why *w = why_of(job, i);

		if (!w || !(w->window_ns > 0))
			continue;
		sum += share_of(w, code) * w->window_ns;
		all += w->window_ns;
	}
	return all > 0 ? sum / all : (double)NAN;
}

/* Ranks causes of waits first, then training, then unknown causes and jobs that failed. */
static unsigned int rank_of(const struct rule *rule)
{
	if (strcmp(rule->code, rule_unknown.code) == 0 || !rule->is_share)
		return 0;
	return strcmp(rule->code, rule_trainer_bound.code) == 0 ? 1 : 2;
}

bool report_job_is_wait(const struct rule *rule)
{
	return rank_of(rule) == 2;
}

/* Returns the rule that is the answer for all hosts; NULL: nothing is known of any host. */
static const struct rule *choose(const struct report_job *job)
{
	const struct rule *best = NULL;

	for (unsigned int i = 0; i < job->n; i++) {
		const struct why *w = why_of(job, i);
		const struct rule *rule = w ? w->rules->bottleneck.rule : NULL;

		if (!rule)
			continue;
		if (!best || rank_of(rule) > rank_of(best) ||
		    (rank_of(rule) == rank_of(best) && mean_share(job, rule->code) > mean_share(job, best->code)))
			best = rule;
	}
	return best;
}

/* Shows the hosts whose answer is CODE, or the others, with their findings. */
static void show_hosts(const struct report_job *job, const char *code, bool others, struct finding *finding)
{
	unsigned int n = 0;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (unsigned int i = 0; out && i < job->n; i++) {
		const struct why *w = why_of(job, i);
		const struct finding *b = w ? &w->rules->bottleneck : NULL;

		if (!b || (strcmp(b->rule->code, code) != 0) != others || n++ >= HOSTS_SHOWN)
			continue;
		fprintf(out, "%s%s", n > 1 ? ", " : "", job->host[i].name);
		if (others)
			fprintf(out, " %s", b->rule->code);
		if (!isnan(b->share))
			fprintf(out, " %.1f %%", 100 * b->share);
	}
	if (!out)
		return;
	if (n > HOSTS_SHOWN)
		fprintf(out, ", and %u more", n - HOSTS_SHOWN);
	fclose(out);
	if (n)
		finding_add(finding, others ? "other answers on %u of %s: %s" : "found on %u of %s: %s", n,
			    FMT_N(job->n, "host", "hosts"), text);
	free(text);
}

bool report_job_why(const struct report_job *job, struct finding *ret)
{
	const struct rule *rule = choose(job);

	*ret = (struct finding){ .rule = rule };
	if (!rule)
		return false;
	ret->share = ret->measure = rule->is_share ? mean_share(job, rule->code) : (double)NAN;
	if (rule->is_share && job->total && job->total->missing.caveat)
		ret->caveat = strdup(job->total->missing.caveat);
	show_hosts(job, rule->code, false, ret);
	show_hosts(job, rule->code, true, ret);
	return true;
}
