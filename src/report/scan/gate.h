/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of sched.out of the workload's process from before its execve(2). Until then it runs dltraced's own code, which
 * waits at a gate for the trace to begin. In today's traces such rows are of KIND self, but for the microseconds from
 * the gate to the execve(2); in older ones all of them are of the target.
 */
#ifndef REPORT_SCAN_GATE_H
#define REPORT_SCAN_GATE_H

#include <stdbool.h>

struct scan;

/* Whether S, a row of sched.out, is one of these: by its COMM, which is that of dltraced's program and not the job's.
 */
bool scan_is_gate(const struct scan *s);

#endif
