/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is wrong with how a job uses its storage, and what to do about it: a table of rules, each with a number
 * that is taken from the trace and a threshold for it. A rule is only tried where the trace has what it needs.
 * One rule at most is the bottleneck: what most of the waits were for. docs/rules.md tells all of them.
 */
#ifndef REPORT_WHY_RULES_H
#define REPORT_WHY_RULES_H

#include <stdbool.h>
#include <stdint.h>

#define RULES_MAX 40
#define RULES_EVIDENCE_MAX 8
#define RULES_PROBLEM 0.01 /* of the job's time: what costs less is nothing to mend */

struct report;

/* How much of the job it is about. NAN: it is not known, or has none. */
struct finding_size {
	double ns, share; /* of the job's time: waits, or time in such calls; and which part of all of it that is */
	double bytes;
};

struct finding {
	const struct rule *rule;
	double measure;
	double share; /* of the time; NAN: its measure is none */
	struct finding_size size;
	bool is_bottleneck, is_fact;
	char *caveat; /* what is missing, where that could change it; NULL: nothing */
	char *evidence[RULES_EVIDENCE_MAX]; /* a line each: numbers, when, which files */
	unsigned int n;
};

/* What a rule needs of the trace. */
enum rule_need {
	RULE_RW = 1 << 0,      /* vfs_rw.out */
	RULE_OPEN = 1 << 1,    /* open.out */
	RULE_SYNC = 1 << 2,    /* sync.out */
	RULE_WAITS = 1 << 3,   /* when somebody trained, or read data all the time, and waited */
	RULE_SCHED = 1 << 4,   /* sched.out or sched_switch.out */
	RULE_CPU = 1 << 5,     /* cpu.out */
	RULE_ACCOUNT = 1 << 6, /* reads from disks of this machine, with DISK_BYTES */
	RULE_TRAINS = 1 << 7,  /* with RULE_WAITS: that it was training */
	RULE_NO_MORE = 1 << 8, /* likewise: that it hardly waited besides */
};

struct rule {
	const char *code, *title;
	double threshold;
	unsigned int needs;
	bool waits;    /* about the waits: may be the bottleneck; its measure is a share of the time */
	bool is_share; /* its measure is a part of something */
	double (*measure)(const struct report *r); /* 0 where it does not apply */
	double (*share)(const struct report *r);   /* of the time; NULL: that is the measure, where it is a share */
	struct finding_size (*size)(const struct report *r); /* NULL: the share is one of the time */
	bool is_fact;       /* describes the job, and is nothing to mend */
	const char *within; /* likewise, where the rule of this code fires: that says it, too */
	void (*evidence)(struct report *r, struct finding *f);
	const char *advice;
};

struct rules {
	struct finding bottleneck;
	struct finding found[RULES_MAX]; /* what is worth mending, the largest first; behind these the facts, likewise */
	unsigned int n, n_facts;
	char *missing[RULES_MAX]; /* rules that could not be tried, and why: a sentence each */
	unsigned int n_missing;
};

/* Each ends with one without a code, and is in the file of its name. */
extern const struct rule rules_of_waits[], rules_of_access[], rules_of_calls[], rules_of_sharing[], rules_of_workers[];
/* All of them, that of waits first; ends with NULL. */
extern const struct rule *const rules_tables[];
/* When no rule of waits says what they were for; when nobody is seen to have any; when there is nothing to wait for: what
 * the job did instead. */
extern const struct rule rule_unknown, rule_no_training, rule_trainer_bound, rule_cpu_bound, rule_idle;

/* All rules tried; of R->why. NULL: no memory. */
struct rules *rules_new(struct report *r);
void rules_free(struct rules *rules);

/* --- between them --------------------------------------------------------------------------------------- */

/* verdict.c: of those that were found the answer, which is taken out of them; or another. */
void verdict_choose(struct report *r, struct rules *rules);
/* It is known whose waits are the job's; and when these waited. */
bool rules_know_job(const struct report *r);
bool rules_know_waits(const struct report *r);
/* What RULE lacks; NULL: nothing. */
const char *rules_lack(const struct report *r, const struct rule *rule);
void rules_take_out(struct rules *rules, struct finding *f);
struct finding finding_of(const struct report *r, const struct rule *rule, double measure);
/* Frees what it says. */
void finding_free(struct finding *f);
/* One more line of evidence. */
void finding_add(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Seconds since the trace began. */
double rules_seconds(const struct report *r, uint64_t at_ns);
double rules_percent(double part, double whole);

#endif
