/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals that end processes: which of them nobody expects, by who sent them, and what is to be done. Pure. */
#ifndef REPORT_FAILED_SIGNALS_H
#define REPORT_FAILED_SIGNALS_H

#include <stdbool.h>

/* Who has sent a signal. */
enum failed_sender {
	FAILED_BY_UNKNOWN, /* the trace does not show it */
	FAILED_BY_KERNEL,
	FAILED_BY_OOM, /* the kernel, as the machine's memory was used up */
	FAILED_BY_OOM_LIMIT, /* the kernel, as that of a cgroup was */
	FAILED_BY_CPU_LIMIT, /* the kernel, as the process had used the CPU time that it might */
	FAILED_BY_SELF,
	FAILED_BY_JOB, /* another process of the job */
	FAILED_BY_OTHER, /* a process that is not the job's */
	FAILED_SENDERS,
};

extern const char *const failed_senders[FAILED_SENDERS]; /* in JSON */

/* Whether an end by signal NR, sent by SENDER, is one that nobody expects. */
bool failed_signal_matters(int nr, enum failed_sender sender);
/* Returns what is to be done. */
const char *failed_signal_advice(int nr, enum failed_sender sender);

#endif
