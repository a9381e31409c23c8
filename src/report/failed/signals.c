/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/failed/signals.h"

#include <signal.h>
#include <stddef.h>

#include "base/util.h"

const char *const failed_senders[FAILED_SENDERS] = {
	[FAILED_BY_UNKNOWN] = "unknown",
	[FAILED_BY_KERNEL] = "kernel",
	[FAILED_BY_OOM] = "oom",
	[FAILED_BY_OOM_LIMIT] = "oom-limit",
	[FAILED_BY_CPU_LIMIT] = "cpu-limit",
	[FAILED_BY_SELF] = "itself",
	[FAILED_BY_JOB] = "job",
	[FAILED_BY_OTHER] = "other",
};

#define BY(sender) (1U << FAILED_BY_##sender)
#define LIMITS (BY(OOM) | BY(OOM_LIMIT) | BY(CPU_LIMIT))
/* An error of the program: the kernel ends it, or it ends itself (abort()). What a watchdog sends is no such error. */
#define CRASH (BY(UNKNOWN) | BY(KERNEL) | LIMITS | BY(SELF) | BY(OTHER))

/*
 * A program may be asked to end: by its parent (SIGTERM), a terminal (SIGINT), a reader that has enough (SIGPIPE).
 * These count only if they come from outside of the job. A signal that is not here never counts.
 */
static const struct {
	int nr;
	unsigned int senders; /* bits: from these nobody expects it */
	const char *advice;
} signals[] = {
	{ SIGABRT, CRASH, "What it printed says why it gave up (an assertion, an exception of C++, a broken heap)." },
	{ SIGBUS, CRASH,
	  "It touched a mapping without a page behind it: mostly /dev/shm is full (df -h /dev/shm; docker --shm-size), "
	  "or "
	  "the file was cut off meanwhile." },
	{ SIGFPE, CRASH, "It divided by zero: a debugger (gdb, coredumpctl) shows where." },
	{ SIGILL, CRASH, "A library was built for another CPU: install one for this CPU." },
	{ SIGKILL, CRASH,
	  "Find out who sent it: the kernel's OOM killer (dmesg has a line), or what limits the job (Slurm, "
	  "Kubernetes, "
	  "docker), or a program of its own." },
	{ SIGSEGV, CRASH,
	  "Native code touched memory that is not there: faulthandler (python -X faulthandler) or a debugger shows "
	  "where." },
	{ SIGSYS, CRASH, "A seccomp filter forbids one of its system calls: change the container's profile." },
	{ SIGTRAP, CRASH, "An assertion of native code, or a debugger's breakpoint: a debugger shows where." },
	{ SIGXCPU, CRASH, "Its limit of CPU time is used up (ulimit -t): raise it." },
	{ SIGXFSZ, CRASH, "A file reached the limit of its size (ulimit -f): raise it." },
	{ SIGHUP, BY(OTHER), NULL },
	{ SIGINT, BY(OTHER), NULL },
	{ SIGQUIT, BY(OTHER), NULL },
	{ SIGTERM, BY(OTHER), NULL },
	{ SIGUSR1, BY(OTHER), NULL },
	{ SIGUSR2, BY(OTHER), NULL },
};

/* What is to be done, whatever the signal, by who sent it. */
static const char *const by_sender[FAILED_SENDERS] = {
	[FAILED_BY_OOM] =
		"The machine's memory was used up, and the kernel chose this process: let the job need less (fewer "
		"workers, smaller batches, less kept in memory), or give it a machine with more.",
	[FAILED_BY_OOM_LIMIT] =
		"The memory limit of its cgroup was used up: raise it (docker --memory, "
		"resources.limits.memory, sbatch --mem), or let the job need less (fewer workers, smaller "
		"batches).",
	[FAILED_BY_CPU_LIMIT] = "Its limit of CPU time is used up (ulimit -t): raise it.",
	[FAILED_BY_SELF] = "It ended itself: what it printed may say why.",
	[FAILED_BY_OTHER] = "Find out why that process ends the job: a scheduler's limit, an operator, a clean-up.",
};

bool failed_signal_matters(int nr, enum failed_sender sender)
{
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (signals[i].nr == nr)
			return signals[i].senders >> sender & 1;
	return false;
}

const char *failed_signal_advice(int nr, enum failed_sender sender)
{
	if (by_sender[sender] && (nr == SIGKILL || sender == FAILED_BY_OTHER))
		return by_sender[sender];
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (signals[i].nr == nr && signals[i].advice)
			return signals[i].advice;
	return "Find out who ends the job's processes.";
}
