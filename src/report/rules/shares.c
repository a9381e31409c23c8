/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/rules/shares.h"

#include <string.h>

#include "base/util.h"
#include "report/rules/rules_impl.h"
#include "report/scan/model.h"
#include "report/why/why.h"

#define COLD 0.25 /* of reads and the CPU time in them: these reads came from a disk */
#define LEAST_SERVICE 0.25 /* of the path, from the first time that somebody waits for a worker to the last */
#define LEAST_SAMPLED 0.5 /* of the path, by the GPU's samples: with fewer, they say too little */
#define SYNCS_LEAST 20
#define SYNC_BYTES (64U << 10) /* written for each sync: no checkpoint */

#define KIND(kind) (1ULL << PATH_##kind)
#define ON_CPU (KIND(CPU) | KIND(CPU_READ) | KIND(CPU_WRITE) | KIND(CPU_METADATA))
#define STORAGE (KIND(DISK_READ) | KIND(DISK_WRITE) | KIND(DISK_SYNC) | KIND(DISK_METADATA) | KIND(DISK_FAULT))
#define WORK (ON_CPU | STORAGE | KIND(RUNQ)) /* that would go with what needs it */
#define ALL UINT64_MAX
#define ROLE(role) (1U << PATH_##role)
#define IN_CHARGE (ROLE(OWN) | ROLE(CHILD))
#define ANY (IN_CHARGE | ROLE(WORKER))

/* The first cause that has a leaf counts it; the last one has all that no other has. */
const struct cause shares_causes[] = {
	{ "lock-wait", ALL, ANY, .held = true },
	{ "lock-wait", KIND(LOCK) | KIND(LOCK_TRIED), ANY },
	{ "stopped", KIND(STOPPED), ANY },
	{ "terminal", KIND(TERMINAL), ANY },
	{ "held-by", KIND(HELD), ANY },
	{ "cpu-quota", KIND(THROTTLED), ANY },
	{ "network-read", KIND(NETWORK), ANY },
	{ "network-write", KIND(NETWORK_SEND), ANY },
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
	{ "cpu-limit", KIND(RUNQ), ANY, .few_cpus = true },
	{ "cpu-contention", KIND(RUNQ), ANY },
	{ "collate-main", KIND(CPU) | KIND(CPU_READ), ROLE(OWN), .doing = PATH_FETCHES },
	{ "decode-cpu", KIND(CPU) | KIND(CPU_READ), ROLE(WORKER) },
	{ "decode-cpu", KIND(CPU) | KIND(CPU_READ), ROLE(OWN), .doing = PATH_BATCHES },
	{ "cpu-bound", KIND(CPU) | KIND(CPU_READ), IN_CHARGE, .is_work = true },
	{ "outside-wait", KIND(OUTSIDE), ANY },
	{ "outside-wait", KIND(DEVICE), ANY, .of_training = true },
	{ "no-requests", KIND(CLIENT), ANY },
	{ "rate-limit", KIND(SLEEP) | KIND(POLL) | KIND(AWAITED) | KIND(TIMEOUT), ROLE(WORKER) },
	{ "idle", KIND(SLEEP) | KIND(SIGNAL), IN_CHARGE, .of_training = true },
	{ "poll-sleep", KIND(AWAITED), IN_CHARGE },
	{ "poll-sleep", KIND(POLL) | KIND(TIMEOUT), IN_CHARGE, .of_training = true },
	{ "no-answer", KIND(UNENDED), ANY },
	{ "unknown", ALL, ANY },
};

const unsigned int shares_n_causes = ARRAY_SIZE(shares_causes);

_Static_assert(PATH_KINDS <= 64, "a bit for each");
_Static_assert(ARRAY_SIZE(shares_causes) <= SHARES_CAUSES_MAX, "shares have room");

static uint64_t ns_of_kind(const struct report_path_root *root, uint64_t kinds)
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
	       (!cause->few_cpus || leaf->detail) && (!cause->doing || leaf->doing == cause->doing) &&
	       (!cause->cold || shares->cold) && (!cause->small || shares->small_syncs);
}

/* Returns the index of LEAF's cause from that of FROM on; the last one has all that no other has. */
static unsigned int cause_from(const struct shares *shares, const struct path_leaf *leaf, unsigned int from)
{
	while (from + 1 < shares_n_causes && !fits(shares, &shares_causes[from], leaf))
		from++;
	return from;
}

static unsigned int cause_of_leaf(const struct shares *shares, const struct path_leaf *leaf)
{
	return cause_from(shares, leaf, 0);
}

bool shares_train(const struct shares *shares)
{
	const struct why *why = shares->report->why;

	return shares->serves || shares->on_gpu || why->loaders.n || why->seen == WHY_SEEN_GPU ||
	       why->basis == WHY_BY_REGIONS;
}

/* Returns the index of the row that counts for the I-th: the first one of its code, or that of what training is. */
static unsigned int counts_as(const struct shares *shares, unsigned int i)
{
	const bool of_training = shares_causes[i].of_training && shares_train(shares) && !shares->by_gpu;
	const char *code = of_training ? rule_cpu_bound.code : shares_causes[i].code;
	unsigned int first = 0;

	while (strcmp(shares_causes[first].code, code) != 0)
		first++;
	return first;
}

/* Of files alone: a call that sets a file's size has a row in sync.out, and a pipe is synced to nothing. */
static bool has_small_syncs(const struct report *r)
{
	const uint64_t syncs = sums(r)->syncs;

	return syncs >= SYNCS_LEAST && r->by_type[REPORT_REG][1].bytes / syncs < SYNC_BYTES;
}

/*
 * Adds NS of LEAF to its cause in OF. Of the time in a slow rank, others waited for a part; the rest is work that they
 * have, too, and has its own causes.
 */
