/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer by the path (report/path): the cause of most of the job's time. A wait in poll(2) is not for the network
 * because of its name, and a loader's reads are no cause where nobody waited for them.
 */
#include <math.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/files/datasets.h"
#include "report/files/peers.h"
#include "report/limits/cgroups.h"
#include "report/path/path.h"
#include "report/rules/rules_impl.h"
#include "report/rules/shares.h"
#include "report/scan/model.h"
#include "report/why/reclaims.h"
#include "report/why/why.h"

#define SECOND 0.5 /* of the largest: another cause is named, too */
#define LIKE_ONCE 0.7 /* of what happens once: that is the answer of a longer job */
#define MOST_UNKNOWN 2 /* times the largest cause: then nothing is known */
#define MOST 0.5
#define LEAST_CAUSE 0.1 /* of the samples: while its GPU was idle; else the GPU sets the pace */
#define NEARLY_ALL 0.9
#define RECLAIMS_LEAST 20
#define UPLOAD_LEAST (1U << 20) /* bytes */
#define UPLOADS 4U /* times as many bytes sent as received */
#define TAKES_LEAST 16 /* reads of pipes and sockets: a process in charge may take its samples there */
#define READ_AGAIN 0.3 /* of the bytes from disk */

/* --- rules ------------------------------------------------------------------------------------------------------- */

static const struct rule *rule_of_code(const char *code)
{
	for (const struct rule *const *rule = rules_of_path; *rule; rule++)
		if (strcmp((*rule)->code, code) == 0)
			return *rule;
	for (const struct rule *const *rule = rules_answers; *rule; rule++)
		if (strcmp((*rule)->code, code) == 0)
			return *rule;
	return NULL;
}

/* Returns what workers that never wait did most; NULL: it is no cause, or there are none. *PART: of their time. */
static const struct cause *behind_spin(const struct shares *shares, double *part)
{
	const struct path_spin *spin = &shares->report->path->spin;
	const struct report_proc *proc = spin->pid ? table_find(&shares->report->procs, spin->pid) : NULL;
	const struct cause *behind = NULL;
	uint64_t of[SHARES_CAUSES_MAX] = { 0 }, all_ns = 0;

	if (!proc || proc->received < TAKES_LEAST)
		return NULL;
	for (unsigned int kind = 0; kind < PATH_KINDS; kind++) {
		const struct path_leaf leaf = { .kind = (enum path_kind)kind, .role = PATH_WORKER };
		const struct cause *cause = shares_cause(shares, &leaf);

		all_ns += spin->ns[kind];
		of[cause - shares_causes] += spin->ns[kind];
		if (!behind || of[cause - shares_causes] > of[behind - shares_causes])
			behind = cause;
	}
	*part = (double)of[behind - shares_causes] / (double)MAX(all_ns, 1);
	return behind->is_work || behind == &shares_causes[shares_n_causes - 1] ? NULL : behind;
}

/*
 * What a cause is more closely, where the trace shows that: each returns by how much the job would be shorter without
 * it, ns; 0: it is not that.
 */

/* Whatever the cause: the largest one, or what is not known, has too little. */
static uint64_t while_gpu_works(const struct shares *shares, const struct cause *cause)
{
	const uint64_t ns = MAX(shares_ns(shares, shares_largest(shares, NULL)), shares_unknown(shares));

	return shares->by_gpu && shares_part(shares, ns) < LEAST_CAUSE ? shares->sampled_ns - shares->idle_ns : 0;
}

static uint64_t of_spin(const struct shares *shares, const struct cause *cause)
{
	double part;

	return behind_spin(shares, &part) ?
		       MIN((uint64_t)((double)shares->report->path->spin.cpu_ns * part), shares_ns(shares, cause)) :
		       0;
}

static uint64_t of_own_writes(const struct shares *shares, const struct cause *cause)
{
	return rules_own_writes(shares->report) ? shares_ns(shares, cause) : 0;
}

/* Of the bytes from disk, those that were read again count, if a cgroup's limit made threads free pages. */
static uint64_t short_of_memory(const struct shares *shares, const struct cause *cause)
{
	const struct report *report = shares->report;
	const struct rule *rule = rules_of_access;
	double again;

	while (rule->code && strcmp(rule->code, "cache-too-small") != 0)
		rule++;
	if (!rule->code || report->why->reclaims.cgroup.n < RECLAIMS_LEAST || rules_lack(report, rule))
		return 0;
	again = rule->measure(report);
	return again >= READ_AGAIN ? (uint64_t)(again * (double)shares_ns(shares, cause)) : 0;
}

