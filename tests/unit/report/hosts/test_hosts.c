/* SPDX-License-Identifier: BSD-2-Clause */
/* Two hosts: the clock of trace-other is 4000 s ahead of trace-small's, and it began 0.5 s after that. */
#include "report/hosts/hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/util.h"
#include "report/hosts/differ.h"
#include "report/report.h"
#include "report/rules/rules.h"
#include "report/show/show.h"
#include "report/why/why.h"
#include "stats/timeline.h"

static char small[] = "tests/golden/trace-small", other[] = "tests/golden/trace-other",
	    cut[] = "tests/golden/trace-cut";

static void open_job(struct report_job *job, char *const *dirs, unsigned int n)
{
	unsigned int bad;

	assert_int_equal(report_job_open(job, dirs, n, &bad), 0);
	for (unsigned int i = 0; i < n; i++) {
		const struct report_options o = { .timed = true, .begin_ns = report_job_begin_ns(job, i) };

		assert_int_equal(report_load(&job->host[i].report, dirs[i], &o), 0);
	}
	assert_int_equal(report_job_close(job), 0);
}

static void hosts_are_on_one_axis(void **state)
{
	char *const dirs[] = { other, small };
	struct report_job job;
	struct timeline *t[2];

	open_job(&job, dirs, 2);
	assert_int_equal(job.begin_utc_ns, 1795222922900000000);
	assert_int_equal(report_job_begin_ns(&job, 1), 999900000000);
	assert_int_equal(report_job_begin_ns(&job, 0), 4999500000000);
	for (unsigned int i = 0; i < 2; i++)
		t[i] = job.host[i].report->timeline;
	assert_int_equal(t[0]->bin_ns, t[1]->bin_ns);
	assert_int_equal(timeline_bins(t[0]), timeline_bins(t[1]));
	/* node2's read of 128 KiB ended 520 ms after node1 began, node1's of raw.bin 270 ms after it */
	assert_int_equal(t[0]->sum[TIMELINE_READ_BYTES][520 * 1000000 / t[0]->bin_ns], 131072);
	assert_int_equal(t[1]->sum[TIMELINE_READ_BYTES][270 * 1000000 / t[1]->bin_ns], 1024 * 1024);
	report_job_free(&job);
}

static void totals_are_sums(void **state)
{
	char *const dirs[] = { small, other };
	struct report_job job;

	open_job(&job, dirs, 2);
	assert_int_equal(job.total->op[REPORT_VFS_RW].rows, 16 + 17);
	assert_int_equal(job.total->rw[0].bytes, job.host[0].report->rw[0].bytes + job.host[1].report->rw[0].bytes);
	assert_int_equal(job.total->rw[0].lat.n, job.host[0].report->rw[0].lat.n + job.host[1].report->rw[0].lat.n);
	assert_int_equal(manifest_probe(&job.total->manifest, "vfs_rw")->lost, 2);
	assert_string_equal(job.total->manifest.host, "node1, node2");
	assert_string_equal(report_started(job.total), "2026-11-21T01:02:02.900000000Z");
	assert_true(job.total->manifest.complete);
	assert_int_equal(job.total->manifest.status, 768); /* that of the host that failed */
	report_job_free(&job);
}

static void error_between_hosts_is_shown_or_not_known(void **state)
{
	char *const dirs[] = { small, other }, *const twice[] = { other, other };
	struct report_job job;

	open_job(&job, dirs, 2);
	assert_int_equal(job.read_error_ns, 310 + 120);
	assert_false(job.between_known); /* trace-small does not contain whether its clock was synchronized */
	assert_non_null(strstr(job.total->notes[0], "node1: its clock was not synchronized"));
	report_job_free(&job);
	/* one boot: however wrong the clock is, both have the same */
	open_job(&job, twice, 2);
	assert_true(job.between_known);
	assert_int_equal(job.between_ns, 240);
	assert_string_equal(job.host[1].name, "node2 (2)");
	/* two machines, both synchronized within 900 us: the larger of begin and end */
	strcpy(job.host[1].report->manifest.boot_id, "3");
	report_free(job.total);
	assert_int_equal(report_job_close(&job), 0);
	assert_true(job.between_known);
	assert_int_equal(job.between_ns, 2 * (900000 + 120));
	report_job_free(&job);
}

