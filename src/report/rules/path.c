/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer by the path (report/path): its leaves, added up by cause. A wait in poll(2) is not for the network because
 * of its name, and a loader's reads are no cause where nobody waited for them.
 */
#include <math.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/path/path.h"
#include "report/rules/rules_impl.h"
#include "report/scan/model.h"
#include "report/why/reclaims.h"
#include "report/why/why.h"

#define LEAST_PART 0.4 /* of the path: a cause that what GPUs show gives way to */
#define LEAST_WINDOW 0.5 /* of the trace: a first process that ended early shows too little */
#define SECOND 0.5 /* of the largest: another cause is named, too */
#define LIKE_ONCE 0.7 /* of what happens once: that is the answer of a longer job */
#define MOST_UNKNOWN 2 /* times the largest cause: then nothing is known */
#define COLD 0.25 /* of reads and the CPU time in them: these reads came from a disk */
#define MOST 0.5
#define LEAST_SERVICE 0.25 /* of the path, from the first time that somebody waits for a worker to the last */
#define NEARLY_ALL 0.9
#define RECLAIMS_LEAST 20
#define READ_AGAIN 0.3 /* of the bytes from disk */
#define MEMORY_LIMIT "memory-limit"
#define SATURATED "disk-saturated"
#define SYNCS_LEAST 20
#define SYNC_BYTES (64U << 10) /* written for each sync: no checkpoint */

/* --- causes ------------------------------------------------------------------------------------------------------ */

#define KIND(kind) (1U << PATH_##kind)
#define ON_CPU (KIND(CPU) | KIND(CPU_READ) | KIND(CPU_WRITE) | KIND(CPU_METADATA))
#define STORAGE (KIND(DISK_READ) | KIND(DISK_WRITE) | KIND(DISK_SYNC) | KIND(DISK_METADATA) | KIND(DISK_FAULT))
#define WORK (ON_CPU | STORAGE | KIND(RUNQ)) /* that would go with what needs it */
#define ALL UINT32_MAX
#define ROLE(role) (1U << PATH_##role)
#define IN_CHARGE (ROLE(OWN) | ROLE(CHILD))
#define ANY (IN_CHARGE | ROLE(WORKER))

/* The first cause that has a leaf counts it. */
static const struct cause {
	const char *code;
	uint32_t kinds, roles; /* bits */
	bool held, rank, starting, gil; /* only such leaves */
	enum path_doing doing; /* likewise; PATH_DOES_ANYTHING: all */
	bool cold, small; /* only where reads came from a disk; where syncs are of small writes */
	bool sure; /* whatever GPUs show */
	bool once; /* however long the job is */
	bool is_work; /* what the job is for */
	bool of_training; /* where the job trains, it is part of that */
} causes[] = {
	{ "lock-wait", ALL, ANY, .held = true, .sure = true },
	{ "lock-wait", KIND(LOCK), ANY, .sure = true },
	{ "stopped", KIND(STOPPED), ANY, .sure = true },
	{ "terminal", KIND(TERMINAL), ANY, .sure = true },
	{ "cpu-quota", KIND(THROTTLED), ANY, .sure = true },
	{ "network-read", KIND(NETWORK), ANY, .sure = true },
	{ "slow-rank", WORK | KIND(SLEEP), ANY, .rank = true },
	{ "worker-startup", WORK, ROLE(WORKER), .starting = true },
	{ "worker-startup", WORK, IN_CHARGE, .doing = PATH_STARTS_LOADERS },
	{ "import", WORK, ROLE(OWN), .starting = true, .once = true },
	{ "child-process", WORK | KIND(SLEEP) | KIND(UNBORN) | KIND(ENDING), ROLE(CHILD) },
	{ "gil", ON_CPU | KIND(RUNQ), ANY, .gil = true },
	{ "storage-read", KIND(DISK_READ) | KIND(DISK_FAULT) | KIND(CPU_READ), ANY, .cold = true },
	{ "storage-read", KIND(DISK_READ) | KIND(DISK_FAULT), ANY },
	{ "open-metadata", KIND(DISK_METADATA) | KIND(CPU_METADATA), ANY },
	{ "log-sync", KIND(DISK_WRITE) | KIND(DISK_SYNC) | KIND(CPU_WRITE), ANY, .small = true },
	{ "checkpoint-write", KIND(DISK_WRITE) | KIND(DISK_SYNC) | KIND(CPU_WRITE), ANY },
	{ "checkpoint-write", ON_CPU, ANY, .doing = PATH_SAVES },
	{ "cpu-contention", KIND(RUNQ), ANY },
	{ "collate-main", KIND(CPU) | KIND(CPU_READ), ROLE(OWN), .doing = PATH_FETCHES },
	{ "decode-cpu", KIND(CPU) | KIND(CPU_READ), ROLE(WORKER) },
	{ "cpu-bound", KIND(CPU) | KIND(CPU_READ), IN_CHARGE, .is_work = true },
	{ "outside-wait", KIND(OUTSIDE), ANY },
	{ "outside-wait", KIND(DEVICE), ANY, .of_training = true },
	{ "rate-limit", KIND(SLEEP) | KIND(POLL) | KIND(TIMEOUT), ROLE(WORKER) },
	{ "idle", KIND(SLEEP) | KIND(SIGNAL), IN_CHARGE, .of_training = true },
	{ "poll-sleep", KIND(POLL) | KIND(TIMEOUT), IN_CHARGE, .of_training = true },
	{ "no-answer", KIND(UNENDED), ANY },
	{ "unknown", ALL, ANY },
};

