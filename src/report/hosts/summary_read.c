/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a summary, by its tables; trusts no byte of it. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_read.h"
#include "base/util.h"
#include "report/hosts/summary.h"
#include "report/hosts/summary_tables.h"
#include "report/why/why.h"

struct take {
	struct summary summary;
	struct report *report;
	const struct member_list *list; /* the array that is being read; NULL: none is known */
	void *base; /* what the array is a part of */
	void *element; /* of it; NULL: not known */
	struct hist *hist; /* that is being read */
	uint64_t bucket; /* the number of its current one; or UINT64_MAX: a number comes next */
	int error;
};

static void *at(void *base, size_t offset)
{
	return (char *)base + offset;
}

/* --- values ------------------------------------------------------------------------------------------------------ */

/* Whether the LEN bytes of TEXT are IS. */
static bool is(const char *text, size_t len, const char *is)
{
	return strlen(is) == len && !memcmp(text, is, len);
}

/* Returns a word as a number; of another word, 0. */
static uint64_t number(const char *text, size_t len)
{
	char word[24];

	if (len >= sizeof(word))
		return 0;
	memcpy(word, text, len);
	word[len] = '\0';
	return word[0] == '-' ? (uint64_t)strtoll(word, NULL, 10) : strtoull(word, NULL, 10);
}

static void take_owned(struct take *t, char **to, enum json_event event, const char *text, size_t len)
{
	if (event != JSON_STRING)
		return;
	free(*to);
	*to = json_read_whole(text, len);
	if (!*to)
		t->error = -ENOMEM;
}

/* Returns the number of the text among NAMES, which end with NULL or after N; N or more: it is none of them. */
static unsigned int find(const char *const *names, unsigned int n, const char *text, size_t len)
{
	unsigned int i = 0;

	while (i < n && names[i] && !is(text, len, names[i]))
		i++;
	return i < n && names[i] ? i : n;
}

static void take_double(double *to, enum json_event event, const char *text, size_t len)
{
	char word[40];

	*to = (double)NAN;
	if (event != JSON_STRING || len >= sizeof(word))
		return;
	memcpy(word, text, len);
	word[len] = '\0';
	*to = strtod(word, NULL);
}

/* Sets a member of the summary's own kinds. */
static void take_own(struct take *take, const struct json_member *member, void *to, enum json_event event,
		     const char *text, size_t len)
{
	unsigned int i;

	switch (member->kind) {
	case MEMBER_OWNED:
		take_owned(take, to, event, text, len);
		break;
	case MEMBER_DOUBLE:
		take_double(to, event, text, len);
		break;
	case MEMBER_CODE:
		i = find(missing_codes, MISSING_KINDS, text, len);
		*(enum missing_kind *)to = i < MISSING_KINDS ? i : MISSING_NO_END;
		break;
	case MEMBER_OF:
		i = find(summary_ofs, UINT32_MAX, text, len);
		*(const char **)to = i < UINT32_MAX ? summary_ofs[i] : NULL;
		break;
	default: /* set, or a histogram, which has members of its own */
		break;
	}
}

static void take_member(struct take *take, const struct json_member *members, void *base, const char *path,
			enum json_event event, const char *text, size_t len)
{
	const struct json_member *member = json_bind(members, base, path, event, text, len);

	if (member && event != JSON_OPEN)
		take_own(take, member, at(base, member->at), event, text, len);
}

/* --- histograms -------------------------------------------------------------------------------------------------- */

static void take_hist(struct take *take, const char *member, const char *text, size_t len)
{
	struct hist *hist = take->hist;
	const uint64_t v = number(text, len);

	if (!strcmp(member, "n"))
		hist->n = v;
	else if (!strcmp(member, "sum"))
		hist->sum = v;
	else if (!strcmp(member, "min"))
		hist->not_min = ~v;
	else if (!strcmp(member, "max"))
		hist->max = v;
	else if (strcmp(member, "buckets[]"))
		return;
	else if (take->bucket == UINT64_MAX)
		take->bucket = v;
	else {
		if (take->bucket >= HIST_BUCKETS)
			take->error = -EBADMSG;
		else
			hist->counts[take->bucket] = v;
		take->bucket = UINT64_MAX;
	}
}

/* --- arrays ------------------------------------------------------------------------------------------------------ */

/* Begins an element of the list. One of a fixed array is known only by its first member. */
static void begin_element(struct take *t)
{
	const struct member_list *l = t->list;
	unsigned int *n = l->count ? at(t->base, l->count) : NULL;

	t->element = n && *n < l->n ? at(t->base, l->at + (*n)++ * l->stride) : NULL;
}

static void identify(struct take *take, const char *member, const char *text, size_t len)
{
	const struct member_list *l = take->list;
	unsigned int i = l->n;

	if (l->names && !strcmp(member, "name"))
		i = find(l->names, l->n, text, len);
	else if (!l->names && !strcmp(member, "number"))
		i = (unsigned int)MIN(number(text, len), (uint64_t)l->n);
	if (i < l->n)
		take->element = at(take->base, l->at + i * l->stride);
}

static void take_element(struct take *take, const char *member, enum json_event event, const char *text, size_t len)
{
	if (!take->list->count && !take->element) {
		identify(take, member, text, len);
		return;
	}
	if (!take->element)
		return;
	take_member(take, take->list->members, take->element, member, event, text, len);
	for (const struct json_member *m = take->list->members; m->path; m++) {
		const size_t n = strlen(m->path);

		if (m->kind != MEMBER_HIST || strncmp(member, m->path, n))
			continue;
		if (!member[n] && event == JSON_OPEN) {
			take->hist = at(take->element, m->at);
			take->bucket = UINT64_MAX;
		} else if (member[n] == '.' && event == JSON_WORD) {
			take_hist(take, member + n + 1, text, len);
		}
	}
}