static void folder_without_a_clock_is_no_host(void **state)
{
	char *const dirs[] = { small, cut };
	struct report_job job;
	unsigned int bad;

	assert_int_equal(report_job_open(&job, dirs, 2, &bad), -ENODATA);
	assert_int_equal(bad, 1);
}

static void text_begins_with_all_hosts_that_were_traced_at_a_time(void **state)
{
	char *const dirs[] = { small, other };
	autofree char *text = NULL, *apart = NULL;
	struct report_job job;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	open_job(&job, dirs, 2);
	report_job_text(&job, 0, out);
	fclose(out);
	assert_ptr_equal(strstr(text, "unknown: "), text);
	assert_non_null(strstr(text, "\n2 hosts of one job, from 2026-11-21T01:02:02.900000000Z on"));
	assert_non_null(
		strstr(text, "\nnode2                   500 ms     3.00 s         28         0     900 us  unknown "));
	assert_non_null(strstr(text, "\nby how much times of two hosts may differ is not known"));
	/* traces one after the other are not hosts of one job */
	job.host[1].begin_ns += 3600 * 1000000000ULL;
	out = open_memstream(&apart, &len);
	report_job_text(&job, 0, out);
	fclose(out);
	assert_null(strstr(apart, "2 hosts of one job"));
	assert_non_null(strstr(apart, "\ntrace        tests/golden/trace-other"));
	report_job_free(&job);
}

static void folder_is_itself_by_any_name(void **state)
{
	char again[] = "tests/golden/../golden/trace-other/", missing[] = "tests/golden/none";
	char *const dirs[] = { missing, small, other, missing, again };
	unsigned int first, second;

	assert_false(report_job_twice(dirs, 4, &first, &second));
	assert_true(report_job_twice(dirs, 5, &first, &second));
	assert_int_equal(first, 2);
	assert_int_equal(second, 4);
}

/* A change to the two hosts of JOB leads to one note before others, or to none; the text has it, too. */
static void doubts(struct report_job *job, const char *wanted)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	report_free(job->total);
	assert_int_equal(report_job_close(job), 0);
	assert_int_equal(job->n_doubts, wanted ? 1 : 0);
	report_job_text(job, 0, out);
	fclose(out);
	if (!wanted)
		return;
	assert_non_null(strstr(job->total->notes[0], wanted));
	assert_non_null(strstr(text, job->total->notes[0]));
}

static void folders_of_no_job_are_noted(void **state)
{
	char *const dirs[] = { small, other };
	struct manifest_facts *m[2];
	struct report_job job;

	open_job(&job, dirs, 2);
	for (unsigned int i = 0; i < 2; i++)
		m[i] = &job.host[i].report->manifest;
	doubts(&job, NULL);
	strcpy(m[0]->boot_id, m[1]->boot_id);
	doubts(&job,
	       "tests/golden/trace-small and tests/golden/trace-other are traces of the same machine at the same time: ");
	m[0]->end_ns += m[1]->start_ns - m[0]->start_ns;
	m[0]->start_ns = m[1]->start_ns;
	doubts(&job,
	       "tests/golden/trace-other is a copy of the trace tests/golden/trace-small: its rows count twice in totals; leave it out");
	m[0]->start_ns++;
	/* one after the other */
	job.host[1].begin_ns += 3600 * 1000000000ULL;
	doubts(&job, "these traces do not overlap in time");
	/* without a known machine there is no note */
	job.host[1].begin_ns -= 3600 * 1000000000ULL;
	m[0]->boot_id[0] = m[1]->boot_id[0] = '\0';
	doubts(&job, NULL);
	report_job_free(&job);
}

