/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules about what the trainers waited for: one of them is the bottleneck. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/files/software.h"
#include "report/rules/rules.h"
#include "report/rules/rules_impl.h"
#include "report/rules/waits_evidence.h"
#include "report/scan/lookup.h"
#include "report/scan/model.h"
#include "report/why/account.h"

#define SHARE 0.05 /* of the windows */
#define OWN_RUNQ 0.3 /* of the windows: if main threads waited for a CPU for less, that is usual on a busy machine */
/* if there are more than ten times as many reads as page faults, or the reverse, the evidence omits the rare ones */
#define LEAST_FAULTS 10

/* --- the rules -------------------------------------------------------------------------------- */

static double storage(const struct report *r)
{
	return waits_part(r, WHY_DISK);
}

/* Returns the time in TERM as a part of the time of all accounts. */
static double in_term(const struct why *w, enum account_term term)
{
	double ns = 0;

	for (uint32_t i = 0; i < w->n_accounts; i++)
		ns += w->accounts[i].ns[term];
	return ns;
}

/* Shows the file with the longest waits for its pages. Not programs and libraries, as a job reads those only once. */
static void show_fault_file(struct report *report, struct finding *finding)
{
	const struct table *faults = &report->why->faults;
	const struct why_fault_sum *most = NULL;
	autofree char *path = NULL;
	uint64_t fid = 0;

	for (uint32_t i = 0; i < faults->n; i++) {
		const struct why_fault_sum *sum = table_at(faults, i);

		if (most && sum->ns <= most->ns)
			continue;
		most = sum;
		fid = table_key_at(faults, i) - 1;
	}
	if (!most)
		return;
	path = fid ? report_path_of(report, fid, NULL, 0) : NULL;
	if (path && report_is_software((struct reader_field){ path, strlen(path) }))
		return;
	finding_add(finding, "longest for pages of %s: %s faults, %s in all, %s from disk",
		    path ? path : "memory that was swapped out", FMT_COUNT(most->n), FMT_NS(most->ns),
		    FMT_BYTES(most->bytes));
}

static void show_storage(struct report *report, struct finding *finding)
{
	const double fault_ns = in_term(report->why, ACCOUNT_FAULT), read_ns = in_term(report->why, ACCOUNT_READ);
	const struct why_sums *sums = &report->why->sums;

	waits_show(report, finding);
	if (fault_ns > read_ns / LEAST_FAULTS) {
		finding_add(finding, "main threads waited %s in page faults on mapped files, which no read shows",
			    FMT_NS((uint64_t)fault_ns));
		show_fault_file(report, finding);
		waits_show_dataset(report, finding,
				   report->why->has_faults ? "most faults were of" : "most is mapped of",
				   report->why->has_faults ? DATASET_BY_FAULTS : DATASET_BY_MAPS);
	}
	if (read_ns < fault_ns / LEAST_FAULTS)
		return;
	waits_show_dataset(report, finding, "most time went to", DATASET_BY_READS);
	finding_add(finding, "%s came from disk for %s read, in %s of %s; reads of files took %s in all",
		    FMT_BYTES(sums->disk_bytes), FMT_BYTES(sums->read_bytes), FMT_COUNT(sums->disk_reads),
		    FMT_N(sums->reads, "read", "reads"), FMT_NS(sums->read_files_ns));
	waits_show_longest(report, finding, WHY_DISK, "longest read from storage");
}

static double metadata(const struct report *r)
{
	return waits_part(r, WHY_META);
}

static void show_metadata(struct report *report, struct finding *finding)
{
	const struct why_sums *sums = &report->why->sums;

	waits_show(report, finding);
	finding_add(finding,
		    "%s took %s, closing, making and removing files %s; %s opened to be "
		    "read, with %s each",
		    FMT_N(sums->opens, "open", "opens"), FMT_NS(sums->open_ns), FMT_NS(sums->meta_ns),
		    FMT_COUNT(sums->opens_read), FMT_BYTES(sums->opens_read ? sums->read_bytes / sums->opens_read : 0));
	if (in_term(report->why, ACCOUNT_METADATA) > 0)
		finding_add(finding, "main threads waited %s in stat(2), getdents(2) and the like, which have no rows",
			    FMT_NS((uint64_t)in_term(report->why, ACCOUNT_METADATA)));
	waits_show_dataset(report, finding, "most time went to", DATASET_BY_OPENS);
	waits_show_longest(report, finding, WHY_META, "longest");
}

