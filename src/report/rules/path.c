/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer by the path (report/path): the cause of most of the job's time. A wait in poll(2) is not for the network
 * because of its name, and a loader's reads are no cause where nobody waited for them.
 */
#include <math.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/path/path.h"
#include "report/rules/rules_impl.h"
#include "report/rules/shares.h"
#include "report/scan/model.h"
#include "report/why/reclaims.h"
#include "report/why/why.h"

#define LEAST_PART 0.4 /* of the path: a cause that what GPUs show gives way to */
#define LEAST_WINDOW 0.5 /* of the trace: a first process that ended early shows too little */
#define SECOND 0.5 /* of the largest: another cause is named, too */
#define LIKE_ONCE 0.7 /* of what happens once: that is the answer of a longer job */
#define MOST_UNKNOWN 2 /* times the largest cause: then nothing is known */
#define MOST 0.5
#define NEARLY_ALL 0.9
#define RECLAIMS_LEAST 20
#define TAKES_LEAST 16 /* reads of pipes and sockets: a process in charge may take its samples there */
#define READ_AGAIN 0.3 /* of the bytes from disk */

/* --- rules ------------------------------------------------------------------------------------------------------- */

static const struct rule *rule_of_code(const char *code)
{
	for (const struct rule *const *rule = rules_of_path; *rule; rule++)
		if (strcmp((*rule)->code, code) == 0)
			return *rule;
	for (const struct rule *rule = rules_of_waits; rule->code; rule++)
		if (strcmp(rule->code, code) == 0)
			return rule;
	for (const struct rule *const *rule = rules_answers; *rule; rule++)
		if (strcmp((*rule)->code, code) == 0)
			return *rule;
	return NULL;
}

/* What a cause is more closely, where the trace shows that. PART: of its time; 0: it is not that. */

static double of_own_writes(const struct shares *shares)
{
	return rules_own_writes(shares->report);
}

/* Returns the part of the bytes from disk that were read again, if a cgroup's limit made threads free pages; else 0. */
static double short_of_memory(const struct shares *shares)
{
	const struct report *report = shares->report;
	const struct rule *rule = rules_of_access;
	double again;

	while (rule->code && strcmp(rule->code, "cache-too-small") != 0)
		rule++;
	if (!rule->code || report->why->reclaims.cgroup.n < RECLAIMS_LEAST || rules_lack(report, rule))
		return 0;
	again = rule->measure(report);
	return again >= READ_AGAIN ? again : 0;
}

static void show_reclaims(struct report *report, struct finding *finding)
{
	finding_add(finding, "the limit of memory made its threads free pages %s times, %s pages in all",
		    FMT_COUNT(report->why->reclaims.cgroup.n), FMT_COUNT(report->why->reclaims.cgroup.pages));
}

static double at_a_limit(const struct shares *shares)
{
	return rules_saturated_ns(shares->report, shares_wall(shares)) > 0;
}

static double of_training(const struct shares *shares)
{
	return shares_train(shares);
}

static double all_of_it(const struct shares *shares)
{
	return 1;
}

/* The first that applies. */
static const struct variant {
	const char *of; /* a cause */
	const struct rule *rule;
	double (*part)(const struct shares *shares);
	void (*show)(struct report *report, struct finding *finding); /* NULL: there is no more to say */
} variants[] = {
	{ "storage-read", &rule_own_writes, of_own_writes, rules_show_own_writes },
	{ "storage-read", &rule_memory_limit, short_of_memory, show_reclaims },
	{ "storage-read", &rule_storage_at_limit, at_a_limit, rules_show_saturated },
	{ "cpu-bound", &rule_trainer_bound, of_training, NULL },
	{ "cpu-limit", &rule_cpu_limit, all_of_it, rules_show_cpu_limit },
};

/* Returns what CAUSE is more closely, NULL: no more than itself. *PART: of its time, 1 where it is the cause itself. */
static const struct variant *variant_of(const struct shares *shares, const struct cause *cause, double *part)
{
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		if (strcmp(variants[i].of, cause->code) != 0)
			continue;
		*part = variants[i].part(shares);
		if (*part > 0)
			return &variants[i];
	}
	*part = 1;
	return NULL;
}

static const struct rule *rule_of(const struct shares *shares, const struct cause *cause)
{
	double part;
	const struct variant *variant = variant_of(shares, cause, &part);

	return variant ? variant->rule : rule_of_code(cause->code);
}

/* Returns how long the job would be shorter without CAUSE: of reads that come from the disk again, these. */
static uint64_t ns_without(const struct shares *shares, const struct cause *cause)
{
	double part;

	variant_of(shares, cause, &part);
	return (uint64_t)(part * (double)shares_ns(shares, cause));
}

/* --- the choice -------------------------------------------------------------------------------------------------- */

/* Whether the first process of the job lived for most of the trace. */
static bool covers(const struct shares *shares)
{
	return (double)shares_wall(shares) >= LEAST_WINDOW * (double)report_duration_ns(shares->report);
}