static void json_and_page_hold_it(void **state)
{
	struct json j = { 0 };
	char *const dirs[] = { small, other };
	autofree char *json = NULL, *html = NULL;
	static struct manifest_facts m;
	struct report_job job;
	size_t len = 0;
	FILE *out = open_memstream(&json, &len);

	open_job(&job, dirs, 2);
	report_job_json(&job, &j);
	assert_int_equal(json_write(&j, out), 0);
	fclose(out);
	assert_non_null(strstr(json, "\"begin_ns\": 0,"));
	assert_non_null(strstr(json, "\"begin_utc\": \"2026-11-21T01:02:02.900000000Z\""));
	assert_non_null(strstr(json, "\"after_ns\": 500000000"));
	assert_int_equal(manifest_parse(&m, json), 0);
	out = open_memstream(&html, &len);
	report_job_json(&job, &j);
	assert_int_equal(report_page(&j, out), 0);
	fclose(out);
	assert_non_null(strstr(html, "\"hosts\":[{\"name\":\"node1\""));
	report_job_free(&job);
}

static struct finding *bottleneck_of(const struct report_job *job, unsigned int i)
{
	return &job->host[i].report->why->rules->bottleneck;
}

/* Gives host I an answer that names a cause, as these traces are too small to have one. */
static void waits(const struct report_job *job, unsigned int i)
{
	bottleneck_of(job, i)->rule = rules_of_path[0];
	bottleneck_of(job, i)->share = 0.987;
}

/* One host waits, and the others wait for it; a host that only trained adds nothing. */
static void the_job_waits_for_what_a_host_waits_for(void **state)
{
	char *const dirs[] = { small, small, small };
	struct report_job job;
	struct finding f;

	open_job(&job, dirs, 3);
	for (unsigned int i = 0; i < 3; i++)
		waits(&job, i);
	assert_true(report_job_why(&job, &f));
	assert_string_equal(f.rule->code, "storage-read");
	assert_float_equal(f.share, bottleneck_of(&job, 0)->share, 1e-9);
	assert_non_null(
		strstr(f.evidence[0], "found on 3 of 3 hosts: node1 98.7 %, node1 (2) 98.7 %, node1 (3) 98.7 %"));
	finding_free(&f);
	for (unsigned int i = 1; i < 3; i++) {
		bottleneck_of(&job, i)->rule = i == 1 ? &rule_trainer_bound : &rule_unknown;
		bottleneck_of(&job, i)->share = 1;
	}
	assert_true(report_job_why(&job, &f));
	assert_string_equal(f.rule->code, "storage-read");
	assert_float_equal(f.share, bottleneck_of(&job, 0)->share / 3, 1e-9);
	assert_non_null(strstr(f.evidence[1],
			       "other answers on 2 of 3 hosts: node1 (2) trainer-bound 100.0 %, node1 (3) unknown"));
	finding_free(&f);
	bottleneck_of(&job, 0)->rule = &rule_unknown;
	assert_true(report_job_why(&job, &f));
	assert_string_equal(f.rule->code, "trainer-bound");
	finding_free(&f);
	report_job_free(&job);
}

#define MANY 64

/* Not inlined: gcc 12 takes the stream that has TEXT for gone with it. */
static __attribute__((noinline)) char *text_of(const struct report_job *job, unsigned int width)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	report_job_text(job, width, out);
	fclose(out);
	return text;
}

static unsigned int count(const char *text, const char *part)
{
	unsigned int n = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		n++;
	return n;
}

static void open_many(struct report_job *job, unsigned int n)
{
	char *dirs[MANY];

	for (unsigned int i = 0; i < n; i++)
		dirs[i] = small;
	open_job(job, dirs, n);
	for (unsigned int i = 0; i < n; i++)
		waits(job, i);
}

/* The text of the job below: with all tables of these three where FULL. */
static void has_three(const struct report_job *job, bool full)
{
	autofree char *text = text_of(job, full ? 0 : 100);

	assert_int_equal(count(text, "\nnode1 (41)  "), 1);
	assert_int_equal(count(text, "\nnode1 (18)  "), 1);
	assert_int_equal(count(text, "\nnode1 (4)  "), 1);
	assert_int_equal(count(text, "\nnode1"), 3); /* the others have no line */
	assert_non_null(strstr(text, "\nand 61 more: began 0 ns to 0 ns after the first, lasted 2.50 s to "
				     "2.50 s, "));
	assert_non_null(strstr(text, "; waited for storage-read on 61\n"));
	assert_non_null(strstr(text, "\n  node1 (41): 1.00 GiB written; the hosts' median: "));
	assert_non_null(strstr(text, " in reads; the hosts' median: "));
	assert_non_null(strstr(text, "\n  node1 (4): 48.7 % of its time it waited; the hosts' median: 98.7 %\n"));
	assert_int_equal(count(text, "\ntrace        tests/golden/trace-small"), full ? 3 : 0);
	assert_true(full || count(text, "\n") < 120); /* three screens */
}

