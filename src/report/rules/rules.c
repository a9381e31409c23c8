/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/rules/rules.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/disk/cache.h"
#include "report/disk/causes.h"
#include "report/disk/faults.h"
#include "report/phases/phases.h"
#include "report/rules/rules_impl.h"

const struct rule *const rules_tables[] = {
	rules_of_access, rules_of_calls,   rules_of_disks,  rules_of_sharing,
	rules_of_steps,  rules_of_workers, rules_of_limits, NULL,
};

void finding_add(struct finding *finding, const char *fmt, ...)
{
	va_list ap;
	char *line;
	int len;

	if (finding->n == RULES_EVIDENCE_MAX)
		return;
	va_start(ap, fmt);
	len = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (len >= 0)
		finding->evidence[finding->n++] = line;
}

double rules_seconds(const struct report *r, uint64_t at_ns)
{
	uint64_t begin_ns = r->manifest.start_ns ? r->manifest.start_ns : r->first_ns;

	return ((double)at_ns - (double)begin_ns) / NSEC_PER_SEC;
}

double rules_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* --- needs of rules --------------------------------------------------------------------------- */

static bool has_rw(const struct report *r)
{
	return r->present[REPORT_VFS_RW];
}

static bool has_open(const struct report *r)
{
	return r->present[REPORT_OPEN];
}

static bool has_sync(const struct report *r)
{
	return r->present[REPORT_SYNC];
}

static bool has_trainers(const struct report *r)
{
	return r->why->seen >= WHY_SEEN_PHASES;
}

static bool has_account(const struct report *r)
{
	const struct report_source_sum *buffered = &r->source[REPORT_BUFFERED];

	return !buffered->calls || buffered->unaccounted < buffered->calls;
}

static bool has_faults(const struct report *r)
{
	const struct report_faults *f = r->faults;

	return f && f->present && f->untimed <= (f->file.n + f->swap.n + f->kernel.n + f->other.n) / 2;
}

static bool has_cache(const struct report *r)
{
	return r->cache && r->cache->present;
}

static bool has_requests(const struct report *r)
{
	return r->causes && r->causes->known;
}

static bool has_reclaims(const struct report *r)
{
	return r->why->reclaims.present;
}

static bool has_steps(const struct report *r)
{
	return r->phases && r->phases->steps.n_trainers > 0;
}

#define TRAINS "a process that trains: in gpu.out, with loaders, or with epochs"

static const struct {
	enum rule_need need;
	bool (*has)(const struct report *r);
	const char *text;
	const char *name; /* for a list; NULL: it has a name in another line */
} needs[] = {
	{ RULE_RW, has_rw, "vfs_rw.out (probe vfs_rw)", "vfs_rw.out" },
	{ RULE_OPEN, has_open, "open.out (probe open)", "open.out" },
	{ RULE_SYNC, has_sync, "sync.out (probe sync)", "sync.out" },
	{ RULE_TRAINS, has_trainers, TRAINS, "a trainer" },
	{ RULE_ACCOUNT, has_account, "how much a read fetched from disk (DISK_BYTES): this kernel does not count it",
	  "DISK_BYTES" },
	{ RULE_FAULT, has_faults, "fault.out (probe fault), with latencies", "fault.out with LAT_NS" },
	{ RULE_BIO, has_requests, "bio.out (probe bio), with the files of requests", "bio.out with KIND" },
	{ RULE_CACHE, has_cache, "cache.out (--probes +cache)", "cache.out" },
	{ RULE_RECLAIM, has_reclaims, "reclaim.out (probe reclaim)", "reclaim.out" },
	{ RULE_STEPS, has_steps, "steps in regions.out (docs/regions.md)", "steps" },
};

const char *rules_needs(const struct rule *rule, char buf[static RULES_NEEDS_BUF])
{
	FILE *out = fmemopen(buf, RULES_NEEDS_BUF, "w");
	const char *comma = "";

	buf[0] = '\0';
	for (size_t i = 0; out && i < ARRAY_SIZE(needs); i++)
		if (rule->needs & needs[i].need && needs[i].name) {
			fprintf(out, "%s%s", comma, needs[i].name);
			comma = ", ";
		}
	if (out)
		fclose(out);
	return buf;
}