static double decode(const struct report *r)
{
	return waits_part(r, WHY_CPU) + waits_part(r, WHY_CACHE);
}

static void show_decode(struct report *report, struct finding *finding)
{
	const struct why *why = report->why;
	uint64_t user_ns = 0, life_ns = 0;

	waits_show(report, finding);
	for (uint32_t i = 0; i < why->loaders.n; i++) {
		const struct why_loader *l = *(struct why_loader **)table_at(&why->loaders, i);
		const struct report_proc *p = l ? table_find(&report->procs, l->pid) : NULL;

		if (!p || !p->user_ns || !report_is_of_part(report, p))
			continue;
		user_ns += p->user_ns;
		life_ns += l->end_ns - l->begin_ns;
	}
	if (life_ns)
		finding_add(finding,
			    "loaders used %s of CPU time for themselves in %s of their lives "
			    "(%.0f %%)",
			    FMT_NS(user_ns), FMT_NS(life_ns), rules_percent((double)user_ns, (double)life_ns));
	if (!why->has_sums)
		finding_add(finding, "when they computed is estimated: their CPU time at exit, evenly over the time "
				     "between their calls; --probes +sched records it");
	if (!isnan(why->cpu_idle_percent))
		finding_add(finding, "the machine's CPUs were idle for %.0f %% of the time (cpu.out)",
			    why->cpu_idle_percent);
}

/* Returns all of T's waits for a CPU. */
static double runq(const struct why_trainer *t)
{
	return t->runq_ns;
}

/* Returns T's waits for a CPU outside of its other waits: a fetch lasts until the process that fetches has a CPU again.
 */
static double runq_outside(const struct why_trainer *t)
{
	const double outside_ns = (double)(t->end_ns - t->begin_ns) - (double)t->waited_ns;

	if (t->basis != WHY_BY_REGIONS)
		return t->runq_ns;
	return MIN(MAX(t->runq_ns - t->fetching.runq_ns, 0.0), MAX(outside_ns, 0.0));
}

/*
 * Returns the share of waits for a CPU, as OF has them: of the trainers whose basis is their GPU (BY_GPU), or of the
 * others.
 */
static double runq_of(const struct report *r, bool by_gpu, double (*of)(const struct why_trainer *t))
{
	double ns = 0;

	for (uint32_t i = 0; i < r->why->n_trainers; i++) {
		const struct why_trainer *t = &r->why->trainer[i];

		ns += why_knows_waits(t) && (t->basis == WHY_BY_GPU) == by_gpu ? of(t) : 0;
	}
	return waits_share(r, ns);
}

static double trainers_runq(const struct report *r)
{
	/* a row of sched.out counts evenly over its interval, of which a short window may be the busiest part */
	return MIN(runq_of(r, true, runq) + runq_of(r, false, runq), 1.0);
}

/*
 * Returns the share of waits for loaders that waited for a CPU, and of waits of trainers for a CPU. A GPU goes on while
 * its process waits: so where samples show when GPUs were idle, the trainer's part is at most the idle time without
 * another cause.
 */
static double contention(const struct report *r)
{
	double own = runq_of(r, false, runq_outside) + MIN(runq_of(r, true, runq), waits_part(r, WHY_QUEUE));

	if (trainers_runq(r) < OWN_RUNQ)
		own = 0;
	return MIN(waits_part(r, WHY_RUNQ) + own, 1.0);
}

