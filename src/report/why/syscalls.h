/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of syscalls.out: system calls by name, and by process and name. Bounded: pairs of a process and a call without
 * room are one row.
 */
#ifndef REPORT_WHY_SYSCALLS_H
#define REPORT_WHY_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "stats/table.h"

struct report_part;

#define SYSCALLS_MAX (1U << 17) /* pairs of a process and a call; 20 MiB when full */
#define SYSCALLS_CALLS_MAX 2048 /* names; the kernels that are traced have fewer than 600 */

struct report_syscalls_row {
	uint64_t count, failed, ns;
	uint64_t max_ns; /* the longest one of the trace until then */
	uint64_t pid; /* of a pair */
	uint64_t processes; /* that made it, as far as there was room for them; of a call */
	char comm[64], call[32]; /* escaped as in the file; CALL "": of all without room */
};

struct report_syscalls {
	struct table pairs, calls; /* struct report_syscalls_row */
};

extern const struct report_part report_syscalls_part;

#endif
