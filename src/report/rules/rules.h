/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Problems in a job's use of its storage, and what to do about them: a table of rules, each with a measure taken from
 * the trace and a threshold. A rule is tried only where the trace has what it needs. One rule at most is the
 * bottleneck: the cause of most of the waits. `dltraced report --rules' lists them all, and docs/rules.md.
 */
#ifndef REPORT_RULES_RULES_H
#define REPORT_RULES_RULES_H

#include <stdbool.h>
#include <stdint.h>

#define RULES_MAX 48
#define RULES_EVIDENCE_MAX 8
#define RULES_NEEDS_BUF 256
#define RULES_PROBLEM 0.01 /* of the job's time: what costs less is nothing to mend */

struct report;

/* How much of the job a finding concerns. NAN: not known, or not applicable. */
struct finding_size {
	double ns, share; /* waits, or time in such calls; as a share of the job's time */
	double bytes;
};

struct finding {
	const struct rule *rule;
	double measure;
	double share; /* of the time; NAN: its measure is not a share of the time */
	struct finding_size size;
	bool is_bottleneck, is_fact;
	const char *advice; /* in place of the rule's; NULL: that */
	char *caveat; /* missing data that could change it; NULL: none */
	char *evidence[RULES_EVIDENCE_MAX]; /* a line each: numbers, when, which files */
	unsigned int n;
};

/* What a rule needs of the trace. */
enum rule_need {
	RULE_RW = 1 << 0, /* vfs_rw.out */
	RULE_OPEN = 1 << 1, /* open.out */
	RULE_SYNC = 1 << 2, /* sync.out */
	RULE_ACCOUNT = 1 << 3, /* reads from disks of this machine, with DISK_BYTES */
	RULE_TRAINS = 1 << 4, /* a sure sign of training */
	RULE_FAULT = 1 << 5, /* fault.out, with latencies */
	RULE_BIO = 1 << 6, /* bio.out, with the files of requests */
	RULE_CACHE = 1 << 7, /* cache.out */
	RULE_STEPS = 1 << 8, /* steps, by regions.out */
	RULE_RECLAIM = 1 << 9, /* reclaim.out */
};

struct rule {
	const char *code, *title;
	const char
		*number; /* what its measure is, for docs/rules.md; of an answer without a measure, when it is given */
	double threshold;
	unsigned int needs;
	bool is_share; /* its measure is a part of something */
	double (*measure)(const struct report *r); /* returns 0 where the rule does not apply */
	struct finding_size (*size)(const struct report *r); /* NULL: the share is a part of the time */
	bool is_fact; /* describes the job: nothing needs mending */
	const char *within; /* it is also a fact if the rule of this code fires, or is the answer: that includes it */
	void (*evidence)(struct report *r, struct finding *f);
	const char *advice; /* NULL: there is nothing to be done about it */
};

/* Returns what is to be done about F; NULL: nothing is. */
static inline const char *finding_advice(const struct finding *f)
{
	return f->advice ? f->advice : f->rule->advice;
}

struct rules {
	struct finding bottleneck;
	struct finding found[RULES_MAX]; /* problems, the largest first; then facts, the largest first */
	unsigned int n, n_facts;
	char *missing[RULES_MAX]; /* rules that could not be tried, and why: a sentence each */
	unsigned int n_missing;
};

/* Each table ends with a rule without a code, and is in the file of its name. */
extern const struct rule rules_of_access[], rules_of_calls[], rules_of_disks[], rules_of_sharing[], rules_of_steps[],
	rules_of_workers[], rules_of_limits[];
/* All tables of rules; ends with NULL. */
extern const struct rule *const rules_tables[];
/* The answers that name no cause: that it is not known, and what the job did instead of waiting. */
extern const struct rule rule_unknown, rule_trainer_bound, rule_cpu_bound, rule_idle;
/* The answers of a job that was too short or failed: without other findings, as these would be about its start alone.
 */
/* failed.c: the answers of a job whose end, or main wait, follows from what failed. */
extern const struct rule rule_failed_end, rule_failed_answer, rule_failed_calls, rule_failed_process;
extern const struct rule rule_too_short, rule_traced_too_short, rule_part_too_short, rule_failed, rule_not_found,
	rule_not_executable, rule_untraced;
/* All of these; ends with NULL. */
extern const struct rule *const rules_answers[];
/* storage-read, where the disk was at its limit: its advice is another one. */
extern const struct rule rule_own_writes, rule_memory_limit, rule_disk_saturated, rule_storage_at_limit;
extern const struct rule rule_straggler, rule_cpu_others, rule_file_syncs, rule_network_write, rule_no_requests;
/* cpu-limit: what has limited the CPUs is said of it. */
extern const struct rule rule_cpu_limit, rule_cpu_quota;
/* What a GPU's samples make of the job's own work: that it sets the pace, or that the GPU waits for it. */
extern const struct rule rule_gpu_bound, rule_before_training;
/* What the job waited for (path_rules.c); ends with NULL. */
extern const struct rule *const rules_of_path[];

/* Tries all rules on REPORT->why. NULL when memory is out. */
struct rules *rules_new(struct report *report);
void rules_free(struct rules *rules);

/* --- shared by the parts of rules ------------------------------------------------------------------------ */

/* verdict.c: chooses the answer, which is in no table of rules. */
void verdict_choose(struct report *report, struct rules *rules);
/*
 * path.c: replaces ANSWER by the path's largest cause, if that is known. Returns whether it does. The other adds what
 * the path shows of FINDING's cause.
 */
bool path_answer(const struct report *report, struct finding *answer);
void path_evidence(struct report *report, struct finding *finding);
/* failed.c: replaces ANSWER if the job's end, or its main wait, follows from what failed. Returns whether it does. */
bool failed_answer(const struct report *report, struct finding *answer);
/*
 * hang.c: replaces ANSWER if the job waits for what nobody will end. Returns whether it does; else one that nobody has
 * ended gets for whom the wait was.
 */
bool hang_answer(const struct report *report, struct finding *answer);
/* Adds since when the first process waits, and for whom, if that wait lasted to the end. */
void hang_show(struct report *report, struct finding *finding);
/* Returns the answer of a job that was too short for any, or failed; NULL: it was not. */
const struct rule *verdict_of_none(const struct report *report);
/* Whether there is a path, through most of the trace. */
bool rules_know_waits(const struct report *r);
/* Returns the names of what RULE needs, as a list in BUF; "": nothing. */
const char *rules_needs(const struct rule *rule, char buf[static RULES_NEEDS_BUF]);
/* Returns what RULE lacks in the trace; NULL: nothing. */
const char *rules_lack(const struct report *r, const struct rule *rule);
struct finding finding_of(const struct report *r, const struct rule *rule, double measure);
/* Frees F's texts. */
void finding_free(struct finding *f);
/* Adds a line of evidence. */
void finding_add(struct finding *finding, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns AT_NS in seconds since the trace began. */
double rules_seconds(const struct report *r, uint64_t at_ns);
double rules_percent(double part, double whole);

#endif
