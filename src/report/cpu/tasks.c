/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names: all threads of one name are a task; a process under one of its names is a role; rules with prefixes join the
 * kernel's many workers to groups. Knows neither files nor times.
 */
#include "report/cpu/scan.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/util.h"

const char *const report_cpu_kind_names[CPU_KINDS] = {
	[CPU_TARGET] = "target", [CPU_KERNEL] = "kernel", [CPU_SELF] = "self",
	[CPU_OTHER] = "other",   [CPU_IDLE] = "idle",
};

/* Kernel threads that exist for each CPU, disk or interrupt: their names end with a number or a device. */
static const char default_rules[] =
	"kworker,migration,ksoftirqd,rcu,cpuhp,irq,kswapd,kcompactd,idle_inject,watchdog,jbd2,xfs,btrfs,dm-,md,loop,"
	"nvme,scsi_eh,iou-sqp,nfsd,kthreadd,khugepaged,kblockd,kauditd,writeback";

/* --- rules and patterns ----------------------------------------------------------------------------- */

/* Calls TAKE with each word of LIST. */
static int each_word(const char *list, int (*take)(struct report_cpu *r, char *word), struct report_cpu *r)
{
	autofree char *copy = strdup(list);
	int res = copy ? 0 : -ENOMEM;

	for (char *rest = copy, *word; !res && (word = strsep(&rest, ","));)
		if (*word)
			res = take(r, word);
	return res;
}

static int add_rule(struct report_cpu *r, const char *word, bool any)
{
	struct cpu_rule *rule = &r->rules[r->n_rules];

	if (r->n_rules == CPU_RULES_MAX || strlen(word) > 15)
		return -EINVAL;
	rule->any = any;
	*text_put_piece(rule->prefix, word, strlen(word)) = '\0';
	r->n_rules++;
	return 0;
}

static int add_default_rule(struct report_cpu *r, char *word)
{
	return add_rule(r, word, false);
}

static int add_own_rule(struct report_cpu *r, char *word)
{
	return strcmp(word, "none") == 0 ? 0 : add_rule(r, word + (*word == '+'), true);
}

static int add_pattern(struct report_cpu *r, char *word)
{
	struct cpu_pattern *p = &r->patterns[r->n_patterns];

	if (r->n_patterns == CPU_PATTERNS_MAX || strlen(word) >= sizeof(p->glob))
		return -EINVAL;
	snprintf(p->glob, sizeof(p->glob), "%s", word);
	r->n_patterns++;
	return 0;
}

/* The user's rules come first: the first one that fits counts. */
int report_cpu_rules(struct report_cpu *r)
{
	const struct report_cpu_options *o = &r->options;
	int res = o->merge ? each_word(o->merge, add_own_rule, r) : 0;

	if (!res && (!o->merge || o->merge[0] == '+'))
		res = each_word(default_rules, add_default_rule, r);
	if (res)
		return res;
	return each_word(o->pattern ? o->pattern : CPU_PATTERN, add_pattern, r);
}

uint16_t report_cpu_matches(const struct report_cpu *r, struct reader_field comm)
{
	char name[CPU_COMM_MAX];
	uint16_t bits = 0;

	name[comm.len < sizeof(name) ? text_unescape(name, comm.p, comm.len) : 0] = '\0';
	for (uint32_t i = 0; i < r->n_patterns; i++)
		bits |= (uint16_t)((fnmatch(r->patterns[i].glob, name, 0) == 0) << i);
	return bits;
}

/* --- tasks and roles --------------------------------------------------------------------------------- */

uint32_t report_cpu_task(struct report_cpu *cpu, enum cpu_kind kind, struct reader_field comm)
{
	struct cpu_task *task;
	size_t len;

	if (!comm.len)
		comm = (struct reader_field){ "-", 1 };
	len = MIN(comm.len, sizeof(task->comm) - 1);
	task = table_get(&cpu->tasks, table_key(comm.p, comm.len) * CPU_KINDS + kind);
	if (!task)
		return 0;
	if (!task->comm[0]) {
		memcpy(task->comm, comm.p, len);
		task->comm[len] = '\0';
		task->kind = (uint8_t)kind;
	}
	return report_cpu_number(&cpu->tasks, task);
}