_Static_assert(PATH_KINDS <= 32, "a bit for each");

struct shares {
	const struct report *report;
	const struct report_path_root *root;
	bool cold, small_syncs;
	bool serves, on_gpu; /* there are processes that serve others; waits for a GPU */
	uint64_t of[ARRAY_SIZE(causes)]; /* ns */
};

static uint64_t ns_of_kind(const struct report_path_root *root, uint32_t kinds)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < root->sums.n; i++)
		ns += kinds >> root->sums.v[i].leaf.kind & 1 ? root->sums.v[i].ns : 0;
	return ns;
}

static bool fits(const struct shares *shares, const struct cause *cause, const struct path_leaf *leaf)
{
	return cause->kinds >> leaf->kind & 1 && cause->roles >> leaf->role & 1 && (!cause->held || leaf->held) &&
	       (!cause->rank || leaf->rank) && (!cause->starting || leaf->starting) && (!cause->gil || leaf->gil) &&
	       (!cause->doing || leaf->doing == cause->doing) && (!cause->cold || shares->cold) &&
	       (!cause->small || shares->small_syncs);
}

/* Returns the index of LEAF's cause from that of FROM on; the last one has all that no other has. */
static unsigned int cause_from(const struct shares *shares, const struct path_leaf *leaf, unsigned int from)
{
	while (from + 1 < ARRAY_SIZE(causes) && !fits(shares, &causes[from], leaf))
		from++;
	return from;
}

static unsigned int cause_of_leaf(const struct shares *shares, const struct path_leaf *leaf)
{
	return cause_from(shares, leaf, 0);
}

/* A process that others serve, or that uses a GPU or has steps, trains when it computes, or sleeps in place of a GPU.
 */
static bool trains(const struct shares *shares)
{
	const struct why *why = shares->report->why;

	return shares->serves || shares->on_gpu || why->loaders.n || why->seen == WHY_SEEN_GPU ||
	       why->basis == WHY_BY_REGIONS;
}

/* Returns the index of the row that counts for the I-th: the first one of its code, or that of what training is. */
static unsigned int counts_as(const struct shares *shares, unsigned int i)
{
	const char *code = causes[i].of_training && trains(shares) ? rule_cpu_bound.code : causes[i].code;
	unsigned int first = 0;

	while (strcmp(causes[first].code, code) != 0)
		first++;
	return first;
}

