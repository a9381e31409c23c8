/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file is for and what a process runs, by their names. */
#ifndef REPORT_WHY_NAMES_H
#define REPORT_WHY_NAMES_H

#include "report/scan/model.h"

/* Whether F at PATH may hold samples, shards or checkpoints, and is no program. */
bool why_is_data(const struct report_file *f, struct reader_field path);
/* P runs a program with ARGS. */
void why_program(struct report_proc *p, struct reader_field args);
bool why_is_shell(struct reader_field name);

#endif