/* Whether what GPUs show is the answer: that is no guess, and the path does not show them. */
static bool gives_way(const struct shares *shares, const struct cause *most)
{
	const struct why *why = shares->report->why;

	return why->n_trainers && why->basis == WHY_BY_GPU &&
	       !(most->sure && shares_part(shares, shares_ns(shares, most)) >= LEAST_PART);
}

/* Returns the part of CAUSE's time in processes that serve others. */
static double part_of_workers(const struct shares *shares, const struct cause *cause)
{
	const struct report_path_root *root = shares->root;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < root->sums.n; i++)
		ns += root->sums.v[i].leaf.role == PATH_WORKER && shares_count(shares, &root->sums.v[i], cause) ?
			      root->sums.v[i].ns :
			      0;
	return (double)ns / (double)MAX(shares_ns(shares, cause), 1);
}

/* Whether the answer so far says more: of all loaders, one is late. */
static bool is_more(const struct shares *shares, const struct finding *answer, const struct cause *most)
{
	return strcmp(answer->rule->code, "straggler-worker") == 0 && !shares->report->path->slow_rank.pid &&
	       !most->starting && part_of_workers(shares, most) >= MOST;
}

/*
 * Returns the cause that is the answer. Programs and packages are loaded once, however long the job is: if a short run
 * waits for something else nearly as long, a long one waits for that.
 */
static const struct cause *answer_of(const struct shares *shares)
{
	const struct cause *most = shares_largest(shares, NULL), *second = shares_largest(shares, most);

	return most->once && (double)shares_ns(shares, second) >= LIKE_ONCE * (double)shares_ns(shares, most) ? second :
														most;
}

/* A disk that reads ahead of the decoding is waited for by nobody, and yet it sets the pace. */
static bool is_decoding(const struct cause *cause)
{
	return strcmp(cause->code, "decode-cpu") == 0;
}

/*
 * Returns what workers that never wait did most, where the cause MOST is the work of a process that takes something
 * from others and never sleeps; NULL: there is none. *NS: the time that is for it.
 */
static const struct cause *behind_spin(const struct shares *shares, const struct cause *most, uint64_t *ns)
{
	const struct path_spin *spin = &shares->report->path->spin;
	const struct cause *behind = NULL;
	uint64_t of[SHARES_CAUSES_MAX] = { 0 }, all_ns = 0;

	if (!most->is_work || !spin->pid || spin->taken < TAKES_LEAST)
		return NULL;
	for (unsigned int kind = 0; kind < PATH_KINDS; kind++) {
		const struct path_leaf leaf = { .kind = (enum path_kind)kind, .role = PATH_WORKER };
		const struct cause *cause = shares_cause(shares, &leaf);

		all_ns += spin->ns[kind];
		of[cause - shares_causes] += spin->ns[kind];
		if (!behind || of[cause - shares_causes] > of[behind - shares_causes])
			behind = cause;
	}
	*ns = (uint64_t)((double)spin->cpu_ns * ((double)of[behind - shares_causes] / (double)MAX(all_ns, 1)));
	return behind->is_work || behind == &shares_causes[shares_n_causes - 1] ? NULL : behind;
}

/* The answer. */
struct choice {
	const struct cause *cause;
	const struct rule *rule;
	uint64_t ns; /* by how much the job would be shorter without it, at most */
	bool spun; /* the time is that of a process that spins for CAUSE */
};

static struct choice choose(const struct shares *shares)
{
	const struct cause *most = answer_of(shares);
	struct choice choice = { most, rule_of(shares, most), ns_without(shares, most), false };
	uint64_t spun_ns = 0, saturated_ns = 0;
	const struct cause *behind = behind_spin(shares, most, &spun_ns);

	if (behind)
		return (struct choice){ behind, rule_of(shares, behind), spun_ns, true };
	if (is_decoding(most))
		saturated_ns = rules_saturated_ns(shares->report, shares_wall(shares));
	if (saturated_ns > choice.ns) {
		choice.rule = &rule_disk_saturated;
		choice.ns = saturated_ns;
	}
	return choice;
}

bool path_answer(const struct report *report, struct finding *answer)
{
	struct shares shares;
	struct choice choice;
	double share;

	if (!shares_of(report, &shares) || !covers(&shares))
		return false;
	choice = choose(&shares);
	if (gives_way(&shares, choice.cause) || is_more(&shares, answer, choice.cause) ||
	    shares_unknown(&shares) > MOST_UNKNOWN * MAX(shares_ns(&shares, choice.cause), choice.ns))
		return false;
	share = shares_part(&shares, choice.ns);
	*answer = (struct finding){
		.rule = choice.rule,
		.measure = share,
		.share = share,
		.size = rules_size_of_share(report, share),
		.by_path = true,
	};
	return true;
}

/* --- evidence ---------------------------------------------------------------------------------------------------- */