/* Of files alone: a call that sets a file's size has a row in sync.out, and a pipe is synced to nothing. */
static bool has_small_syncs(const struct report *r)
{
	const uint64_t syncs = sums(r)->syncs;

	return syncs >= SYNCS_LEAST && r->by_type[REPORT_REG][1].bytes / syncs < SYNC_BYTES;
}

/* Of the time in a slow rank, others waited for a part; the rest is work that they have, too, and has its own causes.
 */
static void share_ranks(struct shares *shares)
{
	const struct report_path_root *root = shares->root;
	const uint64_t waited_ns = shares->report->path->slow_rank.waited_ns;
	uint64_t *slow_ns = NULL, all_ns, left_ns;

	for (unsigned int i = 0; !slow_ns && i < ARRAY_SIZE(causes); i++)
		slow_ns = causes[i].rank ? &shares->of[i] : NULL;
	if (!slow_ns || *slow_ns <= waited_ns)
		return;
	all_ns = *slow_ns;
	left_ns = all_ns - waited_ns;
	*slow_ns = waited_ns;
	for (uint32_t i = 0; i < root->sums.n; i++) {
		const struct path_sum *sum = &root->sums.v[i];
		const unsigned int cause = cause_of_leaf(shares, &sum->leaf);

		if (causes[cause].rank)
			shares->of[counts_as(shares, cause_from(shares, &sum->leaf, cause + 1))] +=
				(uint64_t)((double)sum->ns * ((double)left_ns / (double)all_ns));
	}
}

/* The drivers of NVIDIA and AMD, by their files in /dev. */
static bool is_of_gpu(const struct report *r, const struct path_leaf *leaf)
{
	static const char *const drivers[] = { "nvidia", "kfd", "renderD" };
	const char *name = leaf->kind == PATH_DEVICE ? path_name_text(&r->path->names, leaf->detail) : NULL;

	for (size_t i = 0; name && i < ARRAY_SIZE(drivers); i++)
		if (strncmp(name, drivers[i], strlen(drivers[i])) == 0)
			return true;
	return false;
}

/* Whether processes serve others for a good part of the time: not once, as what a wrapper of Python runs at its start.
 */
static bool has_workers(const struct report_path_root *root)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	for (uint32_t i = 0; i < root->sums.n; i++) {
		const struct path_sum *sum = &root->sums.v[i];

		if (sum->leaf.role != PATH_WORKER)
			continue;
		first_ns = MIN(first_ns, sum->first_ns);
		last_ns = MAX(last_ns, sum->last_ns);
	}
	return last_ns > first_ns &&
	       (double)(last_ns - first_ns) >= LEAST_SERVICE * (double)(root->end_ns - root->begin_ns);
}

static bool shares_of(const struct report *r, struct shares *shares)
{
	const struct report_path_root *root = r->path && r->path->n ? &r->path->root[0] : NULL;
	uint64_t cold_ns;

	*shares = (struct shares){ .report = r, .root = root };
	if (!root || root->end_ns <= root->begin_ns)
		return false;
	cold_ns = ns_of_kind(root, KIND(DISK_READ) | KIND(DISK_FAULT));
	shares->cold = (double)cold_ns >= COLD * (double)(cold_ns + ns_of_kind(root, KIND(CPU_READ)));
	shares->small_syncs = has_small_syncs(r);
	shares->serves = has_workers(root);
	for (uint32_t i = 0; i < root->sums.n; i++)
		shares->on_gpu |= is_of_gpu(r, &root->sums.v[i].leaf);
	for (uint32_t i = 0; i < root->sums.n; i++) {
		const struct path_sum *sum = &root->sums.v[i];

		shares->of[counts_as(shares, cause_of_leaf(shares, &sum->leaf))] += sum->ns;
	}
	share_ranks(shares);
	return true;
}

static uint64_t wall_of(const struct shares *shares)
{
	return shares->root->end_ns - shares->root->begin_ns;
}

static double part_of(const struct shares *shares, uint64_t ns)
{
	return (double)ns / (double)wall_of(shares);
}

#define UNKNOWN (ARRAY_SIZE(causes) - 1)

