/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends of processes: by a signal that nobody expects, or with a status other than 0. A shell passes on the status of
 * what it ran, and some programs answer a question by theirs: these have no line.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/util.h"
#include "report/failed/failures.h"

#define PASSES_ON_NS (2 * NSEC_PER_SEC) /* how long after the process that it ran a wrapper ends */
#define BY_SIGNAL 128 /* what shells add to the number of a signal */

/* Statuses that are answers: no match, not there, not equal, no repository; compilers and linkers look for libraries.
 */
static const struct {
	const char *name;
	int status;
} answers[] = {
	{ "[", 1 },        { "cc", 1 },    { "cmp", 1 },   { "collect2", 1 }, { "diff", 1 },  { "dpkg-query", 1 },
	{ "egrep", 1 },    { "expr", 1 },  { "false", 1 }, { "fgrep", 1 },    { "fuser", 1 }, { "gcc", 1 },
	{ "getent", 1 },   { "git", 1 },   { "git", 128 }, { "grep", 1 },     { "ld", 1 },    { "locale", 1 },
	{ "lsof", 1 },     { "pgrep", 1 }, { "pidof", 1 }, { "pkill", 1 },    { "ps", 1 },    { "readlink", 1 },
	{ "realpath", 1 }, { "rg", 1 },    { "rpm", 1 },   { "stty", 1 },     { "test", 1 },  { "tput", 1 },
	{ "tty", 1 },      { "which", 1 }, { "zgrep", 1 },
};
static const char *const shells[] = { "bash", "busybox", "dash", "ksh", "sh", "zsh" };

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* --- rows -------------------------------------------------------------------------------------------------- */

/* Returns the text after NAME in ARGS, up to the next blank (or to the end, if LAST), which are escaped. */
static struct reader_field value_of(struct reader_field args, const char *name, bool last)
{
	const char *at = memmem(args.p, args.len, name, strlen(name)), *end;
	struct reader_field value = { 0 };

	if (!at)
		return value;
	value.p = at + strlen(name);
	value.len = (size_t)(args.p + args.len - value.p);
	end = last ? NULL : memmem(value.p, value.len, "\\040", 4);
	if (end)
		value.len = (size_t)(end - value.p);
	return value;
}

static void take_sender(struct failed_end *end, struct reader_field args)
{
	const struct reader_field by = value_of(args, "\\040by=", false);

	for (unsigned int i = FAILED_BY_UNKNOWN + 1; by.p && i < FAILED_SENDERS; i++)
		if (reader_is(by, failed_senders[i]))
			end->sender = (enum failed_sender)i;
	if (end->sender == FAILED_BY_UNKNOWN)
		return;
	end->requested = value_of(args, "\\040requested=", false).p;
	reader_u64(value_of(args, "\\040by_pid=", false), &end->sender_pid);
	reader_u64(value_of(args, "\\040limit=", false), &end->limit_bytes);
	report_copy(end->sender_comm, sizeof(end->sender_comm), value_of(args, "\\040by_comm=", true));
}

/*
 * What the kernel sends in a call or a tick of the process itself looks as if it was sent by that. SIGXFSZ is for
 * nobody else to send; behind the hard limit of CPU time comes SIGKILL.
 */
static void correct_sender(struct failed_end *end, const struct report_proc *proc)
{
	const uint64_t cpu_ns = proc->user_ns + proc->sys_ns, limit_s = proc->rlimits[DLT_RLIMIT_CPU];

	if (!WIFSIGNALED(end->status) || end->sender != FAILED_BY_SELF)
		return;
	if (WTERMSIG(end->status) == SIGXFSZ)
		end->sender = FAILED_BY_KERNEL;
	else if (WTERMSIG(end->status) == SIGKILL && limit_s && cpu_ns / NSEC_PER_SEC >= limit_s)
		end->sender = FAILED_BY_CPU_LIMIT;
}

