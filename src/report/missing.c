/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of a job that have no rows at all: calls of probes that were off, requests of io_uring, 32-bit calls, processes
 * that outlived the trace. Each is named, with its part of the whole where that is known.
 */
#include "report/missing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/rules/rules.h"
#include "report/scan/model.h"
#include "report/scan/part.h"
#include "report/why/why.h"

static void find_no_end(struct report *report)
{
	struct missing_reason reason = { .kind = MISSING_NO_END, .share = (double)NAN, .matters = true };

	if (!report->has_manifest) {
		reason.brief = strdup("manifest.json is not there");
		missing_add(&report->missing, reason,
			    "manifest.json is missing or incomplete: the number of missing rows is "
			    "not known");
	} else if (!report->manifest.complete) {
		reason.brief = strdup("the trace has no end");
		missing_add(&report->missing, reason,
			    "the trace has no end: it is still running, or dltraced was killed; what came after the "
			    "last rows is missing");
	}
}

/* Counts the processes of the job that ended in the trace, and their CPU time. */
static void count_processes(const struct report *r, uint64_t *lives, uint64_t *cpu_us)
{
	*lives = *cpu_us = 0;
	for (uint32_t i = 0; i < r->procs.n; i++) {
		const struct report_proc *p = table_at(&r->procs, i);

		*lives += p->lives;
		*cpu_us += (p->user_ns + p->sys_ns) / 1000;
	}
}

static void find_left_running(struct report *report)
{
	const struct manifest_facts *facts = &report->manifest;
	const uint64_t n = MIN(facts->left_running, MISSING_COUNT_MAX),
		       cpu_us = MIN(facts->left_running_cpu_us, MISSING_COUNT_MAX);
	/* false: the trace was ended on demand, by stop, a signal or --duration */
	const bool behind_job = facts->workload_end_ns && facts->workload_end_ns <= facts->end_ns;
	struct missing_reason reason = {
		.kind = behind_job ? MISSING_LEFT_RUNNING : MISSING_ENDED_BEFORE,
		.n = n,
		.of = "processes",
	};
	uint64_t lives, ended_us;
	autofree char *which = NULL;
	const char *remedy = n == 1 ? "; --wait-all traces it" : "; --wait-all traces them";
	double cpu;

	if (!n)
		return;
	if (!behind_job)
		remedy = "";
	count_processes(report, &lives, &ended_us);
	lives = MAX(lives, n);
	which = lives == 1 ? strdup("the job's only process") :
			     util_fmt("%s of the job's %s processes", FMT_COUNT(n), FMT_COUNT(lives));
	reason.share = missing_part(n, lives);
	cpu = missing_part(cpu_us, cpu_us + ended_us);
	reason.matters = behind_job && (reason.share >= MISSING_MATTERS || cpu >= MISSING_MATTERS);
	reason.brief = util_fmt("%s went on", which ? which : "");
	missing_add(&report->missing, reason,
		    "%s %s still running when the trace ended%s (%s; %.1f %% of the job's CPU time until then)%s",
		    which ? which : "", n == 1 ? "was" : "were", behind_job ? "" : ", which was before the job ended",
		    facts->left_comms, 100 * cpu, remedy);
}

/* Lists the names of the kinds of calls for which IS holds, with commas; false when there is none. */
static bool put_kinds(const struct report *report, bool (*is)(const struct report *r, enum report_kind kind),
		      char *names, size_t size)
{
	names[0] = '\0';
	for (enum report_kind kind = 0; kind < REPORT_KINDS; kind++) {
		size_t len = strlen(names);

		if (is(report, kind))
			snprintf(names + len, size - len, "%s%s", len ? ", " : "", report_kind_names[kind]);
	}
	return names[0] != '\0';
}

static bool is_untraced(const struct report *r, enum report_kind kind)
{
	const struct manifest_probe *m = manifest_probe(&r->manifest, report_kind_names[kind]);

	return m && manifest_is_untraced(m);
}

/* Whether KIND was not recorded. Requests to disks are the machine's, and no part of the answer. */
static bool is_not_recorded(const struct report *r, enum report_kind kind)
{
	return missing_is_call(kind) && r->manifest.n_probes && !manifest_probe(&r->manifest, report_kind_names[kind]);
}

static void find_kinds(struct report *report)
{
	struct missing_reason reason = { .kind = MISSING_UNTRACED, .share = (double)NAN, .matters = true };
	char names[160];

	if (put_kinds(report, is_untraced, names, sizeof(names))) {
		reason.brief = util_fmt("%s could not be traced", names);
		missing_add(&report->missing, reason, "%s could not be traced: the number of missing rows is not known",
			    names);
	}
	reason.kind = MISSING_NOT_RECORDED;
	if (put_kinds(report, is_not_recorded, names, sizeof(names))) {
		reason.brief = util_fmt("calls of %s were not recorded", names);
		missing_add(&report->missing, reason,
			    "calls of %s were not recorded (--probes): their number is not "
			    "known",
			    names);
	}
}

static void find_io_uring(struct report *r)
{
	struct missing_reason reason = { .kind = MISSING_IO_URING, .share = (double)NAN, .matters = true };

	if (!r->manifest.uring_why[0] || !r->uses_uring)
		return;
	reason.brief = strdup("requests of io_uring were not recorded");
	missing_add(&r->missing, reason,
		    "the job uses io_uring, whose requests were not recorded: "
		    "%s",
		    r->manifest.uring_why);
}

/* Adds N calls that the kernel side counted without their kind: at the most, all of them are on files. */
static void find_counted(struct report *r, enum missing_kind kind, uint64_t n, const char *brief, const char *text)
{
	struct missing_reason reason = { .kind = kind, .n = n, .of = "calls" };

	if (!n)
		return;
	reason.share = (double)n / ((double)n + (double)r->missing.calls);
	reason.matters = reason.share >= MISSING_MATTERS;
	reason.brief = util_fmt("%s may be up to %.1f %% of the calls", brief, 100 * reason.share);
	missing_add(&r->missing, reason, "%s %s: %.1f %% of the calls at most", FMT_COUNT(n), text, 100 * reason.share);
}

/* Adds notes for reasons that have none yet. */
static void note_reasons(struct report *r)
{
	for (unsigned int i = 0; i < r->missing.n; i++) {
		const struct missing_reason *reason = &r->missing.reason[i];

		if (reason->kind == MISSING_LEFT_RUNNING || reason->kind == MISSING_NOT_RECORDED ||
		    reason->kind == MISSING_IO_URING || reason->kind == MISSING_SKIPPED)
			report_note(r, "%s", reason->text);
	}
}

static void settle(struct report *report)
{
	struct rules *rules = report->why ? report->why->rules : NULL;

	find_no_end(report);
	find_left_running(report);
	find_kinds(report);
	find_io_uring(report);
	find_counted(report, MISSING_COMPAT, report->manifest.compat_calls, "32-bit calls, which have no rows,",
		     "32-bit calls of the job were counted and have no rows");
	find_counted(report, MISSING_SKIPPED, report->manifest.skipped_runs, "calls whose hooks the kernel left out",
		     "times the kernel left out a hook, for a call of the job or of another process");
	missing_end(&report->missing);
	note_reasons(report);
	if (rules && report->missing.caveat && rules->bottleneck.rule->is_share) /* else it names no cause */
		rules->bottleneck.caveat = strdup(report->missing.caveat);
}

static void part_free(struct report *r)
{
	missing_free(&r->missing);
}

const struct report_part report_missing_part = {
	.settle = settle,
	.free = part_free,
};