const char *rules_lack(const struct report *r, const struct rule *rule)
{
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		if (rule->needs & needs[i].need && !needs[i].has(r))
			return needs[i].text;
	return NULL;
}

/* --- the rules in turn ------------------------------------------------------------------------ */

struct finding finding_of(const struct report *r, const struct rule *rule, double measure)
{
	const double share = rule->is_share ? measure : (double)NAN;

	return (struct finding){
		.rule = rule,
		.measure = measure,
		.share = share,
		.size = rule->size ? rule->size(r) : rules_size_of_share(r, share),
	};
}

static void find(struct report *report, struct rules *rules, const struct rule *rule)
{
	const char *missing = rules_lack(report, rule);
	struct finding *finding = &rules->found[rules->n];
	double measure;

	if (missing) {
		rules->missing[rules->n_missing] = util_fmt("%s: needs %s", rule->code, missing);
		rules->n_missing += rules->missing[rules->n_missing] != NULL;
		return;
	}
	measure = rule->measure(report);
	if (!(measure >= rule->threshold))
		return;
	*finding = finding_of(report, rule, measure);
	rules->n++;
}

static bool is_fact(const struct rules *rules, const struct finding *f)
{
	if (f->rule->within && strcmp(rules->bottleneck.rule->code, f->rule->within) == 0)
		return true;
	for (unsigned int i = 0; f->rule->within && i < rules->n; i++)
		if (strcmp(rules->found[i].rule->code, f->rule->within) == 0 &&
		    rules->found[i].size.share >= RULES_PROBLEM)
			return true;
	return f->rule->is_fact || f->size.share < RULES_PROBLEM;
}

/* Orders problems before facts, then larger ones first; those of unknown size come last, by code. */
static int by_size(const void *a, const void *b)
{
	const struct finding *one = a, *other = b;
	double size = isnan(one->size.share) ? -1 : one->size.share;
	double other_size = isnan(other->size.share) ? -1 : other->size.share;

	if (one->is_fact != other->is_fact)
		return one->is_fact ? 1 : -1;
	return size != other_size ? (size < other_size) - (size > other_size) :
				    strcmp(one->rule->code, other->rule->code);
}

static void sort(struct rules *rules)
{
	const unsigned int all = rules->n;

	for (unsigned int i = 0; i < all; i++) {
		rules->found[i].is_fact = is_fact(rules, &rules->found[i]);
		rules->n_facts += rules->found[i].is_fact;
	}
	qsort(rules->found, all, sizeof(*rules->found), by_size);
	rules->n = all - rules->n_facts;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_all(struct report *r, struct rules *rules)
{
	for (const struct rule *const *table = rules_tables; *table; table++)
		for (const struct rule *rule = *table; rule->code; rule++)
			find(r, rules, rule);
	qsort(rules->missing, rules->n_missing, sizeof(*rules->missing), by_text);
}

struct rules *rules_new(struct report *report)
{
	struct rules *rules = calloc(1, sizeof(*rules));
	const struct rule *none = verdict_of_none(report);

	if (!rules)
		return NULL;
	if (none) {
		rules->bottleneck = finding_of(report, none, NAN);
		rules->bottleneck.is_bottleneck = true;
		none->evidence(report, &rules->bottleneck);
		return rules;
	}
	verdict_choose(report, rules);
	find_all(report, rules);
	sort(rules);
	rules->bottleneck.rule->evidence(report, &rules->bottleneck);
	for (unsigned int i = 0; i < rules->n + rules->n_facts; i++)
		rules->found[i].rule->evidence(report, &rules->found[i]);
	return rules;
}

void finding_free(struct finding *f)
{
	for (unsigned int i = 0; i < f->n; i++)
		free(f->evidence[i]);
	free(f->caveat);
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	finding_free(&rules->bottleneck);
	for (unsigned int i = 0; i < rules->n + rules->n_facts; i++)
		finding_free(&rules->found[i]);
	for (unsigned int i = 0; i < rules->n_missing; i++)
		free(rules->missing[i]);
	free(rules);
}