static void add_leaf(const struct shares *shares, const struct path_leaf *leaf, double ns, double *of)
{
	const unsigned int cause = cause_of_leaf(shares, leaf);
	const double late = shares_causes[cause].rank ? shares->late : 1;

	of[counts_as(shares, cause)] += late * ns;
	if (late < 1)
		of[counts_as(shares, cause_from(shares, leaf, cause + 1))] += (1 - late) * ns;
}

/* Returns the part of the time in a slow rank in which others waited for it. */
static double late_of(const struct shares *shares)
{
	const struct report_path_root *root = shares->root;
	const uint64_t waited_ns = shares->report->path->slow_rank.waited_ns;
	uint64_t slow_ns = 0;

	for (uint32_t i = 0; i < root->sums.n; i++)
		if (shares_causes[cause_of_leaf(shares, &root->sums.v[i].leaf)].rank)
			slow_ns += root->sums.v[i].ns;
	return slow_ns > waited_ns ? (double)waited_ns / (double)slow_ns : 1;
}

/* --- while the GPU was idle --------------------------------------------------------------------------------------- */

enum shares_tier shares_tier(const struct cause *cause)
{
	if (cause->is_work)
		return SHARES_WORK;
	return cause->of_training ? SHARES_FOR_GPU : SHARES_WAIT;
}

void shares_idle_tiers(double idle_ns, const double ns[static SHARES_TIERS], double idle[static SHARES_TIERS])
{
	for (enum shares_tier tier = 0; tier < SHARES_TIERS; tier++) {
		idle[tier] = MIN(idle_ns, ns[tier]);
		idle_ns -= idle[tier];
	}
}

/* Adds a sample, in which the causes had OF. */
static void add_sample(struct shares *shares, const struct path_sample *sample, const double *of)
{
	const double length = (double)(sample->end_ns - sample->begin_ns), idle_ns = (double)sample->idle_ns;
	double ns[SHARES_TIERS] = { 0 }, idle_of[SHARES_TIERS];

	for (unsigned int i = 0; i < shares_n_causes; i++)
		ns[shares_tier(&shares_causes[i])] += of[i];
	shares_idle_tiers(idle_ns, ns, idle_of);
	for (unsigned int i = 0; i < shares_n_causes; i++) {
		struct shares_idle *idle = &shares->idle[i];
		const enum shares_tier tier = shares_tier(&shares_causes[i]);

		if (of[i] <= 0)
			continue;
		idle->ns += idle_of[tier] * (of[i] / ns[tier]);
		idle->least_ns += MAX(of[i] + idle_ns - length, 0.0);
		idle->most_ns += MIN(of[i], idle_ns);
	}
}

static void find_samples(struct shares *shares)
{
	const struct path_idle *idle = &shares->report->path->idle;

	for (uint32_t i = 0; i < idle->n; i++) {
		shares->sampled_ns += idle->sample[i].end_ns - idle->sample[i].begin_ns;
		shares->idle_ns += idle->sample[i].idle_ns;
	}
	shares->by_gpu = (double)shares->sampled_ns >= LEAST_SAMPLED * (double)shares_wall(shares);
}

static void find_idle(struct shares *shares)
{
	const struct path_idle *idle = &shares->report->path->idle;
	uint32_t at = 0;

	for (uint32_t i = 0; i < idle->n; i++) {
		double of[SHARES_CAUSES_MAX] = { 0 };

		for (; at < idle->n_parts && idle->part[at].sample == i; at++)
			add_leaf(shares, &shares->root->sums.v[idle->part[at].sum].leaf, (double)idle->part[at].ns, of);
		add_sample(shares, &idle->sample[i], of);
	}
}

/* --- all of it ------------------------------------------------------------------------------------------------------
 */

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

bool shares_of(const struct report *r, struct shares *shares)
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
	find_samples(shares);
	shares->late = late_of(shares);
	for (uint32_t i = 0; i < root->sums.n; i++)
		add_leaf(shares, &root->sums.v[i].leaf, (double)root->sums.v[i].ns, shares->of);
	find_idle(shares);
	return true;
}

uint64_t shares_wall(const struct shares *shares)
{
	return shares->root->end_ns - shares->root->begin_ns;
}

uint64_t shares_all(const struct shares *shares)
{
	return shares->by_gpu ? shares->sampled_ns : shares_wall(shares);
}

double shares_part(const struct shares *shares, uint64_t ns)
{
	return (double)ns / (double)shares_all(shares);
}

const struct cause *shares_largest(const struct shares *shares, const struct cause *but)
{
	unsigned int most = 0;

	if (but == &shares_causes[0])
		most = 1;
	for (unsigned int i = 0; i < shares_n_causes - 1; i++)
		if (&shares_causes[i] != but &&
		    shares_ns(shares, &shares_causes[i]) > shares_ns(shares, &shares_causes[most]))
			most = i;
	return &shares_causes[most];
}

uint64_t shares_ns(const struct shares *shares, const struct cause *cause)
{
	const size_t i = (size_t)(cause - shares_causes);

	return (uint64_t)(shares->by_gpu ? shares->idle[i].ns : shares->of[i]);
}

uint64_t shares_path_ns(const struct shares *shares, const struct cause *cause)
{
	return (uint64_t)shares->of[cause - shares_causes];
}

uint64_t shares_unknown(const struct shares *shares)
{
	return shares_ns(shares, &shares_causes[shares_n_causes - 1]);
}

const struct cause *shares_cause(const struct shares *shares, const struct path_leaf *leaf)
{
	return &shares_causes[counts_as(shares, cause_of_leaf(shares, leaf))];
}

bool shares_count(const struct shares *shares, const struct path_sum *sum, const struct cause *cause)
{
	return shares_cause(shares, &sum->leaf) == cause;
}