static void show_reclaims(struct report *report, struct finding *finding)
{
	finding_add(finding, "the limit of memory made its threads free pages %s times, %s pages in all",
		    FMT_COUNT(report->why->reclaims.cgroup.n), FMT_COUNT(report->why->reclaims.cgroup.pages));
	rules_show_cgroups(report, finding, report_cgroup_full, report_cgroup_memory_text);
}

static uint64_t at_a_limit(const struct shares *shares, const struct cause *cause)
{
	return rules_saturated_ns(shares->report, shares_wall(shares)) ? shares_ns(shares, cause) : 0;
}

/* A disk that reads ahead of the decoding is waited for by nobody, and yet it sets the pace. */
static uint64_t behind_decoding(const struct shares *shares, const struct cause *cause)
{
	const uint64_t ns = rules_saturated_ns(shares->report, shares_wall(shares)),
		       idle_ns = shares->by_gpu ? shares->idle_ns : UINT64_MAX;

	return MIN(ns, idle_ns) > shares_ns(shares, cause) ? MIN(ns, idle_ns) : 0;
}

/* A GPU that waits while its process computes is not training. */
static uint64_t before_training(const struct shares *shares, const struct cause *cause)
{
	return shares->by_gpu && (shares->serves || shares->report->why->loaders.n) ? shares_ns(shares, cause) : 0;
}

static uint64_t of_training(const struct shares *shares, const struct cause *cause)
{
	return shares_train(shares) && !shares->by_gpu ? shares_ns(shares, cause) : 0;
}

/* The wait for the answer to an upload is one for what was sent. */
static uint64_t of_uploads(const struct shares *shares, const struct cause *cause)
{
	const struct report_peers *peers = shares->report->peers;
	uint64_t sent = 0, received = 0;

	for (uint32_t i = 0; peers && i < peers->n; i++) {
		const bool far = strncmp(peers->row[i].family, "inet", strlen("inet")) == 0;

		sent += far ? peers->row[i].sent : 0;
		received += far ? peers->row[i].received : 0;
	}
	return sent >= UPLOAD_LEAST && sent / UPLOADS >= received ? shares_ns(shares, cause) : 0;
}

/*
 * A server's loop waits in epoll for all its clients, in whose hands it is how much there is to do. Ranks accept
 * connections of others, too, and loaders those of their trainer: they work for one job.
 */
static uint64_t of_clients(const struct shares *shares, const struct cause *cause)
{
	const struct report *report = shares->report;
	const struct report_path_root *root = shares->root;
	const struct report_proc *proc = table_find(&report->procs, root->pid);
	uint64_t ns = 0;

	if (shares_train(shares) || (proc && proc->rank[0]))
		return 0;
	for (uint32_t i = 0; i < root->sums.n; i++) {
		const struct path_leaf *leaf = &root->sums.v[i].leaf;
		const char *peer = path_name_text(&report->path->names, leaf->detail);

		if (leaf->kind == PATH_NETWORK && peer && report_peer_is_client(report->peers, peer))
			ns += root->sums.v[i].ns;
	}
	return (double)ns >= MOST * (double)shares_path_ns(shares, cause) ? shares_ns(shares, cause) : 0;
}

/* A sync for each file or two, and not one file synced again and again. */
static uint64_t of_many_files(const struct shares *shares, const struct cause *cause)
{
	const struct table *files = &shares->report->files;
	uint64_t written = 0;

	for (uint32_t i = 0; i < files->n; i++) {
		const struct report_file *file = table_at(files, i);

		written += file->write_bytes > 0 && !file->stream;
	}
	return 2 * written >= sums(shares->report)->syncs ? shares_ns(shares, cause) : 0;
}

static uint64_t all_of_it(const struct shares *shares, const struct cause *cause)
{
	return shares_ns(shares, cause);
}

/* Fewer threads of its own would not help. */
static uint64_t behind_others(const struct shares *shares, const struct cause *cause)
{
	const struct path_cpu_use *use = &shares->report->path->cpu_use;

	return use->others_ns > use->job_ns ? shares_ns(shares, cause) : 0;
}

