/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a summary, by its tables. */
#include "report/hosts/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"
#include "report/hosts/summary_tables.h"
#include "report/timeline.h"
#include "report/why/why.h"

static const void *at(const void *base, size_t offset)
{
	return (const char *)base + offset;
}

/* Its buckets are pairs of a number and a count in one row, without empty ones. */
static void put_hist(struct json *j, const char *key, const struct hist *h)
{
	json_object(j, key);
	json_u64(j, "n", h->n);
	json_u64(j, "sum", h->sum);
	json_u64(j, "min", hist_min(h));
	json_u64(j, "max", h->max);
	json_row(j, "buckets");
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		if (h->counts[i]) {
			json_u64(j, NULL, i);
			json_u64(j, NULL, h->counts[i]);
		}
	json_end(j);
	json_end(j);
}

static void put_member(struct json *j, const struct member *m, const void *base)
{
	const void *v = at(base, m->at);
	char text[40];

	switch (m->kind) {
	case MEMBER_FLAG: json_bool(j, m->key, *(const bool *)v); break;
	case MEMBER_COUNT: json_u64(j, m->key, *(const uint64_t *)v); break;
	case MEMBER_SIGNED: json_s64(j, m->key, *(const int64_t *)v); break;
	case MEMBER_STATUS: json_s64(j, m->key, *(const int *)v); break;
	case MEMBER_TEXT: json_str(j, m->key, v); break;
	case MEMBER_OWNED: json_str(j, m->key, *(const char *const *)v); break;
	case MEMBER_CODE: json_str(j, m->key, missing_codes[*(const enum missing_kind *)v]); break;
	case MEMBER_OF: json_str(j, m->key, *(const char *const *)v); break;
	case MEMBER_HIST:
		if (((const struct hist *)v)->n)
			put_hist(j, m->key, v);
		break;
	case MEMBER_DOUBLE: /* json_f64() has six digits, which would change sums */
		snprintf(text, sizeof(text), "%.17g", *(const double *)v);
		json_str(j, m->key, isnan(*(const double *)v) ? NULL : text);
	}
}

static void put_members(struct json *j, const struct member *m, const void *base)
{
	for (; m->key; m++)
		put_member(j, m, base);
}

static bool is_zero(const char *p, size_t len)
{
	return !len || (!p[0] && !memcmp(p, p + 1, len - 1));
}

static void put_list(struct json *j, const struct member_list *l, const void *base)
{
	const unsigned int n = l->count ? *(const unsigned int *)at(base, l->count) : l->n;

	json_array(j, l->key);
	for (unsigned int i = 0; i < MIN(n, l->n); i++) {
		const void *v = at(base, l->at + i * l->stride);

		if (!l->count && is_zero(v, l->stride))
			continue;
		json_object(j, NULL);
		if (!l->count && l->names)
			json_str(j, "name", l->names[i]);
		else if (!l->count)
			json_u64(j, "number", i);
		put_members(j, l->members, v);
		json_end(j);
	}
	json_end(j);
}

static void add_finding(struct summary *s, const struct finding *f, bool is_answer)
{
	struct summary_finding *to = &s->finding[s->n_findings++];

	snprintf(to->code, sizeof(to->code), "%s", f->rule->code);
	snprintf(to->title, sizeof(to->title), "%s", f->rule->title);
	to->share = f->share;
	to->is_answer = is_answer;
}

static void take_findings(struct summary *s, const struct why *w)
{
	if (!w || !w->rules)
		return;
	s->window_ns = w->window_ns;
	if (w->rules->bottleneck.rule)
		add_finding(s, &w->rules->bottleneck, true);
	for (unsigned int i = 0; i < w->rules->n; i++)
		add_finding(s, &w->rules->found[i], false);
}

void summary_put(const struct job_host *host, struct json *j)
{
	struct summary s = {
		.version = SUMMARY_VERSION, .utc_ns = host->utc_ns, .begin_ns = host->begin_ns, .error_ns = host->error_ns,
		.synchronised = host->synchronised, .end_ns = host->report->timeline->end_ns,
	};

	take_findings(&s, host->report->why);
	json_object(j, NULL);
	put_members(j, summary_members, &s);
	put_members(j, summary_report_members, host->report);
	for (const struct member_list *l = summary_lists; l->key; l++)
		put_list(j, l, &s);
	for (const struct member_list *l = summary_report_lists; l->key; l++)
		put_list(j, l, host->report);
	json_end(j);
}