/* Hosts alike, but for three: one waits less, one reads four times as long, one writes 1 GiB. */
static void of_many_hosts_those_that_differ_have_text(void **state)
{
	struct job_differ differ[JOB_DIFFER_MAX];
	struct report_job job;
	uint64_t read_ns;

	open_many(&job, MANY);
	read_ns = job.host[0].report->rw[0].lat.sum;
	job.host[17].report->rw[0].lat.sum = 4 * (read_ns + 1000000000) - 1000000000; /* log 4, the second above it */
	job.host[40].report->rw[1].bytes += 1U << 30; /* log 65 or somewhat less */
	bottleneck_of(&job, 3)->share -= 0.5;
	job.host[50].report->rw[0].bytes++; /* nothing */
	assert_int_equal(report_job_differ(&job, differ), 3);
	assert_int_equal(differ[0].host, 40);
	assert_int_equal(differ[1].host, 17);
	assert_float_equal(differ[1].by, log(4), 1e-6);
	assert_int_equal(differ[2].host, 3);
	assert_float_equal(differ[2].by, 0.5, 1e-9);
	has_three(&job, false);
	has_three(&job, true);
	report_job_free(&job);
}

static void the_others_answers_are_counted(void **state)
{
	autofree char *text = NULL;
	struct report_job job;

	open_many(&job, 10);
	for (unsigned int i = 0; i < 4; i++)
		bottleneck_of(&job, 2 * i + 1)->rule = &rule_trainer_bound; /* these do not wait */
	text = text_of(&job, 100);
	assert_non_null(strstr(text, "\nand 7 more: "));
	assert_non_null(strstr(text, "; waited for storage-read on 6, trainer-bound on 1\n"));
	report_job_free(&job);
}

/* Each host has some: the first ones are shown, and the rest counted. */
static void notes_of_many_hosts_are_few(void **state)
{
	autofree char *text = NULL, *rest = NULL;
	struct report_job job;
	unsigned int n;

	open_many(&job, MANY);
	job.by_summaries = true;
	n = job.total->n_notes;
	assert_true(n > 20);
	text = text_of(&job, 100);
	assert_int_equal(count(strstr(text, "\nWhat is missing\n"), "\n- "), 11);
	rest = util_fmt("\n- %u more: see missing of --json\n", n - 10);
	assert_non_null(strstr(text, rest));
	job.by_summaries = false;
	report_job_free(&job);
}

static void few_hosts_are_all_shown(void **state)
{
	struct job_differ differ[JOB_DIFFER_MAX];
	autofree char *text = NULL;
	struct report_job job;

	open_many(&job, JOB_DIFFER_FROM - 1);
	assert_int_equal(report_job_differ(&job, differ), 0);
	text = text_of(&job, 0);
	assert_int_equal(count(text, "\nnode1"), JOB_DIFFER_FROM - 1);
	assert_int_equal(count(text, "\ntrace        tests/golden/trace-small"), JOB_DIFFER_FROM - 1);
	assert_null(strstr(text, " more: "));
	report_job_free(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(error_between_hosts_is_shown_or_not_known),
		cmocka_unit_test(few_hosts_are_all_shown),
		cmocka_unit_test(notes_of_many_hosts_are_few),
		cmocka_unit_test(of_many_hosts_those_that_differ_have_text),
		cmocka_unit_test(the_others_answers_are_counted),
		cmocka_unit_test(folder_is_itself_by_any_name),
		cmocka_unit_test(folder_without_a_clock_is_no_host),
		cmocka_unit_test(hosts_are_on_one_axis),
		cmocka_unit_test(json_and_page_hold_it),
		cmocka_unit_test(the_job_waits_for_what_a_host_waits_for),
		cmocka_unit_test(text_begins_with_all_hosts_that_were_traced_at_a_time),
		cmocka_unit_test(totals_are_sums),
		cmocka_unit_test(folders_of_no_job_are_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