static void show_cpu_use(struct report *report, struct finding *finding)
{
	const struct path_cpu_use *use = &report->path->cpu_use;

	finding_add(finding, "processes outside the job had %.0f %% of the machine's CPU time, the job %.0f %%",
		    100 * (double)use->others_ns / (double)use->all_ns,
		    100 * (double)use->job_ns / (double)use->all_ns);
}

/* A GPU's work is no sleep; where a program without one plays it, it is. */
static void show_sleeps(struct report *report, struct finding *finding)
{
	const struct report_path_root *root = &report->path->root[0];
	uint64_t ns = 0;

	for (uint32_t i = 0; i < root->sums.n; i++)
		ns += root->sums.v[i].leaf.kind == PATH_SLEEP ? root->sums.v[i].ns : 0;
	if (ns >= (root->end_ns - root->begin_ns) / 2)
		finding_add(finding, "most of it is sleep for a given time: if that is not for a GPU, it is a pause "
				     "between tries, or a limit of requests");
}

static void show_spin(struct report *report, struct finding *finding)
{
	const struct path_spin *spin = &report->path->spin;

	finding_add(
		finding,
		"process %u was on a CPU for %s and never slept, and what it started, %s, never waited for it: so it "
		"looks for their results again and again, or is no slower than they are",
		spin->pid, FMT_NS(spin->cpu_ns), FMT_N(spin->workers, "process", "processes"));
}

/* The first that applies. */
static const struct variant {
	const char *of; /* a cause; NULL: any */
	const struct rule *rule; /* NULL: that of the work behind a spin */
	uint64_t (*ns)(const struct shares *shares, const struct cause *cause);
	void (*show)(struct report *report, struct finding *finding); /* NULL: there is no more to say */
	enum { WITH_CAUSE, WITH_TIME, ALONE } shown; /* with all of the cause, or its time, or without it */
} variants[] = {
	{ NULL, &rule_gpu_bound, while_gpu_works, rules_show_gpu, ALONE },
	{ NULL, &rule_straggler, rules_straggler_ns, rules_show_straggler, WITH_CAUSE },
	{ "cpu-bound", NULL, of_spin, show_spin, WITH_TIME },
	{ "cpu-bound", &rule_before_training, before_training, NULL, WITH_CAUSE },
	{ "cpu-bound", &rule_trainer_bound, of_training, show_sleeps, WITH_CAUSE },
	{ "storage-read", &rule_own_writes, of_own_writes, rules_show_own_writes, WITH_CAUSE },
	{ "storage-read", &rule_memory_limit, short_of_memory, show_reclaims, WITH_CAUSE },
	{ "storage-read", &rule_storage_at_limit, at_a_limit, rules_show_saturated, WITH_CAUSE },
	{ "decode-cpu", &rule_disk_saturated, behind_decoding, rules_show_saturated, ALONE },
	{ "network-read", &rule_no_requests, of_clients, NULL, WITH_CAUSE },
	{ "network-read", &rule_network_write, of_uploads, NULL, WITH_CAUSE },
	{ "log-sync", &rule_file_syncs, of_many_files, NULL, WITH_CAUSE },
	{ "cpu-contention", &rule_cpu_others, behind_others, show_cpu_use, WITH_CAUSE },
	{ "cpu-quota", &rule_cpu_quota, all_of_it, rules_show_cpu_quota, WITH_CAUSE },
	{ "cpu-limit", &rule_cpu_limit, all_of_it, rules_show_cpu_limit, WITH_CAUSE },
};

/* Returns what CAUSE is more closely, NULL: no more than itself. *NS: how much shorter the job would be without it. */
static const struct variant *variant_of(const struct shares *shares, const struct cause *cause, uint64_t *ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		if (variants[i].of && strcmp(variants[i].of, cause->code) != 0)
			continue;
		*ns = variants[i].ns(shares, cause);
		if (*ns > 0)
			return &variants[i];
	}
	*ns = shares_ns(shares, cause);
	return NULL;
}

/* Returns the rule of CAUSE, which may be the VARIANT. */
static const struct rule *rule_of(const struct shares *shares, const struct cause *cause, const struct variant *variant)
{
	const struct cause *behind = NULL;
	double part;
	uint64_t ns;

	if (variant && variant->rule)
		return variant->rule;
	if (variant)
		behind = behind_spin(shares, &part);
	return behind ? rule_of(shares, behind, variant_of(shares, behind, &ns)) : rule_of_code(cause->code);
}

/* --- the choice -------------------------------------------------------------------------------------------------- */

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

