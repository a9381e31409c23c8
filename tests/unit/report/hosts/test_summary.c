/* SPDX-License-Identifier: BSD-2-Clause */
/* Summaries of trace-small and trace-other, and files that are not summaries. */
#include "report/hosts/summary.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/util.h"
#include "report/report.h"
#include "report/rules/rules.h"
#include "report/why/why.h"

static void open_host(struct report_job *job, const char *dir)
{
	char *dirs[] = { (char *)dir };
	unsigned int bad;

	assert_int_equal(report_job_open(job, dirs, 1, &bad), 0);
	assert_int_equal(report_load(&job->host[0].report, dir, &(struct report_options){ .timed = true }), 0);
}

static char *summary_of(const struct job_host *host)
{
	struct json j = { 0 };

	summary_put(host, &j);
	assert_int_equal(json_finish(&j), 0);
	return j.buf;
}

static char *summary_of_other(void)
{
	struct report_job job;

	open_host(&job, "tests/golden/trace-other");
	char *text = summary_of(&job.host[0]);

	report_job_free(&job);
	return text;
}

static void assert_hist_equal(const struct hist *a, const struct hist *b)
{
	assert_memory_equal(a, b, sizeof(*a));
}

static void round_trip_keeps_all(void **state)
{
	struct report_job job;

	open_host(&job, "tests/golden/trace-small");
	const struct job_host *put = &job.host[0];
	const struct report *p = put->report;
	struct job_host host = { 0 };
	autofree char *text = NULL;

	p->why->rules->bottleneck.share = 1. / 3;
	text = summary_of(put);
	assert_int_equal(summary_take(&host, text, strlen(text)), 0);
	const struct report *r = host.report;

	assert_int_equal(host.utc_ns, put->utc_ns);
	assert_int_equal(host.begin_ns, put->begin_ns);
	assert_true(p->rw[0].lat.n > 0);
	for (unsigned int i = 0; i < REPORT_KINDS; i++) {
		assert_int_equal(r->present[i], p->present[i]);
		assert_int_equal(r->op[i].rows, p->op[i].rows);
		assert_hist_equal(&r->op[i].lat, &p->op[i].lat);
		assert_hist_equal(&r->op[i].size, &p->op[i].size);
	}
	assert_memory_equal(r->by_type, p->by_type, sizeof(r->by_type));
	assert_memory_equal(r->source, p->source, sizeof(r->source));
	assert_memory_equal(r->read_size, p->read_size, sizeof(r->read_size));
	assert_int_equal(r->missing.n, p->missing.n);
	assert_true(r->missing.n > 0);
	assert_string_equal(r->missing.reason[0].text, p->missing.reason[0].text);
	assert_string_equal(r->missing.reason[0].of, p->missing.reason[0].of);
	assert_int_equal(r->n_notes, p->n_notes);
	assert_int_equal(r->manifest.status, p->manifest.status);
	assert_string_equal(r->why->rules->bottleneck.rule->code, p->why->rules->bottleneck.rule->code);
	/* to the last digit */
	assert_true(r->why->rules->bottleneck.share == 1. / 3);
	assert_true(r->why->window_ns == p->why->window_ns);
	report_free(host.report);
	report_job_free(&job);
}

/* Returns TEXT with its first FROM replaced by TO. */
static char *with(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	assert_non_null(at);
	return util_fmt("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static int take(const char *text)
{
	struct job_host host = { 0 };
	int res = summary_take(&host, text, strlen(text));

	report_free(host.report);
	return res;
}

static void refuses_what_is_no_summary(void **state)
{
	autofree char *text = summary_of_other();
	autofree char *newer = with(text, "\"summary\": 1", "\"summary\": 2");
	autofree char *none = with(text, "\"summary\": 1", "\"version\": 1");
	autofree char *bucket = with(text, "\"buckets\": [", "\"buckets\": [99999, 1, ");
	autofree char *time = with(text, "\"begin_ns\": ", "\"begin_ns\": 9");
	autofree char *late = with(text, "\"begin_ns\": ", "\"begin_ns\": 9000000");
	autofree char *note = with(text, "\"notes\": [", "\"notes\": [ { \"text\": null }, ");

	assert_int_equal(take(text), 0);
	assert_int_equal(take(newer), -EPROTONOSUPPORT);
	assert_int_equal(take(none), -EBADMSG);
	assert_int_equal(take(bucket), -EBADMSG);
	assert_int_equal(take(note), -EBADMSG);
	assert_int_equal(take(""), -EBADMSG);
	assert_int_equal(take("{}"), -EBADMSG);
	assert_int_equal(take(time), 0); /* it begins after its end, which is damage, but no time that overflows */
	assert_int_equal(take(late), -EBADMSG);
	for (size_t len = strlen(text) - 3; len > 40; len -= len / 7) {
		autofree char *cut = strndup(text, len);

		assert_int_equal(take(cut), -EBADMSG);
	}
}

static void members_of_later_versions_are_skipped(void **state)
{
	autofree char *text = summary_of_other();
	autofree char *more = with(text, "\"dir\":", "\"new\": [ { \"a\": [ 1 ] } ], \"dir\":");
	autofree char *rule = with(text, "\"code\": \"", "\"code\": \"new-");
	struct job_host host = { 0 };

	assert_int_equal(take(more), 0);
	assert_int_equal(summary_take(&host, rule, strlen(rule)), 0);
	assert_null(host.report->why->rules);
	assert_non_null(strstr(host.report->notes[host.report->n_notes - 1], "does not know the rule new-"));
	report_free(host.report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_of_later_versions_are_skipped),
		cmocka_unit_test(refuses_what_is_no_summary),
		cmocka_unit_test(round_trip_keeps_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
