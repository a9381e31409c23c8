/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer by the path (report/path): where what ended the waits shows a cause that the sums of calls cannot show, or
 * contradicts what was concluded from them. A wait in poll(2) is not for the network because of its name.
 */
#include <math.h>
#include <string.h>

#include "base/fmt.h"
#include "base/util.h"
#include "report/path/path.h"
#include "report/rules/rules_impl.h"
#include "report/scan/model.h"
#include "report/why/why.h"

#define LEAST_SURE 0.3 /* of the path: a cause that nothing else in the trace shows */
#define LEAST_PART 0.4 /* of the path: another cause, if the answer that it takes the place of is contradicted */
#define MOST_OF_ANSWER 0.2 /* of the path: the answer so far explains less, and is contradicted */
#define LEAST_WINDOW 0.5 /* of the trace: a first process that ended early shows too little */
#define SECOND 0.5 /* of the largest: another cause is named, too */

/* --- answers that only the path can give ------------------------------------------------------------------------ */

#define OF_PATH(name, the_code, the_title, the_number, the_advice) \
	static const struct rule name = {                          \
		.code = the_code,                                  \
		.title = the_title,                                \
		.number = the_number,                              \
		.is_share = true,                                  \
		.evidence = path_evidence,                         \
		.advice = the_advice,                              \
	}

OF_PATH(network_read, "network-read", "The job waited for a server, over the network",
	"waits that a server outside of the job ended, or a packet",
	"Fetch more at a time and over more connections, prefetch, or keep the data nearer: on a local disk, or in the "
	"same network.");
OF_PATH(cpu_quota, "cpu-quota", "The job's CPU quota was used up, and it waited for the next period",
	"time in which a thread could run, but for the quota of its cgroup",
	"Give the container or the job more CPUs (docker --cpus, resources.limits.cpu, cpu.max), or run fewer threads "
	"than the quota has CPUs.");
OF_PATH(stopped, "stopped", "The job was stopped, by a signal or a debugger", "time in which a thread was stopped",
	"Find out who stops it: a scheduler that suspends jobs, a debugger, ^Z in a terminal.");
OF_PATH(terminal, "terminal", "The job waited for input at its terminal", "waits for a terminal",
	"Give it what it asks for by its arguments or its standard input.");
OF_PATH(lock_wait, "lock-wait", "The job waited for a lock on a file", "waits for a lock that another process held",
	"Let each process have a file of its own, hold the lock for less time, or find out who holds it: /proc/locks "
	"has its PID.");
OF_PATH(poll_sleep, "poll-sleep", "The job slept between looks at whether something was done",
	"waits that a timer ended again and again, while nothing else of the job worked",
	"Wait for the event itself (a blocking get, a condition, poll without a timeout), or sleep for less time.");

const struct rule *const rules_of_path[] = { &network_read, &cpu_quota,  &stopped, &terminal,
					     &lock_wait,    &poll_sleep, NULL };

/* --- causes ------------------------------------------------------------------------------------------------------ */

#define KIND(kind) (1U << PATH_##kind)

/* Leaves of these KINDS are one cause; HELD: those, too, during which a lock was held that others waited for. */
static const struct cause {
	const char *code;
	uint32_t kinds;
	bool held, sure;
} causes[] = {
	{ "network-read", KIND(NETWORK), .sure = true },
	{ "cpu-quota", KIND(THROTTLED), .sure = true },
	{ "stopped", KIND(STOPPED), .sure = true },
	{ "terminal", KIND(TERMINAL), .sure = true },
	{ "lock-wait", KIND(LOCK), .held = true, .sure = true },
	{ "outside-wait", KIND(OUTSIDE) },
	{ "storage-read", KIND(DISK_READ) | KIND(DISK_FAULT) },
	{ "open-metadata", KIND(DISK_METADATA) },
	{ "checkpoint-write", KIND(DISK_WRITE) | KIND(DISK_SYNC) },
	{ "cpu-contention", KIND(RUNQ) },
	{ "cpu-bound", KIND(CPU) },
	{ "idle", KIND(SLEEP) | KIND(SIGNAL) },
	{ "poll-sleep", KIND(POLL) | KIND(TIMEOUT) },
};

_Static_assert(PATH_KINDS <= 32, "a bit for each");

/* Answers that the path contradicts where these kinds of leaves are too few. */
static const struct claim {
	const char *code;
	uint32_t kinds;
} claims[] = {
	{ "unknown", 0 },
	{ "outside-wait", KIND(OUTSIDE) | KIND(NETWORK) | KIND(INTERRUPT) | KIND(KERNEL) | KIND(UNKNOWN) },
	{ "idle", KIND(SLEEP) | KIND(SIGNAL) | KIND(POLL) | KIND(TIMEOUT) },
	/* it may wait for its GPU in any of these ways */
	{ "trainer-bound", KIND(CPU) | KIND(RUNQ) | KIND(DEVICE) | KIND(UNKNOWN) | KIND(SLEEP) | KIND(POLL) |
				   KIND(TIMEOUT) | KIND(KERNEL) | KIND(INTERRUPT) },
	{ "cpu-bound", KIND(CPU) | KIND(RUNQ) | KIND(UNKNOWN) },
};

static const struct report_path_root *root_of(const struct report *r)
{
	return r->path && r->path->n ? &r->path->root[0] : NULL;
}