/* Whether the LEN bytes of PATH name one of LISTS, which are in BASE; it is the current one then. */
static bool take_list(struct take *t, const struct member_list *lists, void *base, const char *path, size_t len)
{
	for (t->list = lists; t->list->key; t->list++)
		if (is(path, len, t->list->key)) {
			t->base = base;
			return true;
		}
	t->list = NULL;
	return false;
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static void take_event(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	struct take *take = ctx;
	const char *brackets = strstr(path, "[]");
	const size_t name = brackets ? (size_t)(brackets - path) : 0;

	if (!brackets) {
		if (event == JSON_OPEN)
			return;
		take_member(take, summary_members, &take->summary, path, event, text, len);
		take_member(take, summary_report_members, take->report, path, event, text, len);
		return;
	}
	if (!brackets[2] && event == JSON_OPEN) {
		if (take_list(take, summary_lists, &take->summary, path, name) ||
		    take_list(take, summary_report_lists, take->report, path, name))
			begin_element(take);
	} else if (take->list && brackets[2] == '.') {
		take_element(take, brackets + 3, event, text, len);
	}
}

/* Takes RULE into *FOUND if it has F's code; returns whether it has the title, too. */
static bool is_rule(const struct rule *rule, const struct summary_finding *f, const struct rule **found)
{
	if (strcmp(rule->code, f->code))
		return false;
	*found = rule;
	return !strcmp(rule->title, f->title);
}

static const struct rule *rule_of(const struct summary_finding *finding)
{
	const struct rule *found = NULL;

	for (const struct rule *const *table = rules_tables; *table; table++)
		for (const struct rule *rule = *table; rule->code; rule++)
			if (is_rule(rule, finding, &found))
				return rule;
	for (const struct rule *const *answer = rules_answers; *answer; answer++)
		if (is_rule(*answer, finding, &found))
			return *answer;
	for (const struct rule *const *answer = rules_of_path; *answer; answer++)
		if (is_rule(*answer, finding, &found))
			break;
	return found;
}

/* Makes the findings. One of a rule that this version does not know is left out, with a note. */
static int make_why(struct report *report, const struct summary *summary)
{
	struct why *why = calloc(1, sizeof(*why));
	struct rules *rules = calloc(1, sizeof(*rules));

	if (!why || !rules) {
		free(why);
		free(rules);
		return -ENOMEM;
	}
	report->why = why;
	why->window_ns = summary->window_ns;
	why->rules = rules;
	for (unsigned int i = 0; i < summary->n_findings; i++) {
		const struct rule *rule = rule_of(&summary->finding[i]);
		const struct finding f = { .rule = rule,
					   .share = summary->finding[i].share,
					   .measure = summary->finding[i].share };

		if (!rule)
			report_note(report, "findings: this version does not know the rule %s",
				    summary->finding[i].code);
		else if (summary->finding[i].is_answer)
			rules->bottleneck = f;
		else if (rules->n < RULES_MAX)
			rules->found[rules->n++] = f;
	}
	if (rules->bottleneck.rule)
		return 0;
	rules_free(TAKE_PTR(why->rules));
	return 0;
}

#define NS_MAX (1ULL << 62) /* sums of two are in range; of UTC it is the year 2116 */

/* Takes what the members say together. */
static int finish(struct job_host *host, struct take *take)
{
	const struct summary *summary = &take->summary;
	struct report *report = take->report;

	if (summary->version != SUMMARY_VERSION)
		return summary->version > SUMMARY_VERSION ? -EPROTONOSUPPORT : -EBADMSG;
	if (!report->dir || summary->begin_ns > NS_MAX || summary->end_ns > NS_MAX ||
	    summary->utc_ns > (int64_t)NS_MAX || summary->utc_ns < -(int64_t)NS_MAX)
		return -EBADMSG;
	for (unsigned int i = 0; i < report->missing.n; i++)
		if (!report->missing.reason[i].text)
			return -EBADMSG;
	for (unsigned int i = 0; i < report->n_notes; i++)
		if (!report->notes[i])
			return -EBADMSG;
	host->dir = report->dir;
	host->utc_ns = summary->utc_ns;
	host->begin_ns = summary->begin_ns;
	host->end_ns = MAX(summary->end_ns, summary->begin_ns);
	host->error_ns = summary->error_ns;
	host->synchronised = summary->synchronised;
	return summary->n_findings ? make_why(report, summary) : 0;
}

int summary_take(struct job_host *host, const char *text, size_t len)
{
	struct take *take = calloc(1, sizeof(*take));
	int res;

	host->report = calloc(1, sizeof(*host->report));
	if (!take || !host->report) {
		free(take);
		return -ENOMEM;
	}
	take->report = host->report;
	res = json_read(text, len, take_event, take);
	if (res == 0)
		res = take->error;
	if (res == 0)
		res = finish(host, take);
	free(take);
	return res;
}

/* --- a job -------------------------------------------------------------------------------------------------------- */

#define SUMMARY_BYTES_MAX (16U << 20)

static int read_summary(struct job_host *host)
{
	autoclose int fd = util_open_regular(AT_FDCWD, host->dir, 0);
	autofree char *text = NULL;
	size_t len;
	int res = fd < 0 ? fd : util_read_fd(fd, SUMMARY_BYTES_MAX, &text, &len);

	return res < 0 ? res : summary_take(host, text, len);
}

int summary_open_job(struct report_job *ret, char *const *files, unsigned int n, unsigned int *bad)
{
	int res = report_job_open_by(ret, files, n, bad, read_summary);

	if (res == 0)
		ret->by_summaries = true;
	return res;
}
