/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of sched.out of the workload's process from before its execve(2). Until then it is dltraced's own code, which waits at
 * a gate for the trace to begin. Traces of today have no such rows of the target; older ones do.
 */
#ifndef REPORT_SCAN_GATE_H
#define REPORT_SCAN_GATE_H

#include <stdbool.h>

struct scan;

/* Whether S, a row of sched.out, is one of these: by its COMM, which is that of dltraced's program and not the job's. */
bool scan_is_gate(const struct scan *s);

#endif