static void show_contention(struct report *report, struct finding *finding)
{
	waits_show(report, finding);
	if (report->why->loaders.n)
		finding_add(finding,
			    "main threads were ready to run and had no CPU for %.1f %% of the time; for %.1f %% they "
			    "waited for loaders that had no CPU",
			    100 * trainers_runq(report), 100 * waits_part(report, WHY_RUNQ));
	else
		finding_add(finding, "main threads were ready to run and had no CPU for %.1f %% of the time",
			    100 * trainers_runq(report));
	if (!isnan(report->why->cpu_idle_percent))
		finding_add(finding, "the machine's CPUs were idle for %.0f %% of the time (cpu.out)",
			    report->why->cpu_idle_percent);
}

static double checkpoint(const struct report *r)
{
	return waits_part(r, WHY_WRITE);
}

static void show_checkpoint(struct report *report, struct finding *finding)
{
	const struct why_sums *s = &report->why->sums;

	waits_show(report, finding);
	finding_add(finding, "%s written to files in %s, which took %s; %s took %s", FMT_BYTES(s->write_bytes),
		    FMT_N(s->writes, "write", "writes"), FMT_NS(s->write_files_ns), FMT_N(s->syncs, "sync", "syncs"),
		    FMT_NS(s->sync_ns));
	if (report->why->saves_ns > 0)
		finding_add(finding,
			    "main threads saved checkpoints for %s, %s of it in writes and syncs; in the rest they "
			    "copied from the GPU and made the bytes of the file",
			    FMT_NS((uint64_t)report->why->saves_ns), FMT_NS((uint64_t)report->why->saves_write_ns));
	waits_show_longest(report, finding, WHY_WRITE, "longest");
}

static double straggler(const struct report *r)
{
	return waits_share(r, r->why->straggler_ns);
}

static void show_straggler(struct report *report, struct finding *finding)
{
	const struct why *why = report->why;
	const struct why_loader *loader = why->straggler;
	unsigned int most = 0;

	waits_show(report, finding);
	if (!loader)
		return;
	finding_add(finding,
		    "process %u, loader %u of those that ran at that time, was busy in %.0f %% of the waits from "
		    "%.3f s to %.3f s, the others in %.0f %%",
		    (unsigned int)loader->pid, loader->number + 1, 100 * why->straggler_busy,
		    rules_seconds(report, loader->begin_ns), rules_seconds(report, loader->end_ns),
		    100 * why->straggler_others);
	for (unsigned int s = 0; s < WHY_STATES; s++)
		if (s != WHY_QUEUE && loader->idle_ns[s] > loader->idle_ns[most])
			most = s;
	if (loader->alive_idle_ns > 0)
		finding_add(finding, "it was mostly %s (%.0f %%)",
			    most == WHY_OTHER ? "in no call that is traced" : waits_state_texts[most],
			    rules_percent(loader->idle_ns[most], loader->alive_idle_ns));
	if (most == WHY_DISK || most == WHY_META)
		waits_show_longest(report, finding, most, "longest");
}

/*
 * Returns the part of the time in which the GPUs or trainers were idle, though the loaders had delivered all that was
 * ordered.
 */
static double trainer(const struct report *r)
{
	return waits_part(r, WHY_QUEUE);
}

/* Returns the part of the time that went to training: all but the waits in which the loaders had work. */
static double training(const struct report *r)
{
	return 1 - MIN(waits_share(r, r->why->waited_ns - r->why->blame_ns[WHY_QUEUE]), 1);
}

static void show_trainer(struct report *r, struct finding *f)
{
	waits_show(r, f);
	if (r->why->loaders.n && r->why->waited_ns > 0)
		finding_add(f,
			    "meanwhile the loaders had finished their batches, and waited for the main process to take "
			    "them and to ask for more");
}

/* Shows the process that was taken for a trainer because none is known to be one, and what it did. */
static void show_no_training(struct report *r, struct finding *f)
{
	const struct report_proc *p = table_find(&r->procs, r->why->trainer[0].pid);

	const bool of_part = report_is_of_part(r, p);

	finding_add(f, "process %u (%s)%s: %s%s%s of data read, %s written", (unsigned int)p->pid, p->comm,
		    r->why->n_trainers > 1 ? ", one of several alike" : "",
		    of_part ? FMT_NS(p->user_ns + p->sys_ns) : "", of_part ? " of CPU time, " : "",
		    FMT_BYTES(p->data_read), FMT_BYTES(p->data_written));
}

