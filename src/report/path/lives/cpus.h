/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which threads of the job might not use all CPUs of the machine: what they waited for a CPU is no lack of CPUs, but a
 * limit. Offline CPUs count where a thread may use them, so that a limit may go unseen, and none is made up.
 */
#ifndef REPORT_PATH_LIVES_CPUS_H
#define REPORT_PATH_LIVES_CPUS_H

#include "report/path/lives/lives.h"

struct manifest_facts;

/* Sets FEW of each life, by its end's row or, where that has none, by what FACTS has of the job's first process. */
void path_cpus_find(struct path_lives *lives, const struct manifest_facts *facts);

#endif