/* Shows for whom, or for which file, most of CAUSE's time was. */
static void show_detail(const struct shares *shares, struct finding *finding, const struct cause *cause)
{
	const struct report_path_root *root = shares->root;
	const struct path_names *names = &shares->report->path->names;
	uint64_t all_ns = 0, inferred_ns = 0;
	unsigned int shown = 0;

	for (uint32_t i = 0; i < root->sums.n; i++) {
		const struct path_sum *sum = &root->sums.v[i];
		const char *detail = path_name_text(names, sum->leaf.detail);
		const char *process = path_name_text(names, sum->leaf.process);

		if (!shares_count(shares, sum, cause))
			continue;
		all_ns += sum->ns;
		inferred_ns += sum->leaf.inferred ? sum->ns : 0;
		if (shown++ < 2 && sum->ns * 20 >= shares_wall(shares))
			finding_add(finding, "%s%s%s (%s%s%s): %s", path_kinds[sum->leaf.kind].phrase,
				    detail ? ": " : "", detail ? detail : "", process ? process : "?",
				    sum->leaf.thread ? "'s thread" : "", path_does[sum->leaf.doing].words,
				    FMT_NS(sum->ns));
	}
	if (inferred_ns > all_ns / 2)
		finding_add(finding,
			    "that is inferred: a thread looked again and again whether something was done, and others "
			    "of the job did this meanwhile");
}

/* Shows in which part of the training it was, if that is one. */
static void show_when(const struct shares *shares, struct finding *finding, const struct cause *cause)
{
	const uint32_t epochs = shares->report->path->epochs;
	const struct report_path_root *root = shares->root;
	double share[PATH_WHENS] = { 0 }, all_ns = 0;

	for (uint32_t i = 0; i < root->sums.n; i++) {
		const struct path_sum *sum = &root->sums.v[i];

		if (!shares_count(shares, sum, cause))
			continue;
		all_ns += (double)sum->ns;
		for (unsigned int when = 0; when < PATH_WHENS; when++)
			share[when] += (double)sum->when_ns[when];
	}
	if (!epochs || all_ns <= 0)
		return;
	/* of a slow rank's time the cause has a part only: that in which others waited */
	for (unsigned int when = 0; when < PATH_WHENS; when++)
		share[when] /= all_ns;
	if (share[PATH_BEFORE] >= NEARLY_ALL)
		finding_add(finding, "%s of it before the first epoch",
			    FMT_NS((uint64_t)(share[PATH_BEFORE] * (double)shares_ns(shares, cause))));
	if (epochs > 1 && share[PATH_FIRST] >= NEARLY_ALL)
		finding_add(finding, "%s of it in the first epoch: later ones hardly have any",
			    FMT_NS((uint64_t)(share[PATH_FIRST] * (double)shares_ns(shares, cause))));
}

static void show_rank(const struct report *report, struct finding *finding)
{
	const struct path_slow_rank *slow = &report->path->slow_rank;
	const struct report_proc *p = table_find(&report->procs, slow->pid);

	finding_add(finding, "the slow one is process %u%s%s: another rank waited %s for it, on average", slow->pid,
		    p && p->rank[0] ? ", rank " : "", p ? p->rank : "", FMT_NS(slow->waited_ns));
}

/* What would go without the cause; work would not. */
static void show_time(const struct shares *shares, struct finding *finding, const struct choice *choice)
{
	const struct report_path_root *root = shares->root;

	finding_add(finding, "%s of the %s of process %u (%s), by what ended each wait%s", FMT_NS(choice->ns),
		    FMT_NS(shares_wall(shares)), root->pid,
		    path_name_text(&shares->report->path->names, root->name) ?: "?",
		    choice->cause->is_work ? "" : "; without it the job would be shorter by that at most");
}

static void show_second(const struct shares *shares, struct finding *finding, const struct cause *cause)
{
	const struct cause *second = shares_largest(shares, cause);

	if ((double)shares_ns(shares, second) >= SECOND * (double)shares_ns(shares, cause))
		finding_add(finding, "another cause is about as large: %s, %.1f %%", rule_of(shares, second)->code,
			    100 * shares_part(shares, shares_ns(shares, second)));
}

static void show_spin(const struct report *report, struct finding *finding)
{
	const struct path_spin *spin = &report->path->spin;

	finding_add(
		finding,
		"process %u was on a CPU for %s and never slept, and what it started, %s, never waited for it: so it "
		"looks for their results again and again, or is no slower than they are",
		spin->pid, FMT_NS(spin->cpu_ns), FMT_N(spin->workers, "process", "processes"));
}

void path_evidence(struct report *report, struct finding *finding)
{
	const struct variant *variant;
	struct shares shares;
	struct choice choice;
	double part;

	if (!shares_of(report, &shares))
		return;
	choice = choose(&shares);
	if (choice.rule == &rule_disk_saturated) {
		rules_show_saturated(report, finding);
		return;
	}
	show_time(&shares, finding, &choice);
	if (choice.spun) {
		show_spin(report, finding);
		return;
	}
	show_second(&shares, finding, choice.cause);
	show_when(&shares, finding, choice.cause);
	if (choice.cause->rank)
		show_rank(report, finding);
	variant = variant_of(&shares, choice.cause, &part);
	if (variant && variant->show)
		variant->show(report, finding);
	show_detail(&shares, finding, choice.cause);
}