static double part_of(const struct report_path_root *root, uint64_t ns)
{
	return (double)ns / (double)(root->end_ns - root->begin_ns);
}

static bool is_of(const struct path_leaf *leaf, const struct cause *cause)
{
	return leaf->held ? cause->held : cause->kinds >> leaf->kind & 1;
}

static uint64_t ns_of(const struct report_path_root *root, const struct cause *cause)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < root->sums.n; i++)
		if (is_of(&root->sums.v[i].leaf, cause))
			ns += root->sums.v[i].ns;
	return ns;
}

/* Returns the cause with the most time but for BUT. */
static const struct cause *largest(const struct report_path_root *root, const struct cause *but)
{
	const struct cause *most = NULL;

	for (const struct cause *cause = causes; cause < causes + ARRAY_SIZE(causes); cause++)
		if (cause != but && (!most || ns_of(root, cause) > ns_of(root, most)))
			most = cause;
	return most;
}

static const struct cause *cause_of(const struct rule *rule)
{
	for (const struct cause *cause = causes; cause < causes + ARRAY_SIZE(causes); cause++)
		if (strcmp(cause->code, rule->code) == 0)
			return cause;
	return NULL;
}

static const struct rule *rule_of(const char *code)
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

/* --- the choice -------------------------------------------------------------------------------------------------- */

/* Whether the path shows that the answer CODE is not so: too little of the time is what it says. */
static bool contradicts(const struct report_path_root *root, const char *code)
{
	for (const struct claim *claim = claims; claim < claims + ARRAY_SIZE(claims); claim++) {
		const struct cause as = { .kinds = claim->kinds };

		if (strcmp(claim->code, code) == 0)
			return part_of(root, ns_of(root, &as)) < MOST_OF_ANSWER;
	}
	return false;
}

/* Whether the first process of the job lived for most of the trace. */
static bool covers(const struct report *r, const struct report_path_root *root)
{
	return (double)(root->end_ns - root->begin_ns) >= LEAST_WINDOW * (double)report_duration_ns(r);
}

/* Whether MOST, SHARE of the path, takes the place of the answer CODE. What GPUs and the job's steps show is no guess.
 */
static bool is_surer(const struct report *report, const struct cause *most, double share, const char *code)
{
	if (strcmp(most->code, code) == 0) /* it can name the process outside of the job */
		return most->kinds == KIND(OUTSIDE) && share >= LEAST_PART;
	if (report->why->n_trainers && report->why->basis <= WHY_BY_REGIONS)
		return most->sure && share >= LEAST_PART;
	if (most->sure)
		return share >= LEAST_SURE;
	return share >= LEAST_PART && contradicts(root_of(report), code);
}

bool path_answer(const struct report *report, struct finding *answer)
{
	const struct report_path_root *root = root_of(report);
	const struct cause *most = root && covers(report, root) ? largest(root, NULL) : NULL;
	const double share = most ? part_of(root, ns_of(root, most)) : 0;
	const struct rule *rule = most ? rule_of(most->code) : NULL;

	if (!rule || !is_surer(report, most, share, answer->rule->code))
		return false;
	*answer = (struct finding){
		.rule = rule,
		.measure = share,
		.share = share,
		.size = rules_size_of_share(report, share),
		.by_path = true,
	};
	return true;
}

/* --- evidence ---------------------------------------------------------------------------------------------------- */

/* Shows for whom, or for which file, most of CAUSE's time was. */
static void show_detail(struct report *report, struct finding *finding, const struct cause *cause)
{
	const struct report_path_root *root = root_of(report);
	uint64_t inferred_ns = 0;
	unsigned int shown = 0;

	for (uint32_t i = 0; i < root->sums.n; i++) {
		const struct path_sum *sum = &root->sums.v[i];
		const char *detail = path_name_text(&report->path->names, sum->leaf.detail);
		const char *process = path_name_text(&report->path->names, sum->leaf.process);

		if (!is_of(&sum->leaf, cause))
			continue;
		inferred_ns += sum->leaf.inferred ? sum->ns : 0;
		if (shown++ < 2 && sum->ns * 20 >= root->end_ns - root->begin_ns)
			finding_add(finding, "%s%s%s (%s%s): %s", path_kinds[sum->leaf.kind].phrase, detail ? ": " : "",
				    detail ? detail : "", process ? process : "?", sum->leaf.thread ? "'s thread" : "",
				    FMT_NS(sum->ns));
	}
	if (inferred_ns > ns_of(root, cause) / 2)
		finding_add(finding,
			    "that is inferred: a thread looked again and again whether something was done, and others "
			    "of the job did this meanwhile");
}

void path_evidence(struct report *report, struct finding *finding)
{
	const struct report_path_root *root = root_of(report);
	const struct cause *cause = root ? cause_of(finding->rule) : NULL, *second;

	if (!cause)
		return;
	finding_add(finding, "by what ended each wait (waits.out), followed from process %u (%s) for its %s", root->pid,
		    path_name_text(&report->path->names, root->name) ?: "?", FMT_NS(root->end_ns - root->begin_ns));
	show_detail(report, finding, cause);
	second = largest(root, cause);
	if (second && (double)ns_of(root, second) >= SECOND * (double)ns_of(root, cause))
		finding_add(finding, "the second cause is about as large: %s, %.1f %%", second->code,
			    100 * part_of(root, ns_of(root, second)));
}
