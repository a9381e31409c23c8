/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers that name no cause: the job's own work, a job that was too short or failed, and that nothing is known. */
#include <stdio.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/path/path.h"
#include "report/rules/rules.h"
#include "report/rules/rules_impl.h"
#include "report/rules/shares.h"
#include "report/scan/model.h"

/* --- what is not known ------------------------------------------------------------------------------------------ */

/* Shows the process with the most work, where it is not known which one the answer is about. */
static void show_process(struct report *report, struct finding *finding)
{
	const struct report_proc *p = table_find(&report->procs, report->why->trainer[0].pid);
	const bool of_part = report_is_of_part(report, p);

	finding_add(finding, "process %u (%s)%s: %s%s%s of data read, %s written", (unsigned int)p->pid, p->comm,
		    report->why->n_trainers > 1 ? ", one of several alike" : "",
		    of_part ? FMT_NS(p->user_ns + p->sys_ns) : "", of_part ? " of CPU time, " : "",
		    FMT_BYTES(p->data_read), FMT_BYTES(p->data_written));
}

static void show_shares(struct report *report, struct finding *finding)
{
	struct shares shares;
	const struct cause *most;

	if (!shares_of(report, &shares))
		return;
	most = shares_largest(&shares, NULL);
	finding_add(finding, "of %s of process %u (%s), it is not known for %s", FMT_NS(shares_all(&shares)),
		    shares.root->pid, path_name_text(&report->path->names, shares.root->name) ?: "?",
		    FMT_NS(shares_unknown(&shares)));
	if (shares_ns(&shares, most))
		finding_add(finding, "the largest part that is known: %s, %s", most->code,
			    FMT_NS(shares_ns(&shares, most)));
}

static void show_unknown(struct report *report, struct finding *finding)
{
	if (!report->procs.n) {
		finding_add(finding, "no process of the job is known: pids.out has none");
		return;
	}
	if (report->why->n_trainers)
		show_process(report, finding);
	if (rules_know_waits(report))
		show_shares(report, finding);
	else if (report->path && report->path->n)
		finding_add(finding, "process %u, the first one, was there for %s of %s", report->path->root[0].pid,
			    FMT_NS(report->path->root[0].end_ns - report->path->root[0].begin_ns),
			    FMT_NS(report_duration_ns(report)));
	else
		finding_add(finding,
			    "the trace has neither waits.out nor CPU scheduling (sched.out), which alone show what "
			    "it waited for, and when it computed");
}

const struct rule rule_unknown = {
	.code = "unknown",
	.title = "This trace does not show what the job waited for",
	.number = "time that is not known, where that is more than twice the largest cause",
	.is_share = true,
	.evidence = show_unknown,
	.advice = "The lines above say what the trace lacks: trace again with that (the default probes have it). Where "
		  "it "
		  "has CPU scheduling, `dltraced report --cpu' of it has each thread's waits by call and folder.",
};

/* --- the job's own work ------------------------------------------------------------------------------------------ */

const struct rule rule_trainer_bound = {
	.code = "trainer-bound",
	.title = "The job did not wait for data: training itself takes the time",
	.number = "time on a CPU, asleep or in a device of a process that trains",
	.is_share = true,
	.evidence = path_evidence,
	.advice = "Data comes in time: what makes training faster is the model, the batch size, "
		  "the GPU.",
};

const struct rule rule_cpu_bound = {
	.code = "cpu-bound",
	.title = "The job computed on the CPU",
	.number = "time on a CPU of processes in charge",
	.is_share = true,
	.evidence = path_evidence,
	.advice = "A profiler (py-spy, perf) shows what takes the CPU. Where the process loads its data, too, let "
		  "workers do "
		  "that (num_workers of a PyTorch DataLoader), so that both go on at the same time.",
};

const struct rule rule_idle = {
	.code = "idle",
	.title = "The job slept: it waited for a time to pass, or for a signal",
	.number = "sleep of processes in charge, until a time or a signal",
	.is_share = true,
	.evidence = path_evidence,
	.advice = "It does not wait for storage. See what the program sleeps for: polling, a back-off, a rate limit.",
};

/* --- jobs without an answer ------------------------------------------------------------------------------ */

static void show_end(struct report *report, struct finding *finding)
{
	const struct manifest_facts *m = &report->manifest;

	if (!m->has_status)
		finding_add(finding, "the trace has %s of it", FMT_NS(report_duration_ns(report)));
	else if (m->has_usage)
		finding_add(finding, "it %s after %s", FMT_ENDED(m->status), FMT_NS(m->usage[USAGE_WALL_NS]));
	else
		finding_add(finding, "it %s", FMT_ENDED(m->status));
	if (m->has_status && m->status)
		finding_add(finding, "what it printed says why; here is only what it did until then");
}

static void show_traced(struct report *report, struct finding *finding)
{
	finding_add(finding, "from its first row to %s it has %s",
		    report->manifest.complete ? "its end" : "its last one so far", FMT_NS(report_duration_ns(report)));
}

static void show_untraced(struct report *r, struct finding *f)
{
	if (r->manifest.containers[0])
		finding_add(f, "the containers to be traced (%s) never appeared, or no process ran in them",
			    r->manifest.containers);
	finding_add(f, "pids.out, which has each process that is traced, has no row");
}

const struct rule rule_untraced = {
	.code = "untraced",
	.title = "Nothing was traced: no process of the target ran",
	.number = "no process of the target ran while it was traced",
	.evidence = show_untraced,
};

#define TOO_SHORT_NUMBER "the job ran, or was traced, for less than 0.5 s"

const struct rule rule_too_short = {
	.code = "too-short",
	.title = "The job ran for less than 0.5 s: too short to say what it waited for",
	.number = TOO_SHORT_NUMBER,
	.evidence = show_end,
};

const struct rule rule_traced_too_short = {
	.code = "too-short",
	.title = "The trace has less than 0.5 s of the job: too short to say what it waited for",
	.number = TOO_SHORT_NUMBER,
	.evidence = show_traced,
};

static void show_part(struct report *report, struct finding *finding)
{
	finding_add(finding, "it has %s of the trace", FMT_NS(report_duration_ns(report)));
}

const struct rule rule_part_too_short = {
	.code = "too-short",
	.title = "This part is shorter than 0.5 s: too short to say what the job waited for",
	.number = TOO_SHORT_NUMBER,
	.evidence = show_part,
};

const struct rule rule_failed = {
	.code = "failed",
	.title = "The job failed within 0.5 s: too early to say what it waited for",
	.number = RULES_FAILED_NUMBER,
	.evidence = show_end,
};

const struct rule rule_not_found = {
	.code = "failed",
	.title = "The job failed: status 127 mostly means that a program, or a library of it, was not found",
	.number = RULES_FAILED_NUMBER,
	.evidence = show_end,
};

const struct rule rule_not_executable = {
	.code = "failed",
	.title = "The job failed: status 126 mostly means that a program could not be executed",
	.number = RULES_FAILED_NUMBER,
	.evidence = show_end,
};

const struct rule *const rules_answers[] = {
	&rule_unknown,        &rule_trainer_bound,
	&rule_cpu_bound,      &rule_idle,
	&rule_too_short,      &rule_failed_end,
	&rule_failed_answer,  &rule_failed_calls,
	&rule_failed_process, &rule_failed,
	&rule_not_found,      &rule_not_executable,
	&rule_untraced,       NULL,
};