/* Returns the cause with the most time but for BUT, and what is not known. */
static const struct cause *largest(const struct shares *shares, const struct cause *but)
{
	unsigned int most = 0;

	if (but == &causes[0])
		most = 1;
	for (unsigned int i = 0; i < UNKNOWN; i++)
		if (&causes[i] != but && shares->of[i] > shares->of[most])
			most = i;
	return &causes[most];
}

static uint64_t ns_of(const struct shares *shares, const struct cause *cause)
{
	return shares->of[cause - causes];
}

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

/* Returns the part of the bytes from disk that were read again, if a cgroup's limit made threads free pages; else 0. */
static double short_of_memory(const struct report *r)
{
	const struct rule *rule = rules_of_access;
	double again;

	while (rule->code && strcmp(rule->code, "cache-too-small") != 0)
		rule++;
	if (!rule->code || r->why->reclaims.cgroup.n < RECLAIMS_LEAST || rules_lack(r, rule))
		return 0;
	again = rule->measure(r);
	return again >= READ_AGAIN ? again : 0;
}

static const struct rule *rule_of(const struct shares *shares, const struct cause *cause)
{
	if (strcmp(cause->code, rule_cpu_bound.code) == 0 && trains(shares))
		return &rule_trainer_bound;
	if (strcmp(cause->code, rule_storage_at_limit.code) != 0)
		return rule_of_code(cause->code);
	if (rules_own_writes(shares->report))
		return rule_of_code("own-writes");
	if (short_of_memory(shares->report) > 0)
		return rule_of_code(MEMORY_LIMIT);
	return rules_saturated_ns(shares->report, wall_of(shares)) ? &rule_storage_at_limit : rule_of_code(cause->code);
}

/* Returns how long the job would be shorter without CAUSE: of reads that come from the disk again, these. */
static uint64_t ns_without(const struct shares *shares, const struct cause *cause)
{
	const uint64_t ns = shares->of[cause - causes];

	if (strcmp(rule_of(shares, cause)->code, MEMORY_LIMIT) != 0)
		return ns;
	return (uint64_t)(short_of_memory(shares->report) * (double)ns);
}

static const struct cause *cause_of_rule(const struct shares *shares, const struct rule *rule)
{
	for (unsigned int i = 0; i < UNKNOWN; i++)
		if (rule_of(shares, &causes[i]) == rule)
			return &causes[i];
	return NULL;
}

/* --- the choice -------------------------------------------------------------------------------------------------- */

/* Whether the first process of the job lived for most of the trace. */
static bool covers(const struct shares *shares)
{
	return (double)wall_of(shares) >= LEAST_WINDOW * (double)report_duration_ns(shares->report);
}

/* Whether what GPUs show is the answer: that is no guess, and the path does not show them. */
static bool gives_way(const struct shares *shares, const struct cause *most)
{
	const struct why *why = shares->report->why;

	return why->n_trainers && why->basis == WHY_BY_GPU &&
	       !(most->sure && part_of(shares, ns_of(shares, most)) >= LEAST_PART);
}

static bool is_of(const struct shares *shares, const struct path_sum *sum, const struct cause *cause)
{
	return &causes[counts_as(shares, cause_of_leaf(shares, &sum->leaf))] == cause;
}

/* Returns the part of CAUSE's time in processes that serve others. */
static double part_of_workers(const struct shares *shares, const struct cause *cause)
{
	const struct report_path_root *root = shares->root;
	uint64_t ns = 0;

	for (uint32_t i = 0; i < root->sums.n; i++)
		ns += root->sums.v[i].leaf.role == PATH_WORKER && is_of(shares, &root->sums.v[i], cause) ?
			      root->sums.v[i].ns :
			      0;
	return (double)ns / (double)MAX(ns_of(shares, cause), 1);
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
	const struct cause *most = largest(shares, NULL), *second = largest(shares, most);

	return most->once && (double)ns_of(shares, second) >= LIKE_ONCE * (double)ns_of(shares, most) ? second : most;
}