void report_failed_end(const struct scan *scan, const struct report_proc *proc)
{
	struct report_failed *failed = scan->report->failed;
	struct failed_end *end;
	uint64_t status;

	if (!failed || !scan_u64(scan, COL_STATUS, &status) || status > 0xffff ||
	    !(WIFSIGNALED(status) || WEXITSTATUS(status)) || failed->n_ends == FAILED_ENDS_MAX ||
	    util_room(&failed->ends, failed->n_ends, sizeof(*end)) < 0)
		return;
	end = &failed->ends[failed->n_ends++];
	*end = (struct failed_end){ .pid = proc->pid, .at_ns = scan->time_ns, .status = (int)status };
	memcpy(end->comm, proc->comm, sizeof(end->comm));
	take_sender(end, scan_field(scan, COL_ARGS));
	correct_sender(end, proc);
}

/* --- which of them matter ---------------------------------------------------------------------------------- */

static const struct report_proc *proc_of(const struct report *report, uint64_t pid)
{
	return table_find(&report->procs, pid);
}

/* Whether PARENT only passes on how CHILD ended. */
static bool passes_on(const struct failed_end *parent, const struct failed_end *child)
{
	const int code = WEXITSTATUS(parent->status);

	if (parent->at_ns < child->at_ns || parent->at_ns - child->at_ns > PASSES_ON_NS)
		return false;
	return WIFSIGNALED(child->status) ? code == BY_SIGNAL + WTERMSIG(child->status) :
					    code == WEXITSTATUS(child->status);
}

static bool is_passed_on(const struct report *report, const struct report_failed *failed, const struct failed_end *end)
{
	for (uint32_t i = 0; i < failed->n_ends; i++) {
		const struct report_proc *child = proc_of(report, failed->ends[i].pid);

		if (child && child->ppid == end->pid && passes_on(end, &failed->ends[i]))
			return true;
	}
	return false;
}

/* What the job has asked to end says by its status that it was asked. */
static bool is_done_with(const struct failed_end *end)
{
	return end->requested && end->sender == FAILED_BY_JOB;
}

/* A part of a shell, which has executed no program: the shell does what it wants with its status. */
static bool is_subshell(const struct report_proc *proc, const struct failed_end *end)
{
	return !proc->execs && is_one_of(end->comm, shells, ARRAY_SIZE(shells));
}

static bool is_answer(const struct failed_end *end)
{
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		if (WEXITSTATUS(end->status) == answers[i].status && strcmp(end->comm, answers[i].name) == 0)
			return true;
	return false;
}

static bool status_matters(const struct report *report, const struct report_failed *failed,
			   const struct failed_end *end, const struct report_proc *proc)
{
	if (end->pid == report->manifest.workload_pid || is_subshell(proc, end))
		return false;
	return !is_done_with(end) && !is_answer(end) && !is_passed_on(report, failed, end);
}

static void add(struct report_failed *failed, const struct failed_end *end)
{
	struct failure like = { .kind = FAILURE_STATUS, .code = WEXITSTATUS(end->status), .pid = end->pid };

	memcpy(like.comm, end->comm, sizeof(like.comm));
	if (WIFSIGNALED(end->status)) {
		like.kind = FAILURE_SIGNAL;
		like.code = WTERMSIG(end->status);
		like.sender = end->sender;
		like.sender_pid = end->sender == FAILED_BY_OTHER ? end->sender_pid : 0;
		like.limit_bytes = end->limit_bytes;
		memcpy(like.sender_comm, end->sender_comm, sizeof(like.sender_comm));
	}
	failures_add(failed, &like, "", 0, end->at_ns, 0);
}

/* All rows of pids.out are read, whatever part of the trace is looked at. */
static bool is_inside(const struct report *report, uint64_t at_ns)
{
	const struct window part = manifest_part(&report->manifest);

	return !report->only.path && (!part.end_ns || (at_ns >= part.begin_ns && at_ns < part.end_ns));
}

void failed_ends_add(const struct report *report, struct report_failed *failed)
{
	for (uint32_t i = 0; i < failed->n_ends; i++) {
		const struct failed_end *end = &failed->ends[i];
		const struct report_proc *proc = proc_of(report, end->pid);

		if (!proc || proc->aside || !is_inside(report, end->at_ns))
			continue;
		if (WIFSIGNALED(end->status) ? failed_signal_matters(WTERMSIG(end->status), end->sender) :
					       status_matters(report, failed, end, proc))
			add(failed, end);
	}
}