static void show_unknown(struct report *report, struct finding *finding)
{
	const struct why *why = report->why;

	if (!why->n_trainers) {
		finding_add(finding, "no process of the job is known: pids.out has none");
		return;
	}
	if (why->seen < WHY_SEEN_PHASES)
		show_no_training(report, finding);
	if (!why->has_sums)
		finding_add(finding,
			    "the trace has no CPU scheduling (sched.out), which alone has all that it computed, and "
			    "waits in page faults, poll(2), futex(2) and the like");
	if (!rules_know_job(report))
		return;
	if (why->basis == WHY_BY_NOTHING)
		finding_add(finding, "the job uses a GPU, and gpu.out does not say how much (nvidia-smi pmon)");
	else
		waits_show(report, finding);
}

/* --- work instead of waits --------------------------------------------------------------------------- */

static double computing(const struct report *r)
{
	return waits_share(r, r->why->computed_ns);
}

static double sleeping(const struct report *r)
{
	return waits_share(r, r->why->slept_ns);
}

/* Shows the data that the process read while it computed, and that it read them itself. */
static void show_computing(struct report *r, struct finding *f)
{
	const struct why_sums *s = &r->why->sums;

	waits_show(r, f);
	if (!isnan(r->why->cpu_idle_percent))
		finding_add(f, "the machine's CPUs were idle for %.0f %% of the time (cpu.out)",
			    r->why->cpu_idle_percent);
	if (s->read_bytes)
		finding_add(f, "it read %s of files itself, in %s; decoding its samples is part of its CPU time",
			    FMT_BYTES(s->read_bytes), FMT_NS(s->read_files_ns));
}

/* --- causes outside of the job ------------------------------------------------------------------------- */

/* Returns the part of the waits that nothing in the job explains. (With loaders, the trainers waited for the loaders.)
 */
static double outside(const struct report *r)
{
	return r->why->has_sums && !r->why->loaders.n ? waits_part(r, WHY_OTHER) : 0;
}

#define TRAINER_BOUND_NEEDS (RULE_RW | RULE_WAITS | RULE_TRAINS | RULE_NO_MORE)

const struct rule rule_trainer_bound = {
	.code = "trainer-bound",
	.title = "The job did not wait for data: training itself takes the time",
	.number = "waits in state `queue`: the loaders waited, too",
	.needs = TRAINER_BOUND_NEEDS,
	.waits = true,
	.is_share = true,
	.measure = trainer,
	.share = training,
	.evidence = show_trainer,
	.advice = "Data comes in time: what makes training faster is the model, the batch size, "
		  "the GPU.",
};

const struct rule rule_unknown = {
	.code = "unknown",
	.title = "This trace does not show what the job waited for",
	.number = "none of the others",
	.is_share = true,
	.evidence = show_unknown,
	.advice = "The lines above say what the trace lacks: trace again with that (CPU scheduling, nvidia-smi where "
		  "there is a GPU). Where it has CPU scheduling, `dltraced report --cpu' of it has each thread's waits "
		  "by call and folder.",
};

const struct rule rule_cpu_bound = {
	.code = "cpu-bound",
	.title = "The job computed on the CPU",
	.number = "the job hardly waited: time in which it, and the processes that it waited for, were on a CPU",
	.needs = RULE_WAITS | RULE_SCHED,
	.is_share = true,
	.measure = computing,
	.evidence = show_computing,
	.advice = "A profiler (py-spy, perf) shows what takes the CPU. Where the process loads its data, too, let "
		  "workers do "
		  "that (num_workers of a PyTorch DataLoader), so that both go on at the same time.",
};

const struct rule rule_idle = {
	.code = "idle",
	.title = "The job slept: it waited for a time to pass, or for a signal",
	.number = "the job hardly waited: time in which it slept, until a time or a signal",
	.needs = RULE_WAITS | RULE_SCHED,
	.is_share = true,
	.measure = sleeping,
	.evidence = waits_show,
	.advice = "It does not wait for storage. See what the program sleeps for: polling, a back-off, a rate limit.",
};