uint32_t report_cpu_task_known(const struct report_cpu *r, enum cpu_kind kind, struct reader_field comm)
{
	const struct cpu_task *t = table_find(&r->tasks, table_key(comm.p, comm.len) * CPU_KINDS + kind);

	return t ? report_cpu_number(&r->tasks, t) : 0;
}

uint32_t report_cpu_role(struct report_cpu *cpu, uint32_t proc, uint32_t task)
{
	uint32_t n = cpu->roles.n;
	struct cpu_role *role = table_get(&cpu->roles, report_cpu_pair(proc, task));

	if (!role)
		return 0;
	if (cpu->roles.n != n) {
		role->proc = proc;
		role->task = task;
		report_cpu_task_at(cpu, task)->pids++;
	}
	return report_cpu_number(&cpu->roles, role);
}

/* --- groups ------------------------------------------------------------------------------------------ */

static const struct cpu_rule *rule_of(const struct report_cpu *r, const struct cpu_task *t)
{
	for (uint32_t i = 0; i < r->n_rules; i++) {
		const struct cpu_rule *rule = &r->rules[i];

		if ((rule->any || t->kind == CPU_KERNEL) && strncmp(t->comm, rule->prefix, strlen(rule->prefix)) == 0)
			return rule;
	}
	return NULL;
}

static const char *group_name(const struct cpu_task *t, const struct cpu_rule *rule)
{
	if (t->kind == CPU_IDLE)
		return "(idle)";
	if (t->kind == CPU_SELF)
		return "(dltraced itself)";
	if (t->kind == CPU_OTHER)
		return "(others)";
	if (rule)
		return rule->prefix;
	return t->comm;
}

void cpu_sums_add(struct cpu_sums *to, const struct cpu_sums *s)
{
	to->run_ns += s->run_ns;
	to->runq_ns += s->runq_ns;
	to->disk_ns += s->disk_ns;
	to->blocked_ns += s->blocked_ns;
	to->sleep_ns += s->sleep_ns;
	to->switches += s->switches;
	to->preempted += s->preempted;
}

static void group_task(struct report_cpu *cpu, struct cpu_task *task)
{
	const struct cpu_rule *rule = rule_of(cpu, task);
	const char *name = group_name(task, rule);
	/* a joined group may have threads of several kinds: it is the kernel's when the first is */
	uint64_t key = table_key(name, strlen(name)) * 2 * CPU_KINDS + 2ULL * task->kind + (rule != NULL);
	struct cpu_group *group = table_get(&cpu->groups, key);

	if (!group)
		return;
	if (!group->tasks++) {
		snprintf(group->name, sizeof(group->name), "%s", name);
		group->kind = task->kind;
		group->workers = rule && task->kind == CPU_KERNEL;
	}
	cpu_sums_add(&group->sums, &task->sums);
	group->threads += task->threads;
	task->group = report_cpu_number(&cpu->groups, group);
}

void report_cpu_group(struct report_cpu *cpu)
{
	for (uint32_t i = 0; i < cpu->tasks.n; i++)
		if (report_cpu_task_at(cpu, i)->comm[0])
			group_task(cpu, table_at(&cpu->tasks, i));
	/* a process may have several names within one group */
	for (uint32_t i = 0; i < cpu->roles.n; i++) {
		const struct cpu_role *role = table_at(&cpu->roles, i);
		uint32_t group = report_cpu_task_at(cpu, role->task)->group;
		uint8_t *seen = role->threads ? table_get(&cpu->group_pids, report_cpu_pair(group, role->proc)) : NULL;

		if (seen && !(*seen)++)
			((struct cpu_group *)table_at(&cpu->groups, group))->pids++;
	}
}
