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
static void put_hist(struct json *json, const char *key, const struct hist *hist)
{
	json_object(json, key);
	json_u64(json, "n", hist->n);
	json_u64(json, "sum", hist->sum);
	json_u64(json, "min", hist_min(hist));
	json_u64(json, "max", hist->max);
	json_row(json, "buckets");
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		if (hist->counts[i]) {
			json_u64(json, NULL, i);
			json_u64(json, NULL, hist->counts[i]);
		}
	json_end(json);
	json_end(json);
}

static void put_member(struct json *json, const struct json_member *member, const void *base)
{
	const void *v = at(base, member->at);
	char text[40];

	switch (member->kind) {
	case JSON_BOOL:
		json_bool(json, member->path, *(const bool *)v);
		break;
	case JSON_U64:
		json_u64(json, member->path, *(const uint64_t *)v);
		break;
	case JSON_S64:
		json_s64(json, member->path, *(const int64_t *)v);
		break;
	case JSON_INT:
		json_s64(json, member->path, *(const int *)v);
		break;
	case JSON_TEXT:
		json_str(json, member->path, v);
		break;
	case MEMBER_OWNED:
		json_str(json, member->path, *(const char *const *)v);
		break;
	case MEMBER_CODE:
		json_str(json, member->path, missing_codes[*(const enum missing_kind *)v]);
		break;
	case MEMBER_OF:
		json_str(json, member->path, *(const char *const *)v);
		break;
	case MEMBER_HIST:
		if (((const struct hist *)v)->n)
			put_hist(json, member->path, v);
		break;
	case MEMBER_DOUBLE: /* json_f64() has six digits, which would change sums */
		snprintf(text, sizeof(text), "%.17g", *(const double *)v);
		json_str(json, member->path, isnan(*(const double *)v) ? NULL : text);
	}
}

static void put_members(struct json *j, const struct json_member *m, const void *base)
{
	for (; m->path; m++)
		put_member(j, m, base);
}

static bool is_zero(const char *p, size_t len)
{
	return !len || (!p[0] && !memcmp(p, p + 1, len - 1));
}

static void put_list(struct json *json, const struct member_list *list, const void *base)
{
	const unsigned int n = list->count ? *(const unsigned int *)at(base, list->count) : list->n;

	json_array(json, list->key);
	for (unsigned int i = 0; i < MIN(n, list->n); i++) {
		const void *v = at(base, list->at + i * list->stride);

		if (!list->count && is_zero(v, list->stride))
			continue;
		json_object(json, NULL);
		if (!list->count && list->names)
			json_str(json, "name", list->names[i]);
		else if (!list->count)
			json_u64(json, "number", i);
		put_members(json, list->members, v);
		json_end(json);
	}
	json_end(json);
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

void summary_put(const struct job_host *host, struct json *json)
{
	struct summary s = {
		.version = SUMMARY_VERSION,
		.utc_ns = host->utc_ns,
		.begin_ns = host->begin_ns,
		.error_ns = host->error_ns,
		.synchronised = host->synchronised,
		.end_ns = host->report->timeline->end_ns,
	};

	take_findings(&s, host->report->why);
	json_object(json, NULL);
	put_members(json, summary_members, &s);
	put_members(json, summary_report_members, host->report);
	for (const struct member_list *l = summary_lists; l->key; l++)
		put_list(json, l, &s);
	for (const struct member_list *l = summary_report_lists; l->key; l++)
		put_list(json, l, host->report);
	json_end(json);
}