const struct rule rules_of_waits[] = {
	{ .code = "storage-read",
	  .title = "The job waited for reads from storage",
	  .number = "waits while reads fetched from storage (state `disk`)",
	  .threshold = SHARE,
	  .needs = RULE_RW | RULE_WAITS,
	  .waits = true,
	  .is_share = true,
	  .measure = storage,
	  .evidence = show_storage,
	  .advice = "Read more at a time and from more workers, keep the data on a faster or local "
		    "disk, or where it fits in memory, keep it there." },
	{ .code = "open-metadata",
	  .title = "The job waited for opening files and for metadata",
	  .number = "waits in state `open`",
	  .threshold = SHARE,
	  .needs = RULE_OPEN | RULE_WAITS,
	  .waits = true,
	  .is_share = true,
	  .measure = metadata,
	  .evidence = show_metadata,
	  .advice = "Pack small samples into few large files (tar shards, record files, a "
		    "database), and keep files open." },
	{ .code = "decode-cpu",
	  .title = "Samples were decoded on the CPU, and the job waited for it",
	  .number = "waits in states `cpu` and `cache`",
	  .threshold = SHARE,
	  .needs = RULE_WAITS | RULE_TRAINS,
	  .waits = true,
	  .is_share = true,
	  .measure = decode,
	  .evidence = show_decode,
	  .advice = "Use more workers while CPUs are idle; else decode ahead of time, on the GPU, "
		    "or with a faster library." },
	{ .code = "cpu-contention",
	  .title = "Threads that could run waited for a CPU",
	  .number = "waits in state `runq`; and the main threads' own waits for a CPU, where these are 0.3 of the "
		    "time or more",
	  .threshold = SHARE,
	  .needs = RULE_WAITS | RULE_SCHED,
	  .waits = true,
	  .is_share = true,
	  .measure = contention,
	  .evidence = show_contention,
	  .advice = "Use fewer threads (OMP_NUM_THREADS, workers), give the job more CPUs, or keep "
		    "others off them." },
	{ .code = "checkpoint-write",
	  .title = "The job waited for what it wrote: checkpoints, results",
	  .number = "waits in state `write`",
	  .threshold = SHARE,
	  .needs = RULE_RW | RULE_WAITS,
	  .waits = true,
	  .is_share = true,
	  .measure = checkpoint,
	  .evidence = show_checkpoint,
	  .advice = "Write checkpoints less often, in the background, or to a faster disk first." },
	{ .code = "straggler-worker",
	  .title = "One worker was slower than the others, which waited for it",
	  .threshold = SHARE,
	  .number = "waits for one loader alone",
	  .needs = RULE_RW | RULE_WAITS | RULE_TRAINS,
	  .waits = true,
	  .is_share = true,
	  .measure = straggler,
	  .evidence = show_straggler,
	  .advice = "Even out the samples between workers, prefetch more, or take batches in the "
		    "order in which they are ready." },
	{ .code = "trainer-bound",
	  .title = "The loaders waited for the job, and not the job for them",
	  .threshold = SHARE,
	  .number = "waits in state `queue`: the loaders waited, too",
	  .needs = TRAINER_BOUND_NEEDS,
	  .waits = true,
	  .is_share = true,
	  .measure = trainer,
	  .share = training,
	  .evidence = show_trainer,
	  .advice = "Look at what the training process does itself between two batches: its own "
		    "Python, copies to the GPU, logging." },
	{ .code = "outside-wait",
	  .title = "The job waited for the network, or for processes that are not its own",
	  .threshold = SHARE,
	  .number = "without loaders: waits for other processes or the network that nothing in the job explains",
	  .needs = RULE_WAITS | RULE_SCHED,
	  .waits = true,
	  .is_share = true,
	  .measure = outside,
	  .evidence = waits_show,
	  .advice = "What serves it is not in this trace: a server, a container's or a cluster's daemon, a program "
		    "that was running before. Trace that, too (--pid, --container, or on its host)." },
	{ .code = NULL },
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