/* A disk that reads ahead of the decoding is waited for by nobody, and yet it sets the pace. */
static bool is_decoding(const struct cause *cause)
{
	return strcmp(cause->code, "decode-cpu") == 0;
}

bool path_answer(const struct report *report, struct finding *answer)
{
	struct shares shares;
	const struct cause *most;
	uint64_t saturated_ns;
	double share;

	if (!shares_of(report, &shares) || !covers(&shares))
		return false;
	most = answer_of(&shares);
	if (gives_way(&shares, most) || is_more(&shares, answer, most) ||
	    shares.of[UNKNOWN] > MOST_UNKNOWN * ns_of(&shares, most))
		return false;
	saturated_ns = is_decoding(most) ? rules_saturated_ns(report, wall_of(&shares)) : 0;
	share = part_of(&shares, MAX(saturated_ns, ns_without(&shares, most)));
	*answer = (struct finding){
		.rule = saturated_ns > ns_of(&shares, most) ? rule_of_code(SATURATED) : rule_of(&shares, most),
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

		if (!is_of(shares, sum, cause))
			continue;
		all_ns += sum->ns;
		inferred_ns += sum->leaf.inferred ? sum->ns : 0;
		if (shown++ < 2 && sum->ns * 20 >= wall_of(shares))
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

		if (!is_of(shares, sum, cause))
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
			    FMT_NS((uint64_t)(share[PATH_BEFORE] * (double)ns_of(shares, cause))));
	if (epochs > 1 && share[PATH_FIRST] >= NEARLY_ALL)
		finding_add(finding, "%s of it in the first epoch: later ones hardly have any",
			    FMT_NS((uint64_t)(share[PATH_FIRST] * (double)ns_of(shares, cause))));
}

static void show_rank(const struct report *report, struct finding *finding)
{
	const struct path_slow_rank *slow = &report->path->slow_rank;
	const struct report_proc *p = table_find(&report->procs, slow->pid);

	finding_add(finding, "the slow one is process %u%s%s: another rank waited %s for it, on average", slow->pid,
		    p && p->rank[0] ? ", rank " : "", p ? p->rank : "", FMT_NS(slow->waited_ns));
}

/* What would go without CAUSE; work would not. */
static void show_time(const struct shares *shares, struct finding *finding, const struct cause *cause)
{
	const struct report_path_root *root = shares->root;

	finding_add(finding, "%s of the %s of process %u (%s), by what ended each wait%s",
		    FMT_NS(ns_without(shares, cause)), FMT_NS(wall_of(shares)), root->pid,
		    path_name_text(&shares->report->path->names, root->name) ?: "?",
		    cause->is_work ? "" : "; without it the job would be shorter by that at most");
}

void path_evidence(struct report *report, struct finding *finding)
{
	const struct cause *cause, *second;
	struct shares shares;

	if (!shares_of(report, &shares))
		return;
	if (strcmp(finding->rule->code, SATURATED) == 0)
		rules_show_saturated(report, finding);
	cause = cause_of_rule(&shares, finding->rule);
	if (!cause)
		return;
	show_time(&shares, finding, cause);
	second = largest(&shares, cause);
	if ((double)ns_of(&shares, second) >= SECOND * (double)ns_of(&shares, cause))
		finding_add(finding, "another cause is about as large: %s, %.1f %%", rule_of(&shares, second)->code,
			    100 * part_of(&shares, ns_of(&shares, second)));
	show_when(&shares, finding, cause);
	if (cause->rank)
		show_rank(report, finding);
	if (strcmp(finding->rule->code, "own-writes") == 0)
		rules_show_own_writes(report, finding);
	if (strcmp(finding->rule->code, MEMORY_LIMIT) == 0)
		finding_add(finding, "the limit of memory made its threads free pages %s times, %s pages in all",
			    FMT_COUNT(report->why->reclaims.cgroup.n), FMT_COUNT(report->why->reclaims.cgroup.pages));
	if (finding->rule == &rule_storage_at_limit)
		rules_show_saturated(report, finding);
	show_detail(&shares, finding, cause);
}