/* The answer. */
struct choice {
	const struct cause *cause;
	const struct variant *variant; /* NULL: the cause itself */
	const struct rule *rule;
	uint64_t ns; /* by how much the job would be shorter without it, at most */
};

static struct choice choose(const struct shares *shares)
{
	struct choice choice = { .cause = answer_of(shares) };

	choice.variant = variant_of(shares, choice.cause, &choice.ns);
	choice.rule = rule_of(shares, choice.cause, choice.variant);
	return choice;
}

bool path_answer(const struct report *report, struct finding *answer)
{
	struct shares shares;
	struct choice choice;
	double share;

	if (!rules_know_waits(report) || !shares_of(report, &shares))
		return false;
	choice = choose(&shares);
	if (shares_unknown(&shares) > MOST_UNKNOWN * MAX(shares_ns(&shares, choice.cause), choice.ns))
		return false;
	share = shares_part(&shares, choice.ns);
	*answer = (struct finding){
		.rule = choice.rule,
		.measure = share,
		.share = share,
		.size = rules_size_of_share(report, share),
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
	const struct shares_idle *idle = &shares->idle[choice->cause - shares_causes];
	const bool is_work = choice->cause->is_work && (!choice->variant || choice->variant->rule);
	autofree char *of_gpu = shares->by_gpu ?
					util_fmt(", while its GPU was idle (%s at least, %s at most)",
						 FMT_NS((uint64_t)idle->least_ns), FMT_NS((uint64_t)idle->most_ns)) :
					NULL;

	finding_add(finding, "%s of the %s of process %u (%s), by what ended each wait%s%s", FMT_NS(choice->ns),
		    FMT_NS(shares_all(shares)), root->pid,
		    path_name_text(&shares->report->path->names, root->name) ?: "?", of_gpu ?: "",
		    is_work ? "" : "; without it the job would be shorter by that at most");
}

static void show_second(const struct shares *shares, struct finding *finding, const struct cause *cause)
{
	const struct cause *second = shares_largest(shares, cause);
	uint64_t ns;

	if ((double)shares_ns(shares, second) >= SECOND * (double)shares_ns(shares, cause))
		finding_add(finding, "another cause is about as large: %s, %.1f %%",
			    rule_of(shares, second, variant_of(shares, second, &ns))->code,
			    100 * shares_part(shares, shares_ns(shares, second)));
}

/* Shows the data set that had most of the calls, or page faults, which the cause is about. */
static void show_dataset(const struct report *report, struct finding *finding, const struct cause *cause)
{
	static const struct {
		const char *code;
		enum dataset_by by;
	} datasets[] = {
		{ "storage-read", DATASET_BY_READS },
		{ "storage-read", DATASET_BY_FAULTS },
		{ "open-metadata", DATASET_BY_OPENS },
	};
	const struct dataset *most = NULL;
	autofree char *text = NULL;
	size_t len = 0, i;
	FILE *out;

	for (i = 0; i < ARRAY_SIZE(datasets); i++) {
		most = strcmp(datasets[i].code, cause->code) == 0 ? report_dataset_most(report, datasets[i].by) : NULL;
		if (most)
			break;
	}
	out = most ? open_memstream(&text, &len) : NULL;
	if (!out)
		return;
	report_dataset_print(most, datasets[i].by, out);
	if (fclose(out) == 0)
		finding_add(finding, "most time went to: %s", text);
}

static void show_cause(struct report *report, const struct shares *shares, struct finding *finding,
		       const struct choice *choice)
{
	if (shares->by_gpu)
		rules_show_gpu(report, finding);
	show_second(shares, finding, choice->cause);
	show_when(shares, finding, choice->cause);
	if (choice->cause->rank)
		show_rank(report, finding);
	if (choice->variant && choice->variant->show)
		choice->variant->show(report, finding);
	show_detail(shares, finding, choice->cause);
	show_dataset(report, finding, choice->cause);
}

void path_evidence(struct report *report, struct finding *finding)
{
	struct shares shares;
	struct choice choice;

	if (!shares_of(report, &shares))
		return;
	choice = choose(&shares);
	if (!choice.variant || choice.variant->shown != ALONE)
		show_time(&shares, finding, &choice);
	if (!choice.variant || choice.variant->shown == WITH_CAUSE)
		show_cause(report, &shares, finding, &choice);
	else
		choice.variant->show(report, finding);
}
